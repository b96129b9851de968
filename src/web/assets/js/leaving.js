// SPDX-License-Identifier: Apache-2.0
// leaving.js: a signer who leaves the page while something is filled in and not sent is asked first.
let unsent = false
addEventListener('beforeunload', event => {
    if (!unsent) return
    event.preventDefault()
    event.returnValue = '' // for browsers before 2023
})

export const setUnsent = value => (unsent = value)

/** The language that was chosen, for another page. */
export function languageQuery() {
    const lang = new URLSearchParams(location.search).get('lang')
    return lang ? `?${new URLSearchParams({ lang })}` : ''
}

/**
 * To the page that shows what came of it. `redirect`: the sender's page, for a signer whose session has ended: then the
 * service does not tell it again.
 */
export function showOutcome(redirect) {
    const url = location.pathname + languageQuery()
    unsent = false
    if (!redirect) return location.replace(url)
    history.replaceState({ redirect }, '', url)
    return location.reload()
}
