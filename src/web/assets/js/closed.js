// SPDX-License-Identifier: Apache-2.0
// closed.js: the page of a closed link: it tells the site that shows it in a frame, and forgets what the tab had kept.
import { forget } from './memory.js'

// The policy of the page (frame-ancestors) has already said who may be around it, and the message holds no secret.
const tell = type => parent !== window && parent.postMessage({ type }, '*')

/** The link to the sender's page, where the service does not tell it any more (leaving.js). */
function offerRedirect(area, redirect) {
    if (!area || !redirect) return
    const link = area.querySelector('a')
    link.href = redirect
    link.textContent = link.textContent.replace('{host}', link.host)
    area.hidden = false
}

export function startClosed(main) {
    const { closed, link } = main.dataset
    forget(link)
    offerRedirect(main.querySelector('[data-continue]'), history.state?.redirect)
    if (!main.querySelector('[autofocus]')) document.getElementById('title').focus({ preventScroll: true })
    if (closed === 'completed') tell('sigreq:completed')
    if (closed === 'refused') tell('sigreq:refused')
}
