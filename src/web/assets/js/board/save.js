// SPDX-License-Identifier: Apache-2.0
// save.js: the fields are saved while one works. What is not saved yet is kept in this tab. What somebody else has
// saved meanwhile is never overwritten: conflict.js asks what to keep.
import { setUnsent } from '../leaving.js'
import { recall, remember } from '../memory.js'
import { ask } from '../service.js'
import { text } from '../texts.js'
import { difference, prepareConflict } from './conflict.js'
import { isFaulty } from './kinds.js'

const PAUSE = 800, AGAIN = [2000, 5000, 15_000, 30_000] // milliseconds
const STATES = { saved: 'placing.saved', saving: 'placing.saving', offline: 'placing.offline', busy: 'placing.busy',
    faulty: 'placing.faulty', rejected: 'placing.rejected', conflict: 'placing.conflict' }
const QUIET = ['saved', 'saving']

/** `told(state)` is called with each state of the service, `ended()` when the link is closed. */
export function prepareSave(model, state, link, { announce, told, ended, tell }) {
    const line = document.querySelector('[data-saved]'), detail = document.querySelector('[data-rejected]')
    const decide = document.querySelector('[data-decide]')
    let { version } = state, base = model.fields, saved = JSON.stringify(model.wire())
    let status = 'saved', running = null, timer = 0, tries = 0, other = null, kept = false

    const body = () => JSON.stringify(model.wire())
    const isSaved = () => body() === saved
    /** Costs some milliseconds with many fields, so it is not done with each change, but before the page goes. */
    const keep = () => {
        const isOpen = !isSaved()
        if (isOpen || kept) remember(link, { placing: isOpen ? { version, base, fields: model.fields } : undefined })
        kept = isOpen
        setUnsent(isOpen && !QUIET.includes(status))
    }
    const say = (next, message = '') => {
        if (next !== status && !QUIET.includes(next)) announce(text(STATES[next]))
        status = next
        line.textContent = text(STATES[next])
        line.dataset.saved = next
        detail.textContent = message
        detail.hidden = !message
        decide.hidden = next !== 'conflict'
        told(null)
        if (next !== 'saving') keep()
    }
    const schedule = (pause = PAUSE) => {
        clearTimeout(timer)
        timer = setTimeout(save, pause)
    }
    const again = next => {
        say(next)
        schedule(AGAIN[Math.min(tries++, AGAIN.length - 1)])
    }
    const take = (next, fields, sent) => {
        ({ version } = next)
        base = fields
        saved = sent
        told(next)
    }
    /** What both sides have done until now: one can go on before one decides. */
    const found = () => difference(model, base, model.fields, other.theirs)
    /** Somebody else was faster. If they changed nothing here, or the same, there is nothing to ask. */
    const compare = async next => {
        const theirs = model.read(next), sent = JSON.stringify(model.wire(theirs))
        if (difference(model, base, model.fields, theirs).none) {
            take(next, theirs, sent)
            return schedule(0)
        }
        other = { next, theirs, sent }
        say('conflict')
        return conflict.show(found())
    }
    const settle = choice => {
        const { next, theirs, sent } = other, { both } = found()
        other = null
        take(next, theirs, sent)
        if (choice !== 'mine') model.change(choice === 'theirs' ? theirs : both)
        say('saving')
        schedule(0)
    }
    const conflict = prepareConflict(model, settle)
    decide.addEventListener('click', () => conflict.show(found()))

    const fetchOther = async () => {
        const { status: code, body: next } = await ask(link)
        if (code === 200 && next.status === 'draft') return compare(next)
        return code >= 500 || code === 429 ? again('busy') : ended()
    }
    /** The service names the field by its number among those of its signer. */
    const reject = message => {
        const [, signer, number] = /Signer (\d+).*?Field (\d+)/s.exec(message) ?? []
        const field = model.fields.filter(each => each.signer === Number(signer))[number - 1]
        if (field) model.select(field.id)
        say('rejected', message)
    }
    const put = async () => {
        const sent = body(), fields = model.fields
        say('saving')
        const { status: code, body: next } = await ask(`${link}/fields`, { method: 'PUT', body: sent,
            headers: { 'Content-Type': 'application/json', 'If-Match': version } })
        tries = 0
        if (code === 412) return fetchOther()
        if ([404, 409, 410].includes(code)) return ended()
        if (code === 400 || code === 413) return reject(next?.message ?? '')
        if (code !== 200) return again('busy')
        take(next, fields, sent)
        tell('saved')
        return isSaved() ? say('saved') : schedule()
    }
    async function save() {
        clearTimeout(timer)
        if (running || other) return running
        if (model.fields.some(isFaulty)) return say('faulty')
        if (isSaved()) return say('saved')
        running = put().catch(() => again('offline'))
        await running
        return (running = null)
    }
    /** What the tab has kept, before a reload. */
    const restore = () => {
        const { placing } = recall(link)
        kept = Boolean(placing)
        if (!placing) return
        const own = list => list.map(field => ({ ...field, id: model.newId() }))
        if (placing.version === version) {
            model.change(own(placing.fields))
            return schedule(0)
        }
        base = own(placing.base)
        model.change(own(placing.fields))
        return compare(state)
    }
    model.on(what => {
        if (what !== 'fields' || other) return
        say('saving')
        schedule()
    })
    addEventListener('online', () => status === 'offline' && schedule(0))
    addEventListener('pagehide', keep)
    document.addEventListener('visibilitychange', () => document.hidden && (keep(), save()))
    restore()
    say(status)
    return {
        /** True when the service has what the page shows. */
        flush: async () => {
            for (let i = 0; i < 3 && !isSaved() && !other; i++) await save()
            return isSaved()
        },
        isFaulty: () => ['faulty', 'rejected', 'conflict'].includes(status),
    }
}
