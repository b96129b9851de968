// SPDX-License-Identifier: Apache-2.0
// copy.js: the buttons of the desk that copy a link. Without this script, the link is a field to select.
for (const button of document.querySelectorAll('[data-copy]')) {
    const field = document.getElementById(button.dataset.copy), { textContent } = button
    field.addEventListener('focus', () => field.select())
    button.hidden = !navigator.clipboard
    button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(field.value)
        button.textContent = button.dataset.copied
        setTimeout(() => { button.textContent = textContent }, 2000)
    })
}
