// SPDX-License-Identifier: Apache-2.0
// place.js: where a field is on its page, in percent of it.
import { text } from './texts.js'

export const within = (value, least, most) => Math.min(Math.max(value, least), most)

/** A place may lie beside the page, or be tiny. What is pressed never does: it can be seen and pressed. */
export function placeControl(element, { x, y, w, h }) {
    const width = within(w, 2, 100), height = within(h, 1, 100)
    Object.assign(element.style, {
        left: `${within(x, 0, 100 - width)}%`, top: `${within(y, 0, 100 - height)}%`,
        width: `${width}%`, height: `${height}%`,
    })
}

/** What is painted is exactly where it will be in the PDF: what is beside the page is not seen. */
export const placeInk = (canvas, { x, y, w, h }) =>
    Object.assign(canvas.style, { left: `${x}%`, top: `${y}%`, width: `${w}%`, height: `${h}%` })

const SLACK = 0.01 // percent

/** Whether a place is 'outside' of its page, or 'partly'; else undefined. */
function beside({ x, y, w, h }) {
    if (x >= 100 || y >= 100 || x + w <= 0 || y + h <= 0) return 'outside'
    return Math.min(x, y) < -SLACK || Math.max(x + w, y + h) > 100 + SLACK ? 'partly' : undefined
}

/** Says at the head of the document which place cannot be seen, and where it is. */
export function notePlace({ document: uuid, page, name, percent }, number) {
    const how = beside(percent), head = document.querySelector(`section[data-document="${uuid}"] h2`)
    if (!how || !head) return
    const said = document.createElement('p')
    said.className = 'note warning'
    said.textContent = text(how === 'outside' ? 'field.outside' : 'field.partly', { number, name, page: page + 1 })
    head.after(said)
}
