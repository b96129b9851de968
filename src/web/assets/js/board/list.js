// SPDX-License-Identifier: Apache-2.0
// list.js: all fields in the order of reading, and the form fields of the documents that are not used yet.
import { text } from '../texts.js'
import { colourOf, make } from './boxes.js'
import { isFaulty, labelOf } from './kinds.js'

/** `open(id, byKeyboard)` is called for the row that was pressed. */
export function prepareList(model, { open }) {
    const list = document.querySelector('[data-list]'), count = document.querySelector('[data-all]')
    const empty = document.querySelector('[data-empty]'), rows = new Map() // id → { row, field }
    const numbers = new Map(model.documents.map(({ uuid }, at) => [uuid, at]))

    const whereOf = ({ document: uuid, page }) => (model.documents.length > 1
        ? text('placing.where', { document: model.documents[numbers.get(uuid)].name, page: page + 1 })
        : text('place', { number: page + 1 }))
    const paint = ({ row, field }) => {
        const button = row.firstChild
        row.className = colourOf(field.signer)
        button.classList.toggle('faulty', isFaulty(field))
        button.replaceChildren(make('b', { textContent: field.signer }),
            make('span', {}, make('bdi', { textContent: field.name }), make('span', { className: 'hint',
                textContent: ` ${labelOf(field)} · ${model.nameOf(field.signer)} · ${whereOf(field)}` })))
    }
    const mark = () => {
        for (const button of list.querySelectorAll('[aria-current]')) button.removeAttribute('aria-current')
        const chosen = model.selected && rows.get(model.selected.id)?.row
        chosen?.firstChild.setAttribute('aria-current', 'true')
    }
    const show = () => {
        for (const [id, { row }] of rows) if (!model.get(id)) {
            rows.delete(id)
            row.remove()
        }
        model.fields.forEach((field, at) => {
            let own = rows.get(field.id)
            if (!own) {
                own = { row: make('li', {}, make('button', { type: 'button' })) }
                own.row.dataset.row = field.id
                rows.set(field.id, own)
            }
            if (own.field !== field) paint(Object.assign(own, { field }))
            if (list.children[at] !== own.row) list.insertBefore(own.row, list.children[at] ?? null)
        })
        count.textContent = model.fields.length
        empty.hidden = model.fields.length > 0
        mark()
    }
    list.addEventListener('click', event => {
        const row = event.target.closest('[data-row]')
        if (row) open(Number(row.dataset.row), !event.detail)
    })
    model.on(what => (what === 'fields' ? show() : mark()))
    show()
}

const usable = ({ readOnly, signed, multiple, places }) =>
    !readOnly && !signed && !multiple && !(places && !places.every(({ option }) => option))

/** The form fields of the documents can be added, here and on their pages. `signer()` is who gets them. */
export function prepareOffers(model, link, stage, { signer, add }) {
    const area = document.querySelector('[data-offers]'), list = area.querySelector('ul'), offers = []
    const isFree = ({ document: uuid, form }) => !model.fields.some(field =>
        field.document === uuid && field.area?.field === form.field)
    const fieldOf = ({ document: uuid, form: { field, type, page, percent, options, value } }) => ({
        type, signer: signer(), name: field, document: uuid, page, percent, area: { field },
        ...options && { options }, ...value != null && value !== '' && value !== false && { value },
    })
    const fill = ({ key, element }) => {
        for (const old of element.querySelectorAll('.offer')) old.remove()
        for (const offer of offers) {
            if (`${offer.document} ${offer.form.page}` !== key || !isFree(offer)) continue
            const { field, percent: { x, y, w, h } } = offer.form
            const button = make('button', { type: 'button', className: 'offer', tabIndex: -1, textContent: '+' })
            button.setAttribute('aria-label', text('placing.offer', { name: field }))
            button.title = field
            Object.assign(button.style, { left: `${x}%`, top: `${y}%`, width: `${w}%`, height: `${h}%` })
            button.addEventListener('click', () => add([fieldOf(offer)]))
            element.append(button)
        }
    }
    const show = () => {
        const free = offers.filter(isFree)
        area.hidden = !free.length
        list.replaceChildren(...free.map(offer => {
            const button = make('button', { type: 'button' }, make('b', { textContent: '+' }),
                make('bdi', { textContent: offer.form.field }))
            button.addEventListener('click', () => {
                add([fieldOf(offer)])
                list.querySelector('button')?.focus()
            })
            return make('li', {}, button)
        }))
        for (const page of stage.pages.values()) fill(page)
    }
    area.querySelector('[data-offer-all]').addEventListener('click', () => add(offers.filter(isFree).map(fieldOf)))
    model.on(what => what === 'fields' && offers.length && show())
    Promise.all(model.documents.map(async ({ uuid }) => {
        const answer = await fetch(`${link}/documents/${uuid}/forms`, { headers: { Accept: 'application/json' } })
        if (!answer.ok) return
        const { fields } = await answer.json()
        offers.push(...fields.filter(usable).map(form => ({ document: uuid, form })))
    })).then(() => offers.length && show()).catch(() => {}) // without them everything else works
    return { shown: page => offers.length && fill(page) }
}
