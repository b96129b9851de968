// boot.js: runs before the page is shown: what needs the script appears, what does without it disappears; and if the
// script does not come, all that is taken back, and the plain forms work.
const root = document.documentElement
root.classList.replace('plain', 'js')
const giveUp = () => root.classList.contains('ready') || root.classList.replace('js', 'plain')
addEventListener('error', event => event.target instanceof HTMLScriptElement && giveUp(), true)
addEventListener('load', () => setTimeout(giveUp, 3000))
