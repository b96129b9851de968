// SPDX-License-Identifier: Apache-2.0
// saving.test.mjs: the fields of the placement page are saved while one works. Two tabs, a lost connection and a reload
// lose nothing, and the preview shows what a signer will see.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, board, boxes, entry, failed, kind, ready, saved, status, stored } from './board.mjs'
import { ann, anotherTab, assertAccessible, bob, shoot, until } from './browser.mjs'

async function add(tab, name) {
    await kind(tab, name).focus()
    await tab.keyboard.press('Enter')
}

test('two tabs that change the same request lose nothing', async () => {
    await board({ expected: failed }, async (page, made) => {
        const other = await anotherTab(page, made.placementLink)
        await ready(other)
        await add(other, 'date')
        await saved(other)
        await add(page, 'initials')
        const dialog = page.locator('#conflict')
        await dialog.waitFor()
        const [mine, theirs] = await dialog.locator('ul').allInnerTexts()
        assert.match(mine, /^Added: .Initials/)
        assert.match(theirs, /^Added: .Date signed/)
        await assertAccessible(page, 'a conflict')
        await shoot(page, 'place-conflict')
        await page.keyboard.press('Escape')
        await status(page, 'conflict')
        assert.deepEqual((await stored(made))[0].map(({ type }) => type).sort(), ['date', 'signature', 'text'])
        await page.locator('[data-decide]').click()
        await page.locator('[data-keep=both]').click()
        await saved(page)
        assert.deepEqual((await stored(made))[0].map(({ type }) => type).sort(),
            ['date', 'initials', 'signature', 'text'])
        await add(other, 'checkbox')
        await other.locator('[data-keep=theirs]').click()
        await saved(other)
        assert.equal(await other.locator('[data-list] li').count(), 4)
        await other.locator('[data-act=undo]').click() // what was given up can be taken back
        await saved(other)
        assert.ok((await stored(made))[0].some(({ type }) => type === 'checkbox'))
        await page.bringToFront()
        await boxes(page).first().click()
        await page.keyboard.press('Delete')
        await page.locator('[data-keep=mine]').click()
        await saved(page)
        assert.ok(!(await stored(made))[0].some(({ type }) => type === 'checkbox'))
    })
})

test('without a connection everything is kept, also over a reload, and saved afterwards', async () => {
    await board({ expected: failed }, async (page, made) => {
        await page.route('**/fields', route => route.abort())
        await kind(page, 'date').focus()
        await page.keyboard.press('Enter')
        await status(page, 'offline')
        await page.reload()
        await ready(page)
        assert.equal(await page.locator('[data-list] li').count(), 3)
        await status(page, 'offline')
        assert.equal((await stored(made))[0].length, 2)
        await page.unroute('**/fields')
        await page.evaluate(() => dispatchEvent(new Event('online')))
        await saved(page)
        assert.equal((await stored(made))[0].length, 3)
        await page.reload()
        await ready(page)
        await saved(page)
        // an answer that is lost is no conflict
        await page.route('**/fields', async route => {
            await route.fetch()
            await route.abort()
        }, { times: 1 })
        await kind(page, 'text').focus()
        await page.keyboard.press('Enter')
        await status(page, 'offline')
        await page.evaluate(() => dispatchEvent(new Event('online')))
        await saved(page)
        assert.ok(await page.locator('#conflict').isHidden())
        assert.equal((await stored(made))[0].length, 4)
    })
})

test('what was kept over a reload is compared with what another tab has saved', async () => {
    await board({ expected: failed }, async (page, made) => {
        await page.route('**/fields', route => route.abort())
        await add(page, 'date')
        await status(page, 'offline')
        const other = await anotherTab(page, made.placementLink)
        await ready(other)
        await add(other, 'initials')
        await saved(other)
        await page.bringToFront()
        await page.reload()
        await page.unroute('**/fields')
        await page.locator('#conflict').waitFor()
        assert.match((await page.locator('#conflict ul').allInnerTexts()).join(), /Date signed.*Initials/)
        await page.keyboard.press('Escape')
        await add(page, 'checkbox') // one can go on before one decides
        await page.locator('[data-decide]').click()
        await page.locator('[data-keep=both]').click()
        await saved(page)
        assert.deepEqual((await stored(made))[0].map(({ type }) => type).sort(),
            ['checkbox', 'date', 'initials', 'signature', 'text'])
    })
})

test('the preview shows each page as the chosen signer will see it', async () => {
    const text = (name, area, more) => entry('text', name, area, { required: true, ...more })
    const signers = [{ ...ann, fields: [entry('signature', 'Signature', at(12, 70, 30, 7)),
        text('Rent', at(12, 20, 26, 2.4), { value: '1,250.00 EUR', readOnly: true }),
        text('Job title', at(12, 55, 26, 2.4)), text('Town', at(12, 10, 26, 2.4, 1))] },
    { ...bob, fields: [entry('signature', 'Owner', at(55, 70, 30, 7))] }]
    await board({ signers }, async page => {
        const sheet = page.locator('#proof [data-sheet]'), img = page.locator('#proof img')
        const loaded = () => until(page, () => document.querySelector('#proof img:not(.waiting)')?.naturalWidth > 0)
        const entries = () => sheet.locator('.control').evaluateAll(all => all.map(({ value }) => value))
        await page.locator('[data-act=preview]').click()
        await loaded()
        assert.deepEqual(await entries(), ['1,250.00 EUR', ''])
        assert.equal(await sheet.locator('.field').count(), 1)
        assert.match(await img.getAttribute('alt'), /Lease.pdf.*, page 1, .*Rent/)
        await assertAccessible(page, 'the preview')
        await shoot(page, 'place-preview')
        await page.locator('[data-step="1"]').click()
        await loaded()
        assert.deepEqual(await entries(), [''])
        assert.match(await img.getAttribute('alt'), /Lease.pdf.*, page 2, Town/)
        assert.ok(await page.locator('[data-step="1"]').isDisabled())
        await page.locator('[data-step="-1"]').click()
        await page.locator('#proof-signer').selectOption('2')
        assert.equal(await sheet.locator('.field').count(), 1, 'the field of the other signer')
        assert.deepEqual(await entries(), [])
        await page.keyboard.press('Escape')
        await page.locator('#proof').waitFor({ state: 'hidden' })
        await boxes(page).first().focus()
        await page.keyboard.press('Delete')
        await page.locator('[data-act=preview]').focus()
        await page.keyboard.press('Enter') // before it is saved
        assert.deepEqual(await entries(), [''], 'what was removed is not shown')
    })
})
