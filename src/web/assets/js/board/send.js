// SPDX-License-Identifier: Apache-2.0
// send.js: sends the request, and says why it cannot be sent yet.
import { prepareDialog, whileBusy } from '../dialog.js'
import { setUnsent } from '../leaving.js'
import { forget } from '../memory.js'
import { ask } from '../service.js'
import { text } from '../texts.js'
import { isFaulty } from './kinds.js'
import { make } from './boxes.js'

const DEADLINE = 'deadline'

/** What is missing: {signer, field, said}. All but the deadline is known here at once. */
function missing(model, problems, save) {
    const signing = ({ type }) => ['signature', 'initials'].includes(type)
    const found = model.signers.flatMap(({ number }) => {
        const own = model.fields.filter(({ signer }) => signer === number), name = model.nameOf(number)
        if (!own.some(({ type }) => type === 'signature'))
            return [{ signer: number, said: text('placing.missing', { name }) }]
        return model.documents.filter(({ uuid }) => own.some(({ document }) => document === uuid)
            && !own.some(field => field.document === uuid && signing(field)))
            .map(document => text('placing.missing.document', { name, document: document.name }))
            .map(said => ({ signer: number, said }))
    })
    const faulty = model.fields.find(isFaulty)
    if (faulty) found.push({ field: faulty.id, said: text('placing.fault.field', { name: faulty.name }) })
    else if (save.isFaulty()) found.push({ said: text('placing.unsaved') })
    if (problems.some(({ code }) => code === DEADLINE)) found.push({ said: text('placing.missing.deadline') })
    return found
}

/** `help(problem)` leads to what is missing. */
export function prepareSend(model, state, link, { save, help, tell }) {
    const button = document.querySelector('[data-send]'), why = document.getElementById('send-why')
    const dialog = prepareDialog('send'), list = dialog.querySelector('ul')
    const confirm = dialog.querySelector('[data-confirm]')
    let problems = state.problems ?? [], found = []

    const show = next => {
        problems = next?.problems ?? problems
        found = missing(model, problems, save)
        button.setAttribute('aria-disabled', String(found.length > 0))
        why.textContent = found.length > 1 ? `${found[0].said} (+${found.length - 1})` : found[0]?.said ?? ''
    }
    const done = () => {
        forget(link)
        setUnsent(false)
        tell('sent')
        const { content } = document.getElementById('sent'), next = content.querySelector('[data-continue]')
        const a = next.querySelector('a')
        if (state.redirectUrl && !a.hasAttribute('href')) {
            a.href = state.redirectUrl
            a.textContent = a.textContent.replace('{host}', a.host)
        } else if (!a.hasAttribute('href')) next.remove()
        const main = document.getElementById('main')
        main.className = 'centre'
        main.replaceChildren(content)
        for (const each of document.querySelectorAll('[data-tools]')) each.remove()
        document.getElementById('title').focus()
    }
    /**
     * What is wrong, or what to do then. An answer may be lost after the deed: a draft that is none any more was sent.
     */
    const send = async () => {
        if (!await save.flush()) return text('placing.unsaved')
        const answer = await ask(`${link}/send`, { method: 'POST' }).catch(() => null)
        if (answer?.status === 200) return done
        const after = answer?.status === 400 ? null : await ask(link).catch(() => null)
        if ([404, 409, 410].includes(answer?.status ?? after?.status)) return answer ? () => location.reload() : done
        if (after?.body?.problems) show(after.body)
        if (answer?.status === 400) return answer.body?.message ?? text('rejected')
        return text(answer ? 'busy' : 'placing.lost')
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
