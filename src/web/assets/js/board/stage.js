// SPDX-License-Identifier: Apache-2.0
// stage.js: the pages of all documents, one below the other. Only those near the view are in the document. Where the
// others are is known from their sizes, so nothing has to be laid out for it.
import { text } from '../texts.js'

const PIXELS = 1.5 // of a point, if there is room
const BETWEEN = 16 // CSS pixels below each page
const WIDTHS = [400, 800, 1200, 1600, 2000, 4000], STEPS = [0.75, 1, 1.25, 1.5, 2, 3]
const CALM = 80 // milliseconds: what is only passed is not loaded

/** The first index of an ascending list whose value is above. */
function after(list, value) {
    let low = 0, high = list.length
    while (low < high) {
        const middle = (low + high) >> 1
        if (list[middle] > value) high = middle
        else low = middle + 1
    }
    return low
}

function makeSection({ uuid, name, pages }, at) {
    const section = document.createElement('section'), head = document.createElement('h2')
    const bdi = document.createElement('bdi'), count = document.createElement('span')
    const sheets = document.createElement('div')
    const sizes = pages.flatMap(run => Array(run.count).fill([run.width, run.height]))
    section.className = 'document'
    head.id = `document-${at}`
    section.setAttribute('aria-labelledby', head.id)
    bdi.textContent = name
    count.textContent = text('placing.pages', { count: sizes.length })
    head.append(bdi, ' ', count)
    sheets.className = 'sheets'
    section.append(head, sheets)
    return { uuid, section, sheets, sizes, tops: [], widths: [], scales: [] }
}

/**
 * `shown(page)` and `hidden(page)` are called for pages that come and go. `keep()` is a page that must stay. `room()`
 * is how much of the window is covered above and below.
 */
export function makeStage(state, link, { shown, hidden, keep, room, announce }) {
    const area = document.getElementById('documents'), pages = new Map(), all = state.documents.map(makeSection)
    const byUuid = new Map(all.map(each => [each.uuid, each])), versions = new Map(state.documents.map(each =>
        [each.uuid, each.version]))
    let zoom = 1, waiting = 0

    const layout = of => {
        const room = of.sheets.clientWidth
        let top = 0
        of.sizes.forEach(([width, height], n) => {
            of.widths[n] = Math.max(Math.min(room, width * PIXELS), 160) * zoom
            of.scales[n] = of.widths[n] / width
            of.tops[n] = top
            top += height * of.scales[n] + BETWEEN
        })
        of.sheets.style.blockSize = `${top}px`
        of.room = room
    }
    const place = page => {
        const { of, n, element } = page, width = of.widths[n], height = of.sizes[n][1] * of.scales[n]
        Object.assign(element.style, { top: `${of.tops[n]}px`, width: `${width}px`, height: `${height}px`,
            left: `${Math.max((of.room - width) / 2, 0)}px` })
        element.style.setProperty('--point', `${of.scales[n]}px`)
    }
    /** As sharp as the screen shows it. */
    const load = page => {
        const want = page.of.widths[page.n] * Math.min(devicePixelRatio, 3)
        const width = WIDTHS.find(each => each >= want - 1) ?? WIDTHS.at(-1)
        if (!pages.has(page.key) || width <= page.loaded) return
        page.loaded = width
        page.img.src = `${link}/documents/${page.of.uuid}/pages/${page.n}?width=${width}`
            + `&version=${versions.get(page.of.uuid)}`
    }
    const show = (of, n) => {
        const element = document.createElement('div'), img = document.createElement('img'), key = `${of.uuid} ${n}`
        const label = text('page', { number: n + 1, count: of.sizes.length })
        const page = { key, of, n, element, img, document: of.uuid, loaded: 0, size: of.sizes[n] }
        element.className = 'page sheet'
        element.setAttribute('role', 'group')
        element.setAttribute('aria-label', label)
        img.alt = ''
        img.decoding = 'async'
        img.addEventListener('error', () => element.classList.add('unloaded'))
        img.addEventListener('load', () => element.classList.remove('unloaded'))
        element.append(img)
        pages.set(key, page)
        place(page)
        // in the order of the pages, which is that of the keyboard
        const next = [...of.sheets.children].find(each => Number(each.dataset.page) > n)
        element.dataset.page = n
        of.sheets.insertBefore(element, next ?? null)
        setTimeout(load, CALM, page)
        shown(page)
    }
    const hide = page => {
        pages.delete(page.key)
        page.img.removeAttribute('src')
        page.element.remove()
        hidden(page)
    }
    const update = () => {
        waiting = 0
        const near = innerHeight, kept = keep(), wanted = new Map()
        for (const of of all) {
            const { top, bottom } = of.sheets.getBoundingClientRect()
            if (bottom < -near || top > innerHeight + near) continue
            const from = Math.max(after(of.tops, -near - top) - 1, 0), to = after(of.tops, innerHeight + near - top)
            for (let n = from; n < to; n++) wanted.set(`${of.uuid} ${n}`, [of, n])
        }
        for (const page of pages.values()) if (!wanted.has(page.key) && page.key !== kept) hide(page)
        for (const [key, [of, n]] of wanted) if (!pages.has(key)) show(of, n)
    }
    const request = () => (waiting ||= requestAnimationFrame(update))
    const arrange = () => {
        all.forEach(layout)
        for (const page of pages.values()) {
            place(page)
            load(page)
        }
        update()
    }
    /** Where a page is in the window: [left, top, scale]. */
    const whereIs = (of, n) => {
        const { left, top } = of.sheets.getBoundingClientRect()
        return { of, n, document: of.uuid, key: `${of.uuid} ${n}`, size: of.sizes[n], scale: of.scales[n],
            left: left + Math.max((of.room - of.widths[n]) / 2, 0), top: top + of.tops[n] }
    }
    const pageAt = (x, y) => {
        for (const of of all) {
            const { top, bottom } = of.sheets.getBoundingClientRect()
            if (y < top || y > bottom) continue
            const n = Math.max(after(of.tops, y - top) - 1, 0), found = whereIs(of, n)
            const beside = x < found.left || x > found.left + of.widths[n]
            return beside || y > found.top + found.size[1] * found.scale ? null : found
        }
        return null
    }
    /** The page in the middle of the view, or the nearest one. */
    const current = () => {
        const middle = innerHeight / 2
        const distance = ({ top, bottom }) => Math.max(top - middle, middle - bottom, 0)
        const [of] = [...all].sort((a, b) =>
            distance(a.sheets.getBoundingClientRect()) - distance(b.sheets.getBoundingClientRect()))
        return whereIs(of, Math.max(after(of.tops, middle - of.sheets.getBoundingClientRect().top) - 1, 0))
    }
    /** A place comes into view, if it is not there. */
    const reveal = ({ document: uuid, page: n, percent: { x, y, w, h } }) => {
        const { left, top, scale, size } = whereIs(byUuid.get(uuid), n), [width, height] = size
        const from = top + (y / 100) * height * scale, to = from + (h / 100) * height * scale
        const start = left + (x / 100) * width * scale, end = start + (w / 100) * width * scale
        const frame = area.getBoundingClientRect()
        const [above, below] = room()
        if (from < above || to > innerHeight - below)
            scrollBy({ top: (from + to - innerHeight - above + below) / 2, behavior: 'instant' })
        if (start < frame.left || end > frame.right) area.scrollLeft += (start + end - frame.left - frame.right) / 2
        update()
    }
    const set = to => {
        const seen = current(), middle = innerHeight / 2, part = (middle - seen.top) / seen.scale
        zoom = to
        arrange()
        const now = whereIs(seen.of, seen.n)
        scrollBy({ top: now.top + part * now.scale - middle, behavior: 'instant' })
        update()
        announce(text('zoomed', { percent: Math.round(zoom * 100) }))
        for (const button of buttons)
            button.disabled = zoom === (button.dataset.zoom === 'in' ? STEPS.at(-1) : STEPS[0])
    }
    const buttons = [...document.querySelectorAll('[data-zoom]')]
    for (const button of buttons) button.addEventListener('click', () => set(button.dataset.zoom === 'in'
        ? STEPS.find(step => step > zoom) : STEPS.filter(step => step < zoom).at(-1)))

    area.append(...all.map(({ section }) => section))
    addEventListener('scroll', request, { passive: true })
    let width = 0
    new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width !== width) arrange()
        width = contentRect.width
    }).observe(area)
    addEventListener('online', () => pages.forEach(page => {
        if (page.img.complete && page.img.naturalWidth) return
        page.loaded = 0
        load(page)
    }))
    return { area, pages, pageAt, current, reveal, whereIs: (uuid, n) => whereIs(byUuid.get(uuid), n), start: arrange }
}
