// SPDX-License-Identifier: Apache-2.0
// embed.js: the elements <sigreq-sign src="…" lang="…"> and <sigreq-place …> for pages of other sites. They show the
// page of a signing link, or of a placement link, in a frame that is as high as the page, up to the height of the
// window. Messages of the page (tell.js) become events.
const PATIENCE = 10_000 // milliseconds until a page that has said nothing is reported
const START = 640, LEAST = 432 // CSS pixels: in a lower window, the page has another layout

/** The address in the element's `src`, if it is one of the web. */
function addressOf({ lang }, src) {
    try {
        const url = new URL(src, document.baseURI)
        if (lang) url.searchParams.set('lang', lang)
        return /^https?:$/.test(url.protocol) && url
    } catch {
        return null
    }
}

/** Shows a frame in the element, until close(). `message` matches the types of messages that are taken. */
function open(element, title, message) {
    const frame = document.createElement('iframe'), most = CSS.supports('height:1svh') ? '100svh' : '100vh'
    let url, timer, ids
    const stretch = height => (frame.style.height = `${Math.max(height, LEAST)}px`)
    const fire = (type, detail) =>
        element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
    const load = () => {
        const src = element.getAttribute('src')
        url = addressOf(element, src)
        ids = {}
        clearTimeout(timer)
        stretch(START)
        frame.src = src && url || 'about:blank'
        if (src) timer = setTimeout(() => fire('error', { reason: url ? 'timeout' : 'src' }), url && PATIENCE)
    }
    const hear = ({ source, origin, data }) => {
        if (source !== frame.contentWindow || origin !== url?.origin) return
        const { type, height, ...detail } = data ?? {}, name = message.exec(type)?.[1]
        if (name === 'resize') return stretch(height)
        if (!name) return
        clearTimeout(timer)
        if (name === 'ready') Object.assign(ids, detail)
        fire(name, { ...ids, ...detail })
    }
    frame.style.cssText = `display:block;width:100%;border:0;max-height:var(--sigreq-max-height,${most})`
    frame.title = element.title || title
    load();
    (element.shadowRoot ?? element.attachShadow({ mode: 'open' })).append(frame)
    addEventListener('message', hear)
    const close = () => {
        removeEventListener('message', hear)
        clearTimeout(timer)
        frame.remove()
    }
    return { load, close }
}

const define = (name, title, message) => customElements.get(name) || customElements.define(name,
    class extends HTMLElement {
        static get observedAttributes() {
            return ['src', 'lang']
        }

        connectedCallback() {
            this.opened = open(this, title, message)
        }

        disconnectedCallback() {
            this.opened.close()
            this.opened = null
        }

        attributeChangedCallback(attribute, before, now) {
            if (before !== now) this.opened?.load()
        }
    })

define('sigreq-sign', 'Signature', /^sigreq:(ready|opened|completed|refused|closed|error|resize)$/)
define('sigreq-place', 'Fields', /^sigreq:(ready|saved|sent|error|resize)$/)
