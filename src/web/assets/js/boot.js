// SPDX-License-Identifier: Apache-2.0
// boot.js: runs before the page is shown. Where the browser has what the script needs, what works with the script
// appears, and what works without it disappears. If the script does not come, or fails at its start, the plain forms
// are shown again, and they work.
const root = document.documentElement
const needed = [window.IntersectionObserver, window.ResizeObserver, window.AbortController, window.Intl?.PluralRules,
    window.HTMLDialogElement?.prototype.showModal, Array.prototype.at]
if (parent !== window) root.classList.add('framed')
const giveUp = () => root.classList.contains('ready') || root.classList.replace('js', 'plain')
if (needed.every(Boolean)) root.classList.replace('plain', 'js')
addEventListener('error', event => (event.target === window || event.target instanceof HTMLScriptElement) && giveUp(),
    true)
addEventListener('load', () => setTimeout(giveUp, 3000))

// The first page is what one waits for: the others are not there, and so do not load, before it is, or before somebody
// does something. After a reload, or on the way back, all of them are there at once.
const whole = () => root.classList.remove('first')
if (performance.getEntriesByType('navigation')[0]?.type === 'navigate' && !location.hash) root.classList.add('first')
for (const type of ['load', 'pointerdown', 'keydown', 'wheel', 'scroll', 'focusin'])
    addEventListener(type, whole, { once: true, passive: true, capture: true })
