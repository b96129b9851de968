// SPDX-License-Identifier: Apache-2.0
// signing.js: the way through the page: fields are filled in one by one or all at once; then everything is sent.
import { goTo, prepareBar } from './bar.js'
import { prepareFields } from './fields.js'
import { prepareFinish, prepareRefuse } from './finish.js'
import { setUnsent } from './leaving.js'
import { recall, remember } from './memory.js'
import { preparePages } from './pages.js'
import { preview } from './preview.js'
import { prepareSignature } from './signature.js'
import { setTexts, text } from './texts.js'

const announce = message => (document.querySelector('[data-live]').textContent = message)

export function startSigning(main) {
    const state = JSON.parse(main.dataset.state), { link } = main.dataset
    setTexts(JSON.parse(main.dataset.texts), document.documentElement.lang)
    const pages = preparePages(state, link, { announce })
    let mark = recall(link).mark ?? null
    let waiting = null // the field for which the dialog is open

    const fields = prepareFields(state, pages.of, press)
    const { placed = [], draft = null } = recall(link)
    const isPlaced = () => fields.some(field => field.mark)
    const keep = made => { remember(link, { draft: made }); setUnsent(Boolean(made) || isPlaced()) }
    const signature = prepareSignature({ announce, adopt, keep, draft })
    const finish = prepareFinish({ link, consent: state.consent, mark: () => mark, fields, visit })
    prepareRefuse({ link })

    /** On a phone the text gets the width of the screen, and a tip says how it becomes larger. */
    function begin() {
        const tip = document.querySelector('[data-tip]')
        if (!matchMedia('(pointer: coarse)').matches || !pages.fit() || !tip) return
        tip.hidden = false
        tip.addEventListener('animationend', () => tip.remove())
    }

    /** The field comes into view, on small screens large enough to be read. */
    function visit({ button }) {
        pages.enlarge(button.parentElement)
        goTo(button)
        button.focus({ preventScroll: true })
    }

    /** The first field that is pressed asks for the signature, each further one takes it; a filled one changes it. */
    function press(field) {
        bar.bring()
        if (mark && !field.mark) return put([field])
        waiting = field
        signature.open(mark, fields.filter(each => !each.mark).length > 1 ? fields.length : 1)
        return false
    }

    function adopt(made, everywhere) {
        mark = made
        put(everywhere ? fields : [...fields.filter(field => field.mark), waiting])
        if (fields.every(field => field.mark)) finish.open()
    }

    function put(where) {
        for (const field of where) field.set(mark)
        const placed = fields.flatMap((field, at) => (field.mark ? [at] : []))
        remember(link, { mark, placed })
        setUnsent(true)
        bar.show()
        const all = fields.length, done = placed.length
        announce(text(done === all ? 'placed.all' : 'placed', { done, all, count: all }))
        if (done === all) bar.focus()
        return true
    }

    /** Since the captions were drawn, the day or the language may have changed. */
    async function renew(before) {
        const { mark: drawn } = await preview(before)
        if (!drawn || mark !== before) return
        mark = drawn
        remember(link, { mark })
        for (const field of fields) if (field.mark) field.set(mark)
    }

    const bar = prepareBar(fields, { begin, visit, press, finish: finish.open })
    if (mark) for (const at of placed) fields[at]?.set(mark)
    if (isPlaced()) bar.bring()
    setUnsent(Boolean(draft) || isPlaced())
    if (mark?.shown.captions) renew(mark)
    bar.show()
}
