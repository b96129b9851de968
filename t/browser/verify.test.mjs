// SPDX-License-Identifier: Apache-2.0
// verify.test.mjs: the verification page: a document is chosen or dropped, on a small and a large screen, without
// JavaScript, in two languages. axe finds nothing in any state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, ask, assertAccessible, create, devices, isWide, place, settled, shoot, shown, until, visit,
} from './browser.mjs'
import { contract } from './pdf.mjs'

const form = place('/verify')

/** A document that Ann has signed: its bytes. */
async function signedDocument() {
    const made = await create({ signers: [ann] })
    const answer = await fetch(made.links[0], {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({ action: 'sign', consent: true, signature: { type: 'typed', text: 'Ann Lee' } }),
    })
    assert.equal(answer.status, 200, await answer.text())
    const [{ signedDocuments }] = (await ask(`/signatures/${made.uuid}`)).submitters
    const document = await fetch(`${made.links[0].split('?')[0]}/documents/${signedDocuments[0].uuid}`)
    return Buffer.from(await document.arrayBuffer())
}

const file = (buffer, name = 'lease - signed.pdf') => ({ name, mimeType: 'application/pdf', buffer })

async function check(page, buffer) {
    await settled(page)
    await page.locator('#file').setInputFiles(file(buffer))
    await page.getByRole('button', { name: 'Check document' }).click()
}

for (const [name, device] of Object.entries(devices))
    test(`a document is checked, ${name}`, async () => {
        const signed = await signedDocument()
        await visit(form, { ...device, timezoneId: 'Asia/Tokyo' }, async page => {
            await shown(page, 'Check a signed document')
            await assertAccessible(page, 'form')
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await shoot(page, `${name}-verify`)
            await check(page, signed)
            await shown(page, 'This document is intact')
            await page.getByRole('heading', { name: /^Ann Lee/ }).waitFor()
            assert.match(await page.locator('time').innerText(), /GMT\+9|JST/, 'the time is the reader’s')
            await page.getByText('Technical details').click()
            await assertAccessible(page, 'signed')
            assert.ok(!(await isWide(page)), 'nor the result')
            await shoot(page, `${name}-verify-signed`)
            await check(page, Buffer.concat([signed, Buffer.from('% more\n')]))
            await shown(page, 'The signatures are intact, but something was added later')
            await assertAccessible(page, 'extended')
            const broken = Buffer.from(signed)
            broken[broken.indexOf('stream') + 20] ^= 1
            await check(page, broken)
            await shown(page, 'This document is not intact')
            await assertAccessible(page, 'broken')
            await shoot(page, `${name}-verify-broken`)
        })
    })

test('a file that is dropped on the page is checked', async () => {
    const signed = await signedDocument()
    await visit(form, {}, async page => {
        await until(page, () => document.documentElement.classList.contains('ready'))
        const transfer = await page.evaluateHandle(base64 => {
            const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0)), data = new DataTransfer()
            data.items.add(new File([bytes], 'dropped.pdf', { type: 'application/pdf' }))
            return data
        }, signed.toString('base64'))
        await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer })
        assert.ok(await page.locator('.drop.over').count(), 'it is shown that it can be dropped')
        await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
        await shown(page, 'This document is intact')
        await page.getByText('dropped.pdf').waitFor()
    })
})

test('without JavaScript, in German', async () => {
    await visit(form, { javaScriptEnabled: false, locale: 'de-DE' }, async page => {
        await page.locator('#file').setInputFiles(file(contract(1)))
        await page.getByRole('button', { name: 'Dokument prüfen' }).click()
        await shown(page, 'Dieses Dokument ist nicht signiert')
    })
})

test('a mistake is said above the form', async () => {
    await visit(form, { expected: [/400/] }, async page => {
        await page.locator('#file').evaluate(input => input.removeAttribute('required'))
        await page.getByRole('button', { name: 'Check document' }).click()
        await page.getByText('Choose a PDF document first.').waitFor()
        await assertAccessible(page, 'a mistake')
    })
})
