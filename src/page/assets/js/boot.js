// boot.js: runs before the page is shown: what needs the script appears, what does without it disappears; and if the
// script does not come, all that is taken back, and the plain forms work.
const root = document.documentElement
root.classList.replace('plain', 'js')
const giveUp = () => root.classList.contains('ready') || root.classList.replace('js', 'plain')
addEventListener('error', event => event.target instanceof HTMLScriptElement && giveUp(), true)
addEventListener('load', () => setTimeout(giveUp, 3000))

// The first page is what one waits for: the others are not there, and so do not load, before it is, or before somebody
// does something. Who comes back finds them at once, where he left.
const whole = () => root.classList.remove('first')
if (performance.getEntriesByType('navigation')[0]?.type === 'navigate' && !location.hash) root.classList.add('first')
for (const type of ['load', 'pointerdown', 'keydown', 'wheel', 'scroll', 'focusin'])
    addEventListener(type, whole, { once: true, passive: true, capture: true })
