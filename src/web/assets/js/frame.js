// SPDX-License-Identifier: Apache-2.0
// frame.js: what is on every page: the menu, dates, the choice of the language, and clicks that come twice.
import { setUnsent } from './leaving.js'

const DAY = { dateStyle: 'long' } // in the time zone of the reader; a deadline has the time and names the zone
const CLOCK = {
    day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short',
}
const TIME = 500, NEAR = 24 // milliseconds, CSS pixels: what makes a second click the same as the first one

/**
 * A double click on a button does what one click does: the second click is dropped, wherever it lands, because the
 * first one may have opened a dialog under it. Buttons that are pressed several times have data-repeat.
 */
function dropRepeats() {
    let last = null
    const isRepeat = ({ timeStamp, clientX, clientY }) =>
        last && timeStamp - last.timeStamp < TIME && Math.hypot(clientX - last.clientX, clientY - last.clientY) < NEAR
    const see = event => {
        const button = event.target.closest?.('button, a, summary')
        const byKeyboard = event.type === 'click' && !event.detail
        if (byKeyboard || button?.matches('[data-repeat]')) return
        if (isRepeat(event)) {
            event.preventDefault()
            event.stopImmediatePropagation()
        } else if (event.type === 'click' && button) last = event
    }
    for (const type of ['pointerdown', 'mousedown', 'click']) addEventListener(type, see, { capture: true })
}

/** The menu is closed by Escape, by a click beside it and by what is chosen in it. */
function prepareMenu(menu) {
    const close = () => (menu.open = false)
    addEventListener('pointerdown', event => menu.contains(event.target) || close())
    menu.addEventListener('click', event => event.target.closest('a, button') && close())
    menu.addEventListener('focusout', event => event.relatedTarget && !menu.contains(event.relatedTarget) && close())
    addEventListener('keydown', event => {
        if (event.key !== 'Escape' || !menu.open) return
        close()
        menu.querySelector('summary').focus()
    })
}

export function startFrame() {
    dropRepeats()
    for (const menu of document.querySelectorAll('.menu')) prepareMenu(menu)
    const { lang } = document.documentElement, own = navigator.languages?.find(each => each.startsWith(lang))
    for (const time of document.querySelectorAll('time')) {
        const format = new Intl.DateTimeFormat(own ?? lang, time.matches('[data-clock]') ? CLOCK : DAY)
        time.textContent = format.format(new Date(time.dateTime))
    }
    for (const link of document.querySelectorAll('.languages a'))
        link.addEventListener('click', () => setUnsent(false)) // what is filled in is kept in this tab
}
