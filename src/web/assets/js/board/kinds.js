// SPDX-License-Identifier: Apache-2.0
// kinds.js: the kinds of fields that can be placed, what a new field of each kind is like, and what is wrong with the
// members of a field. A radio button is a check box in a group. Sizes are in points; `least` is the smallest one.
import { text } from '../texts.js'

export const KINDS = {
    signature: { label: 'placing.signature', size: [180, 50], least: [40, 16], members: [] },
    initials: { label: 'placing.initials', size: [60, 30], least: [20, 12], members: [] },
    date: { label: 'placing.date', size: [100, 18], least: [30, 8], members: [] },
    text: { label: 'placing.text', size: [160, 18], least: [20, 8],
        members: ['value', 'format', 'maxLength', 'multiline', 'required', 'readOnly'] },
    checkbox: { label: 'placing.checkbox', size: [14, 14], least: [8, 8], members: ['ticked', 'required', 'readOnly'] },
    radio: { label: 'placing.radio', size: [14, 14], least: [8, 8],
        members: ['group', 'ticked', 'required', 'readOnly'] },
    choice: { label: 'placing.choice', size: [140, 18], least: [30, 8],
        members: ['options', 'value', 'required', 'readOnly'] },
}
const LETTERS = 12, MIDDLE = 0.35 // points, the greatest size of letters; their middle above the base line, in ems

export const kindOf = ({ type, group }) => (type === 'checkbox' && group ? 'radio' : type)
export const labelOf = field => text(KINDS[kindOf(field)]?.label ?? field.type)
export const isOfForm = ({ area }) => Boolean(area?.field)
export const isRequired = ({ type, required }) => required ?? ['text', 'choice'].includes(type)

/** How far the base line of what is written in a field is above its lower edge, in points. */
export function baseOf({ type }, height) {
    if (!['text', 'date', 'choice'].includes(type)) return 0
    return height / 2 - MIDDLE * Math.min(LETTERS, 0.8 * height)
}

/** A new field without a place. The number of `fields` of its kind is in its name. */
export function makeField(kind, signer, fields) {
    const type = kind === 'radio' ? 'checkbox' : kind, label = text(KINDS[kind].label)
    const number = fields.filter(field => kindOf(field) === kind).length + 1
    const field = { type, signer, name: KINDS[kind].members.length ? `${label} ${number}` : label }
    const option = at => text('placing.option', { number: at })
    if (kind === 'choice') field.options = [option(1), option(2)]
    if (kind !== 'radio') return field
    const last = fields.filter(each => each.signer === signer && each.group).at(-1)
    return { ...field, group: last?.group ?? text('placing.group.name', { number: 1 }), required: true }
}

/** The field as one of another kind: its place, and its name if somebody gave it one. */
export function convert({ id, document, page, signer, name, ...field }, kind, fields) {
    const made = makeField(kind, signer, fields), isGiven = !name.startsWith(labelOf(field))
    return { ...made, id, document, page, name: isGiven ? name : made.name, }
}

const FORMATS = {
    integer: /^-?\d+$/, decimal: /^-?\d+([.,]\d+)?$/, email: /^[^@\s]+@[^@\s]+\.[^@\s]+$/, date: /^\d{4}-\d\d-\d\d$/,
}
export const formats = Object.keys(FORMATS)

/** What is wrong, by member. The service checks the same and more. */
export function faultsOf(field) {
    const { type, name, options = [], value, readOnly, format, maxLength } = field, faults = {}
    if (!name.trim()) faults.name = text('placing.fault.name')
    if (type === 'choice' && !isOfForm(field)
        && (options.length < 2 || options.length > 100 || new Set(options).size < options.length))
        faults.options = text('placing.fault.options')
    if (typeof value === 'string' && value) {
        const fits = type === 'choice' ? options.includes(value)
            : (!format || FORMATS[format].test(value)) && value.length <= (maxLength ?? Infinity)
        if (!fits) faults.value = text('placing.fault.value')
    } else if (readOnly && value == null && !isOfForm(field)) {
        faults.value = text('placing.fault.empty')
    }
    return faults
}
export const isFaulty = field => Object.keys(faultsOf(field)).length > 0
