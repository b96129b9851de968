// SPDX-License-Identifier: Apache-2.0
// actions.js: what is done with fields: they are added, copied, moved by keys and deleted.
import { within } from '../place.js'
import { text } from '../texts.js'
import { isOfForm, kindOf, KINDS, labelOf, makeField } from './kinds.js'
import { percentOf, pointsOf } from './model.js'

const FAR = 10, APART = 12 // points: a step with Shift; between a field and its copy

const overlap = (from, length, other, otherLength) => from < other + otherLength && from + length > other
const isAlike = (a, b) => a.signer === b.signer && kindOf(a) === kindOf(b) && a.document === b.document
    && Math.abs(a.percent.x - b.percent.x) < 0.1 && Math.abs(a.percent.y - b.percent.y) < 0.1

/** `most`: how many fields there can be. `added()` is called before a new field gets the focus. */
export function makeActions(model, { stage, boxes, most, added, announce }) {
    const focus = id => {
        const field = model.get(id)
        if (!field) return
        model.select(id)
        stage.reveal(field)
        boxes.elementOf(id)?.focus({ preventScroll: true })
    }
    /** New fields, as far as there is room for them. */
    const add = fresh => {
        const made = fresh.slice(0, Math.max(most - model.fields.length, 0))
            .map(field => ({ ...field, id: model.newId() }))
        if (made.length) model.change([...model.fields, ...made])
        if (made.length < fresh.length) announce(text('placing.most', { number: most }))
        return made
    }
    const drop = field => {
        const [made] = add([field])
        added()
        if (!made) return
        focus(made.id)
        announce(text('placing.added', { kind: labelOf(made), signer: model.nameOf(made.signer), page: made.page + 1 }))
    }
    /** By the keyboard: in the middle of what is seen of the page, below the fields that are there. */
    const place = (kind, signer) => {
        const { document: uuid, n: page, size, top, scale } = stage.current(), [width, height] = size
        const [w, h] = KINDS[kind].size, x = Math.max(0, (width - w) / 2)
        const there = model.fields.filter(field => field.document === uuid && field.page === page)
            .map(({ percent }) => pointsOf(percent, size))
        let y = within((innerHeight / 2 - top) / scale - h / 2, 0, height - h)
        const isTaken = ([left, upper, wide, high]) => overlap(x, w, left, wide) && overlap(y, h, upper, high)
        while (there.some(isTaken) && y + h + APART < height) y += APART
        const field = makeField(kind, signer, model.fields)
        drop({ ...field, document: uuid, page, percent: percentOf([x, y, w, h], size) })
    }
    /** Of the same size in points, moved by some of them. */
    const copyOf = (field, page, by) => {
        const [width, height] = model.sizeOf(field), [toWidth, toHeight] = model.sizeOf({ ...field, page })
        const { x, y, w, h } = field.percent, wide = (w * width) / toWidth, high = (h * height) / toHeight
        return { ...field, area: undefined, page, percent: { w: wide, h: high,
            x: within(x + (100 * by) / width, 0, Math.max(100 - wide, 0)),
            y: within(y + (100 * by) / height, 0, Math.max(100 - high, 0)) } }
    }
    const move = (field, [dx, dy], { shiftKey, ctrlKey }) => {
        const [width, height] = model.sizeOf(field), by = shiftKey ? FAR : 1, [wide, high] = KINDS[kindOf(field)].least
        const percent = { ...field.percent }, px = (100 * dx * by) / width, py = (100 * dy * by) / height
        if (ctrlKey) {
            percent.w = within(percent.w + px, (100 * wide) / width, Math.max(100 - percent.x, percent.w))
            percent.h = within(percent.h + py, (100 * high) / height, Math.max(100 - percent.y, percent.h))
        } else {
            percent.x = within(percent.x + px, Math.min(0, percent.x), Math.max(100 - percent.w, percent.x))
            percent.y = within(percent.y + py, Math.min(0, percent.y), Math.max(100 - percent.h, percent.y))
        }
        model.update(field.id, { percent }, ctrlKey ? 'size' : 'move')
        stage.reveal(model.get(field.id))
    }
    const duplicate = field => {
        if (isOfForm(field)) return
        const kind = kindOf(field), { name } = makeField(kind, field.signer, model.fields)
        drop({ ...copyOf(field, field.page, APART), ...KINDS[kind].members.length && { name } })
    }
    const all = field => {
        if (isOfForm(field)) return
        const taken = new Set(model.fields.filter(each => isAlike(each, field)).map(({ page }) => page))
        const pages = Array.from({ length: model.pagesOf(field.document) }, (_, page) => page)
        const made = add(pages.filter(page => !taken.has(page)).map(page => copyOf(field, page, 0)))
        announce(text('placing.copied', { number: made.length }))
    }
    /** Then the next field of the page has the focus. */
    const remove = field => {
        const at = model.fields.indexOf(field), there = [model.fields[at + 1], model.fields[at - 1]]
        const next = there.find(each => each?.document === field.document && each.page === field.page)
        model.change(model.fields.filter(each => each !== field))
        if (next) focus(next.id)
        else stage.area.focus({ preventScroll: true })
        announce(text('placing.deleted', { name: field.name }))
    }
    return { focus, add, drop, place, move, duplicate, all, delete: remove }
}
