// SPDX-License-Identifier: Apache-2.0
// signature.js: the dialogs in which a signature and initials are made: drawn, typed or uploaded, as the sender allows.
import { confirmIdentity } from './check.js'
import { prepareDialog, whileBusy } from './dialog.js'
import { prepareDraw } from './draw.js'
import { showOutcome } from './leaving.js'
import { text } from './texts.js'
import { prepareType } from './type.js'
import { prepareUpload } from './upload.js'

const prepare = { drawn: prepareDraw, typed: prepareType, uploaded: prepareUpload }

/** Left and right, Home and End, as everywhere where there are tabs; in a text from right to left the other way. */
function moveByKeys(tabs, choose) {
    tabs[0].parentElement.addEventListener('keydown', event => {
        const at = tabs.indexOf(document.activeElement), forth = document.dir === 'rtl' ? -1 : 1
        const to = { ArrowRight: at + forth, ArrowLeft: at - forth, Home: 0, End: tabs.length - 1 }[event.key]
        if (at < 0 || to === undefined) return
        event.preventDefault()
        const tab = tabs[(to + tabs.length) % tabs.length]
        choose(tab)
        tab.focus()
    })
}

const NAMED = ['id', 'for', 'aria-controls', 'aria-labelledby', 'aria-describedby']

/** The dialog once more, with names of its own, in the words for initials. Its id. */
export function makeInitialsDialog({ firstname, lastname }) {
    const dialog = document.getElementById('signature').cloneNode(true)
    const say = (selector, words) => { for (const each of dialog.querySelectorAll(selector)) each.textContent = words }
    for (const name of NAMED)
        for (const each of [dialog, ...dialog.querySelectorAll(`[${name}]`)])
            if (each.hasAttribute(name)) each.setAttribute(name, `initials-${each.getAttribute(name)}`)
    say('h2, [data-hint], .field-label', text('initials.title'))
    say('[data-adopt]', text('initials.adopt'))
    for (const each of dialog.querySelectorAll('canvas[aria-label]'))
        each.setAttribute('aria-label', text('initials.title'))
    const letters = [firstname, lastname].map(name => [...name ?? ''].at(0) ?? '')
    for (const input of dialog.querySelectorAll('[autocomplete=name]')) input.value = letters.join('')
    document.body.append(dialog)
    return dialog.id
}

/**
 * `dialog`: its id. `keep(draft)` is told what was drawn or typed and not added yet; the `draft` of an earlier visit is
 * shown again.
 */
export function prepareSignature({ dialog: id, announce, adopt, keep, draft }) {
    const discard = prepareDialog('discard')
    let drawn = false // since the dialog was opened
    const dialog = prepareDialog(id, () => {
        if (drawn) discard.present()
        return !drawn
    })
    const tabs = [...dialog.querySelectorAll('[role=tab]')]
    const all = dialog.querySelector('[data-all]')
    const panelOf = tab => document.getElementById(tab.getAttribute('aria-controls'))
    const ways = Object.fromEntries(tabs.map(tab =>
        [tab.dataset.kind, prepare[tab.dataset.kind](panelOf(tab), { say: dialog.say, announce })]))
    const button = dialog.querySelector('[data-adopt]')
    let chosen = draft?.type ?? null, taking = false
    const note = made => keep(draft = made)

    function choose(tab) {
        chosen = tab.dataset.kind
        dialog.say('')
        for (const each of tabs) {
            each.setAttribute('aria-selected', String(each === tab))
            each.tabIndex = each === tab ? 0 : -1
            panelOf(each).hidden = each !== tab
        }
        ways[chosen].show()
    }

    /** Waits for the service to draw it; what is pressed meanwhile is pressed already. */
    async function take() {
        if (taking) return
        taking = true
        const { mark, fault, over, unchecked } = await whileBusy(button, button, text('preparing'), ways[chosen].take)
        taking = false
        if (!dialog.open) return
        if (over) return showOutcome()
        if (unchecked) return confirmIdentity(take)
        if (fault) {
            dialog.say(fault)
            return button.focus({ preventScroll: true })
        }
        const everywhere = !all.hidden && all.querySelector('input').checked
        dialog.close()
        note(null)
        adopt(mark, everywhere)
    }

    for (const tab of tabs) tab.addEventListener('click', () => choose(tab))
    moveByKeys(tabs, choose)
    button.addEventListener('click', take)
    dialog.addEventListener('input', event => {
        if (event.target.closest('[role=tabpanel]') && ways[chosen].draft) note(ways[chosen].draft())
        if (event.target.querySelector('[data-pad]')) drawn = Boolean(draft)
        dialog.say('')
    })
    discard.querySelector('[data-discard]').addEventListener('click', () => {
        if (!dialog.open) return
        discard.close()
        dialog.close()
        note(null)
    })
    dialog.addEventListener('keydown', event => {
        if (event.key === 'Enter' && event.target.matches('[autocomplete=name]')) { event.preventDefault(); take() }
    })

    return {
        /** `count`: for how many fields the signature can be used. */
        open: (mark, count) => {
            const made = draft ?? mark
            const usual = matchMedia('(pointer: coarse)').matches ? 'drawn' : 'typed'
            const kind = made?.type ?? chosen ?? (ways[usual] ? usual : tabs[0].dataset.kind)
            all.hidden = count < 2
            all.querySelector('input').checked = false
            all.querySelector('span').textContent = text('all', { count })
            drawn = false
            dialog.present()
            if (made) ways[made.type].restore(made)
            choose(tabs.find(tab => tab.dataset.kind === kind))
        },
    }
}
