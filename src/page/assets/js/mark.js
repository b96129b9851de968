// mark.js: a signature as the signer made it: {type: 'drawn', width, height, strokes: [[{x, y, pressure, time}…]…]},
// {type: 'typed', text} or {type: 'uploaded', image: data URL}; how it looks, and how it is sent.
import SignaturePad from 'signature_pad'

export const FONT = '"Dancing Script", cursive'
export const INK = '#0d1a73' // as in the PDF (src/pdfd/glyphs.c)
const PADDING = 0.06 // of the height, on each side

/** The canvas gets as many pixels as the screen has for it. Its size in CSS pixels. */
export function fit(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas
    const ratio = Math.max(devicePixelRatio || 1, 1)
    canvas.width = Math.max(1, Math.round(width * ratio))
    canvas.height = Math.max(1, Math.round(height * ratio))
    canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0)
    return { width, height }
}

function paintTyped(context, text, { width, height }) {
    const room = { width: width * 0.94, height: height * (1 - 2 * PADDING) }
    context.font = `100px ${FONT}`
    const box = context.measureText(text)
    const tall = box.actualBoundingBoxAscent + box.actualBoundingBoxDescent
    const size = Math.min(room.width / (box.width || 1), room.height / (tall || 1), 0.9)
    context.save()
    context.fillStyle = INK
    context.translate((width - box.width * size) / 2, height / 2)
    context.scale(size, size)
    context.direction = 'inherit'
    context.textAlign = 'left'
    context.fillText(text, 0, (box.actualBoundingBoxAscent - box.actualBoundingBoxDescent) / 2)
    context.restore()
}

function boundsOf(strokes) {
    const points = strokes.flat()
    const xs = points.map(point => point.x), ys = points.map(point => point.y)
    const least = list => list.reduce((a, b) => Math.min(a, b), Infinity)
    const most = list => list.reduce((a, b) => Math.max(a, b), -Infinity)
    const [left, top] = [least(xs), least(ys)]
    return { left, top, width: Math.max(most(xs) - left, 1), height: Math.max(most(ys) - top, 1) }
}

function paintDrawn(canvas, strokes, { width, height }) {
    const bounds = boundsOf(strokes), pad = height * PADDING * 1.5
    const scale = Math.min((width - 2 * pad) / bounds.width, (height - 2 * pad) / bounds.height, 1.5)
    const left = (width - bounds.width * scale) / 2, top = (height - bounds.height * scale) / 2
    const painter = new SignaturePad(canvas, { penColor: INK, minWidth: 0.8 * scale, maxWidth: 2.6 * scale })
    painter.off()
    painter.fromData(strokes.map(points => ({
        penColor: INK, dotSize: 0, minWidth: 0.8 * scale, maxWidth: 2.6 * scale, velocityFilterWeight: 0.7,
        points: points.map(point => ({
            ...point, x: (point.x - bounds.left) * scale + left, y: (point.y - bounds.top) * scale + top,
        })),
    })))
}

export function imageOf(url) {
    const [head, body] = url.split(',')
    const bytes = Uint8Array.from(atob(body), letter => letter.charCodeAt(0))
    return createImageBitmap(new Blob([bytes], { type: head.slice(5).split(';')[0] }))
}

function paintImage(context, image, { width, height }) {
    const scale = Math.min(width / image.width, height / image.height)
    context.drawImage(image, (width - image.width * scale) / 2, (height - image.height * scale) / 2,
        image.width * scale, image.height * scale)
}

/** Paints it as large as the canvas allows. */
export async function paint(canvas, mark) {
    if (!canvas.clientWidth) return // it is not shown
    if (mark?.type === 'typed') await document.fonts.load(`40px ${FONT}`, mark.text).catch(() => {})
    const image = mark?.type === 'uploaded' ? await imageOf(mark.image) : null
    const size = fit(canvas), context = canvas.getContext('2d')
    context.clearRect(0, 0, size.width, size.height)
    if (!mark) return
    if (mark.type === 'typed') paintTyped(context, mark.text, size)
    if (mark.type === 'drawn') paintDrawn(canvas, mark.strokes, size)
    if (image) paintImage(context, image, size)
}

const rounded = value => Math.round(value * 100) / 100

/** As the service takes it. */
export function toSend(mark) {
    if (mark.type !== 'drawn') return mark
    const strokes = mark.strokes.map(points =>
        points.map(point => [rounded(point.x), rounded(point.y), rounded(point.pressure || 0.5)]))
    return { ...mark, strokes }
}
