// SPDX-License-Identifier: Apache-2.0
// fields.js: the places where a signer signs, on the pages: a button each, and over it the signature once it is there.
import { text } from './texts.js'
import { paint } from './mark.js'

const NEAR = '500px' // of the view: other fields are not painted, because a phone has little memory for canvases

const within = (value, least, most) => Math.min(Math.max(value, least), most)

/** A place may lie beside the page, or be tiny. Its button never is: it can be seen and pressed. */
function placeButton(button, { x, y, w, h }) {
    const width = within(w, 2, 100), height = within(h, 1, 100)
    Object.assign(button.style, {
        left: `${within(x, 0, 100 - width)}%`, top: `${within(y, 0, 100 - height)}%`,
        width: `${width}%`, height: `${height}%`,
    })
}

/** The signature is exactly where it will be in the PDF: what is beside the page is not seen. */
const placeInk = (canvas, { x, y, w, h }) =>
    Object.assign(canvas.style, { left: `${x}%`, top: `${y}%`, width: `${w}%`, height: `${h}%` })

export const shapeOf = canvas => canvas.clientWidth / canvas.clientHeight

const SLACK = 0.01 // percent

/** Whether a place is 'outside' of its page, or 'partly'; else undefined. */
function beside({ x, y, w, h }) {
    if (x >= 100 || y >= 100 || x + w <= 0 || y + h <= 0) return 'outside'
    return Math.min(x, y) < -SLACK || Math.max(x + w, y + h) > 100 + SLACK ? 'partly' : undefined
}

/** Says at the head of the document which place cannot be seen, and where it is. */
function note({ document: uuid, page, name, percent }, number) {
    const how = beside(percent), head = document.querySelector(`section[data-document="${uuid}"] h2`)
    if (!how || !head) return
    const said = document.createElement('p')
    said.className = 'note warning'
    said.textContent = text(how === 'outside' ? 'field.outside' : 'field.partly', { number, name, page: page + 1 })
    head.after(said)
}

function makeButton(field, number, all) {
    const button = document.createElement('button')
    const tag = document.createElement('span'), canvas = document.createElement('canvas')
    button.type = 'button'
    button.className = 'field'
    tag.textContent = text('field.tag')
    canvas.className = 'ink'
    button.append(tag)
    placeButton(button, field.percent)
    placeInk(canvas, field.percent)
    note(field, number)
    // a tag that has no room in a small field is shown above it
    const fitTag = () => button.classList.toggle('small', button.clientWidth < 72 || button.clientHeight < 20)
    const own = { field, button, canvas, fitTag, mark: null }
    let near = false
    own.draw = async (isNear = near) => {
        near = isNear
        if (near && own.mark) await paint(canvas, own.mark, field)
        if (!near) canvas.width = canvas.height = 0 // it may have left while its image was decoded
    }
    own.set = mark => {
        own.mark = mark
        button.classList.toggle('signed', Boolean(mark))
        button.setAttribute('aria-label', text(mark ? 'field.signed' : 'field', { number, all, name: field.name }))
        tag.hidden = Boolean(mark)
        canvas.hidden = !mark
        own.draw()
    }
    own.set(null)
    return own
}

/** In reading order: by document and page, then from top to bottom. */
export function prepareFields(state, pageOf, press) {
    const order = new Map(state.documents.map((document, at) => [document.uuid, at]))
    const sorted = state.fields.filter(field => order.has(field.document)).sort((a, b) =>
        order.get(a.document) - order.get(b.document) || a.page - b.page || a.percent.y - b.percent.y
        || a.percent.x - b.percent.x)
    const byButton = new Map()
    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) byButton.get(target).draw(isIntersecting)
    }, { rootMargin: NEAR })
    return sorted.map((field, at) => {
        const own = makeButton(field, at + 1, sorted.length)
        byButton.set(own.button, own)
        own.button.addEventListener('click', () => press(own))
        pageOf(field.document, field.page)?.append(own.button, own.canvas)
        observer.observe(own.button)
        new ResizeObserver(own.fitTag).observe(own.button)
        new ResizeObserver(() => own.draw()).observe(own.canvas)
        return own
    })
}
