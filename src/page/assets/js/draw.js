// draw.js: a signature drawn by mouse, finger or pen.
import SignaturePad from 'signature_pad'
import { text } from './texts.js'
import { fit, INK } from './mark.js'

const POINTS_MAX = 18_000

export function prepareDraw(panel) {
    const canvas = panel.querySelector('[data-pad]'), hint = panel.querySelector('[data-hint]')
    const pad = new SignaturePad(canvas, { penColor: INK, minWidth: 0.8, maxWidth: 2.8, throttle: 8 })
    let size = { width: 0, height: 0 }
    const show = () => (hint.hidden = !pad.isEmpty())
    const replace = data => { pad.fromData(data); show() }

    // a turned phone has another room for it: what is there is kept, and scaled
    function resize() {
        const data = pad.toData(), before = size, { clientWidth: width, clientHeight: height } = canvas
        if (!width || (before.width === width && before.height === height)) return
        size = fit(canvas)
        const scale = before.width ? Math.min(size.width / before.width, size.height / before.height) : 1
        const scaled = points => points.map(point => ({ ...point, x: point.x * scale, y: point.y * scale }))
        replace(data.map(group => ({ ...group, points: scaled(group.points) })))
    }

    pad.addEventListener('beginStroke', () => (hint.hidden = true))
    pad.addEventListener('endStroke', () => panel.dispatchEvent(new Event('input', { bubbles: true })))
    panel.querySelector('[data-clear]').addEventListener('click', () => { pad.clear(); show() })
    panel.querySelector('[data-undo]').addEventListener('click', () => replace(pad.toData().slice(0, -1)))
    new ResizeObserver(resize).observe(canvas)

    return {
        show: resize,
        restore: mark => {
            resize()
            const scale = size.width / mark.width || 1
            replace(mark.strokes.map(points => ({
                penColor: INK, dotSize: 0, minWidth: 0.8, maxWidth: 2.8, velocityFilterWeight: 0.7,
                points: points.map(point => ({ ...point, x: point.x * scale, y: point.y * scale })),
            })))
        },
        take: () => {
            const strokes = pad.toData().map(group => group.points)
            if (!strokes.length) return { fault: text('draw.empty') }
            if (strokes.flat().length > POINTS_MAX) return { fault: text('draw.long') }
            return { mark: { type: 'drawn', width: size.width, height: size.height, strokes } }
        },
    }
}
