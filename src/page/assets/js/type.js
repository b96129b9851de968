// type.js: a signature typed; how it will look is shown while one types.
import { text } from './texts.js'
import { paint } from './mark.js'

export function prepareType(panel) {
    const input = panel.querySelector('input'), canvas = panel.querySelector('[data-typed]')
    const show = () => paint(canvas, { type: 'typed', text: input.value.trim() })
    input.addEventListener('input', show)
    new ResizeObserver(show).observe(canvas)
    return {
        show: () => { show(); input.select() },
        restore: mark => { input.value = mark.text },
        take: () => {
            const typed = input.value.trim()
            return typed ? { mark: { type: 'typed', text: typed } } : { fault: text('type.empty') }
        },
    }
}
