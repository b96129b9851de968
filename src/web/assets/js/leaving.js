// SPDX-License-Identifier: Apache-2.0
// leaving.js: a signer who leaves the page while something is filled in and not sent is asked first.
let unsent = false
addEventListener('beforeunload', event => {
    if (!unsent) return
    event.preventDefault()
    event.returnValue = '' // for browsers before 2023
})

export const setUnsent = value => (unsent = value)

/** To the page that shows what came of it, in the language that was chosen. */
export function showOutcome() {
    const language = new URLSearchParams(location.search).get('lang')
    unsent = false
    location.replace(location.pathname + (language ? `?${new URLSearchParams({ lang: language })}` : ''))
}
