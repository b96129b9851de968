// SPDX-License-Identifier: Apache-2.0
// type.js: a signature typed; while one types, it is shown as the service will draw it.
import { paint } from './mark.js'
import { preview } from './preview.js'
import { text } from './texts.js'

const PAUSE = 250 // milliseconds without a key

export function prepareType(panel, { say }) {
    const input = panel.querySelector('input'), canvas = panel.querySelector('[data-typed]')
    const asked = new Map() // texts, and what the service has said of them
    let shown = null, timer

    const typed = () => input.value.trim()
    const show = () => paint(canvas, shown)

    /** The same text is asked for once, unless it failed. */
    function ask(name) {
        if (!name) return Promise.resolve({ fault: text('type.empty') })
        if (!asked.has(name)) asked.set(name, preview({ type: 'typed', text: name }))
        const answer = asked.get(name)
        answer.then(({ fault }) => fault && asked.delete(name))
        return answer
    }

    /** What comes late, after another key, is not shown. */
    async function update() {
        const name = typed(), { mark, fault } = await ask(name)
        if (name !== typed()) return
        shown = mark ?? null
        if (fault && name) say(fault)
        show()
    }

    input.addEventListener('input', () => {
        clearTimeout(timer)
        timer = setTimeout(update, PAUSE)
    })
    new ResizeObserver(show).observe(canvas)
    return {
        show: () => { update(); input.select() },
        draft: () => (typed() ? { type: 'typed', text: typed() } : null),
        restore: mark => {
            input.value = mark.text
            if (mark.shown) asked.set(mark.text, Promise.resolve({ mark }))
        },
        take: () => ask(typed()),
    }
}
