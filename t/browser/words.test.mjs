// SPDX-License-Identifier: Apache-2.0
// words.test.mjs: what the sender writes and lets signers do: the message, the types of signatures, and declining.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, assertAccessible, assertSealed, chromiumOnly, counted, create, devices, drawOn, field, finish, isWide,
    openSignature, ready, settled, shoot, shown, until, visit,
} from './browser.mjs'

const scripts = chromiumOnly('scripts cannot be turned off')
const narrow = { ...devices.phone, viewport: { width: 360, height: 640 } }
const message = (text, more) => ({ message: JSON.stringify({ text, ...more }) })
const drawnOnly = { ...ann, fields: [field(0), { ...field(1), type: 'initials' }] }
// a red square of 2 × 2
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5E'
    + 'rkJggg==', 'base64')
const upload = (page, dialog) => page.locator(`${dialog} [type=file]`).first()
    .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PNG })

test('a message, with and without an introduction, on a phone', async () => {
    const text = 'Dear <b>Ann</b>,\n\nplease see https://example.org. 👩‍💻\nשלום, זו הודעה'
    for (const skipIntro of [false, true]) {
        const made = await create({ skipIntro, parts: message(text, { subject: 'Your lease' }) })
        await visit(made.links[0], narrow, async page => {
            await ready(page)
            const words = page.getByRole('figure', { name: /^Message from .*Kim Roe/ })
            assert.equal(await words.locator('p').innerText(), text, 'it is text, and has its lines')
            assert.equal(await words.locator('a, b, details').count(), 0)
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await assertAccessible(page, 'the message')
            await shoot(page, `phone-message-${skipIntro ? 'slim' : 'intro'}`)
        })
    }
})

for (const [name, text] of [['word', 'x'.repeat(2000)], ['text', `${'Wort für Wort '.repeat(140)}Ende`],
    ['lines', 'א\n'.repeat(400)]])
    test(`a long message: ${name}`, scripts, async () => {
        const made = await create({ signers: [{ ...ann, locale: 'ar' }], parts: message(text) })
        for (const javaScriptEnabled of [true, false])
            await visit(made.links[0], { ...narrow, javaScriptEnabled }, async page => {
                const words = page.locator('.words'), more = words.locator('summary')
                if (javaScriptEnabled) await ready(page)
                const folds = name === 'text' || name === 'lines'
                assert.equal(await more.count(), folds ? 1 : 0, 'it is folded where it can be')
                if (folds) {
                    await shoot(page, `phone-message-${name}`)
                    await more.click()
                    await words.locator('details p').waitFor()
                }
                if (javaScriptEnabled) assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
                if (javaScriptEnabled) await assertAccessible(page, name)
                await shoot(page, `phone-message-${name}-whole`)
            })
    })

test('only drawn signatures and initials', async () => {
    const made = await create({ signers: [drawnOnly], parts: { signatureTypes: 'drawn' } })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        assert.equal(await page.getByRole('tab').count(), 0, 'there is no choice')
        const pad = page.getByRole('img', { name: 'Area to draw your signature', exact: true })
        await drawOn(page, pad)
        await assertAccessible(page, 'only drawn')
        await shoot(page, 'desktop-only-drawn')
        await settled(page)
        await page.locator('#signature [data-adopt]').click()
        await counted(page, '1 of 2 filled in')
        await settled(page)
        await page.locator('.field:not(.signed)').click()
        await page.locator('#initials-signature').waitFor()
        await drawOn(page, page.locator('#initials-signature [data-pad]'))
        await settled(page)
        await page.locator('#initials-signature [data-adopt]').click()
        await finish(page)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'drawn')
})

test('drawn or uploaded, by keyboard', async () => {
    const made = await create({ parts: { signatureTypes: 'uploaded,drawn' } })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        assert.deepEqual(await page.getByRole('tab').allInnerTexts(), ['Draw', 'Upload'])
        await page.getByRole('tab', { name: 'Draw', selected: true }).focus()
        await page.keyboard.press('ArrowRight')
        await page.getByRole('tab', { name: 'Upload', selected: true }).waitFor()
        await upload(page, '#signature')
        await page.locator('#signature [data-drop]:not(.empty)').waitFor()
        await assertAccessible(page, 'uploaded')
        await settled(page)
        await page.locator('#signature [data-adopt]').click()
        await finish(page)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'uploaded')
})

test('without JavaScript, a type that needs it', scripts, async () => {
    const made = await create({ parts: { signatureTypes: 'uploaded', refusal: '{"allowed":false}' } })
    await visit(made.links[0], { ...narrow, javaScriptEnabled: false }, async page => {
        const card = page.getByRole('region', { name: 'Sign', exact: true })
        assert.match(await card.innerText(), /up-to-date browser with JavaScript/)
        assert.equal(await page.locator('form, .plain-only button').count(), 0, 'there is no form')
        await shoot(page, 'phone-plain-script')
    })
})

test('declining is not offered', async () => {
    const made = await create({ parts: { refusal: '{"allowed":false}' } })
    await visit(made.links[0], narrow, async page => {
        await ready(page)
        assert.equal(await page.getByText(/decline/i).count(), 0)
        await page.locator('.menu summary').click()
        assert.equal(await page.getByText(/decline/i).count(), 0)
        await assertAccessible(page, 'without declining')
        await page.keyboard.press('Escape')
        await openSignature(page)
        await page.getByRole('tab', { name: 'Type' }).click()
        await page.locator('#signature [data-adopt]').click()
        await finish(page)
    })
})

test('declining needs a reason', async () => {
    const made = await create({ parts: { refusal: '{"reason":"required"}' } })
    await visit(made.links[0], narrow, async page => {
        await ready(page)
        await page.locator('.intro [data-open=refuse]').click()
        const reason = page.getByRole('textbox', { name: 'Reason', exact: true })
        await settled(page)
        await reason.fill(' ')
        const confirm = page.locator('#refuse [data-confirm]')
        await confirm.click()
        await page.getByRole('alert').filter({ hasText: 'Please give a reason.' }).waitFor()
        await until(page, () => document.activeElement.id === 'reason')
        assert.equal(await reason.getAttribute('aria-invalid'), 'true')
        await page.getByRole('textbox', { name: 'Reason', description: 'Please give a reason.' }).waitFor()
        await assertAccessible(page, 'without a reason')
        await shoot(page, 'phone-reason-missing')
        await reason.fill('Too expensive')
        assert.equal(await reason.getAttribute('aria-invalid'), 'false')
        await settled(page)
        await confirm.click()
        await shown(page, 'You declined to sign')
        assert.equal(await page.locator('blockquote').innerText(), 'Too expensive')
    })
})

test('declining without JavaScript needs a reason', scripts, async () => {
    const made = await create({ parts: { refusal: '{"reason":"required"}' } })
    await visit(made.links[0], { ...narrow, javaScriptEnabled: false, expected: [/400/] }, async page => {
        await page.locator('summary', { hasText: 'Decline' }).click()
        const reason = page.locator('#plain-reason')
        await reason.fill(' ')
        await page.locator('[value=refuse]').click()
        await page.getByText('Please give a reason.').waitFor()
        await shoot(page, 'phone-plain-reason')
        await reason.fill('Too expensive')
        await page.locator('[value=refuse]').click()
        await shown(page, 'You declined to sign')
    })
})
