// SPDX-License-Identifier: Apache-2.0
// zoom.js: how large the pages are: by two buttons, by a double tap, and larger where a field is visited on a phone.
import { text } from './texts.js'

const STEPS = [1, 1.25, 1.5, 2, 3, 4]
const CLOSE = STEPS.indexOf(2)
const SMALL = 480 // CSS pixels: a page that is narrower is hard to read

/** Two taps of a finger at one place, which is given to `work`. */
function onDoubleTap(area, work) {
    let last = null
    area.addEventListener('pointerup', event => {
        if (event.pointerType !== 'touch' || event.target.closest('button, a')) return
        const near = last && event.timeStamp - last.timeStamp < 350
            && Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) < 30
        last = near ? null : event
        if (near) work(event)
    })
}

/** `pages()`: their elements; `changed()` is called after each change. */
export function prepareZoom(area, pages, { changed, announce }) {
    const buttons = [...document.querySelectorAll('[data-zoom]')]
    let at = 0

    /** What is at a point of the screen stays there. */
    function set(to, x = innerWidth / 2, y = 80) {
        const all = pages(), seen = all.find(each => each.getBoundingClientRect().bottom > y) ?? all[0]
        const before = seen.getBoundingClientRect()
        at = Math.min(Math.max(to, 0), STEPS.length - 1)
        area.style.setProperty('--zoom', STEPS[at])
        const after = seen.getBoundingClientRect(), grown = after.width / before.width
        area.scrollLeft += after.left + (x - before.left) * grown - x
        scrollBy({ top: after.top + (y - before.top) * grown - y, behavior: 'instant' })
        changed()
        announce(text('zoomed', { percent: STEPS[at] * 100 }))
        for (const button of buttons) button.disabled = at === (button.dataset.zoom === 'in' ? STEPS.length - 1 : 0)
    }

    for (const button of buttons) {
        button.addEventListener('click', () => set(at + (button.dataset.zoom === 'in' ? 1 : -1)))
        button.disabled = button.dataset.zoom === 'out'
    }
    onDoubleTap(area, ({ clientX, clientY }) => set(at ? 0 : CLOSE, clientX, clientY))
    return page => { if (at < CLOSE && page?.clientWidth < SMALL) set(CLOSE) }
}
