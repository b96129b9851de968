// SPDX-License-Identifier: Apache-2.0
// signing.js: the way through the page: fields are filled in one by one or all at once; then everything is sent.
import { goTo, prepareBar } from './bar.js'
import { prepareCheck } from './check.js'
import { prepareFields } from './fields.js'
import { prepareFinish, prepareRefuse } from './finish.js'
import { setUnsent } from './leaving.js'
import { recall, remember } from './memory.js'
import { preparePages } from './pages.js'
import { preview } from './preview.js'
import { makeInitialsDialog, prepareSignature } from './signature.js'
import { setTexts, text } from './texts.js'
import { prepareValues } from './values.js'

const announce = message => (document.querySelector('[data-live]').textContent = message)

export function startSigning(main) {
    const state = JSON.parse(main.dataset.state), { link } = main.dataset
    setTexts(JSON.parse(main.dataset.texts), document.documentElement.lang)
    const pages = preparePages(state, link, { announce })
    const { placed = [], mark = null, initials = null, draft = null, initialsDraft = null } = recall(link)
    const marks = { signature: mark, initials }, drafts = { signature: draft, initials: initialsDraft }
    let waiting = null // the field for which a dialog is open

    const { fields, dates } = prepareFields(state, pages.of, press)
    const kindOf = ({ field }) => field.type
    const of = kind => fields.filter(field => kindOf(field) === kind)
    const entries = fields.filter(field => field.control)
    const values = prepareValues({
        link, entries, dates, next: () => bar.go(), changed: field => (field ? bar.at(field) : bar.show()),
    })
    const isUnsent = () => values.isUnsent() || Object.values(drafts).some(Boolean) || fields.some(field => field.mark)
    const dialogOf = (kind, dialog) => prepareSignature({
        dialog, announce, draft: drafts[kind],
        adopt: (made, everywhere) => adopt(kind, made, everywhere),
        keep: made => {
            drafts[kind] = made
            remember(link, { draft: drafts.signature, initialsDraft: drafts.initials })
            setUnsent(isUnsent())
        },
    })
    const dialogs = {
        initials: of('initials').length > 0 && dialogOf('initials', makeInitialsDialog(state.signer)),
        signature: dialogOf('signature', 'signature'),
    }
    const finish = prepareFinish({
        consent: state.consent, marks, fields, values, visit: field => bar.visit(field),
    })
    prepareRefuse({ link })
    prepareCheck(state.authentication)

    /** On a phone the text gets the width of the screen, and a tip says how it becomes larger. */
    function begin() {
        const tip = document.querySelector('[data-tip]')
        if (!matchMedia('(pointer: coarse)').matches || !pages.fit() || !tip) return
        tip.hidden = false
        tip.addEventListener('animationend', () => tip.remove())
    }

    /** The field comes into view, on small screens large enough to be read. */
    function visit({ target, canvas }) {
        pages.enlarge(canvas.parentElement)
        target.focus({ preventScroll: true })
        goTo(target) // an input has grown by the focus
    }

    /** The first field that is pressed asks for the signature, each further one takes it; a filled one changes it. */
    function press(field) {
        const kind = kindOf(field), own = of(kind)
        if (entries.length) bar.at(field)
        bar.bring()
        if (marks[kind] && !field.mark) return put(kind, [field])
        waiting = field
        dialogs[kind].open(marks[kind],
            kind === 'signature' && own.filter(each => !each.mark).length > 1 ? own.length : 1)
        return false
    }

    /** Initials are for all of their fields. */
    function adopt(kind, made, everywhere) {
        const own = of(kind), all = everywhere || kind === 'initials'
        marks[kind] = made
        put(kind, all ? own : [...own.filter(field => field.mark), waiting])
        if (fields.every(field => field.settled())) finish.open()
    }

    function put(kind, where) {
        for (const field of where) field.set(marks[kind])
        const isPlaced = fields.flatMap((field, at) => (field.mark ? [at] : []))
        remember(link, { mark: marks.signature, initials: marks.initials, placed: isPlaced })
        setUnsent(true)
        bar.show()
        const all = fields.length, done = fields.filter(field => field.filled()).length
        const said = done === all && of('signature').length === all ? 'placed.all' : 'placed'
        announce(text(kind === 'initials' ? 'counter' : said, { done, all, count: all }))
        if (done === all) bar.focus()
        return true
    }

    /** Since the captions were drawn, the day or the language may have changed. */
    async function renew(before) {
        const { mark: drawn } = await preview(before)
        if (!drawn || marks.signature !== before) return
        marks.signature = drawn
        remember(link, { mark: drawn })
        for (const field of of('signature')) if (field.mark) field.set(drawn)
    }

    const bar = prepareBar(fields, { begin, visit, press, finish: finish.open })
    for (const at of placed) if (fields[at]?.set && marks[kindOf(fields[at])]) fields[at].set(marks[kindOf(fields[at])])
    if (fields.some(field => field.mark) || values.isUnsent()) bar.bring()
    setUnsent(isUnsent())
    if (mark?.shown.captions) renew(mark)
    bar.show()
}
