// dialog.js: the browser's own dialogs, which keep the focus and give it back; closed by Escape, by their buttons, and
// by a click beside them.
export function prepareDialog(id) {
    const dialog = document.getElementById(id)
    const error = dialog.querySelector('[data-error]')
    dialog.addEventListener('click', event => {
        if (event.target === dialog || event.target.closest('[data-close]')) dialog.close()
    })
    return Object.assign(dialog, {
        present: () => {
            error.textContent = ''
            if (!dialog.open) dialog.showModal()
            dialog.querySelector('h2').focus()
        },
        say: message => (error.textContent = message),
    })
}

/** While something is under way: what started it says so and cannot be started again, and Escape does not hide it. */
export async function whileBusy(dialog, button, label, work) {
    const before = button.textContent
    const stay = event => event.preventDefault()
    dialog.addEventListener('cancel', stay)
    button.textContent = label
    for (const each of dialog.querySelectorAll('button')) each.disabled = true
    dialog.setAttribute('aria-busy', 'true')
    try {
        return await work()
    } finally {
        dialog.removeEventListener('cancel', stay)
        button.textContent = before
        for (const each of dialog.querySelectorAll('button')) each.disabled = false
        dialog.removeAttribute('aria-busy')
    }
}
