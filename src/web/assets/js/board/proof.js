// SPDX-License-Identifier: Apache-2.0
// proof.js: each page as a signer will see it: its image with the fields of this signer, which are drawn as the signing
// page draws them.
import { prepareDialog } from '../dialog.js'
import { prepareFields } from '../fields.js'
import { text } from '../texts.js'
import { isRequired } from './kinds.js'

const WIDTH = 1200

export function prepareProof(model, link, current) {
    const dialog = prepareDialog('proof'), buttons = [...dialog.querySelectorAll('[data-step]')]
    const img = dialog.querySelector('img'), where = dialog.querySelector('[data-where]')
    const sheet = dialog.querySelector('[data-sheet]'), select = dialog.querySelector('select')
    const all = model.documents.flatMap(document => Array.from({ length: model.pagesOf(document.uuid) },
        (_, page) => ({ document, page })))
    let here = 0
    select.append(...model.signers.map(({ number }) => new Option(model.nameOf(number), number)))
    select.parentElement.hidden = model.signers.length < 2

    const draw = () => {
        const { document, page } = all[here], signer = Number(select.value)
        const own = model.fields.filter(field => field.signer === signer).map(({ readOnly, ...field }, at) =>
            ({ ...field, number: at + 1, required: isRequired(field) && !readOnly }))
        sheet.replaceChildren()
        prepareFields({ documents: model.documents, fields: own },
            (uuid, n) => (uuid === document.uuid && n === page ? sheet : null), () => null)
        // the image does not have the sender's values yet
        for (const entry of sheet.querySelectorAll('.drawn')) entry.classList.remove('drawn')
        return own.filter(field => field.document === document.uuid && field.page === page)
    }
    const show = () => {
        const { document, page } = all[here], names = draw().map(({ name }) => name)
        where.textContent = text('placing.where', { document: document.name, page: page + 1 })
        img.alt = [where.textContent, ...names].join(', ')
        dialog.say('')
        img.classList.add('waiting')
        img.src = `${link}/documents/${document.uuid}/pages/${page}?width=${WIDTH}&version=${document.version}`
        for (const button of buttons) button.disabled = !all[here + Number(button.dataset.step)]
    }
    img.addEventListener('load', () => img.classList.remove('waiting'))
    img.addEventListener('error', () => img.getAttribute('src') && dialog.say(text('page.broken')))
    select.addEventListener('change', show)
    for (const button of buttons) button.addEventListener('click', () => {
        here += Number(button.dataset.step)
        show()
        if (button.disabled) buttons.find(each => each !== button).focus()
    })
    dialog.addEventListener('close', () => img.removeAttribute('src'))
    return signer => {
        const { document: uuid, n } = current()
        here = all.findIndex(({ document, page }) => document.uuid === uuid && page === n)
        select.value = signer
        dialog.present()
        show()
    }
}
