// SPDX-License-Identifier: Apache-2.0
// conflict.js: two people, or two tabs, have changed the fields: what each of them did, and the choice of what stays.
import { prepareDialog } from '../dialog.js'
import { text } from '../texts.js'
import { make } from './boxes.js'
import { labelOf } from './kinds.js'

const SHOWN = 6 // fields of each side

/** The fields of `list` that are not in `other`; equal fields count. */
function without(model, list, other) {
    const counts = new Map()
    for (const field of other) counts.set(model.keyOf(field), (counts.get(model.keyOf(field)) ?? 0) + 1)
    return list.filter(field => {
        const key = model.keyOf(field), count = counts.get(key) ?? 0
        counts.set(key, count - 1)
        return count <= 0
    })
}

/** What both sides did since `base`. `both` has what any of them added, without what this side removed. */
export function difference(model, base, mine, theirs) {
    const added = without(model, mine, base), removed = without(model, base, mine)
    const sides = [[added, removed], [without(model, theirs, base), without(model, base, theirs)]]
    const fresh = without(model, added, theirs).map(field => ({ ...field, id: model.newId() }))
    return {
        sides, both: [...without(model, theirs, removed), ...fresh],
        none: !sides[1].flat().length || ![...without(model, mine, theirs), ...without(model, theirs, mine)].length,
    }
}

function listOf(model, [added, removed]) {
    const row = key => field => make('li', { textContent: text(key, {
        name: field.name, kind: labelOf(field), signer: model.nameOf(field.signer), page: field.page + 1 }) })
    const rows = [...added.map(row('placing.added.row')), ...removed.map(row('placing.removed.row'))]
    const items = rows.slice(0, SHOWN)
    if (rows.length > SHOWN) items.push(make('li', { textContent: `+${rows.length - SHOWN}` }))
    return items
}

/** `settle('mine' | 'theirs' | 'both')` is called with the choice. */
export function prepareConflict(model, settle) {
    const dialog = prepareDialog('conflict'), lists = [...dialog.querySelectorAll('ul')]
    dialog.addEventListener('click', event => {
        const { keep } = event.target.closest('[data-keep]')?.dataset ?? {}
        if (!keep) return
        dialog.close()
        settle(keep)
    })
    return {
        show: ({ sides }) => {
            sides.forEach((side, at) => lists[at].replaceChildren(...listOf(model, side)))
            dialog.present()
        },
    }
}
