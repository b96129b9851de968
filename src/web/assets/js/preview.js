// SPDX-License-Identifier: Apache-2.0
// preview.js: how a signature will look: the service draws it as it draws it into the documents, with its own fonts.
import { bodyOf, toSend } from './mark.js'
import { ask, isUnchecked, ownLink } from './service.js'
import { text } from './texts.js'

/** Times and dates are told as the signer knows them, in captions and in the certificate of completion. */
export const timeZone = () => ({
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone, utcOffset: -new Date().getTimezoneOffset(),
})

function request(what) {
    const { consent } = document.getElementById('main').dataset
    const body = bodyOf({ ...what, consentVersion: consent, ...timeZone() })
    return ask(`${ownLink()}/preview`, { method: 'POST', ...body })
}

/**
 * Of [number, value] of fields: {values} that can be shown, {fields} whose values are not accepted. Nothing if the
 * service cannot be asked: it will be when all is sent.
 */
export async function previewValues(values) {
    const answer = await request({ values: Object.fromEntries(values) }).catch(() => null)
    return answer?.body ?? {}
}

/**
 * The mark with what is `shown` of it; a `fault`: why there is nothing to show, `rejected` if the service cannot draw
 * this mark; `unchecked`: the identity must be checked first; `over`: nothing can be signed now.
 */
export async function preview(mark) {
    let answer
    try {
        answer = await request({ signature: toSend(mark) })
    } catch {
        return { fault: text('lost.preview') }
    }
    const { status, body } = answer
    if (status === 200 && body.unknown) return { fault: text('type.unknown', { characters: body.unknown.join(' ') }) }
    if (status === 200) return { mark: { ...mark, shown: body } }
    if (status >= 500 || status === 429) return { fault: text('busy') }
    if (isUnchecked(status)) return { unchecked: true }
    if ([404, 409, 410].includes(status)) return { over: true }
    return { fault: text(mark.image ? 'upload.bad' : 'rejected'), rejected: true }
}
