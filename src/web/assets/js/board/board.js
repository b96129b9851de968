// SPDX-License-Identifier: Apache-2.0
// board.js: brings the parts of the placement page together: pages, fields, palette, list, keys and buttons.
import { setUnsent } from '../leaving.js'
import { text } from '../texts.js'
import { makeActions } from './actions.js'
import { makeBoxes } from './boxes.js'
import { prepareDrag } from './drag.js'
import { prepareKeys } from './keys.js'
import { isOfForm } from './kinds.js'
import { prepareList, prepareOffers } from './list.js'
import { prepareMembers } from './members.js'
import { makeModel } from './model.js'
import { preparePalette } from './palette.js'
import { prepareProof } from './proof.js'
import { prepareSave } from './save.js'
import { prepareSend } from './send.js'
import { makeSnap } from './snap.js'
import { makeStage } from './stage.js'

const OF_FIELD = ['duplicate', 'all', 'delete', 'details'] // what is done with the field that is selected
const COPIES = '[data-act=duplicate], [data-act=all]'
const narrow = matchMedia('(max-width: 47.99rem)') // as in place.css: the list covers the pages

const announce = message => (document.querySelector('[data-live]').textContent = message)

/** How much of the window the head covers, and in narrow windows the palette. The style sheet uses it as well. */
function measureRoom() {
    const bars = { head: document.querySelector('[data-head]'), foot: document.querySelector('.palette') }
    const covered = [0, 0], fixed = { head: 'sticky', foot: 'fixed' }
    const observer = new ResizeObserver(() => Object.entries(bars).forEach(([name, bar], at) => {
        covered[at] = getComputedStyle(bar).position === fixed[name] ? bar.offsetHeight : 0
        document.documentElement.style.setProperty(`--${name}`, `${covered[at]}px`)
    }))
    for (const bar of Object.values(bars)) observer.observe(bar)
    return () => covered
}

export function startBoard(state, link, tell) {
    const model = makeModel(state), room = measureRoom(), root = document.documentElement
    let boxes = null, snap = null, drag = null, offers = null, save = null, check = () => {}
    /** The page of what has the focus or is dragged. */
    const keep = () => {
        const field = document.activeElement?.matches('.box') && boxes.at(document.activeElement)
        return drag.keeps() ?? (field ? `${field.document} ${field.page}` : null)
    }
    const stage = makeStage(state, link, { announce, keep, room,
        shown: page => { boxes.shown(page); snap.learn(page); offers?.shown(page) },
        hidden: page => boxes.hidden(page) })
    boxes = makeBoxes(model, stage.pages)
    snap = makeSnap(model, stage, link)
    model.on(what => (what === 'fields' ? boxes.update() : boxes.mark()))

    const fields = makeActions(model, { stage, boxes, most: state.limits.fields, announce,
        added: () => palette.disarm() })
    const restored = is => {
        if (document.activeElement === document.body) stage.area.focus({ preventScroll: true })
        if (is) announce(text(is))
    }
    const actions = {
        ...fields,
        details: () => {
            root.classList.add('listed')
            members.focus()
        },
        list: () => root.classList.toggle('listed'),
        close: () => root.classList.remove('listed'),
        undo: () => restored(model.undo() && 'placing.undone'),
        redo: () => restored(model.redo() && 'placing.redone'),
        preview: () => proof(palette.signer),
    }
    const palette = preparePalette(model, {
        add: fields.place, take: (...what) => drag.take(...what), changed: kind => kind || drag?.cancel(),
    })
    drag = prepareDrag({ model, stage, boxes, snap, room, drop: fields.drop, armed: palette.armed })
    const members = prepareMembers(model, { changed: stage.reveal, back: () => {
        root.classList.remove('listed')
        fields.focus(model.selected.id)
    } })
    prepareList(model, { open: (id, byKeyboard) => {
        model.select(id)
        stage.reveal(model.get(id))
        if (byKeyboard) members.focus()
        else if (!narrow.matches) fields.focus(id)
    } })
    save = prepareSave(model, state, link, { announce, tell, told: next => check(next), ended: () => {
        setUnsent(false)
        location.reload()
    } })
    check = prepareSend(model, state, link, { save, tell, help: ({ signer, field }) => {
        if (field) fields.focus(field)
        if (!signer) return
        palette.choose(signer)
        document.querySelector('[data-kind=signature]').focus()
    } })
    const proof = prepareProof(model, link, stage.current)
    stage.start()
    offers = prepareOffers(model, link, stage, { signer: () => palette.signer, add: fresh => {
        const [first] = fields.add(fresh)
        if (first) model.select(first.id)
    } })

    prepareKeys(model, { boxes, actions, stop: () => {
        const isCovered = narrow.matches && root.classList.contains('listed')
        const is = Boolean(palette.armed() || drag.isCarrying() || isCovered)
        palette.disarm()
        drag.cancel()
        root.classList.remove('listed')
        return is
    } })
    const buttons = [...document.querySelectorAll('[data-act]')], quick = document.querySelector('[data-quick]')
    for (const button of buttons) button.addEventListener('click', () => {
        const { act } = button.dataset
        if (!OF_FIELD.includes(act)) actions[act]()
        else if (model.selected) actions[act](model.selected)
    })
    const [undo, redo] = ['undo', 'redo'].map(act => buttons.find(({ dataset }) => dataset.act === act))
    const show = () => {
        undo.disabled = !model.canUndo
        redo.disabled = !model.canRedo
        quick.hidden = !model.selected
        const isOwn = model.selected && !isOfForm(model.selected)
        for (const button of buttons) if (button.matches(COPIES)) button.hidden = !isOwn
        check()
    }
    model.on(show)
    show()
    stage.area.addEventListener('focusin', ({ target }) => {
        const field = boxes.at(target)
        if (field) model.select(field.id)
    })
}
