// SPDX-License-Identifier: Apache-2.0
// closed.js: the page of a closed link: it forgets what the tab had kept.
import { forget } from './memory.js'

/** The link to the sender's page, where the service does not tell it any more (leaving.js). */
function offerRedirect(area, redirect) {
    if (!area || !redirect) return
    const link = area.querySelector('a')
    link.href = redirect
    link.textContent = link.textContent.replace('{host}', link.host)
    area.hidden = false
}

export function startClosed(main) {
    forget(main.dataset.link)
    offerRedirect(main.querySelector('[data-continue]'), history.state?.redirect)
    if (!main.querySelector('[autofocus]')) document.getElementById('title').focus({ preventScroll: true })
}
