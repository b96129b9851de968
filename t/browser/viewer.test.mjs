// SPDX-License-Identifier: Apache-2.0
// viewer.test.mjs: the page of a viewer: the documents are read and downloaded, before and after all have signed, on a
// small and a large screen, from right to left, and without JavaScript. axe finds nothing in any state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFileSync } from 'node:fs'
import {
    ann, assertAccessible, create, devices, isWide, ready, shoot, shown, until, visit,
} from './browser.mjs'

const lea = { firstname: 'Lea', lastname: 'Holm', email: 'lea@example.net' }
const lead = '\u2068Lea Holm\u2069, you may read this. Nothing is asked of you.'
const narrow = { ...devices.phone, viewport: { width: 360, height: 740 } }

const request = viewers => create({ signers: [ann], parts: { viewers: JSON.stringify(viewers) } })

async function sign(link) {
    const answer = await fetch(link, {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({ action: 'sign', consent: true, signature: { type: 'typed', text: 'Ann Lee' } }),
    })
    assert.equal(answer.status, 200, await answer.text())
}

const isLoaded = () => [...document.querySelectorAll('.page img')].some(img => img.complete && img.naturalWidth > 1)

async function reads(page, name) {
    await ready(page)
    await page.getByText(lead).waitFor()
    await until(page, isLoaded)
    await page.locator('.page').first().scrollIntoViewIfNeeded()
    await page.locator('.page .text').first().waitFor({ state: 'attached' })
    await assertAccessible(page, name)
    assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
    assert.equal(await page.locator('form, dialog, [data-open], .field').count(), 0, 'nothing can be signed')
}

for (const [name, device] of Object.entries({ desktop: devices.desktop, narrow }))
    test(`a viewer reads, and later gets the sealed documents, ${name}`, async () => {
        const made = await request([lea]), [{ viewLink }] = made.viewers
        await visit(viewLink, { ...device }, async page => {
            await reads(page, 'viewing')
            await shoot(page, `${name}-viewer`)
            assert.match(await page.locator('.card .files').first().innerText(), /Ann Lee\s+Not signed/)
        })
        await sign(made.links[0])
        await visit(viewLink, { ...device }, async page => {
            await reads(page, 'completed')
            await shoot(page, `${name}-viewer-completed`)
            assert.match(await page.locator('.card .files').first().innerText(), /Ann Lee\s+Signed/)
            const download = async link => {
                const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
                return readFileSync(await file.path())
            }
            const sealed = await download(page.locator('.downloads').getByText('Lease.pdf'))
            assert.match(sealed.toString('latin1'), /\/ByteRange/, 'the document is sealed')
            const certificate = await download(page.getByText('Certificate of completion'))
            assert.equal(certificate.subarray(0, 5).toString(), '%PDF-')
        })
    })

test('from right to left', async () => {
    const made = await request([lea])
    await visit(`${made.viewers[0].viewLink}?lang=ar`, narrow, async page => {
        await ready(page)
        await until(page, isLoaded)
        assert.equal(await page.evaluate(() => document.documentElement.dir), 'rtl')
        await assertAccessible(page, 'rtl')
        assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
        await shoot(page, 'narrow-viewer-ar')
    })
})

test('without JavaScript, and a link that shows nothing', async () => {
    const made = await request([lea, { ...lea, when: 'completed' }])
    await visit(made.viewers[0].viewLink, { ...devices.desktop, javaScriptEnabled: false }, async page => {
        await page.getByText(lead).waitFor()
        assert.equal(await page.locator('.page img').count(), 2, 'all pages are there')
    })
    await visit(made.viewers[1].viewLink, narrow, async page => {
        await shown(page, 'Not available yet')
        await assertAccessible(page, 'waiting')
        assert.equal(await page.locator('.page').count(), 0)
        await shoot(page, 'narrow-viewer-waiting')
    })
})
