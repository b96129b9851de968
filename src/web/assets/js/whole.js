// SPDX-License-Identifier: Apache-2.0
// whole.js: the whole document where the browser needs all of it: to print it, and to find words in it.
const MOST = 1000 // pages whose texts are loaded for one search
const AT_ONCE = 6

const isShortcut = (event, key) => (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
    && event.key.toLowerCase() === key

/** Loads every image; those that fail are printed as they are. */
const loadAll = images => Promise.all(images.map(img => {
    img.loading = 'eager'
    return img.decode().catch(() => {})
}))

/** `bring()`: every page is there, and all of them are returned; `lay(page)` loads the text of one. */
export function prepareWhole({ bring, lay }) {
    const images = () => bring().map(page => page.img)
    async function print() {
        document.documentElement.classList.add('busy')
        await loadAll(images())
        document.documentElement.classList.remove('busy')
        window.print()
    }
    async function layAll() {
        const left = bring().slice(0, MOST)
        const work = async () => { for (let page; (page = left.shift());) await lay(page) }
        await Promise.all(Array.from({ length: AT_ONCE }, work))
    }
    addEventListener('beforeprint', () => loadAll(images()))
    document.querySelector('[data-print]')?.addEventListener('click', print)
    addEventListener('keydown', event => {
        if (isShortcut(event, 'p')) { event.preventDefault(); print() }
        if (isShortcut(event, 'f') || event.key === 'F3') layAll()
    })
}
