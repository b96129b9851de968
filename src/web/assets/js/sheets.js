// SPDX-License-Identifier: Apache-2.0
// sheets.js: the pages that are not in the HTML. Of long documents only the first pages are in it; the others are made
// here when somebody comes near. Until then a gap has about the room of its pages, so that the scroll bar is right.
import { text } from './texts.js'

const GAP = 50 // pages of one gap
const PIXELS = 1.5 // of a point, as in html.c
const BETWEEN = 16 // below each page, as in documents.css

/** [pages, width, height] of each run of pages of one size → n => [width, height]. */
function sizesOf(document) {
    const ends = []
    let end = 0
    for (const [pages] of document.sizes) ends.push((end += pages))
    return n => {
        let low = 0, high = ends.length
        while (low < high) {
            const middle = (low + high) >> 1
            if (ends[middle] > n) high = middle
            else low = middle + 1
        }
        const [, width = 612, height = 792] = document.sizes[Math.min(low, ends.length - 1)] ?? []
        return [width, height]
    }
}

function makeSheet(of, link, n) {
    const element = document.createElement('div'), img = document.createElement('img')
    const [width, height] = of.sizeOf(n)
    const label = text('page', { number: n + 1, count: of.pages })
    element.className = 'page'
    element.setAttribute('role', 'group')
    element.setAttribute('aria-label', label)
    Object.assign(element.dataset, { document: of.uuid, page: n })
    img.loading = 'lazy'
    img.decoding = 'async'
    img.alt = label
    img.width = Math.floor(width * PIXELS + 1)
    img.height = Math.floor(height * PIXELS + 1)
    img.src = `${link}/documents/${of.uuid}/pages/${n}?width=1200&version=${of.sha256}`
    element.append(img)
    return element
}

/** Gaps for all pages that are not there. made(elements) is told of the pages that come. */
export function prepareSheets(state, link, made) {
    const gaps = new Map() // element → { of, from, to }
    const documents = new Map(state.documents.map(each => [each.uuid, { ...each, sizeOf: sizesOf(each) }]))

    const measure = (element, { of, from, to }) => {
        const room = element.parentElement.clientWidth
        const [width, height] = of.sizeOf(from)
        const shown = Math.min(room, Math.max(width * PIXELS + 1, 160))
        element.style.blockSize = `${(to - from) * ((shown * height) / width + BETWEEN)}px`
    }
    const makeGap = (of, from, to) => {
        const element = document.createElement('div')
        element.className = 'gap'
        gaps.set(element, { of, from, to })
        return element
    }
    const place = element => {
        measure(element, gaps.get(element))
        observer.observe(element)
    }
    /** Pages from..to of a gap come; what is before and after them stays a gap. */
    const open = (element, from, to) => {
        const gap = gaps.get(element)
        const sheets = Array.from({ length: to - from }, (_, at) => makeSheet(gap.of, link, from + at))
        const before = from > gap.from ? [makeGap(gap.of, gap.from, from)] : []
        const after = to < gap.to ? [makeGap(gap.of, to, gap.to)] : []
        observer.unobserve(element)
        gaps.delete(element)
        element.replaceWith(...before, ...sheets, ...after)
        for (const rest of [...before, ...after]) place(rest)
        made(sheets)
    }
    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) {
            const gap = gaps.get(target)
            if (isIntersecting && gap) open(target, gap.from, gap.to)
        }
    }, { rootMargin: '2000px 0px' })

    for (const section of document.querySelectorAll('.document[data-document]')) {
        const of = documents.get(section.dataset.document)
        const first = section.querySelectorAll('.page').length, elements = []
        for (let from = first; from < of.pages; from += GAP)
            elements.push(makeGap(of, from, Math.min(from + GAP, of.pages)))
        section.append(...elements)
        elements.forEach(place)
    }
    addEventListener('resize', () => gaps.forEach((gap, element) => measure(element, gap)))

    return {
        /** The page comes now, if it is one that is not there. */
        one: (uuid, n) => {
            for (const [element, { of, from, to }] of gaps)
                if (of.uuid === uuid && n >= from && n < to) return open(element, n, n + 1)
            return undefined
        },
        all: () => [...gaps].forEach(([element, { from, to }]) => open(element, from, to)),
    }
}
