// SPDX-License-Identifier: Apache-2.0
// draw.js: a signature drawn by mouse, finger or pen. Strokes are kept in the coordinates in which they were made,
// those of the pad when the first one began. When the pad has another size, because a phone is turned, they are only
// shown otherwise, and new strokes are taken into the same coordinates.
import { fit, INK } from './mark.js'
import { preview } from './preview.js'
import { text } from './texts.js'

const POINTS_MAX = 18_000
const STROKES_MAX = 1000
const NEAR = 1 // CSS pixels: a point nearer to the last one adds nothing
const PEN = 1 / 72 // of the pad's shorter side, as src/model/ink.c has it
const widthAt = (pen, pressure) => pen * (0.4 + 1.2 * pressure)

const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]

/** The part of a stroke that its point number `at` adds, as src/helper/main/draw/ink.c draws it. */
function paintPoint(context, points, at, pen) {
    const [last, point] = [points[at - 1] ?? points[at], points[at]]
    const from = at > 1 ? middle(points[at - 2], last) : last, to = middle(last, point)
    context.lineWidth = widthAt(pen, last[2])
    context.beginPath()
    context.moveTo(from[0], from[1])
    context.quadraticCurveTo(last[0], last[1], to[0], to[1])
    if (at === points.length - 1) context.lineTo(point[0] + (at ? 0 : 0.1), point[1]) // a dot is drawn, too
    context.stroke()
}

export function prepareDraw(panel) {
    const canvas = panel.querySelector('[data-pad]'), hint = panel.querySelector('[data-hint]')
    const tools = panel.querySelectorAll('[data-undo], [data-clear]')
    const context = canvas.getContext('2d')
    let strokes = [], frame = null // the size of the pad that the strokes were made on
    let size = { width: 0, height: 0 }, place = { scale: 1, left: 0, top: 0 }
    let current = null, pointer = null // the stroke being drawn, and by what

    function locate() {
        frame = strokes.length && frame ? frame : { ...size }
        const scale = Math.min(size.width / frame.width, size.height / frame.height)
        place = { scale, left: (size.width - frame.width * scale) / 2, top: (size.height - frame.height * scale) / 2 }
        context.translate(place.left, place.top)
        context.scale(scale, scale)
        Object.assign(context, { strokeStyle: INK, lineCap: 'round', lineJoin: 'round' })
    }

    const pen = () => PEN * Math.min(frame.width, frame.height)

    function show() {
        hint.hidden = strokes.length > 0
        // not `disabled`: the focus would be lost with the last stroke
        for (const tool of tools) tool.setAttribute('aria-disabled', String(!strokes.length))
        if (!canvas.clientWidth) return
        size = fit(canvas)
        context.clearRect(0, 0, size.width, size.height)
        locate()
        for (const points of strokes) points.forEach((_, at) => paintPoint(context, points, at, pen()))
    }

    function add(event) {
        const box = canvas.getBoundingClientRect()
        const x = (event.clientX - box.left - place.left) / place.scale
        const y = (event.clientY - box.top - place.top) / place.scale
        const last = current[current.length - 1]
        if (last && Math.hypot(x - last[0], y - last[1]) * place.scale < NEAR) return
        current.push([x, y, event.pointerType === 'pen' && event.pressure ? event.pressure : 0.5])
        paintPoint(context, current, current.length - 1, pen())
    }

    const changed = () => {
        show()
        panel.dispatchEvent(new Event('input', { bubbles: true }))
    }

    function end(event) {
        if (event.pointerId !== pointer) return
        current = pointer = null
        changed()
    }

    canvas.addEventListener('pointerdown', event => {
        if (pointer !== null || event.button) return
        event.preventDefault()
        canvas.setPointerCapture(event.pointerId)
        if (!strokes.length) show() // what comes first says in which coordinates all is kept
        pointer = event.pointerId
        strokes.push(current = [])
        hint.hidden = true
        add(event)
    })
    canvas.addEventListener('pointermove', event => {
        if (event.pointerId !== pointer) return
        const all = event.getCoalescedEvents?.() ?? []
        for (const each of all.length ? all : [event]) add(each)
    })
    canvas.addEventListener('pointerup', end)
    canvas.addEventListener('pointercancel', end)
    canvas.addEventListener('touchstart', event => event.preventDefault(), { passive: false }) // no loupe, no selection
    panel.querySelector('[data-clear]').addEventListener('click', () => { strokes = []; changed() })
    panel.querySelector('[data-undo]').addEventListener('click', () => { strokes = strokes.slice(0, -1); changed() })
    new ResizeObserver(show).observe(canvas)

    const draft = () => (strokes.length ? { type: 'drawn', ...frame, strokes: [...strokes] } : null)
    return {
        show,
        draft,
        restore: mark => {
            strokes = mark.strokes
            frame = { width: mark.width, height: mark.height }
            show()
        },
        take: () => {
            if (!strokes.length) return { fault: text('draw.empty') }
            if (strokes.flat().length > POINTS_MAX || strokes.length > STROKES_MAX) return { fault: text('draw.long') }
            return preview(draft())
        },
    }
}
