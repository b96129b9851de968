// SPDX-License-Identifier: Apache-2.0
// finish.js: the last steps, each in a dialog that says what it means: to sign, or to decline.
import { confirmIdentity, whenChecked } from './check.js'
import { prepareDialog, whileBusy } from './dialog.js'
import { showOutcome } from './leaving.js'
import { paint, toSend } from './mark.js'
import { recall, remember } from './memory.js'
import { shapeOf } from './fields.js'
import { timeZone } from './preview.js'
import { act } from './service.js'
import { text } from './texts.js'

/** Sends, and goes to the page of the link, which shows what came of it; or says why not. True if `blame` has. */
async function send(dialog, button, { label, blame }, what, memory) {
    const result = await whileBusy(dialog, button, text(label), () => act(what, memory.sent))
    memory.sent = true
    if (result.outcome === 'over') return showOutcome(result.redirect)
    if (result.outcome === 'unchecked') return confirmIdentity(() => button.focus())
    if (result.fields?.length && blame?.(result.fields)) return
    dialog.say(text(result.outcome))
    button.focus()
}

/** Whether the end of the text that one agrees to has come above the buttons; if not, it comes now. */
function hasConsentInView(dialog, button) {
    const end = dialog.querySelector('#consent').getBoundingClientRect().bottom
    const hidden = end - button.parentElement.getBoundingClientRect().top
    if (hidden > 1) dialog.scrollBy({ top: hidden, behavior: 'instant' })
    return hidden <= 1
}

/** All pages with places, below the names of their documents: each leads to its first field. */
function listPlaces(dialog, fields, visit) {
    for (const list of dialog.querySelectorAll('[data-places]')) {
        const own = fields.filter(({ field }) => field.document === list.dataset.places)
        for (const page of new Set(own.map(({ field }) => field.page))) {
            const here = own.filter(({ field }) => field.page === page), link = document.createElement('button')
            link.type = 'button'
            link.className = 'link'
            link.textContent = text('place', { number: page + 1 }) + (here.length > 1 ? ` (${here.length})` : '')
            link.addEventListener('click', () => { dialog.close(); visit(here[0]) })
            list.append(link)
        }
    }
}

/** The names of fields and the values that they got. */
function listValues(dialog, values) {
    const area = dialog.querySelector('[data-entered]')
    if (!area) return
    area.hidden = !values.length
    area.querySelector('dl').replaceChildren(...values.map(pair => {
        const row = document.createElement('div')
        row.append(...pair.map((words, at) => {
            const cell = document.createElement(at ? 'dd' : 'dt')
            cell.dir = 'auto'
            cell.textContent = words
            return cell
        }))
        return row
    }))
}

/** `marks`: the signature and the initials; `values`: of values.js. */
export function prepareFinish({ consent, marks, fields, values, visit }) {
    const dialog = prepareDialog('finish'), memory = {}
    const button = dialog.querySelector('[data-confirm]')
    button.addEventListener('click', () => {
        if (!hasConsentInView(dialog, button)) return
        const { version: consentVersion, termsUrl = '' } = consent // what was shown here
        const made = Object.entries(marks).map(([kind, mark]) => [kind, mark ? toSend(mark) : undefined])
        const blame = faults => {
            const first = values.blame(faults)
            if (first) dialog.close()
            if (first) visit(first)
            return first
        }
        send(dialog, button, { label: 'sending', blame }, { action: 'sign', consent: true, consentVersion,
            termsUrl, ...Object.fromEntries(made), values: values.toSend(), ...timeZone() }, memory)
    })
    listPlaces(dialog, fields, visit)
    const canvas = dialog.querySelector('[data-review]'), second = dialog.querySelector('[data-review-initials]')
    second?.setAttribute('aria-label', text('initials.title'))
    const show = () => {
        const own = fields.find(({ field }) => field.caption) // if one has a caption, it is shown as an example
        const how = own && { caption: own.field.caption, shape: shapeOf(own.canvas) }
        if (second) second.hidden = !marks.initials
        paint(canvas, marks.signature, how)
        if (second) paint(second, marks.initials)
    }
    new ResizeObserver(show).observe(canvas) // as when a phone is turned
    return { open: () => whenChecked(() => { dialog.present(); listValues(dialog, values.list()); show() }) }
}

/** There is no dialog if the sender lets nobody decline. */
export function prepareRefuse({ link }) {
    if (!document.getElementById('refuse')) return
    const dialog = prepareDialog('refuse'), memory = {}
    const button = dialog.querySelector('[data-confirm]'), reason = dialog.querySelector('textarea')
    const blame = missing => {
        reason.setAttribute('aria-invalid', String(missing))
        dialog.say(missing ? text('refuse.missing') : '')
        if (missing) reason.focus()
        return missing
    }
    button.addEventListener('click', () =>
        blame(reason.required && !reason.value.trim()) || send(dialog, button, { label: 'sending.refuse' },
            { action: 'refuse', reason: reason.value.trim() || null }, memory))
    reason.value = recall(link).reason ?? ''
    reason.addEventListener('input', () => {
        remember(link, { reason: reason.value })
        if (reason.value.trim()) blame(false)
    })
    for (const opener of document.querySelectorAll('[data-open=refuse]'))
        opener.addEventListener('click', () => {
            opener.closest('details')?.querySelector('summary').focus() // the menu closes: the focus comes back to it
            whenChecked(dialog.present)
        })
}
