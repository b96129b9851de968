// SPDX-License-Identifier: Apache-2.0
// radio.js: radio buttons of a form: an input at the place of each. The image of the page has them as the document
// shows them with the value of the caller. Another choice is drawn over it.
import { make, makeAbout, place } from './entry.js'

function makeButton(field, button, at, fault) {
    const { number, name, required } = field, element = make('div', { className: 'entry entry-radio' })
    const control = make('input', { type: 'radio', name: `value-${number}`, className: 'control', required })
    const { about, fault: own } = makeAbout(field, `${name}: ${button.option}`)
    control.value = button.option
    control.id = `value-${number}-${at}`
    control.setAttribute('aria-label', `${name}: ${button.option}`)
    control.setAttribute('aria-describedby', (fault ?? own).id)
    if (fault) own.remove()
    place(element, button.percent)
    element.append(control, about)
    return { element, control, page: button.page, fault: own }
}

export function makeRadio(field) {
    const [first, ...more] = field.buttons.reduce((all, button, at) =>
        [...all, makeButton(field, button, at, all[0]?.fault)], [])
    const all = [first, ...more], canvas = make('canvas', { className: 'ink', hidden: true })
    const own = {
        field, more, element: first.element, target: first.control, control: first.control, canvas, seen: false,
        fault: '', controls: all.map(({ control }) => control), isDrawn: true, draw: () => null,
    }
    const toggle = (name, is) => all.forEach(({ element }) => element.classList.toggle(name, is))
    Object.assign(own, {
        value: () => own.controls.find(({ checked }) => checked)?.value ?? '',
        filled: () => own.value() !== '',
        /** Whether this is the value of the caller. */
        isGiven: () => own.value() === (field.value ?? ''),
        set: value => {
            for (const control of own.controls) control.checked = control.value === value
            own.changed()
        },
        show: () => toggle('drawn', own.isGiven()),
        changed: () => {
            own.show()
            own.say('')
        },
        say: message => {
            first.fault.textContent = own.fault = message
            toggle('filled', own.filled())
            toggle('faulty', Boolean(message))
            first.element.classList.toggle('required', field.required)
        },
    })
    /** What nobody has to choose can be taken back. */
    for (const control of field.required ? [] : own.controls) control.addEventListener('keydown', ({ key }) => {
        if (!['Backspace', 'Delete'].includes(key) || !own.filled()) return
        own.set('')
        control.dispatchEvent(new Event('input'))
    })
    own.set(field.value ?? '')
    return own
}
