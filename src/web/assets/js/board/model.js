// SPDX-License-Identifier: Apache-2.0
// model.js: the fields, as they are and as they were. A change makes a new list of fields, so each change can be
// undone, and a field that did not change is the same object as before.
const MOST = 300 // changes that can be undone
const SAME = 1500 // milliseconds: changes of one field in one way that follow each other are undone together
const UNSENT = ['id', 'signer', 'rect', 'labels', 'comb', 'color', 'buttons'] // of this page, or found by the service

/** [x, y, w, h] in points of a place in percent of a page of [width, height], and back. */
export const pointsOf = ({ x, y, w, h }, [width, height]) =>
    [x * width, y * height, w * width, h * height].map(each => each / 100)
export const percentOf = ([x, y, w, h], [width, height]) =>
    ({ x: (100 * x) / width, y: (100 * y) / height, w: (100 * w) / width, h: (100 * h) / height })

const rounded = value => Math.round(value * 1e4) / 1e4

/** [pages, width, height] of the page, in points. */
function sizeOf({ pages }, n) {
    let left = n
    for (const { count, width, height } of pages) {
        if (left < count) return [width, height]
        left -= count
    }
    return [612, 792]
}

/** The field as the service takes it. A field that was not moved has the area that it came with. */
function sent({ document, percent, page, area, ...members }, names) {
    const own = Object.entries(members).filter(([key, value]) => value != null && !UNSENT.includes(key)).sort()
    const [x, y, w, h] = ['x', 'y', 'w', 'h'].map(side => rounded(percent[side]))
    return { ...Object.fromEntries(own), document: names.get(document),
        area: area ?? { x, y, w, h, page, unit: 'percent' } }
}

export function makeModel(state) {
    const { documents, signers } = state, listeners = new Set(), past = [], future = []
    const orders = new Map(documents.map(({ uuid }, at) => [uuid, at]))
    const names = new Map(documents.map(({ uuid, name }) => [uuid, name]))
    const uuidOf = document => documents.find(({ uuid, name }) => [uuid, name].includes(document))?.uuid
    let fields = [], byId = new Map(), selected = null, last = {}, ids = 0

    const tell = what => listeners.forEach(listener => listener(what))
    const order = (a, b) => orders.get(a.document) - orders.get(b.document) || a.page - b.page
        || a.percent.y - b.percent.y || a.percent.x - b.percent.x
    const show = next => {
        fields = [...next].sort(order)
        byId = new Map(fields.map(field => [field.id, field]))
        if (!byId.has(selected)) selected = null
        tell('fields')
    }
    /** The fields of a state of the service. What is known already keeps its identity. */
    const read = given => {
        const known = new Map(fields.map(field => [model.keyOf(field), field]))
        return given.signers.flatMap(({ number, fields: own }) => own.map(({ ...field }) => {
            const made = { ...field, signer: number, document: uuidOf(field.document) }
            const { unit, pageFrom, anchor } = made.area
            // such an area would say the same again; an anchor at all of its texts is a field for each of them
            if ((unit === 'percent' && !pageFrom) || anchor?.occurrence === 'all') delete made.area
            const key = model.keyOf(made), same = known.get(key)
            known.delete(key)
            return same ?? { ...made, id: ++ids }
        }))
    }
    const model = {
        documents, signers,
        get fields() { return fields },
        get selected() { return byId.get(selected) },
        get canUndo() { return past.length > 0 },
        get canRedo() { return future.length > 0 },
        get: id => byId.get(id),
        on: listener => listeners.add(listener),
        sizeOf: ({ document, page }) => sizeOf(documents[orders.get(document)], page),
        pagesOf: document => documents[orders.get(document)].pages.reduce((sum, { count }) => sum + count, 0),
        nameOf: number => {
            const { firstname, lastname } = signers[number - 1]
            return [firstname, lastname].filter(Boolean).join(' ')
        },
        newId: () => ++ids,
        /** What makes two fields the same, for a person: everything but the number that they have here. */
        keyOf: field => JSON.stringify([field.signer, sent(field, names)]),
        wire: (all = fields) => ({
            signers: signers.map(({ number }) => ({
                fields: all.filter(({ signer }) => signer === number).map(field => sent(field, names)),
            })),
        }),
        read,
        select: id => {
            if (id === selected) return
            selected = id
            last = {}
            tell('selection')
        },
        /** `tag` names the way of a change, which may continue the last one. */
        change: (next, tag) => {
            const now = Date.now()
            if (!tag || tag !== last.tag || now - last.at > SAME) past.push(fields)
            if (past.length > MOST) past.shift()
            future.length = 0
            last = { tag, at: now }
            show(next)
        },
        update: (id, what, tag) => {
            const { ...field } = byId.get(id)
            // a field that is moved leaves its anchor
            if (what.percent || 'page' in what || what.document) delete field.area
            const made = { ...field, ...what }
            const isOther = each => made.value && made.group && each.group === made.group && each.signer === made.signer
            model.change(fields.map(each => (each.id === id ? made // one button of a group is chosen
                : isOther(each) && each.value ? { ...each, value: undefined } : each)), tag && `${tag} ${id}`)
        },
        undo: () => model.step(past, future),
        redo: () => model.step(future, past),
        step: (from, to) => {
            if (!from.length) return false
            to.push(fields)
            last = {}
            show(from.pop())
            return true
        },
    }
    show(read(state))
    return model
}
