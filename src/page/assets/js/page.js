// page.js: where the script of the signing page begins.
import { startClosed } from './closed.js'
import { startSigning } from './signing.js'
import { startVerify } from './verify.js'

const main = document.getElementById('main')
if (main.dataset.state) startSigning(main)
else if (main.dataset.closed) startClosed(main)
else if (main.dataset.verify) startVerify(main)
document.documentElement.classList.add('ready')
