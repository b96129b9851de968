// SPDX-License-Identifier: Apache-2.0
// paper.js: makes the paper of a signature transparent in a photograph or a scan. The ink keeps its colour. The
// brightness of the paper is measured in each cell of a grid, because photographs have shadows. A pixel is ink to the
// degree that it is darker than the paper at its place, in any channel.
const CELLS = 24 // on the longer side
const CELL_MIN = 24 // pixels; wider than lines if possible
const LIGHTEST = 0.85 // the part of the pixels of a cell that are darker than its paper
const LIGHT_MIN = 90 // of 255; anything darker is not paper
const SHADOW = 0.6 // a cell darker than this part of the brightest cell has no paper
const PAPER_MIN = 0.6 // the least part of the cells that must have paper
const INK_MAX = 0.4 // the greatest part of the pixels that may be ink
const FAINT = 0.12 // relative darkness from which ink is visible
const FULL = 0.35 // relative darkness from which ink is opaque
const SEEN = 64 // of 255; pixels with at least this opacity count as ink
const EDGE = 16 // of 255; pixels with at least this opacity belong to the ink that they touch
const SPECK = 40_000 // a patch that covers less than one pixel in this number is dirt
const GROUND = 0.05 // a patch that covers more than this part of the image, …
const BORDER = 0.15 // … and more than this part of its border is what the paper lies on

const SAMPLES = 400 // pixels of a cell that are looked at

const brightness = ([red, green, blue]) => (2 * red + 5 * green + blue) / 8

/** The mean colour of the lightest pixels of a cell. */
function colourOf(pixels, width, { left, top, right, bottom }) {
    const step = Math.ceil(Math.sqrt((right - left) * (bottom - top) / SAMPLES)), colours = []
    for (let y = top; y < bottom; y += step)
        for (let x = left; x < right; x += step) {
            const at = 4 * (y * width + x)
            colours.push(pixels.subarray(at, at + 3))
        }
    colours.sort((one, other) => brightness(one) - brightness(other)).splice(0, Math.floor(colours.length * LIGHTEST))
    return [0, 1, 2].map(channel =>
        Math.max(1, colours.reduce((sum, colour) => sum + colour[channel], 0) / colours.length))
}

function contextOf(width, height) {
    return Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
}

/** The colour of the paper at each pixel, as image data; null if the image does not show paper. */
function measurePaper(pixels, width, height) {
    const cell = Math.max(CELL_MIN, Math.floor(Math.max(width, height) / CELLS))
    const columns = Math.ceil(width / cell), rows = Math.ceil(height / cell)
    const cells = Array.from({ length: columns * rows }, (_, at) => {
        const left = at % columns * cell, top = Math.floor(at / columns) * cell
        const right = Math.min(left + cell, width), bottom = Math.min(top + cell, height)
        return colourOf(pixels, width, { left, top, right, bottom })
    })
    const lightest = Math.max(...cells.map(brightness))
    const paper = cells.map(colour => (brightness(colour) < SHADOW * lightest ? null : colour))
    if (lightest < LIGHT_MIN || paper.filter(Boolean).length < PAPER_MIN * cells.length) return null
    while (paper.includes(null)) // a cell without paper has the paper of a neighbour
        paper.forEach((colour, at) => {
            const x = at % columns
            const beside = [x > 0 && paper[at - 1], x + 1 < columns && paper[at + 1], paper[at - columns],
                paper[at + columns]]
            paper[at] = colour ?? (beside.find(Boolean) || null)
        })
    const colours = new ImageData(new Uint8ClampedArray(paper.flatMap(colour => [...colour, 255])), columns, rows)
    const grid = contextOf(columns, rows), smooth = contextOf(width, height)
    grid.putImageData(colours, 0, 0)
    smooth.drawImage(grid.canvas, 0, 0, columns * cell, rows * cell) // interpolates between the cells
    return smooth.getImageData(0, 0, width, height).data
}

function opacity(pixels, paper, at) {
    const darker = 1 - Math.min(pixels[at] / paper[at], pixels[at + 1] / paper[at + 1], pixels[at + 2] / paper[at + 2])
    const part = Math.max(0, Math.min(1, (darker - FAINT) / (FULL - FAINT)))
    return 255 * part * part * (3 - 2 * part)
}

/** Returns the ink without dirt, without noise, and without what the paper lies on. */
function clean(ink, width, height) {
    const kept = new Uint8Array(ink.length), found = new Uint8Array(ink.length), places = new Int32Array(ink.length)
    for (let start = 0; start < ink.length; start++) {
        if (found[start] || ink[start] < SEEN) continue
        let count = 1, seen = 0, border = 0
        places[0] = start
        found[start] = 1
        for (let next = 0; next < count; next++) {
            const place = places[next], x = place % width, y = Math.floor(place / width)
            seen += ink[place] >= SEEN
            border += x === 0 || y === 0 || x === width - 1 || y === height - 1
            for (let down = Math.max(0, y - 1); down <= Math.min(height - 1, y + 1); down++)
                for (let across = Math.max(0, x - 1); across <= Math.min(width - 1, x + 1); across++) {
                    const beside = down * width + across
                    if (found[beside] || ink[beside] < EDGE) continue
                    found[beside] = 1
                    places[count++] = beside
                }
        }
        const isGround = seen > GROUND * ink.length && border > BORDER * 2 * (width + height)
        if (seen < ink.length / SPECK || isGround) continue
        for (const place of places.subarray(0, count)) kept[place] = ink[place]
    }
    return kept.some(Boolean) ? kept : ink
}

/** Leaves an image as it is if it has transparent parts or does not show ink on light paper. */
export function removePaper(canvas) {
    const { width, height } = canvas, context = canvas.getContext('2d')
    const image = context.getImageData(0, 0, width, height), pixels = image.data
    for (let at = 3; at < pixels.length; at += 4) if (pixels[at] < 255) return
    const paper = measurePaper(pixels, width, height)
    if (!paper) return
    let ink = new Uint8Array(width * height)
    for (let at = 0; at < ink.length; at++) ink[at] = opacity(pixels, paper, 4 * at)
    if (ink.reduce((count, value) => count + (value >= SEEN), 0) > INK_MAX * ink.length) return
    ink = clean(ink, width, height)
    for (let at = 0; at < pixels.length; at++) {
        const part = ink[at >> 2] / 255
        if (at % 4 === 3) pixels[at] = ink[at >> 2] // and where ink and paper are mixed, the paper's colour goes:
        else if (part > 0) pixels[at] = (pixels[at] - (1 - part) * paper[at]) / part
    }
    context.putImageData(image, 0, 0)
}
