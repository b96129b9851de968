// SPDX-License-Identifier: Apache-2.0
// identity.test.mjs: signers who must show who they are, before they see anything or before they sign: on a phone, with
// and without scripts, in a frame, in two tabs, after a reload, and when a session ends in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, anotherTab, ask, assertAccessible, assertSealed, chromiumOnly, counted, create, devices, DONE, drawOn,
    elsewhere, embedder, field, finish, isWide, openSignature, ready, settled, shoot, shown, storeNothing, themed,
    typeSignature, until, visit,
} from './browser.mjs'

const CONFIRM = 'Confirm who you are'
const refused = [/status of 403/] // what the console says of a code that is not accepted
const signerOf = when => ({ ...ann, fields: [field(0), field(1)],
    authentication: { method: 'code', code: '4711-KX', when } })
const made = (when, more) => create({ signers: [signerOf(when)], ...more })
const hasFocus = (page, id) => until(page, id => document.activeElement?.id === id, id)
const inSession = /\/sign\/[0-9a-f-]{36}~[0-9a-f]{32}(\?|$)/

/** Enters a code on the page, or in the dialog `within` the page. */
async function enter(page, code, within = page) {
    await within.locator('#check-code').fill(code)
    await settled(page)
    await within.locator('.identity button').first().click()
}

const prepareToSign = async page => {
    await ready(page)
    await openSignature(page)
    await typeSignature(page, 'A. Lee', true)
}

for (const [name, device] of Object.entries(devices))
    test(`before anything is seen, ${name}`, async () => {
        const request = await made('open', { redirectUrl: 'https://app.example.org/back' })
        await visit(request.links[0], { ...device, expected: refused }, async page => {
            await shown(page, CONFIRM)
            await hasFocus(page, 'check-code')
            await assertAccessible(page, 'the check')
            await shoot(page, `${name}-check`)
            await enter(page, '4711-KY')
            await page.getByRole('alert').waitFor()
            await hasFocus(page, 'check-code')
            const code = page.getByRole('textbox', { name: 'Code', description: /This code was not accepted/ })
            assert.equal(await code.getAttribute('aria-invalid'), 'true')
            await assertAccessible(page, 'a wrong code')
            await shoot(page, `${name}-check-wrong`)
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await code.fill('4711 kx')
            await code.press('Enter')
            await prepareToSign(page)
            assert.match(page.url(), inSession)
            await finish(page)
            await assertAccessible(page, 'signed')
            await shoot(page, `${name}-check-signed`)
            assert.equal(await page.getByRole('alert').count(), 0, 'it does not look like a failure')
            assert.equal(await page.evaluate(() => document.activeElement.id), 'title')
            assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'what was kept is forgotten')
            for (const again of [false, true]) {
                if (again) await page.reload()
                const back = page.getByRole('link', { name: 'Continue to \u2068app.example.org\u2069' })
                assert.match(await back.getAttribute('href'), /^https:\/\/app\.example\.org\/back\?status=completed&/)
            }
            const other = await anotherTab(page, request.links[0])
            await shown(other, DONE)
            assert.equal(await other.getByRole('link', { name: 'Continue' }).count(), 0, 'others are not led there')
            await enter(page, '4711kx')
            await page.locator('.downloads a').first().waitFor()
            await assertAccessible(page, 'downloads')
        })
        await assertSealed(request, 1)
    })

for (const [name, device] of Object.entries(devices))
    test(`before signing, ${name}`, async () => {
        const request = await made('sign')
        await visit(request.links[0], { ...device, expected: refused }, async page => {
            await prepareToSign(page)
            const dialog = page.getByRole('dialog', { name: CONFIRM })
            await dialog.waitFor()
            await hasFocus(page, 'check-code')
            await assertAccessible(page, 'the check')
            await shoot(page, `${name}-check-dialog`)
            await enter(page, 'no')
            await dialog.getByText('This code was not accepted').waitFor()
            await hasFocus(page, 'check-code')
            await assertAccessible(page, 'a wrong code')
            if (device.isMobile) {
                await page.locator('#check-code').fill('4711')
                await page.setViewportSize({ width: 780, height: 390 })
                assert.equal(await page.locator('#check-code').inputValue(), '4711', 'the phone is turned')
                await page.locator('.identity .primary').scrollIntoViewIfNeeded()
                await shoot(page, `${name}-check-turned`)
            }
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await enter(page, '4711kx')
            await page.locator('#finish').waitFor()
            assert.match(page.url(), inSession)
            await page.reload()
            await ready(page)
            await counted(page, 'Not sent yet')
            await finish(page)
            await page.locator('.downloads a').first().waitFor()
        })
        await assertSealed(request, 1)
    })

test('declining needs the check as well, and keeps the reason', async () => {
    const request = await made('sign')
    await visit(request.links[0], {}, async page => {
        await ready(page)
        await page.locator('.intro [data-open=refuse]').click()
        await page.getByRole('dialog', { name: CONFIRM }).waitFor()
        await page.keyboard.press('Escape')
        assert.ok(await page.locator('#refuse').isHidden(), 'Escape leads back to the documents')
        await settled(page)
        await page.locator('.intro [data-open=refuse]').click()
        await enter(page, '4711kx')
        await page.locator('#reason').fill('Too dear')
        await page.reload()
        await ready(page)
        await page.locator('.intro [data-open=refuse]').click()
        assert.equal(await page.locator('#reason').inputValue(), 'Too dear')
        await page.locator('#refuse [data-confirm]').click()
        await shown(page, 'You declined to sign')
    })
    const { submitters: [{ refusalReason }] } = await ask(`/signatures/${request.uuid}`)
    assert.equal(refusalReason, 'Too dear')
})

for (const when of ['open', 'sign'])
    test(`the session ends before signing, ${when}: the code is asked for again, nothing is lost`, async () => {
        const request = await made(when)
        await visit(request.links[0], { expected: refused }, async page => {
            if (when === 'open') await enter(page, '4711kx')
            await prepareToSign(page)
            if (when === 'sign') await enter(page, '4711kx')
            await page.locator('#finish').waitFor()
            const ended = page.url()
            await page.route(url => `${url}` === ended, async route => // as the service answers after two hours
                (route.request().method() === 'POST' ? route.continue({ url: ended.replace(/~\w+/, '') })
                    : route.continue()))
            await settled(page)
            await page.locator('#finish [data-confirm]').click()
            await page.getByRole('dialog', { name: CONFIRM }).waitFor()
            await shoot(page, `desktop-check-again-${when}`)
            await enter(page, '4711kx')
            await until(page, ended => location.href !== ended, ended)
            await ready(page)
            await counted(page, 'Not sent yet')
            await finish(page)
        })
        await assertSealed(request, 1)
    })

test('the session ends while a signature is made: the drawing is kept', async () => {
    const request = await made('open')
    await visit(request.links[0], { expected: refused }, async page => {
        await enter(page, '4711kx')
        await ready(page)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Draw' }).click()
        await drawOn(page, page.locator('[data-pad]'))
        const session = new URL(page.url()).pathname.match(/~\w+/)[0]
        await page.route(url => `${url}`.endsWith(`${session}/preview`), route =>
            route.continue({ url: route.request().url().replace(session, '') }))
        await settled(page)
        await page.locator('#signature [data-adopt]').click()
        await page.getByRole('dialog', { name: CONFIRM }).waitFor()
        await enter(page, '4711kx')
        await until(page, session => !location.pathname.includes(session), session)
        await ready(page)
        await openSignature(page)
        assert.ok(await page.locator('[data-hint]').isHidden(), 'the drawing is on the pad')
        await page.locator('#signature [data-all] input').check()
        await page.locator('#signature [data-adopt]').click()
        await finish(page)
    })
    await assertSealed(request, 1)
})

for (const when of ['open', 'sign'])
    test(`two tabs, ${when}: the second finds it signed`, async () => {
        const request = await made(when)
        await visit(request.links[0], { expected: [...refused, /409/] }, async page => {
            const tabs = [page, await anotherTab(page, request.links[0])]
            for (const tab of tabs) {
                if (when === 'open') await enter(tab, '4711kx')
                await prepareToSign(tab)
                if (when === 'sign') await enter(tab, '4711kx')
                await tab.locator('#finish').waitFor()
            }
            for (const tab of tabs) {
                await settled(tab)
                await tab.locator('#finish [data-confirm]').click()
                await shown(tab, DONE)
            }
        })
        await assertSealed(request, 1)
    })

test('the answer is lost after it was signed: the page knows', chromiumOnly('requests cannot be held'), async () => {
    const request = await made('open')
    await visit(request.links[0], { expected: [...refused, /ERR_/] }, async page => {
        await enter(page, '4711kx')
        await prepareToSign(page)
        await page.locator('#finish').waitFor()
        await page.route(/\/sign\//, async route => {
            if (route.request().method() !== 'POST') return route.continue()
            await route.fetch()
            return route.abort('connectionreset')
        })
        await finish(page)
    })
    await assertSealed(request, 1)
})

test('the connection is lost in the check: it is said, and works again', async () => {
    const request = await made('sign')
    await visit(request.links[0], { expected: [/ERR_/] }, async page => {
        await prepareToSign(page)
        await page.locator('#check-code').waitFor()
        await page.context().setOffline(true)
        await enter(page, '4711kx')
        await page.locator('#identity').getByText('The connection was lost').waitFor()
        await page.context().setOffline(false)
        await enter(page, '4711kx')
        await finish(page)
    })
})

for (const when of ['open', 'sign'])
    test(`in a frame that stores nothing, ${when}`, chromiumOnly('it finds no host of ours'), async () => {
        const request = await made(when), link = themed(request.links[0])
        // a frame of another site does not get the focus by itself
        const expected = [...elsewhere, ...refused, /Blocked autofocusing/]
        await embedder(link, port => visit(`http://embedder.test:${port}/`, { expected, prepare: storeNothing },
            async page => {
                const frame = page.frameLocator('iframe'), own = page.frames()[1]
                const code = () => enter(own, '4711kx')
                if (when === 'open') await code()
                await frame.locator('[data-start]').click()
                await frame.locator('.field').first().click()
                await frame.locator('#tab-type').click()
                await frame.locator('[data-all] input').check()
                await frame.locator('[data-adopt]').click()
                if (when === 'sign') await code()
                await frame.locator('#finish').waitFor()
                await settled(own)
                await frame.locator('#finish [data-confirm]').click()
                await until(page, () => window.told.length)
                assert.deepEqual(await page.evaluate(() => window.told), [['sigreq:completed', new URL(link).origin]])
                await frame.getByRole('heading', { name: DONE }).waitFor()
                await shoot(page, `desktop-check-framed-${when}`)
            }))
        await assertSealed(request, 1)
    })

for (const when of ['open', 'sign'])
    test(`without a script, ${when}`, chromiumOnly('scripts cannot be turned off'), async () => {
        const request = await made(when), plain = { ...devices.phone, javaScriptEnabled: false }
        await visit(request.links[0], { ...plain, expected: refused }, async page => {
            if (when === 'sign') {
                await shown(page, CONFIRM)
                await shoot(page, 'phone-check-plain')
                await page.locator('.plain-only').getByRole('link', { name: 'Continue' }).click()
            }
            await page.locator('#check-code').fill('wrong')
            await page.getByRole('button', { name: 'Continue' }).click()
            await page.getByText('This code was not accepted').waitFor()
            await page.locator('#check-code').fill('4711kx')
            await page.getByRole('button', { name: 'Continue' }).click()
            await page.locator('#plain-typed').fill('A. Lee')
            await page.getByRole('button', { name: 'Agree and sign' }).click()
            await shown(page, DONE)
            await page.locator('.downloads a').first().click()
            if (when === 'open') await page.locator('#check-code').waitFor()
        })
        await assertSealed(request, 1)
    })

for (const lang of ['ar', 'de', 'ja'])
    test(`the check in ${lang}, with a theme`, async () => {
        const request = await made('open'), link = `${themed(request.links[0])}?lang=${lang}`
        await visit(link, { ...devices.phone, expected: refused }, async page => {
            const rtl = await page.evaluate(() => getComputedStyle(document.body).direction) === 'rtl'
            assert.equal(rtl, lang === 'ar')
            await enter(page, 'no')
            await page.getByRole('alert').waitFor()
            await assertAccessible(page, lang)
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await shoot(page, `phone-check-${lang}`)
            await enter(page, '4711kx')
            await ready(page)
            assert.equal(await page.locator('html').getAttribute('lang'), lang, 'it keeps the language')
        })
    })

test('400 %', chromiumOnly('once is enough'), async () => {
    const request = await made('open')
    await visit(request.links[0], { viewport: { width: 320, height: 256 } }, async page => {
        await assertAccessible(page, 'the check')
        await page.locator('.identity .primary').scrollIntoViewIfNeeded()
        assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
        await shoot(page, 'zoomed-check')
    })
})
