// SPDX-License-Identifier: Apache-2.0
// pages.js: the pages of the documents: as sharp as screen and zoom ask for, and with their text over the image, to be
// selected, searched and read aloud. The images load as the browser sees fit (loading=lazy).
import { prepareSheets } from './sheets.js'
import { layText } from './textlayer.js'
import { text } from './texts.js'
import { prepareWhole } from './whole.js'
import { prepareZoom } from './zoom.js'

const WIDTHS = [400, 800, 1200, 1600, 2000, 4000]

const sourceOf = (page, end) => `${page.base}/pages/${page.n}${end}version=${page.version}`

function offerSources(page) {
    page.img.srcset = WIDTHS.map(width => `${sourceOf(page, `?width=${width}&`)} ${width}w`).join(', ')
}

/** A page that did not come can be asked for again, and is when the network is back. */
function watchLoading(page) {
    const { img, element } = page
    const broken = () => {
        if (element.querySelector('.broken')) return
        const note = document.createElement('p'), button = document.createElement('button')
        const again = () => {
            removeEventListener('online', again)
            note.remove()
            const { src, srcset } = img
            img.removeAttribute('srcset')
            img.src = src
            img.srcset = srcset
        }
        note.className = 'broken'
        button.type = 'button'
        button.className = 'quiet'
        button.textContent = text('page.reload')
        button.addEventListener('click', again)
        addEventListener('online', again)
        note.append(text('page.broken'), ' ', button)
        element.append(note)
    }
    img.addEventListener('error', broken)
    if (img.complete && img.getAttribute('src') && !img.naturalWidth) broken()
}

function pageOf(element, state, link) {
    const of = state.documents.find(each => each.uuid === element.dataset.document)
    const img = element.querySelector('img')
    element.style.setProperty('--width', `${Math.max(Number(img.getAttribute('width')), 160)}px`)
    return { element, img, n: Number(element.dataset.page), document: of.uuid, version: of.sha256,
        base: `${link}/documents/${of.uuid}` }
}

/** `of(uuid, n)` is the element of a page, `enlarge(element)` and `fit()` make pages readable on a small screen. */
export function preparePages(state, link, { announce }) {
    const byElement = new Map(), byPlace = new Map()
    const area = document.getElementById('documents'), sheets = () => [...area.querySelectorAll('.page')]
    const first = area.querySelector('.page')
    const near = new Set()

    // sizes says how wide the image is shown; with a pinched screen it is looked at more closely. At first only the
    // first page is there (boot.js): the others will be about as wide
    const sharpen = page => {
        const shown = page.element.clientWidth || first.clientWidth
        const width = Math.ceil(shown * Math.max(visualViewport?.scale ?? 1, 1))
        if (!page.img.srcset) offerSources(page)
        page.img.sizes = `${width}px`
    }
    const sharpenNear = () => near.forEach(sharpen)
    const lay = page => layText(page, sourceOf(page, '.json?'))

    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) {
            const page = byElement.get(target)
            if (!isIntersecting) { near.delete(page); continue }
            near.add(page)
            sharpen(page)
            lay(page)
        }
    }, { rootMargin: '1000px 0px' })

    let loaded = document.readyState === 'complete'
    const take = element => {
        const page = pageOf(element, state, link)
        byElement.set(element, page)
        byPlace.set(`${page.document} ${page.n}`, page)
        watchLoading(page)
        sharpen(page)
        if (loaded) observer.observe(element)
    }
    sheets().forEach(take)
    const bring = prepareSheets(state, link, made => made.forEach(take))
    // texts after the first image, which is what the signer waits for
    const observe = () => {
        loaded = true
        for (const element of byElement.keys()) observer.observe(element)
    }
    if (loaded) observe()
    else addEventListener('load', observe)
    addEventListener('resize', sharpenNear)
    visualViewport?.addEventListener('resize', sharpenNear)
    prepareWhole({ lay, bring: () => { bring.all(); return sheets().map(element => byElement.get(element)) } })
    const { enlarge, fit } = prepareZoom(area, sheets, { changed: sharpenNear, announce })
    return {
        enlarge,
        /** True if a tap enlarges the pages further. The column of a page without text is not known. */
        fit: () => fit(first, byElement.get(first).column ?? [0, 100]),
        of: (uuid, n) => {
            if (!byPlace.has(`${uuid} ${n}`)) bring.one(uuid, n)
            return byPlace.get(`${uuid} ${n}`)?.element
        },
    }
}
