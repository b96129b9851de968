// SPDX-License-Identifier: Apache-2.0
// input.test.mjs: unusual input: long names, emoji, other directions, documents of many, tiny and huge pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, assertAccessible, assertSealed, create, devices, drawOn, field, finish, isWide, openSignature, ready, settled,
    shoot, typeSignature, until, visit,
} from './browser.mjs'
import { contract, makePdf } from './pdf.mjs'

const names = {
    'of 500 characters': 'Wolfeschlegelsteinhausenbergerdorff '.repeat(14).slice(0, 499) + '!',
    'without a space': 'x'.repeat(120),
    'of emoji': '🖋️👩‍👩‍👧 📜',
    'from right to left': 'اتفاقية \u202Eالإيجار‬ "2026" ערבית',
    'of markup': '<img src=x onerror=alert(1)>{{name}} &amp; {count} "\'',
}
for (const [what, name] of Object.entries(names))
    test(`a name ${what}`, async () => {
        const long = { ...ann, firstname: name.slice(0, 100), lastname: name.slice(0, 90) }
        const made = await create({ name, signers: [long] })
        await visit(made.links[0], devices.phone, async page => {
            await ready(page)
            // marks that change the direction of what follows are left out
            const shown = name.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '').replace(/\s+/g, ' ')
            assert.equal(await page.locator('h1').innerText(), shown)
            assert.ok(!(await isWide(page)), 'it is not wider')
            await assertAccessible(page, what)
            await openSignature(page)
            await typeSignature(page, 'Ann Lee')
            await finish(page)
            assert.ok(!(await isWide(page)), 'nor when done')
        })
        await assertSealed(made, 1)
    })

test('names in many scripts, typed', async () => {
    for (const typed of ['ليلى حداد', 'नेहा शर्मा', '李 安', 'Łukasz Żółć']) {
        const made = await create()
        await visit(made.links[0], { expected: [/willReadFrequently/] }, async page => {
            await ready(page)
            await openSignature(page)
            await typeSignature(page, typed)
            await page.locator('.ink').waitFor()
            await until(page, () => {
                const canvas = document.querySelector('.ink')
                return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)
            })
            await finish(page)
        })
        await assertSealed(made, 1)
    }
})

test('undo and clear say when there is nothing left of a drawing', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Draw' }).click()
        const undo = page.getByRole('button', { name: 'Undo' }), clear = page.getByRole('button', { name: 'Clear' })
        const off = async () => [await undo.getAttribute('aria-disabled'), await clear.getAttribute('aria-disabled')]
        assert.deepEqual(await off(), ['true', 'true'], 'nothing is drawn')
        await drawOn(page, page.locator('[data-pad]'))
        assert.deepEqual(await off(), ['false', 'false'], 'something is drawn')
        await clear.click()
        assert.deepEqual(await off(), ['true', 'true'], 'it is cleared')
        await assertAccessible(page, 'undo and clear when nothing is drawn')
    })
})

test('300 pages: few are loaded, the last can be signed', async () => {
    const made = await create({ pdf: contract(300), signers: [{ ...ann, fields: [field(299)] }] })
    // On a busy machine, images that the page no longer wants are still being made when it requests those of another
    // place: more than six at once are refused, and the page requests them again.
    await visit(made.links[0], { ...devices.phone, expected: [/503/] }, async page => {
        let images = 0
        page.on('request', request => /\/pages\/\d+\?/.test(request.url()) && images++)
        await ready(page)
        await page.waitForTimeout(500)
        assert.ok(images < 12, `${images} images at once`)
        assert.ok(await page.locator('.page').count() < 110, 'most pages are not there yet')
        await page.evaluate(() => scrollTo(0, document.querySelector('#documents').scrollHeight / 2))
        await page.locator('.page[data-page="150"]').waitFor()
        const order = await page.locator('.page').evaluateAll(all => all.map(each => Number(each.dataset.page)))
        assert.deepEqual(order, [...order].sort((a, b) => a - b), 'pages stand in their order')
        assert.equal(await page.locator('.page[data-page="150"]').getAttribute('aria-label'), 'Page 151 of 300')
        const middle = page.locator('.page[data-page="150"]')
        await middle.scrollIntoViewIfNeeded()
        await middle.locator('.text span', { hasText: 'page 151' }).waitFor({ state: 'attached' })
        await openSignature(page)
        await typeSignature(page)
        await page.locator('.page[data-page="299"] img').evaluate(img => img.decode())
        assert.ok(images < 60, `${images} images to come to the end`)
        await finish(page)
    })
    await assertSealed(made, 1)
})

test('a tiny page, a huge one, a wide one; places beside the page', async () => {
    const pdf = makePdf([{ width: 36, height: 20 }, { width: 14400, height: 14400 }, { width: 3000, height: 60 },
        { width: 612, height: 792, lines: ['Ordinary'] }])
    const fields = [field(0, { x: 4, y: 4, w: 28, h: 12 }), field(1, { x: 100, y: 100, w: 4000, h: 900 }),
        field(2, { x: 10, y: 10, w: 300, h: 40 }), field(3, { x: 580, y: 760, w: 180, h: 50 })]
    const made = await create({ pdf, signers: [{ ...ann, fields }] })
    for (const device of [devices.phone, devices.desktop])
        await visit(made.links[0], device, async page => {
            await ready(page)
            assert.equal(await page.locator('.field').count(), 4)
            for (const each of await page.locator('.field').all()) {
                const box = await each.boundingBox()
                assert.ok(box.width >= 23 && box.height >= 23, `large enough to be hit: ${box.width} × ${box.height}`)
                assert.ok(await each.evaluate(button => getComputedStyle(button).overflow === 'visible'
                    || button.querySelector('span').getBoundingClientRect().width <= button.clientWidth),
                'its tag is not cut')
            }
            await shoot(page, `${device === devices.phone ? 'phone' : 'desktop'}-sizes`)
        })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page, null, true)
        await finish(page)
    })
    await assertSealed(made, 1)
})

/** An image with a line across it, as its bytes: `noisy` ones are large. */
const imageOf = async (page, width, height, noisy) => Buffer.from(await page.evaluate(([width, height, noisy]) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    const context = canvas.getContext('2d')
    context.fillStyle = '#fff'
    context.fillRect(0, 0, width, height)
    const pixels = context.createImageData(width, height)
    if (noisy) {
        for (let at = 0, value = 1; at < pixels.data.length; at++) {
            value = (value * 16807) % 2147483647
            pixels.data[at] = at % 4 === 3 ? 255 : 225 + (value >> 8) % 30
        }
        context.putImageData(pixels, 0, 0)
    }
    context.fillStyle = '#00c'
    context.fillRect(width / 8, height * 0.45, width * 0.75, height / 10)
    return canvas.toDataURL().split(',')[1]
}, [width, height, noisy]), 'base64')

const choose = (page, buffer) => page.locator('#upload').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer })

test('an image is made smaller, or sent as it is if the canvas gives noise', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await page.evaluate(() => {
            const { fetch } = window
            window.sent = []
            window.fetch = (link, options) => {
                if (/\/preview$/.test(link)) window.sent.push(options.body.get('image'))
                return fetch(link, options)
            }
        })
        const sent = async () => Buffer.from(await page.evaluate(async () =>
            Array.from(new Uint8Array(await window.sent.at(-1).arrayBuffer()))))
        const small = await imageOf(page, 400, 200), large = await imageOf(page, 1300, 900, true)
        assert.ok(large.length > 900_000)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Upload' }).click()
        await choose(page, large)
        await page.locator('[data-drop]:not(.empty)').waitFor()
        assert.ok((await sent()).length < 900_000, 'a large one is made smaller')
        await page.evaluate(() => { // as Firefox does with privacy.resistFingerprinting
            const { getImageData } = CanvasRenderingContext2D.prototype
            CanvasRenderingContext2D.prototype.getImageData = function (...box) {
                const image = getImageData.apply(this, box)
                return new ImageData(image.data.map((_, at) => (at * 7919) % 251), image.width, image.height)
            }
        })
        await Promise.all([page.waitForResponse(/\/preview$/), choose(page, small)])
        assert.ok(small.equals(await sent()), 'the file, byte for byte')
        await choose(page, large)
        await page.getByText('browser’s privacy settings').waitFor()
        assert.ok(small.equals(await sent()), 'no noise is sent')
        await settled(page)
        await page.locator('[data-adopt]').click()
        await page.getByText('browser’s privacy settings').waitFor()
        assert.ok(await page.locator('#signature').isVisible(), 'nothing is added')
    })
})

test('after an upload that failed, the button tries again, and the same file can be chosen again', async () => {
    const made = await create()
    let broken = true, previews = 0
    const prepare = page => page.route(/\/preview$/, route => {
        previews++
        return broken ? route.abort() : route.continue()
    })
    await visit(made.links[0], { prepare, expected: [/ERR_/] }, async page => {
        await ready(page)
        const image = await imageOf(page, 400, 200)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Upload' }).click()
        await choose(page, image)
        await page.getByText('There’s no connection').waitFor()
        broken = false
        assert.equal(await page.locator('#upload').evaluate(input => {
            input.addEventListener('click', event => event.preventDefault()) // no dialog of the system
            input.click()
            return input.value
        }), '', 'no file is chosen, so that the same one is a change')
        const before = previews
        await settled(page)
        await page.locator('[data-adopt]').click()
        await page.locator('#finish').waitFor()
        assert.equal(previews, before + 1)
    })
})

test('400 filled fields: only those near the view are painted', async () => {
    const fields = Array.from({ length: 400 }, (_, at) =>
        field(Math.floor(at / 10), { x: 72 + 240 * (at % 2), y: 90 + 130 * Math.floor(at % 10 / 2) }))
    const made = await create({ pdf: contract(40), signers: [{ ...ann, fields }] })
    await visit(made.links[0], { ...devices.phone, deviceScaleFactor: 3, expected: [/503/, /willReadFrequently/] },
        async page => {
            await ready(page)
            await openSignature(page)
            await typeSignature(page, null, true)
            await page.locator('#finish').waitFor()
            await page.keyboard.press('Escape')
            await page.evaluate(() => document.getElementById('documents').style.setProperty('--zoom', 2))
            const size = () => page.evaluate(() => [...document.querySelectorAll('canvas')]
                .reduce((sum, { width, height }) => sum + 4 * width * height, 0))
            for (const at of [0, 399, 200]) {
                await page.locator('.field').nth(at).scrollIntoViewIfNeeded()
                await until(page, which => {
                    const canvas = document.querySelectorAll('.ink')[which], { width, height } = canvas
                    return width && canvas.getContext('2d').getImageData(0, 0, width, height).data.some(Boolean)
                }, at)
                const bytes = await size()
                assert.ok(bytes < 64e6, `${bytes} bytes at field ${at + 1}`)
            }
            await page.emulateMedia({ media: 'print' })
            assert.ok(await page.locator('.ink').nth(200).isHidden(), 'what is not sent is not printed')
        })
})
