// SPDX-License-Identifier: Apache-2.0
// snap.js: what a field that is moved keeps to: base lines and beginnings of the text, lines that are drawn on the
// page, and the edges of other fields. All positions are in points from the top left corner of the page.
import { baseOf } from './kinds.js'
import { pointsOf } from './model.js'

const NEAR = 6 // CSS pixels
const DESCENT = 0.22 // the part of a word's height that is below its base line
const WIDTH = 800 // pixels in which lines are looked for
const LONG = 24, DARK = 170 // points: the shortest line; the brightest one, of 255
const AFTER = 300 // milliseconds after the image, when nobody waits for anything

/** Lines of dark pixels, row by row or column by column: [position, from, to]. */
function findLines(dark, across, along, step, stride, shortest) {
    const found = []
    for (let at = 0; at < across; at++) {
        let from = -1
        for (let i = 0; i <= along; i++) {
            const is = i < along && dark[at * stride + i * step]
            if (is && from < 0) from = i
            if (is || from < 0) continue
            const last = found.at(-1), isThick = last && at - last[0] <= 2 && Math.abs(last[1] - from) < 4
            if (i - from >= shortest && !isThick) found.push([at, from, i])
            from = -1
        }
    }
    return found
}

function linesOf(img, [width]) {
    const canvas = document.createElement('canvas'), scale = WIDTH / width
    canvas.width = WIDTH
    canvas.height = Math.round((WIDTH * img.naturalHeight) / img.naturalWidth)
    const context = canvas.getContext('2d', { willReadFrequently: true })
    context.drawImage(img, 0, 0, canvas.width, canvas.height)
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height), dark = new Uint8Array(data.length / 4)
    for (let i = 0; i < dark.length; i++)
        dark[i] = Number(data[4 * i] + data[4 * i + 1] + data[4 * i + 2] < 3 * DARK && data[4 * i + 3] > 127)
    const shortest = LONG * scale, points = line => line.map(each => each / scale)
    return {
        across: findLines(dark, canvas.height, canvas.width, 1, canvas.width, shortest).map(points),
        down: findLines(dark, canvas.width, canvas.height, canvas.width, 1, shortest).map(points),
    }
}

function edgesOf(words, [width, height]) {
    const x = new Set(), base = new Set()
    for (const line of words) {
        const [, left, top, , high] = line[0]
        x.add((left / 100) * width)
        base.add(((top + high * (1 - DESCENT)) / 100) * height)
    }
    return { x: [...x], base: [...base] }
}

export function makeSnap(model, stage, link) {
    const known = new Map() // key of a page → { x, base, across, down }

    const learn = async page => {
        const own = known.get(page.key) ?? { x: [], base: [], across: [], down: [] }
        if (known.has(page.key)) return
        known.set(page.key, own)
        page.img.addEventListener('load', () => setTimeout(() => {
            if (!stage.pages.has(page.key)) return known.delete(page.key)
            return Object.assign(own, linesOf(page.img, page.size))
        }, AFTER), { once: true })
        try {
            const version = model.documents.find(({ uuid }) => uuid === page.document).version
            const answer = await fetch(`${link}/documents/${page.document}/pages/${page.n}.json?version=${version}`)
            if (answer.ok) Object.assign(own, edgesOf((await answer.json()).lines, page.size))
        } catch {
            known.delete(page.key) // it is tried again when the page comes again
        }
    }
    /** Where a field with these members may stop on a page, without the field itself. */
    const targetsOf = ({ key, document, n, size }, id) => {
        const { x = [], base = [], across = [], down = [] } = known.get(key) ?? {}
        const own = { x: [...x], y: across.map(([at]) => at), base: [...base, ...across.map(([at]) => at)] }
        for (const [, from, to] of across) own.x.push(from, to)
        for (const [at] of down) own.x.push(at)
        for (const field of model.fields) {
            if (field.document !== document || field.page !== n || field.id === id) continue
            const [left, top, w, h] = pointsOf(field.percent, size)
            own.x.push(left, left + w)
            own.y.push(top, top + h)
        }
        return own
    }
    /** The least move that takes one of the edges to one of the targets: [move, target], or null. */
    const nearest = (edges, targets, most) => {
        let best = null
        for (const edge of edges) for (const target of targets) {
            const move = target - edge
            if (Math.abs(move) < Math.abs(best?.[0] ?? most)) best = [move, target]
        }
        return best
    }
    /** `edges`: those of [x, y, w, h] that move: l, r, t and b. */
    const snap = (field, [x, y, w, h], page, edges = 'lrtb') => {
        const targets = targetsOf(page, field.id), most = NEAR / page.scale, is = side => edges.includes(side)
        const across = nearest([...is('l') ? [x] : [], ...is('r') ? [x + w] : []], targets.x, most)
        const level = nearest([...is('t') ? [y] : [], ...is('b') ? [y + h] : []], targets.y, most)
        const base = is('b') && nearest([y + h - baseOf(field, h)], targets.base, most)
        const down = base && (!level || Math.abs(base[0]) <= Math.abs(level[0])) ? base : level
        return { dx: across?.[0] ?? 0, dy: down?.[0] ?? 0, x: across?.[1], y: down?.[1] }
    }
    return { learn, snap }
}
