// SPDX-License-Identifier: Apache-2.0
// desk_request.test.mjs: the desk's page of one request, from a phone to a wide screen, in both directions, by keyboard
// and without JavaScript. axe finds nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    act, ann, ask, assertAccessible, atDesk, bob, chromiumOnly, create, devices, isWide, place, shoot, until, visit,
} from './browser.mjs'

const narrow = { ...devices.phone, viewport: { width: 360, height: 740 } }
const sizes = {
    desktop: { viewport: { width: 1366, height: 768 } }, tablet: { viewport: { width: 768, height: 1024 } }, narrow,
    wide: { viewport: { width: 2560, height: 1200 } },
}
const long = { firstname: 'Dora', lastname: 'Mc'.repeat(40), email: `${'d'.repeat(60)}@example.org` }
const viewers = JSON.stringify([{ firstname: 'Lea', lastname: 'Holm', email: 'lea@example.org', when: 'sent' }])
const failed = [/Failed to load resource/]
let list

/** Makes a request, and opens its page. */
async function visitRequest(options, work) {
    const { query = '', prepare = () => {}, signers = [ann, bob], parts = { viewers }, ...context } = options
    const made = await create({ signers, parts })
    await prepare(made)
    list ??= visit(place('/desk/'), atDesk, async page => page.url().replace('.production', '.test'))
    const url = `${await list}requests/${made.uuid}`
    return visit(url + query, { ...devices.desktop, ...atDesk, ...context }, page => work(page, made, url))
}
const refused = made => act(made.links[0], { action: 'refuse', reason: 'The rent is wrong.' })
/** What is outside of the screen, beside what is cut off. */
const outside = page => page.evaluate(() => [...document.querySelectorAll('main *')].filter(each => {
    const { left, right } = each.getBoundingClientRect()
    return (left < -0.5 || right > screen.width + 0.5) && !each.closest('.sheets, .hidden')
}).map(each => each.outerHTML.slice(0, 99)))
const loaded = page => until(page, () => document.querySelector('.sheets img').naturalWidth > 0)

for (const [name, device] of Object.entries(sizes))
    test(`a request, ${name}`, () => visitRequest({ ...device, signers: [ann, { ...bob, ...long }] }, async page => {
        await loaded(page)
        await assertAccessible(page, 'page')
        assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
        assert.deepEqual(await outside(page), [])
        await shoot(page, `desk-request-${name}`)
        for (const summary of await page.locator('.form > summary').all()) await summary.click()
        await assertAccessible(page, 'forms')
        assert.ok(!(await isWide(page)), 'nor with open forms')
        assert.deepEqual(await outside(page), [])
        await shoot(page, `desk-request-forms-${name}`)
    }))

for (const [what, context] of Object.entries({
    arabic: { query: '?lang=ar', ...narrow }, colours: { forcedColors: 'active' }, declined: { prepare: refused },
    draft: { parts: { draft: 'true' }, signers: [ann, { ...bob, fields: [] }] },
}))
    test(`a request, ${what}`, () => visitRequest(context, async page => {
        await loaded(page)
        await assertAccessible(page, what)
        assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
        assert.deepEqual(await outside(page), [])
        assert.equal(await page.locator('html').getAttribute('dir'), what === 'arabic' ? 'rtl' : 'ltr')
        await page.evaluate(() => document.querySelectorAll('.sheets img').forEach(each => { each.loading = 'eager' }))
        await shoot(page, `desk-request-${what}`)
    }))

test('printed', () => visitRequest({ prepare: refused }, async page => {
    await page.emulateMedia({ media: 'print' })
    for (const what of ['[data-copy]', '#link-1', '.links', '.form', 'button'])
        assert.equal(await page.locator(what).filter({ visible: true }).count(), 0, `paper has no ${what}`)
    await page.getByText('The rent is wrong.').first().waitFor()
    await shoot(page, 'desk-request-print')
}))

test('a signer is replaced by keyboard', () => visitRequest({ expected: failed }, async (page, made) => {
    await page.locator('[data-signer="2"] summary').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Eve')
    await page.keyboard.press('Tab')
    await page.keyboard.type(' ')
    await page.keyboard.press('Tab')
    await page.keyboard.type('eve@example.org')
    await page.keyboard.press('Enter')
    await page.getByText('A lastname must be provided').waitFor()
    const name = page.locator('[data-signer="2"] [name=lastname]')
    assert.equal(await name.getAttribute('aria-invalid'), 'true', 'the fault is at its input')
    assert.equal(await page.evaluate(() => document.activeElement.name), 'lastname', 'and the focus')
    assert.equal(await page.locator('[data-signer="2"] [name=firstname]').inputValue(), 'Eve', 'what was typed stays')
    await assertAccessible(page, 'fault')
    await shoot(page, 'desk-request-fault')
    await name.fill('Fox')
    await page.keyboard.press('Enter')
    await page.getByText('The change is saved.').waitFor()
    await page.locator('[data-signer="2"]', { hasText: 'Eve Fox' }).waitFor()
    const { submitters } = await ask(`/signatures/${made.uuid}`)
    assert.equal(submitters[1].replaces, made.submitters[1].uuid)
}))

test('a link is copied', chromiumOnly('it does not let tests read the clipboard'), () => visitRequest(
    { permissions: ['clipboard-read', 'clipboard-write'] }, async (page, made) => {
        await page.getByRole('button', { name: 'Copy' }).first().click()
        await page.getByText('Copied').waitFor()
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), made.links[0])
    }))

test('without JavaScript: cancelled, looked at and deleted', () => visitRequest(
    { javaScriptEnabled: false, expected: failed, ...narrow }, async (page, made, url) => {
        assert.equal(await page.locator('[data-copy]').first().isVisible(), false, 'no button that does nothing')
        assert.equal(await page.locator('#link-1').inputValue(), made.links[0], 'the link is a text')
        await page.getByText('Withdraw request').first().click()
        await page.getByLabel('Reason (optional)').fill('A mistake')
        await page.getByRole('button', { name: 'Withdraw request' }).click()
        await page.getByText('The change is saved.').waitFor()
        assert.equal((await ask(`/signatures/${made.uuid}`)).cancelReason, 'A mistake')
        await page.getByRole('link', { name: 'Delete' }).click()
        await page.getByRole('heading', { name: 'Delete this request?' }).waitFor()
        await shoot(page, 'desk-request-delete')
        await page.getByRole('button', { name: 'Delete' }).click()
        await page.getByText('The request is deleted.').waitFor()
        assert.equal((await page.goto(url)).status(), 410)
        await page.getByRole('heading', { name: 'This request was deleted' }).waitFor()
    }))
