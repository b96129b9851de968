// SPDX-License-Identifier: Apache-2.0
// dialog.js: the browser's own dialogs, which keep the focus and give it back. They are closed by their buttons and by
// Escape alone: a click beside a dialog does nothing, because a stroke of a signature may end there.

/** `mayClose()` is asked before Escape closes the dialog. */
export function prepareDialog(id, mayClose = () => true) {
    const dialog = document.getElementById(id)
    const error = dialog.querySelector('[data-error]')
    const leave = event => {
        event.preventDefault()
        if (!dialog.hasAttribute('aria-busy') && mayClose()) dialog.close()
    }
    dialog.addEventListener('click', event => event.target.closest('[data-close]') && dialog.close())
    dialog.addEventListener('keydown', event => event.key === 'Escape' && leave(event))
    // the gesture to go back; the choice of a file has an event of this name, too
    dialog.addEventListener('cancel', event => event.target === dialog && leave(event))
    dialog.addEventListener('close', () => document.documentElement.classList.toggle('modal', isAnyOpen()))
    return Object.assign(dialog, {
        present: () => {
            if (error) error.textContent = ''
            if (!dialog.open) dialog.showModal()
            document.documentElement.classList.add('modal')
            dialog.querySelector('h2').focus()
        },
        say: message => {
            error.textContent = message
            if (message) error.scrollIntoView({ block: 'nearest' }) // in a small window it may be below the buttons
        },
    })
}

const isAnyOpen = () => Boolean(document.querySelector('dialog[open]'))

/**
 * While something is under way, what started it says so and cannot be started again. If `area` is the dialog, nothing
 * else can be pressed either, and Escape does not hide it.
 */
export async function whileBusy(area, button, label, work) {
    const before = button.textContent, all = [button, ...area.querySelectorAll('button')]
    button.textContent = label
    for (const each of all) each.disabled = true
    area.setAttribute('aria-busy', 'true')
    try {
        return await work()
    } finally {
        button.textContent = before
        for (const each of all) each.disabled = false
        area.removeAttribute('aria-busy')
    }
}
