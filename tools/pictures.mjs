// SPDX-License-Identifier: Apache-2.0
// pictures.mjs: draws docs/signing-page/*.png, the pictures of the guide, from a running `make run`. BASE_URL and
// TEST_TOKEN come from its file env. A person with a phone signs a lease, which Chromium prints for the purpose.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { BASE_URL, TEST_TOKEN } = process.env
assert.ok(BASE_URL && TEST_TOKEN, 'BASE_URL and TEST_TOKEN must be set: see the file env of `make run`')
const source = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const require = createRequire(join(source, 'build/npm/browser/package.json'))
const { chromium } = require('playwright-core')

const CLAUSES = ['The rent is 1,240 euros a month, paid by the third day of the month.',
    'The lease begins on 1 January and is for an unlimited time.',
    'The deposit is two rents. It earns interest, and is returned within a month of the end.',
    'The landlord keeps the house in repair. The tenant tells them of damage at once.',
    'Either side may end the lease with three months of notice, in writing.']
const LEASE = `<meta charset="utf-8"><title>Lease</title><style>@page { size: A4; margin: 24mm }
    body { font: 12pt/1.55 "DejaVu Serif", serif } h1 { font-size: 21pt; margin: 0 0 4mm } li { margin: 0 0 3mm }
    .next { break-before: page }</style><h1>Lease</h1>
    <p>12 Harbour Road, second floor. Between Kim Roe, landlord, and Ann Lee, tenant.</p>
    <ol>${CLAUSES.map(each => `<li>${each}</li>`).join('')}</ol>
    <h1 class="next">House rules</h1><ol><li>Quiet is kept from ten in the evening to six in the morning.</li>
    <li>Bicycles stand in the yard.</li></ol>`

// A name as a hand writes it, in shares of the pad: strokes of points between which the page draws curves.
const HAND = [
    [[.12, .72], [.17, .52], [.23, .28], [.26, .26], [.27, .45], [.28, .7], [.29, .73]],
    [[.17, .55], [.24, .52], [.29, .52]],
    [[.33, .72], [.34, .57], [.35, .55], [.35, .7], [.37, .58], [.40, .55], [.41, .7], [.44, .69], [.45, .57],
        [.46, .71], [.48, .58], [.51, .55], [.52, .69], [.55, .7]],
    [[.64, .27], [.62, .5], [.61, .7], [.66, .73], [.71, .71], [.73, .6], [.75, .55], [.73, .53], [.72, .65],
        [.75, .72], [.79, .66], [.81, .57], [.82, .54], [.79, .56], [.79, .68], [.83, .72], [.89, .64], [.93, .6]]]

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })

async function printed(html) {
    const page = await browser.newPage()
    await page.setContent(html)
    const pdf = await page.pdf({ preferCSSPageSize: true })
    await page.close()
    return pdf
}

const lease = await printed(LEASE)
const place = page => ({
    type: 'signature', name: 'Signature', document: 'Lease.pdf', area: { x: 70, y: 150, w: 200, h: 60, page },
})

async function linkOf(fields) {
    const form = new FormData()
    form.set('file', new Blob([lease], { type: 'application/pdf' }), 'Lease.pdf')
    form.set('name', 'Lease for 12 Harbour Road')
    form.set('signers', JSON.stringify([{ firstname: 'Ann', lastname: 'Lee', email: 'ann@example.org', fields }]))
    const response = await fetch(`${BASE_URL}/api/v3/signatures`, {
        method: 'POST', body: form, headers: { Authorization: `Bearer ${TEST_TOKEN}` },
    })
    const body = await response.text()
    assert.equal(response.status, 201, body)
    return JSON.parse(body).submitters[0].signatureLink
}

const context = await browser.newContext({
    viewport: { width: 390, height: 720 }, hasTouch: true, isMobile: true, locale: 'en-GB', reducedMotion: 'reduce',
})
const page = await context.newPage()
const shoot = async name => {
    await page.waitForFunction(() => [...document.querySelectorAll('.page img')].every(image => {
        const { top, bottom } = image.getBoundingClientRect()
        return bottom < 0 || top > innerHeight || image.naturalWidth > 0
    }))
    await page.screenshot({ animations: 'disabled', path: join(source, 'docs/signing-page', `${name}.png`) })
}
const settled = () => page.waitForTimeout(700) // two clicks within half a second are a double click for the page
const click = async selector => {
    await page.locator(selector).click()
    await settled()
}

async function open(link) {
    await page.goto(link)
    await page.waitForFunction(() => document.documentElement.classList.contains('ready'))
}

async function draw() {
    const pad = await page.locator('#signature canvas').first().boundingBox()
    for (const stroke of HAND) {
        const [first, ...others] = stroke.map(([x, y]) => [pad.x + x * pad.width, pad.y + y * pad.height])
        await page.mouse.move(...first)
        await page.mouse.down()
        for (const each of others) await page.mouse.move(...each, { steps: 3 })
        await page.mouse.up()
    }
}

await open(await linkOf([place(0), place(1)]))
await shoot('intro')
await click('[data-start]')
await page.locator('[data-next]').waitFor()
if (await page.locator('[data-next]').getAttribute('data-step') === 'next') await click('[data-next]')
await page.locator('[data-next][data-step=sign]').waitFor()
await shoot('field')
if (await page.locator('#signature').isHidden()) await click('[data-next]')
await draw()
await settled()
await shoot('signature')
const everywhere = page.locator('[data-all] input')
if (await everywhere.isVisible()) await everywhere.check()
await click('[data-adopt]')
await page.locator('#finish').waitFor()
await shoot('finish')
await page.keyboard.press('Escape')
await page.locator('#finish').waitFor({ state: 'hidden' })
await shoot('placed')
await click('[data-next]')
await click('#finish [data-confirm]')
await page.getByRole('heading', { name: 'All done – you’ve signed' }).waitFor()
await shoot('done')
await open(await linkOf([place(0)]))
await click('.intro [data-open=refuse]')
await shoot('refuse')
await click('#refuse [data-confirm]')
await page.getByRole('heading', { name: 'You declined to sign' }).waitFor()
await shoot('refused')
await page.goto(`${BASE_URL}/sign/2f5a4f0e-0000-4000-8000-000000000000`)
await shoot('unknown')
await browser.close()
