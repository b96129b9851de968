// SPDX-License-Identifier: Apache-2.0
// flow.test.mjs: from the link to the signed document, by every way to sign.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, ask, assertAccessible, assertSealed, bob, chromiumOnly, counted, create, devices, DONE, drawByTouch, drawOn,
    field, finish, moving, openSignature, ready, settled, shoot, shown, typeSignature, until, visit,
} from './browser.mjs'

const touch = chromiumOnly('a finger cannot be driven')
const scripts = chromiumOnly('scripts cannot be turned off')

// a red square of 2 × 2
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5E'
    + 'rkJggg==', 'base64')
const three = { ...ann, fields: [field(0), field(1, { x: 300 }), field(1, { y: 400 })] }

test('drawn with a mouse, once for three fields', async () => {
    const made = await create({ signers: [three] })
    // Firefox's own reader opens the downloads, and warns of their URL and of the signatures that it does not judge
    const expected = [/Invalid absolute docBaseUrl/, /Digital signatures validation is not supported/]
    await visit(made.links[0], { ...moving, expected }, async page => {
        await ready(page)
        await shoot(page, 'desktop-intro')
        const facts = (await page.locator('.facts').innerText()).replace(/[\u2066-\u2069]/g, '')
        assert.match(facts, /From\s+Kim Roe, Browser \d+\s+browser\d+@example\.org\s+For\s+Ann Lee\s+ann@example\.org/)
        assert.match(facts, /Sent\s+\d+ \w+ \d{4}\s+Request number\s+[\da-f]{8}$/, 'there is no deadline')
        const [upload] = await Promise.all([page.waitForEvent('download'), page.locator('.intro .get').click()])
        assert.equal(upload.suggestedFilename(), 'Lease.pdf', 'the document can be kept before it is signed')
        await openSignature(page)
        await page.getByText('Use for all 3 signature fields').click()
        await page.getByRole('tab', { name: 'Draw' }).click()
        await page.locator('[data-adopt]').click()
        assert.equal(await page.locator('#signature [data-error]').innerText(), 'Please draw your signature first.')
        await drawOn(page, page.locator('[data-pad]'))
        await shoot(page, 'desktop-draw')
        await settled(page)
        await page.locator('[data-adopt]').click()
        await counted(page, 'Not sent yet')
        assert.equal(await page.locator('.field.signed').count(), 3)
        assert.deepEqual(await page.locator('[data-places] button').allInnerTexts(), ['Page 1', 'Page 2 (2)'])
        await shoot(page, 'desktop-finish')
        await page.locator('[data-places] button').nth(1).click()
        await page.locator('#finish').waitFor({ state: 'hidden' })
        assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /field 2 of 3/)
        await shoot(page, 'desktop-placed')
        await finish(page)
        await assertAccessible(page, 'done')
        assert.match(await page.locator('.lead').innerText(), /You can come back to this link at any time/)
        await shoot(page, 'desktop-done')
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Lease.pdf').click()])
        assert.equal(download.suggestedFilename(), 'Lease - signed.pdf')
        await page.getByText('Certificate of completion').waitFor()
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'drawn')
    assert.equal(submitter.signerInformation.consent, '2-en')
})

test('drawn by touch on a phone, field by field', touch, async () => {
    const made = await create({ signers: [{ ...ann, fields: [field(0), field(1)] }] })
    await visit(made.links[0], { ...devices.phone, ...moving }, async page => {
        await ready(page)
        await shoot(page, 'phone-intro')
        await openSignature(page)
        await drawByTouch(page, page.locator('[data-pad]'))
        await shoot(page, 'phone-draw')
        await page.locator('[data-adopt]').tap()
        await counted(page, '1 of 2 filled in')
        await page.getByRole('button', { name: 'Next signature' }).tap()
        await settled(page)
        await page.getByRole('button', { name: 'Sign here', exact: true }).tap()
        await counted(page, 'Not sent yet')
        await settled(page)
        await shoot(page, 'phone-placed')
        await page.getByRole('button', { name: 'Review and finish' }).tap()
        await settled(page)
        await shoot(page, 'phone-finish')
        await page.locator('#finish [data-confirm]').tap()
        await shown(page, DONE)
        await shoot(page, 'phone-done')
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'drawn')
})

test('uploaded', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Upload' }).click()
        await page.locator('[data-adopt]').click()
        await page.getByText('Please choose an image first.').waitFor()
        await page.locator('#upload').setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no') })
        await page.getByText('This file can’t be used').waitFor()
        await page.locator('#upload').setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: PNG })
        await page.locator('[data-drop]:not(.empty)').waitFor()
        await settled(page)
        await page.locator('[data-adopt]').click()
        await page.locator('.field.signed').waitFor()
        await finish(page)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'uploaded')
})

test('an image is rotated; on a phone the camera is offered', touch, async () => {
    const made = await create()
    await visit(made.links[0], devices.phone, async page => {
        await ready(page)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Upload' }).tap()
        assert.ok(await page.getByRole('button', { name: 'Take a photo' }).isVisible())
        assert.equal(await page.locator('#camera').getAttribute('capture'), 'environment')
        const turn = page.getByRole('button', { name: 'Rotate' })
        assert.ok(await turn.isHidden(), 'there is no image')
        const url = await page.evaluate(() => { // a wide line on white
            const canvas = Object.assign(document.createElement('canvas'), { width: 400, height: 200 })
            const context = canvas.getContext('2d')
            context.fillStyle = '#fff'
            context.fillRect(0, 0, 400, 200)
            context.fillStyle = '#00c'
            context.fillRect(50, 90, 300, 20)
            return canvas.toDataURL()
        })
        const preview = async work => {
            const [answer] = await Promise.all([page.waitForResponse(/\/preview$/), work()])
            const { width, height } = await answer.json()
            return width / height
        }
        const buffer = Buffer.from(url.split(',')[1], 'base64')
        const chosen = await preview(() =>
            page.locator('#upload').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer }))
        assert.ok(chosen > 2, `wider than high: ${chosen}`)
        const turned = await preview(() => turn.tap())
        assert.ok(Math.abs(turned * chosen - 1) < 0.1, `as high as it was wide: ${turned}`)
        await settled(page)
        await page.locator('[data-adopt]').tap()
        await page.locator('.field.signed').waitFor()
        await finish(page)
    })
    await assertSealed(made, 1)
})

/** Tab until an element has the focus; what it passes is not pressed. */
async function tabTo(page, selector) {
    for (let step = 0; step < 60; step++) {
        if (await page.evaluate(wanted => document.activeElement?.matches(wanted), selector)) return
        await page.keyboard.press('Tab')
    }
    assert.fail(`Tab does not come to ${selector}`)
}

test('by keyboard alone', chromiumOnly('keys sent by BiDi do not always press buttons'), async () => {
    const made = await create({ signers: [three] })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        const { keyboard } = page
        await keyboard.press('Tab')
        await tabTo(page, '.skip')
        await tabTo(page, '[data-start]')
        await keyboard.press('Enter')
        await until(page, () => document.activeElement.id === 'documents')
        await tabTo(page, '.field')
        assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /field 1 of 3/)
        await keyboard.press('Enter')
        await page.locator('#signature').waitFor()
        await tabTo(page, '[role=tab][aria-selected=true]')
        await keyboard.press('Home')
        assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-draw')
        await keyboard.press('ArrowRight')
        assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-type')
        await tabTo(page, '#typed')
        await keyboard.press('Control+A')
        await keyboard.type('Ann Lee')
        await tabTo(page, '[data-all] input')
        await keyboard.press('Space')
        await tabTo(page, '[data-adopt]')
        await keyboard.press('Enter')
        await page.locator('#signature').waitFor({ state: 'hidden' })
        await page.locator('#finish').waitFor()
        assert.match(await page.locator('[data-live]').innerText(), /all 3 fields.*not been sent/)
        await keyboard.press('Escape')
        await page.locator('#finish').waitFor({ state: 'hidden' })
        assert.ok(await page.evaluate(() => document.activeElement.matches('[data-next]')), 'the focus comes back')
        await keyboard.press('Enter')
        await tabTo(page, '#finish [data-confirm]')
        await keyboard.press('Enter')
        await shown(page, DONE)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'typed')
})

test('two signers, one after the other', async () => {
    const made = await create({ signers: [ann, bob] })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page)
        await finish(page)
        await page.getByText('When everyone has signed').waitFor()
    })
    await visit(made.links[1], devices.phone, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page, 'Bob Ray')
        await finish(page)
        await page.getByText('Certificate of completion').waitFor()
    })
    await assertSealed(made, 2)
    await visit(made.links[0], {}, page => page.getByText('Certificate of completion').waitFor())
})

test('without JavaScript', scripts, async () => {
    const made = await create()
    await visit(made.links[0], { javaScriptEnabled: false }, async page => {
        await shown(page, 'Lease for 12 Harbour Road')
        await page.locator('.page img').first().scrollIntoViewIfNeeded()
        assert.ok(await page.getByText(/Lease\.pdf.*, page 1/).isVisible(), 'it says where the signer signs')
        assert.ok(await page.locator('[data-next]').isHidden(), 'nothing that needs a script')
        await shoot(page, 'desktop-plain')
        await page.locator('#plain-typed').fill('Ann Lee')
        assert.match(await page.locator('#plain-consent').innerText(), /agree to sign them electronically/)
        await page.getByRole('button', { name: 'Agree and sign' }).click()
        await shown(page, DONE)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'typed')
})

test('refused, with a reason', touch, async () => {
    const made = await create({ signers: [ann, bob] })
    await visit(made.links[0], devices.phone, async page => {
        await ready(page)
        await page.locator('.menu summary').tap()
        await page.locator('.menu').getByRole('button', { name: 'Decline to sign' }).tap()
        await page.locator('#reason').fill('The rent is "too" high <b>')
        await shoot(page, 'phone-refuse')
        await page.getByRole('button', { name: 'Decline', exact: true }).tap()
        await shown(page, 'You declined to sign')
        assert.equal(await page.locator('blockquote').innerText(), 'The rent is "too" high <b>')
        await shoot(page, 'phone-refused')
    })
    const { submitters } = await ask(`/signatures/${made.uuid}`)
    assert.equal(submitters[0].refusalReason, 'The rent is "too" high <b>')
    await visit(made.links[1], {}, async page => {
        await shown(page, 'This request is closed')
        await shoot(page, 'desktop-closed')
    })
})

test('refused without JavaScript', scripts, async () => {
    const made = await create()
    await visit(made.links[0], { javaScriptEnabled: false }, async page => {
        assert.ok(await page.locator('#plain-reason').isHidden(), 'declining takes two taps')
        await page.locator('summary', { hasText: 'Decline to sign' }).click()
        await page.locator('#plain-reason').fill('No.')
        await page.getByRole('button', { name: 'Decline', exact: true }).click()
        await shown(page, 'You declined to sign')
    })
})
