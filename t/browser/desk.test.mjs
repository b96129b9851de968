// SPDX-License-Identifier: Apache-2.0
// desk.test.mjs: the list of the desk, from a phone to a wide screen, in both directions, by keyboard and without
// JavaScript. axe finds nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ann, assertAccessible, atDesk, bob, create, devices, isWide, place, shoot, visit } from './browser.mjs'

const narrow = { ...devices.phone, viewport: { width: 360, height: 740 } }
const wide = { viewport: { width: 2560, height: 1200 } }
const zoomed = { viewport: { width: 320, height: 256 } }
const long = { firstname: 'Dora', lastname: 'Mc'.repeat(40) }
let list

/** Opens the list of the environment for tests, in which the requests are. */
async function visitList(options, work, query = '') {
    await create({ signers: [ann, bob] }) // the first one makes the user, too
    list ??= visit(place('/desk/'), atDesk, async page => page.url().replace('.production', '.test'))
    return visit(await list + query, { ...atDesk, ...options }, work)
}

for (const [name, device] of Object.entries({ desktop: devices.desktop, narrow, wide, zoomed }))
    test(`the list, ${name}`, () => visitList(device, async page => {
        await create({ signers: [{ ...ann, ...long }], name: `A ${'very long name '.repeat(20)}`.trim() })
        await create({ signers: [ann], expiresAt: new Date(Date.now() + 86_400_000).toISOString() })
        await page.reload()
        await assertAccessible(page, 'list')
        assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
        await shoot(page, `desk-${name}`)
        const rows = page.getByRole('row')
        await rows.nth(1).getByRole('link', { name: 'Lease for 12 Harbour Road' }).waitFor()
        await rows.nth(1).getByText('0 of 1').waitFor()
        assert.equal(await page.getByText('TEST', { exact: true }).first().isVisible(), true, 'the environment')
        await page.locator('.scope summary').click()
        await page.getByRole('link', { name: /Production/ }).waitFor()
        await page.locator('.search, .rows').evaluateAll(all => all.forEach(each => { each.inert = true })) // below it
        await assertAccessible(page, 'menu')
        assert.ok(!(await isWide(page)), 'nor with the menu')
        await page.getByRole('link', { name: /Production/ }).click()
        await page.getByText('There are no requests yet.').waitFor()
        assert.equal(await page.getByText('TEST', { exact: true }).first().isVisible(), false, 'another environment')
        await assertAccessible(page, 'empty')
    }))

test('a search by keyboard', () => visitList({}, async page => {
    await create({ name: 'A rare word' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    assert.match(page.url(), /#main$/, 'the first link leads to the content')
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('rare')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'A rare word' }).waitFor()
    assert.equal(await page.getByRole('row').count(), 2)
    await page.getByRole('combobox').selectOption('completed')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('No request matches your search.').waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), 'rare', 'the search is kept')
    await assertAccessible(page, 'nothing')
    await page.getByRole('link', { name: 'Show all requests' }).click()
    await page.getByRole('link', { name: 'A rare word' }).waitFor()
}))

test('without JavaScript, from right to left', () => visitList({ javaScriptEnabled: false }, async page => {
    assert.equal(await page.locator('html').getAttribute('dir'), 'rtl')
    await page.locator('.languages summary').click()
    await page.getByRole('link', { name: 'Deutsch' }).click()
    await page.getByRole('heading', { name: 'Vorgänge' }).waitFor()
    await page.getByRole('searchbox').fill('Lease')
    await page.getByRole('button', { name: 'Suchen' }).click()
    await page.getByRole('heading', { name: 'Vorgänge' }).waitFor()
    assert.match(page.url(), /lang=de/, 'a form keeps the language')
}, '?lang=ar'))
