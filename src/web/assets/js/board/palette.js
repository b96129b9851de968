// SPDX-License-Identifier: Apache-2.0
// palette.js: for whom a field is, and of which kind. A kind is dragged to a page, or pressed, and then placed by a
// click on a page. The keyboard puts it on the page in view at once.
import { text } from '../texts.js'
import { colourOf, make } from './boxes.js'
import { KINDS } from './kinds.js'

export function preparePalette(model, { take, add, changed }) {
    const signers = document.querySelector('[data-signers]'), kinds = document.querySelector('[data-kinds]')
    const hint = document.querySelector('[data-armed]')
    let signer = 1, armed = null

    const arm = kind => {
        armed = kind
        for (const button of kinds.querySelectorAll('button'))
            button.setAttribute('aria-pressed', String(button.dataset.kind === kind))
        document.documentElement.classList.toggle('armed', Boolean(kind))
        hint.hidden = !kind
        const said = kind && { kind: text(KINDS[kind].label), signer: model.nameOf(signer) }
        if (kind) hint.textContent = text('placing.armed', said)
        changed(armed)
    }
    const choose = number => {
        signer = number
        kinds.className = `kinds ${colourOf(number)}`
        for (const input of signers.querySelectorAll('input')) input.checked = Number(input.value) === number
        if (armed) arm(armed)
    }
    const show = () => {
        for (const { number } of model.signers) {
            const count = model.fields.filter(field => field.signer === number).length
            signers.querySelector(`[data-count="${number}"]`).textContent = text('placing.count', { count })
        }
    }

    for (const { number } of model.signers) {
        const input = make('input', { type: 'radio', name: 'signer', value: number })
        const count = make('span', { className: 'hint' })
        count.dataset.count = number
        input.addEventListener('change', () => choose(number))
        signers.append(make('label', { className: `signer ${colourOf(number)}` }, input,
            make('b', { textContent: number, ariaHidden: 'true' }),
            make('span', { className: 'who' }, make('bdi', { textContent: model.nameOf(number) }), count)))
    }
    for (const [kind, { label }] of Object.entries(KINDS)) {
        const button = make('button', { type: 'button', className: `kind kind-${kind}` },
            make('span', { className: 'sample', ariaHidden: 'true' }), make('span', { textContent: text(label) }))
        Object.assign(button.dataset, { kind, repeat: '' })
        button.setAttribute('aria-pressed', 'false')
        button.addEventListener('pointerdown', event => event.button || take(event, kind, signer))
        button.addEventListener('click', ({ detail }) => {
            if (!detail) add(kind, signer)
            else arm(armed === kind ? null : kind)
        })
        kinds.append(button)
    }
    choose(1)
    show()
    model.on(what => what === 'fields' && show())
    return { armed: () => armed && { kind: armed, signer }, disarm: () => armed && arm(null), choose,
        get signer() { return signer } }
}
