// SPDX-License-Identifier: Apache-2.0
// check.js: the check of the signer's identity, in a dialog over the signing page. Nothing that was filled in can get
// lost there, also in a browser that stores nothing. The dialog shows the content of the page {link}/check.
import { prepareDialog, whileBusy } from './dialog.js'
import { languageQuery, setUnsent, showOutcome } from './leaving.js'
import { canStore } from './memory.js'
import { ask, ownLink } from './service.js'
import { text } from './texts.js'

let dialog = null, needed = false, next = null

const askPage = (url, options) => ask(url, { ...options, headers: { Accept: 'text/html' } }, async answer => {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    return { url: answer.url, main: page.getElementById('main') }
})

/** The signer has passed. A page that was opened in a session which has ended is loaded in the new one. */
function pass(url, link) {
    if (ownLink().includes('~') && canStore()) {
        setUnsent(false)
        return location.replace(url)
    }
    document.getElementById('main').dataset.link = link
    history.replaceState(null, '', url)
    needed = false
    dialog.close()
    return next()
}

function showBody(body, url) {
    for (const form of body.querySelectorAll('form'))
        form.addEventListener('submit', event => {
            event.preventDefault()
            const address = new URL(form.getAttribute('action'), url), entered = new URLSearchParams(new FormData(form))
            const send = () => askPage(address, { method: 'POST', body: entered })
            load(whileBusy(dialog, form.querySelector('button'), text('sending.refuse'), send))
        })
    for (const link of body.querySelectorAll('a')) {
        link.href = new URL(link.getAttribute('href'), url)
        // this tab keeps what is filled in; the way out of a frame leads to a page that does not have it
        link.addEventListener('click', () => window === top && canStore() && setUnsent(false))
    }
    const field = body.querySelector('[autofocus]')
    field?.removeAttribute('autofocus') // which is for documents
    dialog.querySelector('[data-identity]').replaceChildren(...body.childNodes)
    field?.focus()
}

/** Shows what came: the page of the check, the signing page in a session, the page of a closed link, or an error. */
async function load(coming) {
    dialog.say('')
    try {
        const { url, main } = await coming, body = main?.querySelector('[data-identity]')
        if (main?.dataset.closed) showOutcome()
        else if (main?.dataset.state) pass(url, main.dataset.link)
        else if (body) showBody(body, url)
        else dialog.say(main?.querySelector('.lead')?.textContent ?? text('busy'))
    } catch {
        dialog.say(text('lost'))
    }
}

export function prepareCheck(authentication) {
    if (!authentication) return
    dialog = prepareDialog('identity')
    needed = authentication.needed
}

/** Calls `then` when the signer has passed the check. */
export function confirmIdentity(then) {
    next = then
    dialog.present()
    load(askPage(`${ownLink()}/check${languageQuery()}`))
}

/** Calls `then` at once if no check is needed. */
export const whenChecked = then => (needed ? confirmIdentity(then) : then())
