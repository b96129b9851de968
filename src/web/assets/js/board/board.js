// SPDX-License-Identifier: Apache-2.0
// board.js: brings the parts of the placement page together: pages, fields, palette, list, keys and buttons.
import { setUnsent } from '../leaving.js'
import { text } from '../texts.js'
import { makeBoxes } from './boxes.js'
import { prepareDrag } from './drag.js'
import { isOfForm, kindOf, KINDS, labelOf, makeField } from './kinds.js'
import { prepareList, prepareOffers } from './list.js'
import { prepareMembers } from './members.js'
import { makeModel } from './model.js'
import { preparePalette } from './palette.js'
import { prepareProof } from './proof.js'
import { prepareSave } from './save.js'
import { prepareSend } from './send.js'
import { makeSnap } from './snap.js'
import { makeStage } from './stage.js'

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
const FAR = 10, APART = 12 // points: a step with Shift; between a field and its copy

const announce = message => (document.querySelector('[data-live]').textContent = message)
const within = (value, least, most) => Math.max(Math.min(value, most), least)

/** How much of the window the head covers, and on small screens the palette; the style sheet knows it as well. */
function measureRoom() {
    const head = document.querySelector('[data-head]'), palette = document.querySelector('.palette'), covered = [0, 0]
    const measure = () => {
        const heights = [head, palette].map(each => (['sticky', 'fixed'][Number(each === palette)]
            === getComputedStyle(each).position ? each.offsetHeight : 0))
        Object.assign(covered, heights)
        document.documentElement.style.setProperty('--head', `${covered[0]}px`)
        document.documentElement.style.setProperty('--foot', `${covered[1]}px`)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(head)
    observer.observe(palette)
    measure()
    return () => covered
}

export function startBoard(state, link, tell) {
    const model = makeModel(state), most = state.limits?.fields ?? 1000, root = document.documentElement
    const room = measureRoom()
    let boxes = null, snap = null, drag = null, offers = null
    const keep = () => {
        if (drag?.keeps()) return drag.keeps()
        const field = document.activeElement?.matches('.box') && boxes.at(document.activeElement)
        return field ? `${field.document} ${field.page}` : null
    }
    const stage = makeStage(state, link, { announce, keep, room,
        shown: page => { boxes.shown(page); snap.learn(page); offers?.shown(page) },
        hidden: page => boxes.hidden(page) })
    boxes = makeBoxes(model, stage.pages)
    snap = makeSnap(model, stage, link)
    model.on(what => (what === 'fields' ? boxes.update() : boxes.mark()))

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
        palette.disarm()
        if (!made) return
        focus(made.id)
        announce(text('placing.added', { kind: labelOf(made), signer: model.nameOf(made.signer), page: made.page + 1 }))
    }
    /** By the keyboard: in the middle of what is seen of the page, below the fields that are there. */
    const place = (kind, signer) => {
        const { document: uuid, n: page, size: [width, height], top, scale } = stage.current()
        const [w, h] = KINDS[kind].size
        const there = model.fields.filter(field => field.document === uuid && field.page === page)
        const x = Math.max(0, (width - w) / 2)
        let y = within((innerHeight / 2 - top) / scale - h / 2, 0, height - h)
        const overlap = (from, length, other, otherLength) => from < other + otherLength && from + length > other
        const isTaken = ({ percent }) =>
            overlap(x, w, (percent.x * width) / 100, (percent.w * width) / 100)
            && overlap(y, h, (percent.y * height) / 100, (percent.h * height) / 100)
        while (there.some(isTaken) && y + h + APART < height) y += APART
        drop({ ...makeField(kind, signer, model.fields), document: uuid, page, percent: { x: (100 * x) / width,
            y: (100 * y) / height, w: (100 * w) / width, h: (100 * h) / height } })
    }
    const copyOf = (field, page, [dx, dy]) => {
        const [width, height] = model.sizeOf(field), [toWidth, toHeight] = model.sizeOf({ ...field, page })
        const { x, y, w, h } = field.percent, wide = (w * width) / toWidth, high = (h * height) / toHeight
        return { ...field, area: undefined, page, percent: { x: within(x + (100 * dx) / width, 0, Math.max(100 - wide, 0)),
            y: within(y + (100 * dy) / height, 0, Math.max(100 - high, 0)), w: wide, h: high } }
    }
    const isAlike = (a, b) => a.signer === b.signer && kindOf(a) === kindOf(b)
        && Math.abs(a.percent.x - b.percent.x) < 0.1 && Math.abs(a.percent.y - b.percent.y) < 0.1
    const actions = {
        duplicate: field => {
            if (isOfForm(field)) return
            const kind = kindOf(field), { name } = makeField(kind, field.signer, model.fields)
            drop({ ...copyOf(field, field.page, [APART, APART]), ...KINDS[kind].members.length && { name } })
        },
        all: field => {
            if (isOfForm(field)) return
            const there = model.fields.filter(each => each.document === field.document && isAlike(each, field))
            const free = Array.from({ length: model.pagesOf(field.document) }, (_, page) => page)
                .filter(page => !there.some(each => each.page === page))
            const made = add(free.map(page => copyOf(field, page, [0, 0])))
            announce(text('placing.copied', { number: made.length }))
        },
        delete: field => {
            const at = model.fields.indexOf(field)
            model.remove(field.id)
            const next = model.fields[Math.min(at, model.fields.length - 1)]
            if (next && document.activeElement?.closest('.box, body')) focus(next.id)
            else if (!next) stage.area.focus({ preventScroll: true })
            announce(text('placing.deleted', { name: field.name }))
        },
        details: () => {
            root.classList.add('listed')
            members.focus()
        },
        list: () => root.classList.toggle('listed'),
        close: () => root.classList.remove('listed'),
        undo: () => model.undo() && announce(text('placing.undone')),
        redo: () => model.redo() && announce(text('placing.redone')),
        preview: () => proof(),
    }
    const action = name => (['duplicate', 'all', 'delete', 'details'].includes(name)
        ? model.selected && actions[name](model.selected) : actions[name]())

    const palette = preparePalette(model, {
        add: place, take: (...what) => drag.take(...what), changed: kind => kind || drag?.cancel(),
    })
    drag = prepareDrag({ model, stage, boxes, snap, room, drop, armed: palette.armed })
    const members = prepareMembers(model, { action, changed: stage.reveal, back: () => {
        root.classList.remove('listed')
        focus(model.selected.id)
    } })
    prepareList(model, { open: (id, byKeyboard) => {
        model.select(id)
        stage.reveal(model.get(id))
        if (byKeyboard) members.focus()
        else if (!matchMedia('(max-width: 47.99rem)').matches) focus(id)
    } })
    let save = null, problems = () => {}
    save = prepareSave(model, state, link, { announce, tell, told: next => problems(next), ended: () => {
        setUnsent(false)
        location.reload()
    } })
    problems = prepareSend(model, state, link, { save: () => save, tell, help: ({ signer, field }) => {
        if (field) focus(field)
        if (!signer) return
        palette.choose(signer)
        document.querySelector('[data-kind=signature]').focus()
    } })
    const proof = prepareProof(model, link, { save, current: stage.current })
    stage.start()
    offers = prepareOffers(model, link, stage, { signer: () => palette.signer, add: fresh => {
        const made = add(fresh)
        if (made.length) model.select(made[0].id)
    } })

    // --- buttons and keys
    for (const button of document.querySelectorAll('[data-act]'))
        button.addEventListener('click', () => action(button.dataset.act))
    const [undo, redo] = ['undo', 'redo'].map(name => document.querySelector(`[data-act=${name}]`))
    const quick = document.querySelector('[data-quick]')
    const show = () => {
        undo.disabled = !model.canUndo
        redo.disabled = !model.canRedo
        quick.hidden = !model.selected
        problems(null)
    }
    model.on(show)
    show()

    const move = (field, [dx, dy], { shiftKey, ctrlKey }) => {
        const [width, height] = model.sizeOf(field), by = shiftKey ? FAR : 1, least = KINDS[kindOf(field)].least
        const percent = { ...field.percent }, px = (100 * dx * by) / width, py = (100 * dy * by) / height
        if (ctrlKey) {
            percent.w = within(percent.w + px, (100 * least[0]) / width, Math.max(100 - percent.x, percent.w))
            percent.h = within(percent.h + py, (100 * least[1]) / height, Math.max(100 - percent.y, percent.h))
        } else {
            percent.x = within(percent.x + px, Math.min(0, percent.x), Math.max(100 - percent.w, percent.x))
            percent.y = within(percent.y + py, Math.min(0, percent.y), Math.max(100 - percent.h, percent.y))
        }
        model.update(field.id, { percent }, ctrlKey ? 'size' : 'move')
        stage.reveal(model.get(field.id))
    }
    /** Keys of the field that has the focus. True: the browser does nothing more. */
    const press = (field, event) => {
        const { key, shiftKey, ctrlKey, metaKey } = event
        if (ARROWS[key]) return isOfForm(field) || move(field, ARROWS[key], event) || true
        if (key === 'Delete' || key === 'Backspace') return actions.delete(field) || true
        if (key.toLowerCase() === 'd' && (ctrlKey || metaKey)) return actions.duplicate(field) || true
        if (key === 'Enter' || key === ' ') return actions.details() || true
        if (key === 'Escape') return model.select(null) || true
        if (key !== 'Tab') return false
        const next = model.fields[model.fields.indexOf(field) + (shiftKey ? -1 : 1)]
        if (next) focus(next.id)
        return Boolean(next)
    }
    addEventListener('keydown', event => {
        const { key, ctrlKey, metaKey, shiftKey, target } = event
        const isWriting = target.matches('input:not([type=checkbox], [type=radio]), textarea')
        if (isWriting || document.querySelector('dialog[open]')) return
        const field = target.matches('.box') && boxes.at(target)
        let done = false
        if (key === 'Escape' && (palette.armed() || drag.isCarrying())) {
            palette.disarm()
            drag.cancel()
            done = true
        } else if ((ctrlKey || metaKey) && ['z', 'y'].includes(key.toLowerCase())) {
            const id = field?.id
            actions[shiftKey || key.toLowerCase() === 'y' ? 'redo' : 'undo']()
            if (id && !model.get(id)) stage.area.focus({ preventScroll: true })
            done = true
        } else if (field) done = press(field, event)
        if (done) event.preventDefault()
    })
    stage.area.addEventListener('focusin', ({ target }) => {
        const field = boxes.at(target)
        if (field) model.select(field.id)
    })
}
