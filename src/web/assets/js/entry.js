// SPDX-License-Identifier: Apache-2.0
// entry.js: a field with a value: an input over the page. When it is left, its value is shown as the PDF will have it.
import { paintValue } from './mark.js'
import { placeControl, placeInk } from './place.js'
import { text } from './texts.js'

const KEYBOARDS = { integer: { inputMode: 'numeric' }, decimal: { inputMode: 'decimal' }, date: { type: 'date' },
    email: { inputMode: 'email', autocomplete: 'email', autocapitalize: 'off' } }

/** `aria`: attributes, because browsers before 2023 have no properties for them. */
export function make(name, what, aria = {}) {
    const element = Object.assign(document.createElement(name), what)
    for (const [key, value] of Object.entries(aria)) element.setAttribute(`aria-${key}`, value)
    return element
}

function makeChoice({ options, labels = options, value, name }) {
    const select = make('select')
    select.append(make('option', { value: '', textContent: name }))
    options.forEach((option, at) => select.append(make('option', { value: option, textContent: labels[at] })))
    select.value = value ?? ''
    return select
}

function makeControl(field) {
    const { type, format, multiline, maxLength, name, value } = field
    if (type === 'choice') return makeChoice(field)
    if (type === 'checkbox') return make('input', { type, checked: value === true })
    const control = multiline ? make('textarea') : make('input', { type: 'text', ...KEYBOARDS[format] })
    if (maxLength) control.maxLength = maxLength
    control.placeholder = name
    control.enterKeyHint = multiline ? 'enter' : 'next'
    control.value = value ?? ''
    return control
}

/** The name of a field and what is wrong with its value, beside it. */
export function makeAbout({ number, name, required }, said = name) {
    const about = make('div', { className: 'about' })
    const words = required ? `${said} · ${text('required')}` : said
    const label = make('span', { textContent: words, dir: 'auto' }, { hidden: 'true' })
    const fault = make('p', { id: `fault-${number}`, dir: document.dir })
    about.append(label, fault)
    return { about, fault }
}

/** An input grows when it is used, to where the page has room for it. */
export function place(element, percent) {
    const { x, y, w, h } = percent, right = x + w / 2 > 50
    placeControl(element, percent)
    element.style.setProperty('--room', `${(100 * (right ? x + w : 100 - x)) / w}%`)
    element.style.setProperty('--point', `${100 / (6.12 * w)}cqw`) // of a page that is 612 points wide
    element.classList.toggle('right', right)
    element.classList.toggle('low', y + h > 88)
    element.classList.toggle('high', y < 6)
}

function makeCanvas(field) {
    const canvas = make('canvas', { className: 'ink' }, { hidden: 'true' })
    placeInk(canvas, field.percent)
    return canvas
}

/** What paints the value of a field, while it is near the view. The image of the page has the value of the caller. */
function prepareInk(own) {
    let near = false
    own.draw = (isNear = near) => {
        near = isNear
        if (near && own.shown) paintValue(own.canvas, own.shown)
        else own.canvas.width = own.canvas.height = 0
    }
    own.show = shown => {
        own.shown = shown
        own.element.classList.toggle('drawn', Boolean(shown) || (own.filled() && own.isGiven()))
        own.canvas.classList.toggle('cover', Boolean(own.field.value) && !own.isGiven())
        own.draw()
    }
}

/** The date of the signature, which the service fills in. */
export function makeDate(field, language) {
    const element = make('p', { className: 'entry entry-date' }), own = { field, element, canvas: makeCanvas(field) }
    const now = new Date()
    place(element, field.percent)
    element.append(make('span', { textContent: new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(now) }))
    prepareInk(own)
    return Object.assign(own, { filled: () => true, value: () => null, isGiven: () => false })
}

export function makeEntry(field) {
    const element = make('div', { className: `entry entry-${field.type}` }), control = makeControl(field)
    element.classList.toggle('lines', Boolean(field.multiline))
    const { about, fault } = makeAbout(field), isBox = field.type === 'checkbox'
    const own = {
        field, element, target: control, control, controls: [control], canvas: makeCanvas(field), seen: false,
        fault: '',
    }
    Object.assign(control, { id: `value-${field.number}`, className: 'control', dir: 'auto', required: field.required })
    control.setAttribute('aria-label', field.name)
    control.setAttribute('aria-describedby', fault.id)
    place(element, field.percent)
    element.append(control, about)
    prepareInk(own)
    const mark = () => {
        element.classList.toggle('filled', own.filled())
        element.classList.toggle('required', field.required)
        element.classList.toggle('faulty', Boolean(own.fault))
        control.setAttribute('aria-invalid', String(Boolean(own.fault)))
    }
    Object.assign(own, {
        value: () => (isBox ? control.checked : control.value),
        filled: () => (isBox ? control.checked : Boolean(control.value.trim())),
        /** Whether this is the value of the caller. */
        isGiven: () => own.value() === (field.value || (isBox ? false : '')),
        set: value => {
            control[isBox ? 'checked' : 'value'] = value
            own.changed()
        },
        /** What is shown and said of the value before is gone. */
        changed: () => {
            own.show(null)
            own.say('')
        },
        say: message => {
            fault.textContent = own.fault = message
            mark()
        },
    })
    own.changed()
    return own
}
