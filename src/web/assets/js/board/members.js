// SPDX-License-Identifier: Apache-2.0
// members.js: the members of the field that is selected, as a form: also the way for keyboards and screen readers to
// move a field by numbers.
import { text } from '../texts.js'
import { make } from './boxes.js'
import { convert, faultsOf, formats, isOfForm, isRequired, kindOf, KINDS } from './kinds.js'

const SIDES = { x: 0, y: 1, w: 0, h: 1 } // percent of the width, of the height

const optionsOf = entries => entries.map(([value, label]) => make('option', { value, textContent: label }))
const selectOf = entries => make('select', {}, ...optionsOf(entries))
const number = (least, most) =>
    make('input', { type: 'number', min: least, max: most, step: 'any', inputMode: 'decimal' })
const tick = () => make('input', { type: 'checkbox' })
const points = value => Math.round(value * 100) / 100

/** The rows of the form: the label, the input, its value of a field, and what another value changes in the field. */
function rowsOf(model) {
    const side = (key, label) => [key, {
        label, make: () => number(key === 'w' || key === 'h' ? 1 : 0, 20000),
        read: field => points((field.percent[key] * model.sizeOf(field)[SIDES[key]]) / 100),
        write: (value, field) => (Number.isFinite(value = parseFloat(value))
            ? { percent: { ...field.percent, [key]: (100 * value) / model.sizeOf(field)[SIDES[key]] } } : {}),
    }]
    const flag = (key, label, read) => [key, { label, make: tick, read, write: value => ({ [key]: value }) }]
    return Object.fromEntries([
        ['name', { label: 'placing.name', make: () => make('input', { maxLength: 200 }), read: ({ name }) => name,
            write: name => ({ name }) }],
        ['signer', { label: 'placing.signer', read: ({ signer }) => signer, write: value => ({ signer: Number(value) }),
            make: () => selectOf(model.signers.map(each =>
                [each.number, `${each.number} · ${model.nameOf(each.number)}`])) }],
        ['kind', { label: 'placing.kind', read: kindOf,
            make: () => selectOf(Object.entries(KINDS).map(([kind, { label }]) => [kind, text(label)])),
            write: (kind, field) => {
                const [w, h] = KINDS[kind].size, [width, height] = model.sizeOf(field)
                const none = Object.fromEntries(Object.keys(field).map(key => [key, undefined]))
                return { ...none, ...convert(field, kind, model.fields),
                    percent: { ...field.percent, w: (100 * w) / width, h: (100 * h) / height } }
            } }],
        ['document', { label: 'placing.document', read: ({ document: uuid }) => uuid,
            make: () => selectOf(model.documents.map(({ uuid, name }) => [uuid, name])),
            write: uuid => ({ document: uuid, page: 0 }) }],
        ['page', { label: 'placing.page', read: ({ page }) => page + 1,
            make: field => number(1, model.pagesOf(field.document)),
            write: (value, field) => {
                const page = Math.min(Math.max(Math.round(value), 1), model.pagesOf(field.document)) - 1
                return Number.isFinite(page) ? { page } : {}
            } }],
        side('x', 'placing.x'), side('y', 'placing.y'), side('w', 'placing.w'), side('h', 'placing.h'),
        ['options', { label: 'placing.options', read: ({ options = [] }) => options.join('\n'),
            make: () => make('textarea', { rows: 3 }),
            write: value => ({ options: value.split('\n').map(each => each.trim()).filter(Boolean) }) }],
        ['group', { label: 'placing.group', make: () => make('input', { maxLength: 100, required: true }),
            read: ({ group }) => group, write: group => (group.trim() ? { group } : {}) }],
        ['value', { label: 'placing.value', read: ({ value }) => value ?? '',
            write: value => ({ value: value || undefined }),
            make: ({ type, multiline }) => (type === 'choice' ? make('select')
                : multiline ? make('textarea', { rows: 3, maxLength: 4000 }) : make('input', { maxLength: 4000 })),
            renew: (input, { type, options = [] }) => type === 'choice'
                && input.replaceChildren(...optionsOf([['', '–'], ...options.map(each => [each, each])])) }],
        ['ticked', { label: 'placing.ticked', make: tick, read: ({ value }) => value === true,
            write: value => ({ value: value || undefined }) }],
        ['format', { label: 'placing.format', read: ({ format }) => format ?? '',
            make: () => selectOf([['', text('placing.format.any')],
                ...formats.map(each => [each, text(FORMAT_LABELS[each])])]),
            write: format => ({ format: format || undefined }) }],
        ['maxLength', { label: 'placing.length', make: () => number(1, 4000), read: ({ maxLength }) => maxLength ?? '',
            write: value => ({ maxLength: Math.min(Math.max(Math.round(value), 1), 4000) || undefined }) }],
        flag('multiline', 'placing.multiline', ({ multiline }) => Boolean(multiline)),
        flag('required', 'placing.required', isRequired),
        flag('readOnly', 'placing.readonly', ({ readOnly }) => Boolean(readOnly)),
    ])
}
const FORMAT_LABELS = { integer: 'placing.format.integer', decimal: 'placing.format.decimal',
    email: 'placing.format.email', date: 'placing.format.date' }
/** What can be changed of a form field of the document: the rest is the form's. */
const OF_FORM = ['name', 'signer', 'value', 'ticked', 'required', 'readOnly']

function namesOf(model, field) {
    const all = ['name', 'signer', 'kind', ...KINDS[kindOf(field)].members, 'document', 'page', 'x', 'y', 'w', 'h']
    return all.filter(name => (!isOfForm(field) || OF_FORM.includes(name))
        && (name !== 'signer' || model.signers.length > 1) && (name !== 'document' || model.documents.length > 1))
}

/** `back()` leads from the form to the field on its page, `changed(field)` is called when an input is left. */
export function prepareMembers(model, { back, changed }) {
    const area = document.querySelector('[data-members]'), title = area.querySelector('h2')
    const rows = rowsOf(model), form = area.querySelector('form'), note = area.querySelector('[data-anchor]')
    let shown = null, inputs = new Map(), key = ''

    const makeRow = name => {
        const { label, make: makeInput } = rows[name], input = makeInput(shown), isTick = input.type === 'checkbox'
        const fault = make('p', { className: 'fault', id: `fault-${name}` })
        input.id = `member-${name}`
        input.name = name
        if (!isTick && input.localName !== 'select') input.dir = 'auto'
        input.setAttribute('aria-describedby', fault.id)
        // at once, so that nothing moves when the input is left for a button
        input.addEventListener('input', () => {
            const value = isTick ? input.checked : input.value
            model.update(shown.id, rows[name].write(value, shown), name)
        })
        input.addEventListener('change', () => {
            fill(true)
            changed(shown)
        })
        inputs.set(name, { input, fault, isTick })
        const words = make('label', { htmlFor: input.id, textContent: text(label) })
        return make('div', { className: `member member-${name}${isTick ? ' tick' : ''}` },
            ...isTick ? [input, words] : [words, input], fault)
    }
    const build = names => {
        const { activeElement } = document, name = form.contains(activeElement) && activeElement.name
        inputs = new Map()
        form.replaceChildren(...names.map(makeRow))
        if (name) inputs.get(name)?.input.focus()
    }
    /** `all`: also the input that has the focus, into which somebody may be writing. */
    const fill = all => {
        const faults = faultsOf(shown)
        for (const [name, { input, fault, isTick }] of inputs) {
            const value = rows[name].read(shown)
            rows[name].renew?.(input, shown)
            if (isTick) input.checked = value
            else if (String(value) !== input.value && (all || input !== document.activeElement)) input.value = value
            fault.textContent = faults[name === 'ticked' ? 'value' : name] ?? ''
            input.setAttribute('aria-invalid', String(Boolean(fault.textContent)))
        }
        const { anchor, field } = shown.area ?? {}
        note.hidden = !anchor && !field
        note.textContent = anchor ? text('placing.anchor', { text: anchor.text })
            : text('placing.form', { name: field })
    }
    const show = () => {
        shown = model.selected
        area.hidden = !shown
        if (!shown) return (key = '')
        const names = namesOf(model, shown)
        const now = JSON.stringify([shown.id, names, shown.multiline]), isNew = now !== key
        if (isNew) build(names)
        key = now
        title.textContent = text('placing.selected', { name: shown.name })
        return fill(isNew)
    }
    form.addEventListener('submit', event => event.preventDefault())
    area.addEventListener('keydown', event => event.key === 'Escape' && back())
    model.on(show)
    show()
    return { focus: () => {
        const input = form.querySelector('input, select, textarea')
        input?.focus()
        input?.select?.()
    } }
}
