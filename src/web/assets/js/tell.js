// SPDX-License-Identifier: Apache-2.0
// tell.js: what a page in a frame tells the site around it. The policy of the page (frame-ancestors) has already said
// which sites these may be. `signer` is the uuid of the link, which the site has in the frame's address, without its
// session. The placement page has no signer.
const PAUSE = 100 // milliseconds without a change of the height

const post = message => parent.postMessage(message, '*')

/** Two messages are older than the others and have nothing but a type. */
const OLD = ['completed', 'refused']
const UNKNOWN = { 404: 'unknown', 410: 'replaced' } // status of an error page: why the link is closed

/**
 * The height of what is on the page. In a frame it does not depend on the height of the window (base.css), so a frame
 * may follow it.
 */
function followHeight(tell) {
    let told = 0, timer
    const measure = () => {
        const height = Math.ceil(document.body.getBoundingClientRect().height)
        if (height !== told) tell('resize', { height: (told = height) })
    }
    new ResizeObserver(() => {
        clearTimeout(timer)
        timer = setTimeout(measure, told && PAUSE)
    }).observe(document.body)
}

/** Returns tell(type, members), which the page calls for what happens later. Outside of a frame it does nothing. */
export function startTelling({ area, state, closed, problem, submission, link }) {
    if (parent === window) return () => {}
    const ids = { ...submission && { submission }, ...link && !area && { signer: link.split('~')[0] } }
    const tell = (type, more) => post({ type: `sigreq:${type}`, version: 1, ...ids, ...more })
    const reason = closed ?? (area ? undefined : UNKNOWN[problem])
    tell('ready')
    if (state && !area) tell('opened')
    if (OLD.includes(closed)) post({ type: `sigreq:${closed}` })
    if (reason) tell('closed', { reason })
    else if (problem) tell('error', { reason: problem })
    if (window.ResizeObserver) followHeight(tell)
    return tell
}
