// SPDX-License-Identifier: Apache-2.0
// way.test.mjs: the steps of the page: the number of clicks, double clicks, messages before anything is sent, browsers
// without some features, small windows, and input that must not get lost.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
    ann, ask, assertAccessible, assertSealed, chromiumOnly, counted, create, devices, DONE, drawOn, field, finish,
    isWide, leaveLastStep, moving, openSignature, place, ready, settled, shoot, shown, twice, typeSignature, until,
    visit,
} from './browser.mjs'
import { contract } from './pdf.mjs'

const two = { ...ann, fields: [field(0), field(1)] }
const touch = chromiumOnly('a finger cannot be driven')
const isOpen = (page, id) => page.locator(`#${id}`).isVisible()

test('one field takes four clicks', async () => {
    const made = await create()
    await visit(made.links[0], moving, async page => {
        await ready(page)
        await page.evaluate(() => {
            sessionStorage.clicks = 0
            addEventListener('click', event => event.isTrusted && sessionStorage.clicks++, { capture: true })
        })
        const clicks = () => page.evaluate(() => Number(sessionStorage.clicks))
        await page.getByRole('link', { name: 'Review document' }).click()
        await page.locator('.field').click()
        await page.getByRole('button', { name: 'Add signature' }).click()
        await settled(page)
        await page.getByRole('button', { name: 'Agree and sign' }).click()
        await shown(page, DONE)
        assert.equal(await clicks(), 4)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.match(submitter.signerInformation.consent, /-en$/)
})

test('the intro leads to the first document; the bar comes when the intro has gone', async () => {
    const made = await create({ signers: [{ ...ann, fields: [field(1)] }] })
    for (const device of [devices.desktop, devices.phone])
        await visit(made.links[0], { ...device, ...moving }, async page => {
            await ready(page)
            assert.ok(await page.locator('.bar').isHidden())
            assert.equal(await page.locator('.intro .primary').count(), 1)
            assert.equal(await page.locator('.intro input').count(), 0, 'nothing to tick before anything is read')
            await page.locator('[data-start]').click()
            await page.locator('.bar').waitFor()
            await until(page, () => Math.abs(document.querySelector('.document h2').getBoundingClientRect().top
                - document.querySelector('.top').getBoundingClientRect().bottom) < 60)
            assert.equal(await page.locator('[data-next]').innerText(), 'Next signature')
            await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
        })
})

/** False if the machine was too busy for a double click. */
async function clicksTwice(device, finger) {
    const made = await create({ signers: [two] })
    return visit(made.links[0], { ...device, ...moving }, async page => {
        const clickTwice = async locator => {
            const box = await locator.boundingBox()
            await settled(page)
            return twice(page, box.x + box.width / 2, box.y + box.height / 2, finger)
        }
        await ready(page)
        await page.locator('[data-start]').click()
        await page.locator('.bar').waitFor()
        await page.locator('.field').first().scrollIntoViewIfNeeded()
        await page.locator('[data-next][data-step=sign]').waitFor()
        if (!await clickTwice(page.locator('[data-next]'))) return false
        await settled(page)
        assert.ok(await isOpen(page, 'signature'), 'the dialog is open')
        await page.locator('#tab-draw').click()
        assert.ok(await page.locator('[data-hint]').isVisible(), 'nothing was drawn by it')
        await page.locator('#tab-type').click()
        if (!await clickTwice(page.locator('[data-adopt]'))) return false
        await counted(page, '1 of 2 filled in')
        await settled(page)
        assert.equal(await page.locator('.field.signed').count(), 1)
        assert.ok(!await isOpen(page, 'signature'), 'it is closed, once')
        if (!await clickTwice(page.locator('.menu summary'))) return false
        assert.ok(await page.locator('.menu ul').isVisible(), 'the menu is open')
        return true
    })
}

for (const [what, device] of Object.entries({ mouse: devices.desktop, finger: devices.phone }))
    test(`a double click does what one click does, ${what}`, what === 'finger' ? touch : {}, async t => {
        for (let attempts = 5; attempts; attempts--) if (await clicksTwice(device, what === 'finger')) return
        t.skip('the machine is too busy for a double click in Firefox')
    })

test('the dialog is closed by its buttons and Escape alone, which asks if something was drawn', async () => {
    const made = await create()
    await visit(made.links[0], moving, async page => {
        await ready(page)
        await openSignature(page)
        await page.locator('#tab-draw').click()
        const dialog = await page.locator('#signature').boundingBox()
        await page.mouse.click(dialog.x + 8, dialog.y + 8) // its padding
        await page.mouse.click(20, 300) // beside it
        assert.ok(await isOpen(page, 'signature'))
        await page.keyboard.press('Escape')
        assert.ok(!await isOpen(page, 'signature'), 'Escape, with nothing drawn')
        await settled(page)
        await page.locator('[data-next]').click()
        const pad = await page.locator('[data-pad]').boundingBox()
        await page.mouse.move(pad.x + 60, pad.y + 60) // a stroke that ends beside the pad
        await page.mouse.down()
        await page.mouse.move(pad.x + pad.width + 12, pad.y + 70, { steps: 8 })
        await page.mouse.up()
        assert.ok(await isOpen(page, 'signature'))
        for (const close of [false, true]) {
            await page.keyboard.press('Escape')
            await page.locator('#discard').waitFor()
            await shoot(page, 'desktop-discard')
            await page.keyboard.press('Escape')
            assert.ok(!await isOpen(page, 'discard') && await isOpen(page, 'signature'), 'Escape goes on drawing')
            await page.keyboard.press('Escape')
            await page.locator(close ? '[data-discard]' : '#discard [data-close]').click()
            assert.equal(await isOpen(page, 'signature'), !close)
        }
    })
})

test('nothing is called signed before it is; leaving warns', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        const asked = []
        page.on('dialog', dialog => { asked.push(dialog.type()); dialog.dismiss() })
        const leave = () => Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
        await ready(page)
        await openSignature(page)
        await typeSignature(page)
        await leaveLastStep(page)
        await counted(page, 'Not sent yet')
        const said = await page.evaluate(() => [...document.querySelectorAll('.bar, .field, [data-live]')]
            .map(each => `${each.textContent} ${each.getAttribute('aria-label') ?? ''}`).join(' '))
        assert.doesNotMatch(said, /\bsigned\b/i)
        const [filled, whole] = await page.evaluate(() => ['[data-track]', '.track'].map(each =>
            document.querySelector(each).clientWidth))
        assert.ok(filled < whole * 0.9, 'the track is full when all is done')
        await leave()
        assert.deepEqual(asked, ['beforeunload'])
        await finish(page)
        assert.deepEqual(asked, ['beforeunload'], 'not when it is sent')
    })
})

const without = (...paths) => page => page.addInitScript(gone => {
    for (const path of gone) {
        const parts = path.split('.'), last = parts.pop()
        delete parts.reduce((at, part) => at[part], window)[last]
    }
}, paths)

test('a browser without AbortSignal.timeout and the like signs', async () => {
    const made = await create()
    const prepare = without('AbortSignal.timeout', 'AbortSignal.any', 'structuredClone', 'Array.prototype.findLast',
        'Element.prototype.ariaLabel', 'Element.prototype.role')
    await visit(made.links[0], { prepare }, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page)
        await finish(page)
    })
    await assertSealed(made, 1)
})

for (const gone of ['HTMLDialogElement.prototype.showModal', 'ResizeObserver', 'IntersectionObserver',
    'AbortController', 'Intl.PluralRules'])
    test(`a browser without ${gone} has the plain forms`, async () => {
        const made = await create()
        await visit(made.links[0], { prepare: without(gone) }, async page => {
            await page.waitForLoadState('load')
            assert.ok(await page.locator('.bar').isHidden() && await page.locator('.menu').isHidden())
            assert.equal(await page.locator('.field').count(), 0)
            await page.locator('#plain-typed').fill('Ann Lee')
            await page.getByRole('button', { name: 'Agree and sign' }).click()
            await shown(page, DONE)
        })
        await assertSealed(made, 1)
    })

test('a script that fails at its start leaves the plain forms', async () => {
    const made = await create()
    const prepare = page => page.addInitScript(() => { window.matchMedia = undefined })
    await visit(made.links[0], { prepare, expected: [/matchMedia/] }, async page => {
        await page.locator('#plain-typed').waitFor()
        assert.ok(await page.locator('.bar').isHidden())
    })
})

const small = { '195 pixels': { width: 195, height: 422 }, '400 %': { width: 320, height: 256 } }
for (const [what, viewport] of Object.entries(small))
    test(`at ${what} nothing covers the page`, async () => {
        const made = await create({ signers: [two] })
        await visit(made.links[0], { viewport }, async page => {
            const covering = () => page.evaluate(() => [...document.querySelectorAll('body *')].filter(each =>
                ['fixed', 'sticky'].includes(getComputedStyle(each).position)
                && getComputedStyle(each).display !== 'none' && !each.closest('dialog')
                && each.getBoundingClientRect().height > 0.15 * innerHeight).map(each => each.className))
            await ready(page)
            assert.deepEqual(await covering(), [])
            assert.ok(!(await isWide(page)), 'nothing is wider')
            await page.locator('[data-start]').click()
            await page.locator('.field').first().click()
            await shoot(page, `${viewport.width}-signature`)
            const button = page.locator('[data-adopt]')
            await button.scrollIntoViewIfNeeded()
            await page.locator('#tab-type').click()
            await button.click()
            assert.deepEqual(await covering(), [])
            assert.ok(!(await isWide(page)))
            await page.locator('.field:not(.signed)').click()
            await shoot(page, `${viewport.width}-placed`)
            assert.deepEqual(await covering(), [])
            await finish(page)
            assert.ok(!(await isWide(page)))
            await shoot(page, `${viewport.width}-done`)
        })
    })

const glides = [
    ['the ink glides into its field', moving, 1, chromiumOnly('animations cannot be turned on')],
    ['it does not, with less motion', {}, 0, {}],
]
for (const [what, options, count, browsers] of glides)
    test(`after “Sign here” ${what}, which has a tick then`, browsers, async () => {
        const made = await create({ signers: [{ ...ann, fields: [field(0, { y: 600 }), field(0, { y: 500 })] }] })
        await visit(made.links[0], options, async page => {
            await ready(page)
            await openSignature(page)
            await typeSignature(page)
            await counted(page, '1 of 2 filled in')
            await page.locator('[data-next][data-step=sign]').waitFor()
            assert.equal(await page.evaluate(() => {
                document.querySelector('[data-next]').click()
                return document.querySelectorAll('.ink')[1].getAnimations().length
            }), count)
            await until(page, () => [...document.querySelectorAll('.field.signed')].every(each => {
                const { borderStyle, backgroundColor } = getComputedStyle(each)
                return borderStyle === 'solid' && backgroundColor === 'rgba(0, 0, 0, 0)'
                    && getComputedStyle(each, '::after').content === '""'
            }))
        })
    })

test('at a desk the link is offered as a QR code for a phone', chromiumOnly('it has no mouse'), async () => {
    const made = await create()
    for (const [device, count] of [[{ viewport: { width: 1366, height: 650 } }, 1], [devices.phone, 0]])
        await visit(made.links[0], device, async page => {
            let requests = 0
            page.on('request', request => /\/qr\.svg$/.test(request.url()) && requests++)
            await ready(page)
            await openSignature(page)
            await page.locator('#tab-draw').click()
            const code = page.locator('.by-phone img')
            assert.equal(await code.isVisible(), Boolean(count))
            if (count) await until(page, () => document.querySelector('.by-phone img').naturalWidth)
            await shoot(page, `${count ? 'desktop' : 'phone'}-code`)
            assert.equal(requests, count)
        })
})

test('the menu is closed by Escape and by a click beside it', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        const summary = page.locator('.menu summary'), list = page.locator('.menu ul')
        await summary.click()
        await page.keyboard.press('Escape')
        assert.ok(await list.isHidden())
        assert.ok(await summary.evaluate(each => each === document.activeElement), 'the focus is on its button')
        await settled(page)
        await summary.click()
        await page.mouse.click(300, 500)
        assert.ok(await list.isHidden())
    })
})

test('the brand stays in its place', async () => {
    const made = await create()
    for (const device of [devices.desktop, devices.phone]) {
        const own = await create()
        await visit(own.links[0], device, async page => {
            await ready(page)
            const before = await page.locator('.brand').boundingBox()
            await page.evaluate(link => fetch(link, { method: 'POST', headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify({ action: 'refuse' }) }), own.links[0])
            await page.reload()
            await shown(page, 'You declined to sign')
            assert.equal((await page.locator('.brand').boundingBox()).x, before.x)
            assert.match(await page.locator('.brand').innerText(), /^.?Browser \d+.?$/, 'who asks')
        })
    }
    await visit(made.links[0], {}, async page => assert.match(await page.title(), /^Lease .* · Browser \d+$/))
})

test('pages that failed are loaded when the network is back', async () => {
    const made = await create()
    let broken = true
    const prepare = page => page.route(/\/pages\/\d+\?/, route => (broken ? route.abort() : route.continue()))
    await visit(made.links[0], { expected: [/ERR_/], prepare }, async page => {
        await page.locator('.broken').first().waitFor()
        broken = false
        await page.evaluate(() => dispatchEvent(new Event('online')))
        await ready(page)
        assert.equal(await page.locator('.broken').count(), 0)
    })
})

test('on a phone a visited field is enlarged; two taps enlarge and take it back', touch, async () => {
    const made = await create()
    await visit(made.links[0], { ...devices.phone, viewport: { width: 390, height: 500 } }, async page => {
        await ready(page)
        const width = async () => (await page.locator('.page').first().boundingBox()).width
        const before = await width()
        await page.locator('.text span').first().waitFor({ state: 'attached' })
        await page.locator('[data-start]').tap()
        const begun = await width()
        assert.ok(begun > 1.2 * before, 'the text has the width of the screen')
        const edges = await page.evaluate(() => [...document.querySelector('.text').querySelectorAll('span')]
            .flatMap(span => [span.getBoundingClientRect().left, innerWidth - span.getBoundingClientRect().right]))
        assert.ok(Math.min(...edges) >= 0, 'and none of it is beside the screen')
        assert.equal(await page.locator('[data-tip]').textContent(), 'Double-tap to enlarge')
        await page.locator('[data-next][data-step=next]').tap()
        await page.locator('[data-next][data-step=sign]').waitFor()
        assert.ok(Math.abs(await width() - 2 * before) < 2, 'it is twice as wide')
        await until(page, () => {
            const box = document.querySelector('.field').getBoundingClientRect()
            return box.left >= 0 && box.right <= innerWidth && box.top > 0 && box.bottom < innerHeight
        })
        await shoot(page, 'phone-field')
        await twice(page, 200, 120, true)
        await until(page, least => document.querySelector('.page').clientWidth < least, begun + 2)
        await settled(page)
        const word = page.locator('.page').first().locator('.text span', { hasText: 'Section 2:' })
        await word.waitFor({ state: 'attached' })
        await page.evaluate(() => document.querySelector('.document').scrollIntoView({ behavior: 'instant' }))
        const box = await word.boundingBox()
        await twice(page, box.x + 10, box.y + 3, true)
        await until(page, least => document.querySelector('.page').clientWidth > least, 2 * before - 2)
        const after = await word.boundingBox()
        assert.ok(Math.abs(after.y + 6 - box.y - 3) < 20, `what was tapped stays there: ${after.y} ${box.y}`)
    })
})

test('to print, every page is loaded; to search, every text', chromiumOnly('printing is Chromium’s here'), async () => {
    const made = await create({ pdf: contract(60) })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await page.evaluate(() => { window.print = () => { window.printed = [...document.querySelectorAll('.page img')]
            .filter(img => img.complete && img.naturalWidth).length } })
        await page.keyboard.press('Control+f')
        await until(page, () => document.querySelectorAll('.text').length === 60)
        assert.ok(await page.evaluate(() => window.find('page 57')), 'a word of a page far away is found')
        await page.keyboard.press('Control+p')
        await until(page, () => window.printed !== undefined)
        assert.equal(await page.evaluate(() => window.printed), 60)
        await page.emulateMedia({ media: 'print' })
        assert.ok(await page.locator('.field').isHidden(), 'no field is printed')
        await page.emulateMedia({ media: null })
        const file = join(tmpdir(), `printed-${process.pid}.pdf`)
        await page.pdf({ format: 'Letter', path: file })
        assert.match(execFileSync('pdfinfo', [file], { encoding: 'utf8' }), /Pages: +60\n/, 'a sheet for each page')
    })
})

test('with forced colours the document is as it is', chromiumOnly('colours cannot be forced'), async () => {
    const made = await create()
    await visit(made.links[0], { forcedColors: 'active' }, async page => {
        await ready(page)
        await page.locator('.text span').first().waitFor({ state: 'attached' })
        const style = (selector, name) => page.locator(selector).first().evaluate((each, key) =>
            getComputedStyle(each)[key], name)
        assert.equal(await style('.text span', 'color'), 'rgba(0, 0, 0, 0)', 'the text over the image is not seen')
        await openSignature(page)
        assert.equal(await style('.pad.line', 'forcedColorAdjust'), 'none', 'ink is drawn on paper')
        const border = kind => style(`.tabs [aria-selected=${kind}]`, 'borderTopWidth')
        assert.notEqual(await border('true'), await border('false'), 'the chosen tab differs by more than its colour')
        await drawOn(page, page.locator('[data-pad]')).catch(() => {})
        await shoot(page, 'forced-signature')
    })
})

test('nobody agrees to a text that is not in view', async () => {
    const made = await create()
    await visit(made.links[0], { viewport: { width: 740, height: 360 } }, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page)
        await page.locator('#finish').waitFor()
        const hidden = () => page.evaluate(() => document.getElementById('consent').getBoundingClientRect().bottom
            - document.querySelector('#finish .buttons').getBoundingClientRect().top)
        for (const [width, height] of [[740, 360], [683, 384], [320, 568], [360, 640], [1280, 860]]) {
            await page.setViewportSize({ width, height })
            assert.ok(await hidden() <= 0, `${width} × ${height}: ${await hidden()}`)
        }
        assert.equal(await page.locator('#consent').getAttribute('translate'), 'no')
        let posts = 0
        page.on('request', request => request.method() === 'POST' && posts++)
        await page.setViewportSize({ width: 360, height: 400 })
        await page.locator('#consent').evaluate(consent => { consent.textContent = consent.textContent.repeat(4) })
        await settled(page)
        await page.locator('#finish [data-confirm]').click()
        assert.ok(await hidden() <= 1, 'the first press shows the rest of a long text')
        assert.equal(posts, 0, 'and sends nothing')
        await finish(page)
    })
})

test('a window that is turned in the last step does not stretch the signature', async () => {
    const made = await create()
    await visit(made.links[0], { viewport: { width: 780, height: 340 } }, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page)
        await page.locator('#finish').waitFor()
        for (const [width, height] of [[390, 780], [780, 340]]) {
            await page.setViewportSize({ width, height })
            await until(page, () => {
                const canvas = document.querySelector('[data-review]')
                return Math.abs(canvas.width / canvas.height - canvas.clientWidth / canvas.clientHeight) < 0.05
            })
        }
    })
})

test('links for privacy, help and terms', async () => {
    const made = await create()
    await visit(made.links[0].replace('/sign/', '/themed/sign/'), {}, async page => {
        await ready(page)
        const links = { Privacy: 'https://example.org/privacy', Help: 'https://example.org/help?a=1' }
        for (const [name, url] of Object.entries(links))
            assert.equal(await page.locator('.foot').getByRole('link', { name }).getAttribute('href'), url)
        await openSignature(page)
        await typeSignature(page)
        const terms = page.locator('#finish').getByRole('link', { name: 'About electronic signatures' })
        assert.equal(await terms.getAttribute('href'), 'https://example.org/esign/2?a=1&b=2')
        await assertAccessible(page, 'the last step with a link')
        await page.getByRole('button', { name: 'Agree and sign' }).click()
        await shown(page, 'All done')
        const { events } = await ask(`/signatures/${made.uuid}/audit`)
        const { detail } = events.find(({ event }) => event === 'signed')
        assert.equal(detail.termsUrl, 'https://example.org/esign/2?a=1&b=2', 'the evidence has it')
    })
    await visit((await create()).links[0], {}, async page => {
        await ready(page)
        assert.equal(await page.getByRole('link', { name: 'Privacy' }).count(), 0)
    })
    assert.equal((await fetch(place('/sign/x'))).status, 404)
})
