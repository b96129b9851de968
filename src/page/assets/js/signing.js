// signing.js: the way through the page: what is signed already, what comes next, and what the one button at the bottom
// does.
import { prepareFields } from './fields.js'
import { prepareFinish, prepareRefuse } from './finish.js'
import { recall, remember } from './memory.js'
import { preparePages } from './pages.js'
import { prepareSignature } from './signature.js'
import { setTexts, text } from './texts.js'

const announce = message => (document.querySelector('[data-live]').textContent = message)
const still = matchMedia('(prefers-reduced-motion: reduce)')

/** The boxes to agree, in the intro and at the end, are one. */
function prepareConsent(link) {
    const boxes = [...document.querySelectorAll('[data-consent]')]
    const set = on => boxes.forEach(box => (box.checked = on))
    set(Boolean(recall(link).consent))
    for (const box of boxes)
        box.addEventListener('change', () => {
            set(box.checked)
            remember(link, { consent: box.checked })
        })
    return { given: () => boxes.some(box => box.checked) }
}

/** Smoothly where it is near; a leap over many pages would load them all on the way. */
function goTo(element) {
    const far = Math.abs(element.getBoundingClientRect().top) > 3 * innerHeight
    element.scrollIntoView({ block: 'center', behavior: far || still.matches ? 'instant' : 'smooth' })
    element.focus({ preventScroll: true })
}

/** The bar at the bottom: how far he is, and the one thing to do next. */
function prepareBar(fields, steps) {
    const counter = document.querySelector('[data-counter]'), track = document.querySelector('[data-track]')
    const button = document.querySelector('[data-next]')
    let here = null // the field that was gone to last
    const next = () => fields.find(field => !field.mark)

    const show = () => {
        const all = fields.length, done = fields.filter(field => field.mark).length
        counter.textContent = done === all ? text('counter.all')
            : done ? text('counter', { done, all }) : text('counter.none', { count: all })
        track.style.width = `${(done / all) * 100}%`
        const step = !next() ? 'finish' : next() === here ? 'sign' : done || here ? 'next' : 'start'
        button.textContent = text(step)
        button.dataset.step = step
    }
    button.addEventListener('click', () => {
        const field = next()
        if (!field) return steps.finish()
        if (field === here) return steps.press(field)
        here = field
        goTo(field.button)
        show()
    })
    document.querySelector('[data-start]')?.addEventListener('click', () => {
        here = next() ?? here
        goTo(here?.button ?? button)
        show()
    })
    show()
    return { show, focus: () => button.focus({ preventScroll: true }) }
}

export function startSigning(main) {
    const state = JSON.parse(main.dataset.state), { link } = main.dataset
    setTexts(JSON.parse(main.dataset.texts), document.documentElement.lang)
    const consent = prepareConsent(link)
    const pageOf = preparePages(state, link, { announce })
    let mark = recall(link).mark ?? null
    let waiting = null // the field for which the dialog is open
    let bar

    const fields = prepareFields(state, pageOf, press)
    const signature = prepareSignature({ announce, adopt })
    const finish = prepareFinish({ link, consent, version: state.consent.version, mark: () => mark })
    prepareRefuse({ link })

    /** A field is pressed: the first one asks for the signature, each further one takes it; a signed one changes it. */
    function press(field) {
        if (mark && !field.mark) return put([field])
        waiting = field
        signature.open(mark, fields.filter(each => !each.mark).length)
    }

    function adopt(made, everywhere) {
        mark = made
        put(everywhere ? fields : [...fields.filter(field => field.mark), waiting])
    }

    function put(where) {
        for (const field of where) field.set(mark)
        const placed = fields.flatMap((field, at) => (field.mark ? [at] : []))
        remember(link, { mark, placed })
        bar.show()
        const all = fields.length, done = placed.length
        announce(text(done === all ? 'placed.all' : 'placed', { done, all }))
        if (done === all) bar.focus()
    }

    bar = prepareBar(fields, { press, finish: finish.open })
    if (mark) for (const at of recall(link).placed ?? []) fields[at]?.set(mark)
    bar.show()
}
