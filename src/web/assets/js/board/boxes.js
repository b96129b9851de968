// SPDX-License-Identifier: Apache-2.0
// boxes.js: the fields on the pages that are in the document. A field is a button with the number and the colour of its
// signer; the one that is selected has handles.
import { placeControl } from '../place.js'
import { text } from '../texts.js'
import { isFaulty, isOfForm, isRequired, kindOf, labelOf } from './kinds.js'
import { pointsOf } from './model.js'

const COLOURS = 8 // in place.css
const SIDES = ['nw', 'n', 'ne', 'e', 'se', 's', 'sw', 'w']

export const colourOf = signer => `signer-${((signer - 1) % COLOURS) + 1}`

export const make = (name, what = {}, ...children) => {
    const element = Object.assign(document.createElement(name), what)
    element.append(...children)
    return element
}

/** What stands in the field. */
function contentOf(field) {
    const { type, value, name } = field
    if (type === 'checkbox') return value === true ? '✓' : ''
    if (type === 'signature' || type === 'initials' || type === 'date') return labelOf(field)
    return typeof value === 'string' && value ? value : name
}

/** Fills a box with its field; also the box that is carried while a field is moved. */
export function paintBox(element, field) {
    // drawn by the style sheet: the name of the button says all of it
    const tag = make('b'), words = make('span')
    tag.dataset.text = field.signer
    words.dataset.text = contentOf(field) + (isRequired(field) ? ' *' : '')
    element.className = `box ${colourOf(field.signer)} box-${kindOf(field)}`
    element.classList.toggle('faulty', isFaulty(field))
    element.classList.toggle('anchored', Boolean(field.area?.anchor))
    element.classList.toggle('fixed', isOfForm(field))
    element.replaceChildren(tag, words)
}

export function makeBoxes(model, pages) {
    const boxes = new Map() // id → { element, field, page }
    const handles = SIDES.map(side => make('span', { className: `handle handle-${side}`, ariaHidden: 'true' }))
    handles.forEach((handle, at) => (handle.dataset.side = SIDES[at]))
    let onPages = null // key of a page → its fields

    const nameOf = field => {
        const [x, y, w, h] = pointsOf(field.percent, model.sizeOf(field)).map(Math.round)
        return text('placing.box', { kind: labelOf(field), name: field.name, signer: model.nameOf(field.signer),
            page: field.page + 1, x, y, w, h })
    }
    const paint = box => {
        paintBox(box.element, box.field)
        placeControl(box.element, box.field.percent)
        box.element.setAttribute('aria-label', nameOf(box.field))
    }
    const put = (field, page) => {
        let box = boxes.get(field.id)
        if (!box) {
            box = { element: make('button', { type: 'button' }) }
            Object.assign(box.element.dataset, { id: field.id, repeat: '' })
            boxes.set(field.id, box)
        }
        const isNew = box.field !== field, isFocused = document.activeElement === box.element
        Object.assign(box, { field, page })
        if (isNew) paint(box)
        if (box.element.parentElement !== page.element) page.element.append(box.element)
        if (isFocused) box.element.focus({ preventScroll: true })
    }
    const mark = () => {
        const { selected } = model
        for (const { element, field } of boxes.values()) {
            element.classList.toggle('selected', field === selected)
            element.tabIndex = field === selected ? 0 : -1
        }
        const box = selected && boxes.get(selected.id)
        // one field of the view can be reached by Tab; from there Tab leads through all of them
        if (!box) for (const { element } of [...boxes.values()].slice(0, 1)) element.tabIndex = 0
        if (!box || isOfForm(selected)) return handles.forEach(handle => handle.remove())
        return box.element.append(...handles)
    }
    const group = () => {
        onPages = new Map()
        for (const field of model.fields) {
            const key = `${field.document} ${field.page}`
            if (onPages.has(key)) onPages.get(key).push(field)
            else onPages.set(key, [field])
        }
    }
    const drop = id => {
        boxes.get(id).element.remove()
        boxes.delete(id)
    }
    const update = () => {
        group()
        for (const [id, { field }] of boxes) {
            const now = model.get(id)
            if (!now || !pages.has(`${now.document} ${now.page}`)) drop(id)
            else if (now === field) continue
        }
        for (const page of pages.values()) for (const field of onPages.get(page.key) ?? []) put(field, page)
        mark()
    }
    return {
        update, mark,
        shown: page => {
            if (!onPages) group()
            for (const field of onPages.get(page.key) ?? []) put(field, page)
            mark()
        },
        hidden: page => { for (const [id, box] of boxes) if (box.page === page) drop(id) },
        elementOf: id => boxes.get(id)?.element,
        at: target => model.get(Number(target.closest?.('.box[data-id]')?.dataset.id)),
    }
}
