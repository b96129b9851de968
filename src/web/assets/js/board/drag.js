// SPDX-License-Identifier: Apache-2.0
// drag.js: fields are carried and resized with mouse, pen and finger. What is carried is drawn above the page and moved
// by a transform, once for each frame, so that nothing is laid out before it is dropped.
import { within } from '../place.js'
import { paintBox } from './boxes.js'
import { isOfForm, kindOf, KINDS, makeField } from './kinds.js'
import { percentOf, pointsOf } from './model.js'

const START = 4 // CSS pixels: less is a click
const EDGE = 56, SPEED = 14 // CSS pixels: near the edge of the window the pages scroll, so much in each frame

/** `armed()` is the kind that the next click on a page places, with the signer who gets it; `drop(field)` adds one. */
export function prepareDrag({ model, stage, boxes, snap, room, armed, drop }) {
    const ghost = document.querySelector('[data-ghost]'), lines = [...document.querySelectorAll('[data-guide]')]
    const { area } = stage
    let carried = null, waiting = 0

    const guide = (found, page) => {
        for (const line of lines) {
            const at = found?.[line.dataset.guide]
            line.hidden = at === undefined
            if (line.hidden) continue
            const { left, top, scale, size: [width, height] } = page
            line.style.transform = line.dataset.guide === 'x'
                ? `translate(${left + at * scale}px, ${top}px) scaleY(${height * scale})`
                : `translate(${left}px, ${top + at * scale}px) scaleX(${width * scale})`
        }
    }
    /** The place in points on a page, or null beside the pages. */
    const moved = ({ field, grab, now, free }) => {
        const page = stage.pageAt(now.x, now.y)
        if (!page) return null
        const [width, height] = page.size, [w, h] = carried.size
        const fit = (at, length, room) => within(at, Math.min(0, room - length), Math.max(0, room - length))
        let x = fit((now.x - page.left) / page.scale - grab[0] * w, w, width)
        let y = fit((now.y - page.top) / page.scale - grab[1] * h, h, height)
        const found = free ? null : snap.snap(field, [x, y, w, h], page)
        if (found) [x, y] = [x + found.dx, y + found.dy]
        return { page, found, rect: [x, y, w, h] }
    }
    const resized = ({ field, side, from, start, now, free, page }) => {
        const { scale, size: [width, height] } = page, { least } = KINDS[kindOf(field)]
        const dx = (now.x - start.x) / scale, dy = (now.y - start.y) / scale
        let [l, t, r, b] = [from[0], from[1], from[0] + from[2], from[1] + from[3]]
        if (side.includes('w')) l = within(l + dx, 0, r - least[0])
        if (side.includes('e')) r = within(r + dx, l + least[0], width)
        if (side.includes('n')) t = within(t + dy, 0, b - least[1])
        if (side.includes('s')) b = within(b + dy, t + least[1], height)
        const edges = [...side].map(each => ({ w: 'l', e: 'r', n: 't', s: 'b' })[each]).join('')
        const found = free ? null : snap.snap(field, [l, t, r - l, b - t], page, edges)
        if (found) {
            if (side.includes('w')) l = Math.min(l + found.dx, r - least[0])
            if (side.includes('e')) r = Math.max(r + found.dx, l + least[0])
            if (side.includes('n')) t = Math.min(t + found.dy, b - least[1])
            if (side.includes('s')) b = Math.max(b + found.dy, t + least[1])
        }
        return { found, rect: [l, t, r - l, b - t] }
    }
    const scroll = y => {
        const [above, below] = room()
        const by = y < above + EDGE ? -SPEED : y > innerHeight - below - EDGE ? SPEED : 0
        if (!by) carried.entered = true // what comes from the palette passes the edge
        if (!by || !carried.entered) return false
        scrollBy({ top: by, behavior: 'instant' })
        return true
    }
    /** One frame: where it is, what it keeps to, and how it looks there. */
    const frame = () => {
        waiting = 0
        if (!carried) return
        const again = carried.pressed && scroll(carried.now.y)
        const page = carried.side && stage.whereIs(carried.field.document, carried.field.page)
        const place = carried.side ? { page, ...resized({ ...carried, page }) } : moved(carried)
        carried.place = place
        ghost.hidden = !place && !carried.pressed
        ghost.classList.toggle('nowhere', !place)
        const scale = place?.page.scale ?? carried.scale, [w, h] = place ? place.rect.slice(2) : carried.size
        const x = place ? place.page.left + place.rect[0] * scale : carried.now.x - carried.grab[0] * w * scale
        const y = place ? place.page.top + place.rect[1] * scale : carried.now.y - carried.grab[1] * h * scale
        const size = `${w * scale} ${h * scale}`
        ghost.style.transform = `translate(${x}px, ${y}px)`
        if (size !== carried.drawn) { // a field that is moved keeps its size
            carried.drawn = size
            Object.assign(ghost.style, { inlineSize: `${w * scale}px`, blockSize: `${h * scale}px` })
            ghost.style.setProperty('--point', `${scale}px`)
        }
        guide(place?.found, place?.page)
        if (again) request()
    }
    const request = () => (waiting ||= requestAnimationFrame(frame))
    const see = event => {
        Object.assign(carried, { now: { x: event.clientX, y: event.clientY }, free: event.altKey })
        request()
    }
    const lift = () => {
        carried.lifted = true
        paintBox(ghost, carried.field)
        ghost.classList.add('ghost')
        boxes.elementOf(carried.field.id)?.classList.add('lifted')
        document.documentElement.classList.add('carrying')
    }
    const end = () => {
        cancelAnimationFrame(waiting)
        waiting = 0
        if (carried) boxes.elementOf(carried.field.id)?.classList.remove('lifted')
        document.documentElement.classList.remove('carrying')
        ghost.hidden = true
        guide()
        carried = null
    }
    /** What was carried is put down where it is. */
    const put = () => {
        cancelAnimationFrame(waiting)
        frame()
        const { field, place } = carried
        end()
        if (!place) return
        const { document: uuid, n: page, size } = place.page
        const where = { document: uuid, page, percent: percentOf(place.rect, size) }
        if (!field.id) drop({ ...field, ...where })
        else if (JSON.stringify([field.document, field.page, field.percent]) !== JSON.stringify(Object.values(where)))
            model.update(field.id, where)
    }
    const begin = (event, what) => {
        const point = { x: event.clientX, y: event.clientY }
        carried = { grab: [0.5, 0.5], pointer: event.pointerId, start: point, now: point, pressed: true, ...what }
    }
    const fresh = (kind, signer) => ({ field: makeField(kind, signer, model.fields), size: KINDS[kind].size,
        scale: stage.current().scale })

    area.addEventListener('pointerdown', event => {
        if (event.button || armed() || event.target.closest('.offer')) return
        const field = boxes.at(event.target), { side } = event.target.dataset
        if (!field) return model.select(null)
        model.select(field.id)
        if (isOfForm(field)) return
        const box = boxes.elementOf(field.id).getBoundingClientRect()
        const { scale, size } = stage.whereIs(field.document, field.page), from = pointsOf(field.percent, size)
        const grab = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
        begin(event, { field, side, from, grab, scale, size: from.slice(2) })
    })
    addEventListener('pointermove', event => {
        const kind = armed()
        if (!carried && kind && event.pointerType === 'mouse' && !event.buttons) {
            begin(event, { ...fresh(kind.kind, kind.signer), pressed: false })
            lift()
        }
        if (!carried || (carried.pressed && event.pointerId !== carried.pointer)) return
        if (!carried.lifted) {
            if (Math.hypot(event.clientX - carried.start.x, event.clientY - carried.start.y) < START) return
            lift()
            area.setPointerCapture(carried.pointer)
        }
        see(event)
    })
    addEventListener('pointerup', event => {
        if (!carried?.pressed || event.pointerId !== carried.pointer) return
        if (!carried.lifted) return end()
        see(event)
        put()
    })
    addEventListener('pointercancel', event => event.pointerId === carried?.pointer && end())
    area.addEventListener('click', event => {
        const kind = armed()
        if (!kind || !event.detail) return
        if (!carried) begin(event, { ...fresh(kind.kind, kind.signer), pressed: false })
        see(event)
        put()
    })
    addEventListener('scroll', () => carried?.lifted && request(), { passive: true })
    return {
        /** A new field is taken from the palette. */
        take: (event, kind, signer) => begin(event, fresh(kind, signer)),
        isCarrying: () => Boolean(carried?.lifted && carried.pressed),
        keeps: () => (carried?.field.id ? `${carried.field.document} ${carried.field.page}` : null),
        cancel: end,
    }
}
