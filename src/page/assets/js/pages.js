// pages.js: the pages of the documents: as sharp as screen and zoom ask for, and with their text over the image, to be
// selected, searched and read aloud. The images load as the browser sees fit (loading=lazy).
import { layText } from './textlayer.js'
import { text } from './texts.js'

const WIDTHS = [400, 800, 1200, 1600, 2000, 4000]
const ZOOMS = [1, 1.25, 1.5, 2, 3, 4]

const sourceOf = (page, end) => `${page.base}/pages/${page.n}.${end}version=${page.version}`

function offerSources(page) {
    page.img.srcset = WIDTHS.map(width => `${sourceOf(page, `png?width=${width}&`)} ${width}w`).join(', ')
}

/** A page that did not come can be asked for again. */
function watchLoading(page) {
    const { img, element } = page
    const broken = () => {
        if (element.querySelector('.broken')) return
        const note = document.createElement('p'), button = document.createElement('button')
        note.className = 'broken'
        button.type = 'button'
        button.className = 'quiet'
        button.textContent = text('page.reload')
        button.addEventListener('click', () => {
            note.remove()
            const { src, srcset } = img
            img.removeAttribute('srcset')
            img.src = src
            img.srcset = srcset
        })
        note.append(text('page.broken'), ' ', button)
        element.append(note)
    }
    img.addEventListener('error', broken)
    if (img.complete && img.getAttribute('src') && !img.naturalWidth) broken()
}

function collect(state, link) {
    return [...document.querySelectorAll('.page')].map(element => {
        const of = state.documents.find(each => each.uuid === element.dataset.document)
        const img = element.querySelector('img')
        element.style.setProperty('--width', `${Math.max(Number(img.getAttribute('width')), 160)}px`)
        return { element, img, n: Number(element.dataset.page), document: of.uuid, version: of.sha256,
            base: `${link}/documents/${of.uuid}`, label: img.alt }
    })
}

export function preparePages(state, link, { announce }) {
    const pages = collect(state, link), byElement = new Map(pages.map(page => [page.element, page]))
    const area = document.getElementById('documents')
    const near = new Set()
    let zoom = 0

    // sizes says how wide the image is shown; with a pinched screen it is looked at more closely
    const sharpen = page => {
        const width = Math.ceil(page.element.clientWidth * Math.max(visualViewport?.scale ?? 1, 1))
        if (!page.img.srcset) offerSources(page)
        page.img.sizes = `${width}px`
    }
    const sharpenNear = () => near.forEach(sharpen)

    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) {
            const page = byElement.get(target)
            if (!isIntersecting) { near.delete(page); continue }
            near.add(page)
            sharpen(page)
            layText(page, sourceOf(page, 'json?'))
        }
    }, { rootMargin: '1000px 0px' })

    function setZoom(to) {
        const seen = pages.find(page => page.element.getBoundingClientRect().bottom > 80) ?? pages[0]
        const before = seen.element.getBoundingClientRect()
        zoom = Math.min(Math.max(to, 0), ZOOMS.length - 1)
        area.style.setProperty('--zoom', ZOOMS[zoom])
        const after = seen.element.getBoundingClientRect()
        const part = (80 - before.top) / before.height
        scrollBy({ top: after.top + part * after.height - 80, behavior: 'instant' })
        sharpenNear()
        announce(text('zoomed', { percent: ZOOMS[zoom] * 100 }))
        for (const button of document.querySelectorAll('[data-zoom]'))
            button.disabled = zoom === (button.dataset.zoom === 'in' ? ZOOMS.length - 1 : 0)
    }

    for (const page of pages) {
        watchLoading(page)
        sharpen(page)
    }
    // texts after the first image, which is what he waits for
    const observe = () => pages.forEach(page => observer.observe(page.element))
    if (document.readyState === 'complete') observe()
    else addEventListener('load', observe)
    for (const button of document.querySelectorAll('[data-zoom]')) {
        button.addEventListener('click', () => setZoom(zoom + (button.dataset.zoom === 'in' ? 1 : -1)))
        button.disabled = button.dataset.zoom === 'out'
    }
    addEventListener('resize', sharpenNear)
    visualViewport?.addEventListener('resize', sharpenNear)
    return (uuid, n) => pages.find(page => page.document === uuid && page.n === n)?.element
}
