// SPDX-License-Identifier: Apache-2.0
// memory.js: what a reload must not lose, in this tab alone. Where the browser keeps nothing, the page works without.
const key = link => `sigreq:${link.split('~')[0]}` // the same in each session of the signer

export function recall(link) {
    try {
        return JSON.parse(sessionStorage.getItem(key(link))) ?? {}
    } catch {
        return {}
    }
}

/** Whether the browser keeps anything. */
export function canStore() {
    try {
        return Boolean(sessionStorage)
    } catch {
        return false
    }
}

export function remember(link, what) {
    try {
        sessionStorage.setItem(key(link), JSON.stringify({ ...recall(link), ...what }))
    } catch {
        // full, or not allowed in a frame
    }
}

export function forget(link) {
    try {
        for (const name of Object.keys(sessionStorage)) if (name.startsWith(key(link))) sessionStorage.removeItem(name)
    } catch {
        // as above
    }
}
