// SPDX-License-Identifier: Apache-2.0
// service.js: the signing service behind the page. An answer may be lost after the deed is done: before anybody is told
// that it failed, the state is asked for, and before anything is sent a second time as well.
import { bodyOf } from './mark.js'

const TIMEOUT = 60_000

async function read(answer) {
    let body = null
    try {
        body = await answer.json()
    } catch {
        if (answer.ok) throw new TypeError('the answer broke off')
    }
    return { status: answer.status, body }
}

/** {status, body}; an exception when there is no answer. */
export async function ask(link, options) {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), TIMEOUT)
    try {
        return await read(await fetch(link, {
            ...options, cache: 'no-store', signal: stop.signal,
            headers: { Accept: 'application/json', ...options?.headers },
        }))
    } finally {
        clearTimeout(timer)
    }
}

export const isOver = state => ['completed', 'refused', 'closed', 'cancelled', 'expired'].includes(state)

/** The state as the service tells it, or null when it cannot be asked. */
export async function askState(link) {
    try {
        const { status, body } = await ask(link)
        if (status === 410) return 'closed'
        return status === 200 ? body.state : null
    } catch {
        return null
    }
}

/**
 * Signs or refuses. 'over': there is nothing more to do here, the page of the link shows what; 'lost': nobody knows;
 * 'busy': the service said to try again; 'rejected': it does not take this, perhaps because of `fields`.
 */
export async function act(link, what, again) {
    if (again && isOver(await askState(link))) return { outcome: 'over' }
    let answer
    try {
        answer = await ask(link, { method: 'POST', ...bodyOf(what) })
    } catch {
        return { outcome: isOver(await askState(link)) ? 'over' : 'lost' }
    }
    if ([200, 404, 409, 410].includes(answer.status)) return { outcome: 'over' }
    if (answer.status >= 500 || answer.status === 429) return { outcome: 'busy' }
    return { outcome: 'rejected', fields: answer.body?.fields ?? [] }
}
