// SPDX-License-Identifier: Apache-2.0
// main.js: where the script of the placement page begins. Where boot.js has left the page plain, it stays so.
import { startFrame } from '../frame.js'
import { startTelling } from '../tell.js'
import { setTexts } from '../texts.js'
import { startBoard } from './board.js'

const main = document.getElementById('main'), root = document.documentElement
const tell = startTelling(main.dataset)
if (root.classList.contains('js')) {
    setTexts(JSON.parse(main.dataset.texts), root.lang)
    startFrame()
    startBoard(JSON.parse(main.dataset.state), main.dataset.link, tell)
    root.classList.add('ready')
}
