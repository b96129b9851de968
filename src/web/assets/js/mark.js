// SPDX-License-Identifier: Apache-2.0
// mark.js: a signature as the signer made it: {type: 'drawn', width, height, strokes: [[[x, y, pressure]…]…]},
// {type: 'typed', text} or {type: 'uploaded', image: data URL}; and, in `shown`, as the service draws it (preview.js).
// What is painted is that alone, as large as it fits and in the middle: as it will be in the PDF. A field may have a
// caption, {number, height}: one of those that were drawn with the mark, in so many percent of the field at the bottom.
export const INK = '#0d1a73' // as in the PDF (src/helper/main/draw/drawing.c)
const CAPTION = '#404040' // the same (src/helper/main/fields/caption.c)
const VALUE = '#000' // the same (src/helper/main/draw/value.c)

const SIDE_MAX = 4096 // pixels: a field can be larger than any screen

/** The canvas gets as many pixels as the screen has for it. Its size in CSS pixels. */
export function fit(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas
    const ratio = Math.min(Math.max(devicePixelRatio || 1, 1), SIDE_MAX / Math.max(width, height, 1))
    canvas.width = Math.max(1, Math.round(width * ratio))
    canvas.height = Math.max(1, Math.round(height * ratio))
    canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0)
    return { width, height }
}

export function blobOf(type, base64) {
    return new Blob([Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))], { type })
}

const images = new WeakMap()
function imageOf(shown) {
    if (!images.has(shown)) images.set(shown, createImageBitmap(blobOf(shown.type, shown.image)))
    return images.get(shown)
}

function paintPaths(context, paths, colour) {
    Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineCap: 'round', lineJoin: 'round' })
    for (const { d, stroke } of paths) {
        const path = new Path2D(d)
        if (!stroke) context.fill(path)
        context.lineWidth = stroke
        if (stroke) context.stroke(path)
    }
}

/** Paints a drawing, or its image, as large as it fits into a box. */
function paintFitted(context, shown, { left, top, width, height }, { image, colour = INK } = {}) {
    const scale = Math.min(width / shown.width, height / shown.height)
    context.save()
    context.translate(left + (width - shown.width * scale) / 2, top + (height - shown.height * scale) / 2)
    context.scale(scale, scale)
    if (image) context.drawImage(image, 0, 0, shown.width, shown.height)
    else paintPaths(context, shown.paths, colour)
    context.restore()
}

/** The largest box of a shape (width / height) in the middle of a canvas; without a shape, all of it. */
function boxOf(width, height, shape = width / height) {
    const inner = { width: Math.min(width, height * shape), height: Math.min(height, width / shape) }
    return { left: (width - inner.width) / 2, top: (height - inner.height) / 2, ...inner }
}

/** Paints it as a field shows it, with a caption if the field has one, which needs the `shape` of the field. */
export async function paint(canvas, mark, { caption, shape } = {}) {
    if (!canvas.clientWidth) return // it is not shown
    const shown = mark?.shown, image = shown?.image ? await imageOf(shown) : null
    const { width, height } = fit(canvas), context = canvas.getContext('2d')
    context.clearRect(0, 0, width, height)
    if (!shown) return
    const text = caption && shown.captions?.[caption.number]
    const box = boxOf(width, height, text ? shape : undefined)
    const line = text ? (box.height * caption.height) / 100 : 0
    paintFitted(context, shown, { ...box, height: box.height - line }, { image })
    const below = { ...box, top: box.top + box.height - line, height: line }
    if (text) paintFitted(context, text, below, { colour: CAPTION })
}

/** Paints the value of a field: {width, height, parts: [{box: [left, top, width, height], drawing}, …]} in points. */
export function paintValue(canvas, { width, height, color = VALUE, parts }) {
    if (!canvas.clientWidth) return
    const size = fit(canvas), context = canvas.getContext('2d')
    context.scale(size.width / width, size.height / height)
    for (const { box, drawing } of parts) {
        const [left, top, ...sides] = box
        paintFitted(context, drawing, { left, top, width: sides[0], height: sides[1] }, { colour: color })
    }
}

const UNITS = 4096 // that the longer side of a drawing is sent in

/** A whole number in digits of four bits, the lowest first: "a" to "p", the last one "A" to "P" (openapi.json). */
function letters(number) {
    let rest = number < 0 ? 1 - 2 * number : 2 * number, text = ''
    for (; rest > 15; rest >>= 4) text += String.fromCharCode(97 + (rest & 15))
    return text + String.fromCharCode(65 + rest)
}

/** Strokes as one text: the difference of each point to the one before. */
function strokesText(strokes, scale) {
    let before = [0, 0, 128]
    const difference = point => {
        const at = [Math.round(point[0] * scale), Math.round(point[1] * scale), Math.round(point[2] * 255)]
        const text = at.map((value, axis) => letters(value - before[axis])).join('')
        before = at
        return text
    }
    return strokes.map(points => points.map(difference).join('')).join('.')
}

/** As the service takes it. */
export function toSend({ type, text, image, width, height, strokes }) {
    if (type === 'typed') return { type, text }
    if (type === 'uploaded') return { type, image }
    const scale = UNITS / Math.max(width, height)
    return {
        type, width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)),
        strokes: strokesText(strokes, scale),
    }
}

/** The body of a request: JSON, or a form if there is an image, which goes as a file. A form has no strokes. */
export function bodyOf(what) {
    const { signature, initials, values = {} } = what, marks = [signature, initials].filter(Boolean)
    if (!marks.some(({ image }) => image) || marks.some(({ type }) => type === 'drawn'))
        return { body: JSON.stringify(what), headers: { 'Content-Type': 'application/json' } }
    const form = new FormData()
    const set = (name, value) => [undefined, false].includes(value) || form.set(name, value)
    const setMark = (mark, name, typed) => {
        if (!mark?.image) return set(typed, mark?.text)
        const [head, base64] = mark.image.split(',')
        return form.set(name, blobOf(head.slice(5).split(';')[0], base64), 'signature')
    }
    if (what.consent) form.set('consent', 'yes')
    for (const name of ['action', 'consentVersion', 'termsUrl', 'timeZone', 'utcOffset']) set(name, what[name])
    for (const [number, value] of Object.entries(values)) set(`value-${number}`, value)
    setMark(signature, 'image', 'typed')
    setMark(initials, 'initials', 'initials')
    return { body: form }
}
