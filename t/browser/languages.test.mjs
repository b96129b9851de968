// SPDX-License-Identifier: Apache-2.0
// languages.test.mjs: each language of the page, in its states, on the smallest phone: nothing is wider than the
// screen, no text is cut in a button, and axe finds nothing. All languages share the requests that the states need. axe
// checks each state in one language of each direction, and, if all languages are checked, each state of signing in at
// least three others.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
    act, ann, ask, assertAccessible, bob, chromiumOnly, create, devices, field, isWide, place, ready, source, until,
    visit,
} from './browser.mjs'
import { contract } from './pdf.mjs'

const languages = [...readFileSync(join(source, 'src/model/languages.def'), 'utf8')
    .matchAll(/^SR_LANGUAGE\("([^"]+)", "([^"]+)"/gm)].map(([, code, tag]) => ({ code, tag }))
/** Whose every state is looked at. SIGREQ_LANGUAGES=most adds the states of signing in the others. All of all take five
 * minutes: SIGREQ_LANGUAGES=all. */
const isWhole = code => process.env.SIGREQ_LANGUAGES === 'all' || ['en', 'de', 'ar', 'ja'].includes(code)
const chosen = languages.filter(({ code }) => process.env.SIGREQ_LANGUAGES || isWhole(code))
/** axe takes longer than everything else, and finds the same in languages of one direction. So it looks at every state
 * of one of each, and at a sixth of the states of the others: at another sixth in each language that follows. */
const DIRECTIONS = ['en', 'ar']
const isAxed = tag => process.env.SIGREQ_LANGUAGES === 'all' || DIRECTIONS.includes(tag)
const small = { ...devices.phone, viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' }
const LANES = 3 // pages that look at languages at the same time

/** Buttons whose text is wider or higher than they are. */
const cutButtons = page => page.evaluate(() => [...document.querySelectorAll('button, .button')]
    .filter(button => button.offsetParent && !button.matches('.field'))
    .filter(button => button.scrollWidth > button.clientWidth + 1 || button.scrollHeight > button.clientHeight + 1)
    .map(button => button.textContent.trim()))

const looked = {}
function isTurnOfAxe(tag) { // in the next state of a language
    const at = languages.findIndex(language => language.tag === tag)
    looked[tag] = (looked[tag] ?? at) + 1
    return isAxed(tag) || looked[tag] % 6 === 0
}

async function assertFits(page, state) {
    const tag = await page.locator('html').getAttribute('lang')
    // the colours do not depend on the language, and their contrast takes long
    if (isTurnOfAxe(tag)) await assertAccessible(page, state, { 'color-contrast': DIRECTIONS.includes(tag) })
    assert.ok(!(await isWide(page)), `${state}: nothing is wider than the screen`)
    assert.deepEqual(await cutButtons(page), [], `${state}: no button is cut`)
}

// --- what all languages share

const sign = link => act(link, { action: 'sign', consent: true, signature: { type: 'typed', text: 'Ann Lee' } })
const refuse = link => act(link, { action: 'refuse', reason: 'The rent is too high.' })

const words = {
    message: JSON.stringify({ text: 'Dear Ann, please sign. '.repeat(60) }),
    refusal: '{"reason":"required"}'
}

/** Links in every state, and a document that was signed. */
async function prepare() {
    const [open, bare, half, whole, declined] = await Promise.all([
        create({ signers: [{ ...ann, fields: [field(0), field(1)] }], parts: words }), create({ skipIntro: true }),
        create({ signers: [ann, bob] }), create(), create({ signers: [ann, bob] }),
    ])
    await Promise.all([sign(half.links[0]), sign(whole.links[0]), refuse(declined.links[1])])
    const { submitters: [{ signedDocuments: [{ uuid }] }] } = await ask(`/signatures/${whole.uuid}`)
    const document = await fetch(`${whole.links[0]}/documents/${uuid}`)
    return {
        open: open.links[0], bare: bare.links[0].split('?')[0], waiting: half.links[0], done: whole.links[0],
        refused: declined.links[1], closed: declined.links[0], signed: Buffer.from(await document.arrayBuffer()),
    }
}

// --- the states

/** As by a key: without a pointer, nothing counts as a double click. */
const press = (page, selector) => page.locator(selector).first().evaluate(element => element.click())
/** What is wrong is said where it can be seen: neither below the window nor under the buttons. */
async function errorOf(page, dialog) {
    const error = page.locator(`${dialog} [data-error]:not(:empty)`)
    await error.waitFor()
    await until(page, each => {
        const { left, right, top, bottom } = each.getBoundingClientRect()
        return [top + 2, bottom - 2].every(y => document.elementFromPoint((left + right) / 2, y) === each)
    }, await error.elementHandle())
}
const isReady = page => until(page, () => document.documentElement.classList.contains('ready'))

async function lookAtDialog(page) {
    await press(page, '.field')
    await press(page, '#tab-draw')
    await press(page, '[data-adopt]')
    await errorOf(page, '#signature')
    assert.ok(await page.locator('[data-all]').isVisible(), 'it can be used for all fields')
    await assertFits(page, 'draw, and nothing is drawn')
    await press(page, '#tab-type')
    await page.locator('#typed').fill('\u{10fffd}')
    await press(page, '[data-adopt]')
    await errorOf(page, '#signature')
    await assertFits(page, 'type, and a character is unknown')
    await press(page, '#tab-upload')
    await page.locator('#upload').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no') })
    await errorOf(page, '#signature')
    await assertFits(page, 'upload, and it is no image')
    await press(page, '#tab-draw')
    const { x, y } = await page.locator('[data-pad]').boundingBox()
    await page.mouse.move(x + 40, y + 40)
    await page.mouse.down()
    await page.mouse.move(x + 90, y + 70)
    await page.mouse.up()
    await page.keyboard.press('Escape')
    await page.locator('#discard').waitFor()
    await assertFits(page, 'a drawing is left')
    await press(page, '[data-discard]')
}

async function lookAtLastStep(page) {
    await press(page, '.field')
    await press(page, '#tab-type')
    await page.locator('#typed').fill('Ann Lee')
    await page.locator('[data-all] input').evaluate(box => (box.checked = true))
    await press(page, '[data-adopt]')
    await page.locator('#finish').waitFor()
    await assertFits(page, 'last step')
    const answers = {
        lost: route => route.abort('connectionreset'), busy: route => route.fulfill({ status: 503, json: {} }),
        rejected: route => route.fulfill({ status: 400, json: { message: 'No' } }),
    }
    for (const [outcome, answer] of Object.entries(answers)) {
        const before = await page.locator('#finish [data-error]').textContent()
        await page.route(/\/sign\//, answer)
        await press(page, '#finish [data-confirm]')
        await until(page, text => ![text, ''].includes(document.querySelector('#finish [data-error]')
            .textContent), before)
        await page.unroute(/\/sign\//)
        await assertFits(page, outcome)
    }
    await press(page, '#finish [data-close]')
    await assertFits(page, 'placed')
}

async function lookAtSigning(page, { bare }, query) {
    await ready(page)
    await assertFits(page, 'start')
    await press(page, '.menu summary')
    await assertFits(page, 'menu')
    await press(page, '.menu [data-open=refuse]')
    await assertFits(page, 'decline')
    await press(page, '#refuse [data-confirm]')
    await errorOf(page, '#refuse')
    await assertFits(page, 'decline, and the reason is missing')
    await press(page, '#refuse [data-close]')
    await press(page, '.languages summary')
    await lookAtDialog(page)
    await lookAtLastStep(page)
    await page.route(/\/pages\/\d+\?/, route => route.fulfill({ status: 503 }))
    await page.goto(bare + query)
    await page.locator('.page button:not(.field)').first().waitFor()
    await assertFits(page, 'without the intro, and a page is not there')
    await page.route(/assets\/page.*\.js$/, route => route.abort())
    await page.goto(bare + query)
    await page.locator('#plain-typed').waitFor()
    await assertFits(page, 'plain')
    await page.unrouteAll()
}

/** A form that the page has not: what comes of a click that is too late, or of a mistake in a program. */
const post = async (page, action) => {
    const [, answer] = await Promise.all([page.waitForEvent('load'), page.waitForResponse(/./),
        page.evaluate(value => {
            const form = document.createElement('form'), input = document.createElement('input')
            Object.assign(form, { method: 'post', action: location.href }).append(input)
            Object.assign(input, { name: 'action', value })
            document.body.append(form)
            form.submit()
        }, action)])
    return answer.status()
}

async function lookAtClosed(page, links, query) {
    for (const state of ['waiting', 'refused', 'closed', 'done']) {
        await page.goto(links[state] + query)
        await isReady(page)
        await assertFits(page, state)
    }
    assert.equal(await post(page, 'refuse'), 409)
    await assertFits(page, 'too late')
    assert.equal(await post(page, 'nonsense'), 400)
    await assertFits(page, 'a mistake')
    const nowhere = place('/sign/00000000-0000-4000-8000-000000000000')
    await page.goto(nowhere + query)
    await assertFits(page, 'unknown')
    await page.goto(nowhere.replace('127.0.0.1', 'nodatabase.test') + query)
    await assertFits(page, 'away')
}

async function lookAtVerification(page, { signed }, query) {
    const broken = Buffer.from(signed)
    broken[broken.indexOf('stream') + 20] ^= 1
    const files = {
        signed, broken, extended: Buffer.concat([signed, Buffer.from('% more\n')]), unsigned: contract(1),
        nothing: null,
    }
    await page.goto(place(`/verify${query}`))
    await isReady(page)
    await assertFits(page, 'verify')
    for (const [name, buffer] of Object.entries(files)) {
        const file = { name: `${name}.pdf`, mimeType: 'application/pdf', buffer }
        if (buffer) await page.locator('#file').setInputFiles(file)
        else await page.locator('#file').evaluate(input => input.removeAttribute('required'))
        await Promise.all([page.waitForEvent('load'),
            page.locator('[data-check]').evaluate(form => form.requestSubmit())])
        await isReady(page)
        assert.equal(await page.locator('.result').count(), buffer ? 1 : 0)
        for (const details of await page.locator('.result summary').all()) await details.evaluate(each => each.click())
        await assertFits(page, `verify: ${name}`)
    }
}

const expected = [/ERR_/, /40[049]/, /503/, /request to http:\/\/nodatabase\.test/]
async function look(page, { code, tag }, states) {
    const query = `?lang=${code}`
    await page.goto(states.open + query)
    assert.equal(await page.locator('html').getAttribute('lang'), tag)
    await lookAtSigning(page, states, query)
    if (isWhole(code)) {
        await lookAtClosed(page, states, query)
        await lookAtVerification(page, states, query)
    }
    await page.evaluate(() => sessionStorage.clear()) // what the next language must not find
}

/** Looks at languages, one after the other, in one page: its process has then compiled axe and our scripts. Notes what
 * is wrong with each, or null. After an error, the next language has a new page. */
async function lookAtSome(waiting, states, found) {
    while (waiting.length)
        await visit(place('/verify'), { ...small, expected }, async (page, problems) => {
            for (let isGood = true; isGood && waiting.length;) {
                const language = waiting.shift()
                const error = await look(page, language, states)
                    .then(() => assert.deepEqual(problems, [])).then(() => null, problem => problem)
                found[language.code] = error
                problems.length = 0
                isGood = !error
            }
        })
}

async function lookAtAll() {
    const states = await prepare(), waiting = [...chosen], found = {}
    await Promise.all(Array.from({ length: LANES }, () => lookAtSome(waiting, states, found)))
    return found
}

test('there are 22 languages', () => assert.equal(languages.length, 22))

let found
chosen.forEach(({ code }) =>
    test(`${code} fits, and axe finds nothing`, chromiumOnly('one browser is enough for the texts'),
        async () => assert.ifError((await (found ??= lookAtAll()))[code])))
