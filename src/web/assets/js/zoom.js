// SPDX-License-Identifier: Apache-2.0
// zoom.js: how large the pages are: by two buttons, by a double tap, and larger on a phone, where a
// document is begun and where a field is visited.
import { text } from './texts.js'

const STEPS = [1, 1.25, 1.5, 2, 3, 4], MOST = 4
const CLOSE = 2
const SMALL = 480 // CSS pixels: a page that is narrower is hard to read
const MARGIN = 2 // percent of the page that are shown beside its text
const WIDEST = 1.75 // a page with a narrow column of text is not enlarged further

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
    let zoom = 1, least = 1 // `least`: where a double tap leads back to

    /** What is at a point of the screen stays there. */
    function set(to, x = innerWidth / 2, y = 80) {
        const all = pages(), seen = all.find(each => each.getBoundingClientRect().bottom > y) ?? all[0]
        const before = seen.getBoundingClientRect()
        zoom = to
        area.style.setProperty('--zoom', zoom)
        const after = seen.getBoundingClientRect(), grown = after.width / before.width
        area.scrollLeft += after.left + (x - before.left) * grown - x
        scrollBy({ top: after.top + (y - before.top) * grown - y, behavior: 'instant' })
        changed()
        announce(text('zoomed', { percent: Math.round(zoom * 100) }))
        for (const button of buttons) button.disabled = zoom === (button.dataset.zoom === 'in' ? MOST : 1)
    }

    const stepOf = {
        in: () => STEPS.find(step => step > zoom) ?? MOST,
        out: () => STEPS.filter(step => step < zoom).at(-1) ?? 1,
    }
    for (const button of buttons) {
        button.addEventListener('click', () => set(stepOf[button.dataset.zoom]()))
        button.disabled = button.dataset.zoom === 'out'
    }
    onDoubleTap(area, ({ clientX, clientY }) => set(zoom > least ? least : CLOSE, clientX, clientY))
    return {
        enlarge: page => { if (zoom < CLOSE && page?.clientWidth < SMALL * zoom) set(CLOSE) },
        /** On a small screen the text of the page, `column` [left, right] in percent, is as wide as the screen. */
        fit: (page, [left, right]) => {
            if (zoom > 1 || page.clientWidth >= SMALL) return false
            least = Math.min(100 / (right - left + 2 * MARGIN), WIDEST)
            if (least < 1.1) least = 1
            else set(least)
            area.scrollLeft += page.getBoundingClientRect().left - area.getBoundingClientRect().left
                + page.clientWidth * (left - MARGIN) / 100
            return true
        },
    }
}
