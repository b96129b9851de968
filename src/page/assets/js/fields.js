// fields.js: the places where a signer signs, on the pages: a button each, which shows the signature once it is there.
import { text } from './texts.js'
import { paint } from './mark.js'

const within = (value, least, most) => Math.min(Math.max(value, least), most)

/** A place may lie beside the page; its button never does. */
function place(button, { x, y, w, h }) {
    const width = within(w, 2, 100), height = within(h, 1, 100)
    Object.assign(button.style, {
        left: `${within(x, 0, 100 - width)}%`, top: `${within(y, 0, 100 - height)}%`,
        width: `${width}%`, height: `${height}%`,
    })
}

function makeButton(field, number, all) {
    const button = document.createElement('button')
    const tag = document.createElement('span'), canvas = document.createElement('canvas')
    button.type = 'button'
    button.className = 'field'
    tag.textContent = text('field.tag')
    canvas.hidden = true
    button.append(tag, canvas)
    place(button, field.percent)
    const show = mark => {
        button.classList.toggle('signed', Boolean(mark))
        button.setAttribute('aria-label', text(mark ? 'field.signed' : 'field', { number, all, name: field.name }))
        tag.hidden = Boolean(mark)
        canvas.hidden = !mark
        if (mark) paint(canvas, mark)
    }
    // a tag that has no room in a small field stands above it
    const fitTag = () => button.classList.toggle('small', button.clientWidth < 72 || button.clientHeight < 20)
    show(null)
    return { field, button, show, fitTag, mark: null }
}

/** In reading order: by document and page, then from top to bottom. */
export function prepareFields(state, pageOf, press) {
    const order = new Map(state.documents.map((document, at) => [document.uuid, at]))
    const sorted = state.fields.filter(field => order.has(field.document)).sort((a, b) =>
        order.get(a.document) - order.get(b.document) || a.page - b.page || a.percent.y - b.percent.y
        || a.percent.x - b.percent.x)
    return sorted.map((field, at) => {
        const own = makeButton(field, at + 1, sorted.length)
        own.set = mark => { own.mark = mark; own.show(mark) }
        own.button.addEventListener('click', () => press(own))
        pageOf(field.document, field.page)?.append(own.button)
        new ResizeObserver(() => {
            own.fitTag()
            if (own.mark) own.show(own.mark)
        }).observe(own.button)
        return own
    })
}
