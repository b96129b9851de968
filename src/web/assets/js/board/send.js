// SPDX-License-Identifier: Apache-2.0
// send.js: sends the request, and says why it cannot be sent yet.
import { prepareDialog, whileBusy } from '../dialog.js'
import { setUnsent } from '../leaving.js'
import { forget } from '../memory.js'
import { ask } from '../service.js'
import { text } from '../texts.js'
import { isFaulty } from './kinds.js'
import { make } from './boxes.js'

/** What is missing, known here at once, or told by the service: [signer, text, language]. */
function missing(model, problems, save) {
    const unsigned = model.signers.filter(({ number }) =>
        !model.fields.some(({ signer, type }) => signer === number && type === 'signature'))
    const faulty = model.fields.find(isFaulty)
    return [
        ...unsigned.map(({ number }) => ({ signer: number, said: text('placing.missing', { name: model.nameOf(number) }) })),
        ...faulty ? [{ field: faulty.id, said: text('placing.fault.field', { name: faulty.name }) }] : [],
        ...!faulty && save.isFaulty() ? [{ said: text('placing.unsaved') }] : [],
        ...problems.filter(({ code }) => code !== 'signature').map(({ message, signer }) => ({ signer, said: message, lang: 'en' })),
    ]
}

/** `help(problem)` leads to what is missing. */
export function prepareSend(model, state, link, { save, help, tell }) {
    const button = document.querySelector('[data-send]'), why = document.getElementById('send-why')
    const dialog = prepareDialog('send'), list = dialog.querySelector('ul'), confirm = dialog.querySelector('[data-confirm]')
    let problems = state.problems ?? [], found = []

    const show = next => {
        problems = next?.problems ?? problems
        found = missing(model, problems, save())
        button.setAttribute('aria-disabled', String(found.length > 0))
        const [first] = found
        why.textContent = first ? [first.said, found.length > 1 && text('placing.more', { count: found.length - 1 })]
            .filter(Boolean).join(' ') : ''
        why.lang = first?.lang ?? ''
        if (!first?.lang) why.removeAttribute('lang')
    }
    const done = () => {
        forget(link)
        setUnsent(false)
        tell('sent')
        const { content } = document.getElementById('sent'), next = content.querySelector('[data-continue]')
        if (state.redirectUrl) {
            const a = next.querySelector('a')
            a.href = state.redirectUrl
            a.textContent = a.textContent.replace('{host}', a.host)
        } else next.remove()
        const main = document.getElementById('main')
        main.className = 'centre'
        main.replaceChildren(content)
        for (const each of document.querySelectorAll('[data-tools]')) each.remove()
        document.getElementById('title').focus()
    }
    /** What is wrong, or what to do then. An answer may be lost after the deed: a draft that is none any more was sent. */
    const send = async () => {
        if (!await save().flush()) return text('placing.unsaved')
        const answer = await ask(`${link}/send`, { method: 'POST' }).catch(() => null)
        if (answer?.status === 200) return done
        const after = answer?.status === 400 ? null : await ask(link).catch(() => null)
        if ([404, 409, 410].includes(answer?.status ?? after?.status)) return answer ? () => location.reload() : done
        if (after?.body?.problems) show(after.body)
        return answer?.status === 400 ? answer.body?.message ?? text('rejected') : text(answer ? 'busy' : 'placing.lost')
    }
    confirm.addEventListener('click', async () => {
        const next = await whileBusy(dialog, confirm, text('placing.sending'), send)
        if (typeof next === 'string') return dialog.say(next)
        dialog.close()
        return next()
    })
    button.addEventListener('click', () => {
        if (found.length) return help(found[0])
        list.replaceChildren(...model.signers.map(({ number }) => make('li', {},
            make('bdi', { textContent: model.nameOf(number) }), make('span', { textContent:
                text('placing.count', { count: model.fields.filter(({ signer }) => signer === number).length }) }))))
        return dialog.present()
    })
    return show
}
