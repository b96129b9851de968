// SPDX-License-Identifier: Apache-2.0
// site.mjs: a page of another site that has embed.js and one of its elements. The site has a strict policy.
import { createServer } from 'node:http'

/** The page notes the element's events, and all messages as they come. */
const noting = `window.seen = []; window.told = []
addEventListener('message', ({ data }) => told.push(data))
for (const type of ['ready', 'opened', 'completed', 'refused', 'closed', 'saved', 'sent', 'error'])
    addEventListener(type, ({ target, detail }) => /^sigreq-/.test(target.localName) && seen.push([type, detail]))`
const style = 'body { margin: 0 } h1 { margin: 1rem; font: 1.25rem sans-serif }'

export const embedFile = link => link.replace(/\/(sign|place)\/.*/, '/sign/embed.js')
const elementOf = link => (link.includes('/place/') ? 'sigreq-place' : 'sigreq-sign')

/** A page with the element for a link. */
export const pageOf = (link, attributes = '', dir = 'ltr') => `<!doctype html>
<html lang="en" dir="${dir}"><title>x</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/site.css">
<script src="/site.js"></script><script src="${embedFile(link)}" async></script>
<h1>A shop</h1><${elementOf(link)} src="${link}" ${attributes}></${elementOf(link)}><p>The end</p>`

/** Serves a page at a URL of `localhost`, and `script` as /own.js. Links are at 127.0.0.1, another site. */
export async function site(link, page, work, script = '') {
    const { origin } = new URL(link), files = {
        '/': ['text/html', page], '/site.js': ['text/javascript', noting], '/site.css': ['text/css', style],
        '/own.js': ['text/javascript', script],
    }
    const server = createServer(({ url }, response) => {
        const [type, text] = files[url] ?? ['text/plain', '']
        response.setHeader('Content-Type', `${type}; charset=utf-8`)
        response.setHeader('Content-Security-Policy', `default-src 'none'; img-src 'self'; style-src 'self'; `
            + `script-src 'self' ${origin}; frame-src ${origin}; base-uri 'none'; form-action 'none'`)
        response.end(text)
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
        return await work(`http://localhost:${server.address().port}/`)
    } finally {
        server.close()
    }
}
