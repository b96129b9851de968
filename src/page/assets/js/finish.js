// finish.js: the last steps, each in a dialog that says what it means: to sign, or to refuse.
import { prepareDialog, whileBusy } from './dialog.js'
import { paint, toSend } from './mark.js'
import { act } from './service.js'
import { text } from './texts.js'

/** The page of the link, in the language that was chosen. */
const pageOf = ({ pathname, search }) => {
    const language = new URLSearchParams(search).get('lang')
    return pathname + (language ? `?${new URLSearchParams({ lang: language })}` : '')
}

/** Sends, and goes to the page of the link, which shows what came of it; or says why not. */
async function send(dialog, button, { link, label }, what, memory) {
    const result = await whileBusy(dialog, button, text(label), () => act(link, what, memory.sent))
    memory.sent = true
    if (result.outcome === 'over') return location.replace(pageOf(location))
    dialog.say(text(result.outcome, { reason: result.reason }))
    button.focus()
}

export function prepareFinish({ link, consent, version, mark }) {
    const dialog = prepareDialog('finish'), memory = {}
    const button = dialog.querySelector('[data-confirm]'), box = dialog.querySelector('[data-consent]')
    button.addEventListener('click', () => {
        if (!consent.given()) {
            dialog.say(text('consent.needed'))
            return box.focus()
        }
        const signature = toSend(mark())
        send(dialog, button, { link, label: 'sending' },
            { action: 'sign', consent: true, consentVersion: version, signature }, memory)
    })
    return {
        open: () => {
            dialog.present()
            paint(dialog.querySelector('[data-review]'), mark())
        },
    }
}

export function prepareRefuse({ link }) {
    const dialog = prepareDialog('refuse'), memory = {}
    const button = dialog.querySelector('[data-confirm]'), reason = dialog.querySelector('textarea')
    button.addEventListener('click', () =>
        send(dialog, button, { link, label: 'sending.refuse' },
            { action: 'refuse', reason: reason.value.trim() || null }, memory))
    for (const opener of document.querySelectorAll('[data-open=refuse]'))
        opener.addEventListener('click', () => {
            opener.closest('details')?.removeAttribute('open')
            dialog.present()
        })
}
