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

/** The signing link, with the session that this page has now. */
export const ownLink = () => document.getElementById('main').dataset.link

/** {status, body}, or what else is read of the answer; an exception when there is none. */
export async function ask(link, options, how = read) {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), TIMEOUT)
    try {
        return await how(await fetch(link, {
            ...options, cache: 'no-store', signal: stop.signal,
            headers: { Accept: 'application/json', ...options?.headers },
        }))
    } finally {
        clearTimeout(timer)
    }
}

export const isOver = state => ['completed', 'refused', 'closed', 'cancelled', 'expired'].includes(state)

/** Whether the identity of the signer must be checked first, as it is after the end of a session. */
export const isUnchecked = status => status === 403 && Boolean(document.getElementById('identity'))

/** The sender's page, if the page of the link will not tell it, because signing has ended the session. */
const toTell = state => (state?.authentication?.when === 'open' ? state.redirect : undefined)

/** The state as the service tells it, 'unchecked', or null when it cannot be asked. */
export async function askState(link) {
    try {
        const { status, body } = await ask(link)
        if (status === 410) return 'closed'
        if (isUnchecked(status)) return 'unchecked'
        return status === 200 ? body.state : null
    } catch {
        return null
    }
}

/**
 * Signs or refuses. 'over': there is nothing more to do here, the page of the link shows what; 'lost': nobody knows;
 * 'unchecked': the identity must be checked first; 'busy': the service said to try again; 'rejected': it does not take
 * this, perhaps because of `fields`.
 */
export async function act(what, again) {
    const link = ownLink(), known = state => (isOver(state) ? 'over' : state === 'unchecked' && state)
    const before = again && known(await askState(link))
    if (before) return { outcome: before }
    let answer
    try {
        answer = await ask(link, { method: 'POST', ...bodyOf(what) })
    } catch {
        return { outcome: known(await askState(link)) || 'lost' }
    }
    if ([200, 404, 409, 410].includes(answer.status)) return { outcome: 'over', redirect: toTell(answer.body) }
    if (isUnchecked(answer.status)) return { outcome: 'unchecked' }
    if (answer.status >= 500 || answer.status === 429) return { outcome: 'busy' }
    return { outcome: 'rejected', fields: answer.body?.fields ?? [] }
}
