// SPDX-License-Identifier: Apache-2.0
// page.js: where the script of the signing page begins. Where boot.js has left the page plain, it stays so.
import { startClosed } from './closed.js'
import { startFrame } from './frame.js'
import { startSigning } from './signing.js'
import { startTelling } from './tell.js'
import { startVerify } from './verify.js'
import { startView } from './view.js'

const main = document.getElementById('main'), root = document.documentElement
if (root.classList.contains('js')) {
    startFrame()
    if (main.dataset.state) startSigning(main)
    else if (main.dataset.view) startView(main)
    else if (main.dataset.closed) startClosed(main)
    else if (main.dataset.verify) startVerify(main)
    root.classList.add('ready')
}
startTelling(main.dataset)
