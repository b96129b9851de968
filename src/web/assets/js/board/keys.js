// SPDX-License-Identifier: Apache-2.0
// keys.js: the keys of the field that has the focus, and those to undo and redo.
import { isOfForm } from './kinds.js'

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/** `actions` are those of board.js, `stop()` is true when it ended something, such as dragging. */
export function prepareKeys(model, { boxes, actions, stop }) {
    /** True: the browser does nothing more. */
    const press = (field, event) => {
        const { key, shiftKey, ctrlKey, metaKey } = event
        if (ARROWS[key]) return isOfForm(field) || actions.move(field, ARROWS[key], event) || true
        if (key === 'Delete' || key === 'Backspace') return actions.delete(field) || true
        if (key.toLowerCase() === 'd' && (ctrlKey || metaKey)) return actions.duplicate(field) || true
        if (key === 'Enter' || key === ' ') return actions.details() || true
        if (key === 'Escape') return model.select(null) || true
        if (key !== 'Tab') return false
        const next = model.fields[model.fields.indexOf(field) + (shiftKey ? -1 : 1)]
        if (next) actions.focus(next.id)
        return Boolean(next)
    }
    const handle = event => {
        const { key, ctrlKey, metaKey, shiftKey, target } = event, field = target.matches('.box') && boxes.at(target)
        if (key === 'Escape' && stop()) return true
        if (!(ctrlKey || metaKey) || !['z', 'y'].includes(key.toLowerCase())) return field && press(field, event)
        actions[shiftKey || key.toLowerCase() === 'y' ? 'redo' : 'undo']()
        return true
    }
    addEventListener('keydown', event => {
        const isWriting = event.target.matches('input:not([type=checkbox], [type=radio]), textarea')
        if (!isWriting && !document.querySelector('dialog[open]') && handle(event)) event.preventDefault()
    })
}
