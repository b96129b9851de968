// SPDX-License-Identifier: Apache-2.0
// fields.js: the fields of a signer, on the pages. Where they sign there is a button, and over it the signature once it
// is there; where they fill in a value there is an input (entry.js).
import { makeDate, makeEntry } from './entry.js'
import { paint } from './mark.js'
import { notePlace, placeControl, placeInk } from './place.js'
import { makeRadio } from './radio.js'
import { text } from './texts.js'
import { isEntered } from './values.js'

const NEAR = '500px' // of the view: other fields are not painted, because a phone has little memory for canvases

export const shapeOf = canvas => canvas.clientWidth / canvas.clientHeight

function makeButton(field, number, all) {
    const button = document.createElement('button')
    const tag = document.createElement('span'), canvas = document.createElement('canvas')
    button.type = 'button'
    button.className = 'field'
    tag.textContent = text(field.type === 'initials' ? 'initials' : 'field.tag')
    canvas.className = 'ink'
    button.append(tag)
    placeControl(button, field.percent)
    placeInk(canvas, field.percent)
    notePlace(field, number)
    // a tag that has no room in a small field is shown above it
    const fitTag = () => button.classList.toggle('small', button.clientWidth < 72 || button.clientHeight < 20)
    const own = { field, button, target: button, canvas, fitTag, mark: null }
    const label = field.type === 'initials' ? 'initials.field' : 'field'
    own.filled = own.settled = () => Boolean(own.mark)
    let near = false
    own.draw = async (isNear = near) => {
        near = isNear
        if (near && own.mark) await paint(canvas, own.mark, field)
        if (!near) canvas.width = canvas.height = 0 // it may have left while its image was decoded
    }
    own.set = mark => {
        own.mark = mark
        button.classList.toggle('signed', Boolean(mark))
        button.setAttribute('aria-label', text(mark ? 'field.signed' : label, { number, all, name: field.name }))
        tag.hidden = Boolean(mark)
        canvas.hidden = !mark
        own.draw()
    }
    own.set(null)
    return own
}

const isSigned = ({ type }) => ['signature', 'initials'].includes(type)

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
    const prepareButton = (field, number, all) => {
        const own = makeButton(field, number, all)
        byButton.set(own.button, own)
        own.button.addEventListener('click', () => press(own))
        observer.observe(own.button)
        new ResizeObserver(own.fitTag).observe(own.button)
        new ResizeObserver(() => own.draw()).observe(own.canvas)
        return own
    }
    const put = own => {
        pageOf(own.field.document, own.field.page)?.append(own.element ?? own.button, own.canvas)
        for (const { element, page } of own.more ?? []) pageOf(own.field.document, page)?.append(element)
        return own
    }
    const makeValue = field => (field.buttons ? makeRadio(field) : makeEntry(field))
    const done = sorted.filter(field => isEntered(field) || isSigned(field))
    return {
        fields: done.map((field, at) =>
            Object.assign(put(isSigned(field) ? prepareButton(field, at + 1, done.length) : makeValue(field)), { at })),
        dates: sorted.filter(({ type }) => type === 'date').map(field => put(makeDate(field))),
    }
}
