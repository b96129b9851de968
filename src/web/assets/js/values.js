// SPDX-License-Identifier: Apache-2.0
// values.js: the values of fields: the service says how they will look and what is wrong with them, and this tab keeps
// those that were entered.
import { setUnsent } from './leaving.js'
import { recall, remember } from './memory.js'
import { previewValues } from './preview.js'
import { text } from './texts.js'

const NEAR = '500px' // of the view: other values are neither asked for nor painted
const AT_ONCE = 20 // values of one request, as the service takes them

export const isEntered = ({ number, readOnly }) => number !== undefined && !readOnly

const FAULTS = { required: () => 'fault.required', fit: () => 'fault.fit', format: format => `fault.${format}` }
const FORMATS = ['fault.integer', 'fault.decimal', 'fault.email', 'fault.date']

/** What is wrong, in the language of the page. */
function sayingOf({ field }, code) {
    const key = FAULTS[code]?.(field.format)
    return text(key && (code !== 'format' || FORMATS.includes(key)) ? key : 'rejected')
}

/** Check boxes with one group are one question; every other field is one of its own. */
function prepareGroups(entries) {
    for (const own of entries) {
        const { group } = own.field
        own.others = group ? entries.filter(each => each !== own && each.field.group === group) : []
        own.settled = () => {
            if (own.fault) return false
            const all = [own, ...own.others]
            return all.some(each => each.filled()) || all.every(each => !each.field.required)
                && all.some(each => each.seen)
        }
    }
}

/** Asks the service for many values at once. */
function prepareAsking() {
    const waiting = new Set()
    let timer
    async function flush() {
        const batch = [...waiting].slice(0, AT_ONCE)
        const asked = new Map(batch.map(own => [own, own.value()]))
        for (const own of batch) waiting.delete(own)
        if (waiting.size) timer = setTimeout(flush)
        const { values = [], fields = [] } = await previewValues(batch.map(own => [own.field.number, own.value()]))
        for (const [own, value] of asked) {
            if (own.value() !== value) continue // it was changed meanwhile
            const isOwn = each => each.number === own.field.number, fault = fields.find(isOwn)
            own.show(values.find(isOwn) ?? null)
            if (fault) own.say?.(sayingOf(own, fault.code))
        }
    }
    return own => {
        if (!own.filled() || own.isGiven() || own.isDrawn) return
        waiting.add(own)
        clearTimeout(timer)
        timer = setTimeout(flush)
    }
}

/** `entries`: of fields that the signer fills in; `dates`: shown alone. `changed()` is called when one was changed. */
export function prepareValues({ link, entries, dates, changed, next }) {
    const place = `${link} values`, entered = recall(place), ask = prepareAsking()
    const byElement = new Map([...entries, ...dates].map(own => [own.element, own]))
    const observer = new IntersectionObserver(all => {
        for (const { target, isIntersecting } of all) {
            const own = byElement.get(target)
            own.draw(isIntersecting)
            if (isIntersecting && !own.shown && !own.fault) ask(own)
        }
    }, { rootMargin: NEAR })
    const resized = new ResizeObserver(all => all.forEach(({ target }) => byElement.get(target).draw()))
    const keep = own => {
        entered[own.field.number] = own.value()
        remember(place, entered)
        setUnsent(true)
    }

    prepareGroups(entries)
    for (const own of entries) {
        if (own.field.number in entered) own.set(entered[own.field.number])
        for (const control of own.controls) {
            control.addEventListener('input', () => {
                own.changed()
                if (own.filled()) for (const other of own.others) if (other.filled()) { other.set(false); keep(other) }
                keep(own)
                changed()
            })
            control.addEventListener('change', () => ask(own))
            control.addEventListener('focus', () => { own.seen = true; changed(own) })
            control.addEventListener('keydown', event => {
                if (event.key !== 'Enter' || own.field.multiline || event.isComposing) return
                event.preventDefault()
                control.dispatchEvent(new Event('change'))
                next()
            })
        }
    }
    for (const element of byElement.keys()) {
        observer.observe(element)
        resized.observe(element)
    }
    return {
        isUnsent: () => Object.keys(entered).length > 0,
        toSend: () => Object.fromEntries(entries.map(own => [own.field.number, own.value()])),
        /** Says what the service has found. The first of these fields, or undefined if it is about no field here. */
        blame: faults => {
            for (const { number, code } of faults) entries.find(own => own.field.number === number)
                ?.say(sayingOf(entries.find(own => own.field.number === number), code))
            changed()
            return entries.find(own => own.fault)
        },
        /** [name, value] of what was filled in. */
        list: () => entries.filter(own => own.filled()).map(({ field, value }) => {
            const at = field.labels ? field.options.indexOf(value()) : -1
            return [field.name, value() === true ? '✓' : field.labels?.[at] ?? value()]
        }),
    }
}
