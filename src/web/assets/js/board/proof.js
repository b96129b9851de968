// SPDX-License-Identifier: Apache-2.0
// proof.js: pages as a signer will see them, drawn by the service from what is saved.
import { prepareDialog } from '../dialog.js'
import { text } from '../texts.js'

const WIDTH = 1200

export function prepareProof(model, link, { save, current }) {
    const dialog = prepareDialog('proof'), buttons = [...dialog.querySelectorAll('[data-step]')]
    const img = dialog.querySelector('img'), where = dialog.querySelector('[data-where]')
    const all = model.documents.flatMap((document, at) => Array.from({ length: model.pagesOf(document.uuid) },
        (_, page) => ({ document, at, page })))
    let here = 0

    const show = () => {
        const { document, at, page } = all[here]
        img.alt = where.textContent = text('placing.where', { document: document.name, page: page + 1 })
        dialog.say('')
        img.classList.add('waiting')
        img.src = `${link}/preview?document=${at}&page=${page}&width=${WIDTH}`
        for (const button of buttons) button.disabled = !all[here + Number(button.dataset.step)]
    }
    img.addEventListener('load', () => img.classList.remove('waiting'))
    img.addEventListener('error', () => img.getAttribute('src') && dialog.say(text('page.broken')))
    for (const button of buttons) button.addEventListener('click', () => {
        here += Number(button.dataset.step)
        show()
        if (button.disabled) buttons.find(each => each !== button).focus()
    })
    dialog.addEventListener('close', () => img.removeAttribute('src'))
    return async () => {
        const { document: uuid, n } = current()
        here = all.findIndex(({ document, page }) => document.uuid === uuid && page === n)
        dialog.present()
        if (await save.flush()) show()
        else dialog.say(text('placing.unsaved'))
    }
}
