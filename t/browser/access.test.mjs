// SPDX-License-Identifier: Apache-2.0
// access.test.mjs: accessibility: axe in each state, on a small and a large screen, text that can be read and selected,
// zoom, motion, directions, languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, assertAccessible, create, devices, DONE, field, finish, isWide, openSignature, ready, settled, shoot, shown,
    typeSignature, until, visit,
} from './browser.mjs'

const two = { ...ann, fields: [field(0), field(1)] }
const zoomed = { viewport: { width: 320, height: 256 } } // 1280 × 1024 at 400 %

for (const [name, device] of Object.entries({ ...devices, zoomed }))
    test(`axe finds nothing, ${name}`, async () => {
        const made = await create({ signers: [two] })
        await visit(made.links[0], { ...device, reducedMotion: 'reduce' }, async page => {
            await ready(page)
            await page.locator('.text span').first().waitFor({ state: 'attached' })
            await assertAccessible(page, 'intro')
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await shoot(page, `${name}-start`)
            await page.locator('.menu summary').click()
            await assertAccessible(page, 'menu')
            await shoot(page, `${name}-menu`)
            await page.locator('.menu').getByRole('button', { name: 'Decline to sign' }).click()
            await assertAccessible(page, 'refuse')
            await page.keyboard.press('Escape')
            await openSignature(page)
            for (const tab of ['Draw', 'Type', 'Upload']) {
                await page.getByRole('tab', { name: tab }).click()
                await assertAccessible(page, tab)
                await shoot(page, `${name}-${tab.toLowerCase()}`)
            }
            await typeSignature(page, null, true)
            await page.locator('#finish').waitFor()
            await assertAccessible(page, 'finish')
            await shoot(page, `${name}-finish`)
            await page.keyboard.press('Escape')
            await assertAccessible(page, 'placed')
            await shoot(page, `${name}-placed`)
            await finish(page)
            await assertAccessible(page, 'done')
            await shoot(page, `${name}-done`)
            assert.ok(!(await isWide(page)), 'nor when it is done')
        })
    })

test('the plain page', async () => {
    const made = await create()
    // axe needs scripts: the page's own are kept away, as from a browser that cannot load them
    const prepare = page => page.route(/assets\/.*\.js$/, route => route.abort())
    await visit(made.links[0], { expected: [/ERR_/], prepare }, async page => {
        await shown(page, 'Decline to sign')
        await assertAccessible(page, 'plain')
    })
})

test('when the script does not come, the page becomes plain', async () => {
    const made = await create()
    const prepare = page => page.route(/assets\/page.*\.js$/, route => route.abort())
    await visit(made.links[0], { expected: [/ERR_/], prepare }, async page => {
        await page.locator('#plain-typed').waitFor()
        assert.ok(await page.locator('[data-next]').isHidden())
    })
})

test('the text of a page is there, in its place, and can be selected', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        const word = page.locator('.page').first().locator('.text span', { hasText: 'Lease' })
        await word.waitFor({ state: 'attached' })
        const [box, whole] = [await word.boundingBox(), await page.locator('.page').first().boundingBox()]
        assert.ok(Math.abs((box.x - whole.x) / whole.width - 72 / 612) < 0.01, `its left: ${box.x - whole.x}`)
        assert.ok(Math.abs((box.y - whole.y) / whole.height - 78 / 792) < 0.015, `its top: ${box.y - whole.y}`)
        await word.dblclick({ position: { x: 12, y: box.height / 2 } })
        assert.equal((await page.evaluate(() => String(getSelection()))).trim(), 'Lease')
        const group = page.getByRole('group', { name: 'Page 1 of 2' })
        assert.match(await group.innerText(), /Section 3: the tenant has/)
        const lines = await group.locator('.text span').count(), paragraphs = await group.locator('.text p').count()
        assert.ok(lines >= 25 && paragraphs <= 2, `${lines} lines are read as few paragraphs: ${paragraphs}`)
        assert.equal(await group.locator('.text').getAttribute('lang'), '', 'in a language that is not known')
        await page.locator('.intro [data-open=refuse]').click()
        const gutter = await page.evaluate(() => getComputedStyle(document.documentElement).scrollbarGutter)
        assert.equal(gutter, 'stable', 'the page stays where it is when a dialog opens')
    })
})

test('sharp: the image has as many pixels as the screen shows of it', async () => {
    const made = await create()
    for (const [device, least] of [[devices.desktop, 900], [devices.phone, 720], [{ ...devices.phone,
        deviceScaleFactor: 3 }, 1090]])
        await visit(made.links[0], device, async page => {
            await ready(page)
            const image = page.locator('.page img').first()
            const width = new URL(await image.evaluate(img => img.currentSrc)).searchParams.get('width')
            assert.ok(width >= least && width < 2 * least, `${width} for ${least}`)
        })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        const larger = page.getByRole('button', { name: 'Zoom in' })
        for (let times = 0; times < 3; times++) await larger.click()
        await until(page, () => document.querySelector('.page img').currentSrc.includes('width=2000'))
        assert.match(await page.locator('[data-live]').innerText(), /200/)
        assert.ok(!(await isWide(page)), 'the documents are moved, not the page')
    })
})

for (const lang of ['ar', 'he', 'ja'])
    test(`from right to left where that is so: ${lang}`, async () => {
        const made = await create({ signers: [{ ...ann, firstname: 'ليلى', lastname: 'حداد' }], name: 'عقد الإيجار' })
        await visit(`${made.links[0]}?lang=${lang}`, { ...devices.phone, reducedMotion: 'reduce' }, async page => {
            await ready(page)
            assert.equal(await page.locator('html').getAttribute('lang'), lang)
            const rtl = await page.evaluate(() => getComputedStyle(document.body).direction) === 'rtl'
            assert.equal(rtl, lang !== 'ja')
            const [menu, brand] = [await page.locator('.menu').boundingBox(),
                await page.locator('.brand').boundingBox()]
            assert.equal(menu.x < brand.x, rtl, 'the head is turned around')
            const [button, sheet] = [await page.locator('.field').boundingBox(), await page.locator('.page').first()
                .boundingBox()]
            assert.ok(Math.abs((button.x - sheet.x) / sheet.width - 72 / 612) < 0.01, 'the pages are not')
            const ends = await page.evaluate(() => {
                const at = (text, within) => {
                    const nodes = document.createTreeWalker(document.querySelector(within), NodeFilter.SHOW_TEXT)
                    while (nodes.nextNode()) if (nodes.currentNode.data.includes(text)) break
                    const range = document.createRange(), from = nodes.currentNode.data.indexOf(text)
                    range.setStart(nodes.currentNode, from)
                    range.setEnd(nodes.currentNode, from + text.length)
                    return range.getBoundingClientRect().x
                }
                return [at('Kim', '.facts'), at('Roe', '.facts')]
            })
            assert.ok(ends[0] < ends[1], 'a Latin name keeps its order')
            await assertAccessible(page, 'start')
            await shoot(page, `phone-${lang}-start`)
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await openSignature(page)
            await page.locator('#tab-draw').focus()
            await page.keyboard.press(rtl ? 'ArrowLeft' : 'ArrowRight')
            assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-type')
            await assertAccessible(page, 'dialog')
            await shoot(page, `phone-${lang}-dialog`)
            assert.ok(!(await isWide(page)), 'nor is the dialog')
            await page.locator('#typed').fill(lang === 'ja' ? '山田' : 'Layla Haddad')
            await page.locator('[data-adopt]').click()
            await settled(page)
            await page.locator('#finish [data-confirm]').waitFor()
            await shoot(page, `phone-${lang}-finish`)
            await page.locator('#finish [data-confirm]').click()
            await page.locator('[data-start]').waitFor({ state: 'detached' })
            await page.locator('h1').first().waitFor()
            await shoot(page, `phone-${lang}-done`)
            assert.ok(!(await isWide(page)), 'nor is the end')
        })
    })

for (const [locale, title, done] of [['fr-CA', 'Consulter le document', 'C’est terminé, vous avez signé'],
    ['de-AT', 'Dokument ansehen', 'Fertig – Sie haben unterschrieben'],
    ['es', 'Revisar el documento', 'Listo: documento firmado'],
    ['hu', 'Review document', DONE]])
    test(`in ${locale}`, async () => {
        const made = await create()
        await visit(made.links[0], { locale, ...devices.phone }, async page => {
            await ready(page)
            await page.getByRole('link', { name: title }).waitFor()
            assert.equal(await page.locator('html').getAttribute('lang'), locale === 'hu' ? 'en' : locale.slice(0, 2))
            await openSignature(page)
            await page.locator('#tab-type').click()
            await shoot(page, `phone-${locale}`)
            await page.locator('[data-adopt]').click()
            await settled(page)
            await page.locator('#finish [data-confirm]').click()
            await shown(page, done)
        })
    })
