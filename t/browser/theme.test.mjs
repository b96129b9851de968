// SPDX-License-Identifier: Apache-2.0
// theme.test.mjs: SigreqTheme and SigreqFrameAncestors: another name, logo and colours, other texts. The page in a
// frame of an allowed site reports its result to this site, and to no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    assertAccessible, create, devices, elsewhere, embedder, leaveLastStep, openSignature, place, ready, settled, shoot,
    themed, typeSignature, until, visit,
} from './browser.mjs'

test('a theme', async () => {
    const made = await create()
    await visit(themed(made.links[0]), devices.phone, async page => {
        await ready(page)
        assert.equal(await page.getByRole('img', { name: 'Harbour & Sons' }).evaluate(img => img.naturalWidth), 120)
        assert.equal(await page.locator('.eyebrow').innerText(), 'Harbour <i>& Sons</i> asks')
        const start = page.getByRole('link', { name: 'Go on' })
        assert.equal(await start.evaluate(button => getComputedStyle(button).backgroundColor), 'rgb(122, 31, 92)')
        await assertAccessible(page, 'themed')
        await shoot(page, 'phone-themed')
        await openSignature(page)
        await typeSignature(page)
        await leaveLastStep(page)
        await page.getByRole('button', { name: 'Done!' }).waitFor()
    })
    for (const name of ['theme.json', '..%2ftheme.json', 'other.css'])
        assert.equal((await fetch(place(`/themed/sign/theme/${name}`))).status, 404, name)
})

for (const [what, type] of [['signed', 'sigreq:completed'], ['refused', 'sigreq:refused']])
    test(`in a frame: ${what}`, async () => {
        const made = await create(), link = themed(made.links[0])
        await embedder(link, port => visit(`http://embedder.test:${port}/`, { expected: elsewhere }, async page => {
            const frame = page.frameLocator('iframe')
            if (what === 'signed') {
                await frame.locator('[data-start]').click()
                await frame.locator('.field').click()
                await frame.locator('#tab-type').click()
                await frame.locator('[data-adopt]').click()
                await frame.locator('#finish').waitFor()
                await settled(page.frames()[1])
                await frame.locator('#finish [data-confirm]').click()
            } else {
                await frame.locator('.intro [data-open=refuse]').click()
                await frame.locator('#refuse [data-confirm]').click()
            }
            await until(page, () => window.told.length)
            assert.deepEqual(await page.evaluate(() => window.told), [[type, new URL(link).origin]])
            await shoot(page, `desktop-framed-${what}`)
        }))
    })

test('nobody else may put it into a frame', async () => {
    const made = await create(), expected = [...elsewhere, /frame-ancestors/, /ERR_BLOCKED/]
    for (const [link, host] of [[made.links[0], '127.0.0.1'], [themed(made.links[0]), 'other.test']])
        await embedder(link, port => visit(`http://${host}:${port}/`, { expected }, async page => {
            await page.waitForTimeout(500)
            assert.equal(await page.frameLocator('iframe').locator('#title').count(), 0)
        }))
})
