// SPDX-License-Identifier: Apache-2.0
// bar.js: the bar at the bottom: how much is filled in, and the one thing to do next. It comes when the intro has gone.
import { text } from './texts.js'

const still = matchMedia('(prefers-reduced-motion: reduce)')

/** Smoothly where it is near; a leap over many pages would load them all on the way. */
export function goTo(element) {
    const far = Math.abs(element.getBoundingClientRect().top) > 3 * innerHeight
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: far || still.matches ? 'instant' : 'smooth' })
}

/** The ink comes from the button that was pressed. */
function glide(ink, button) {
    if (still.matches || !ink.animate) return
    const from = button.getBoundingClientRect(), to = ink.getBoundingClientRect()
    const x = from.left - to.left + (from.width - to.width) / 2, y = from.top - to.top + (from.height - to.height) / 2
    ink.animate({ transform: [`translate(${x}px, ${y}px)`, 'none'] }, { duration: 180, easing: 'ease-out' })
}

function watchIntro(bar, intro) {
    let gone = false, shown = Boolean(intro)
    const update = () => (bar.hidden = shown && !gone)
    if (intro) new IntersectionObserver(entries => {
        shown = entries.at(-1).isIntersecting
        update()
    }, { rootMargin: '-64px 0px 0px' }).observe(intro)
    update()
    return () => { gone = true; update() }
}

/** `steps`: begin(), visit(field), press(field), which is true when that filled it, and finish(). */
export function prepareBar(fields, steps) {
    const bar = document.querySelector('.bar'), intro = document.querySelector('.intro')
    const counter = bar.querySelector('[data-counter]'), track = bar.querySelector('[data-track]')
    const button = bar.querySelector('[data-next]'), inView = new Set()
    const bring = watchIntro(bar, intro)
    let here = null // the field that was gone to last
    const hasValues = fields.some(field => field.control) // then what is next comes after the last one
    const isAtHand = field => field === here || inView.has(field.target)
    const isAfter = field => field.at > here.at || (field === here && !field.control)
    const next = () => {
        const left = fields.filter(field => !field.settled())
        const near = hasValues && here ? isAfter : isAtHand
        return left.find(near) ?? left[0]
    }
    const stepOf = field => {
        if (!field) return 'finish'
        if (field.control || !isAtHand(field)) return hasValues ? 'next.any' : 'next'
        return field.field.type === 'initials' ? 'initials.adopt' : 'sign'
    }

    const show = () => {
        const all = fields.length, done = fields.filter(field => field.filled()).length, field = next()
        counter.textContent = !field ? text('counter.all')
            : done || hasValues ? text('counter', { done, all }) : text('counter.none', { count: all })
        track.style.width = `${(field ? done / (all + 1) : all / (all + 1)) * 100}%` // the last part is to send it
        const step = stepOf(field)
        button.textContent = text(step)
        button.dataset.step = step
    }
    const visit = field => {
        here = field
        steps.visit(field)
        show()
    }
    const go = () => {
        const field = next()
        if (!field) return steps.finish()
        if (field.control || !isAtHand(field)) return visit(field)
        if (!steps.press(field)) return
        glide(field.canvas, button)
        if (next()) visit(next())
    }
    button.addEventListener('click', go)
    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) inView[isIntersecting ? 'add' : 'delete'](target)
        show()
    }, { rootMargin: '-56px 0px -72px', threshold: 0.5 })
    for (const field of fields) observer.observe(field.target)
    intro?.querySelector('[data-start]').addEventListener('click', event => {
        event.preventDefault()
        bring()
        steps.begin()
        // not by scrollIntoView, which would move the documents to the side as well
        const top = document.querySelector('.document').getBoundingClientRect().top + scrollY
        const padding = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)
        scrollTo({ top: top - padding, behavior: still.matches ? 'instant' : 'smooth' })
        document.getElementById('documents').focus({ preventScroll: true })
    })
    show()
    return {
        show, bring, go, visit, focus: () => button.focus(),
        /** A field is being filled in. */
        at: field => { here = field; bring(); show() },
    }
}
