// SPDX-License-Identifier: Apache-2.0
// pictures.test.mjs: a picture of each state, at five sizes, is compared with the last accepted one
// (t/browser/pictures, half as large). What changed on purpose is accepted by copying build/screenshots/picture-*.png
// there.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
    ann, create, field, finish, openSignature, ready, settled, shots, shown, source, typeSignature, visit,
} from './browser.mjs'

const MOST = 0.03 // of the pixels may differ: other versions of fonts and of Chromium draw letters a little differently
const expected = [/willReadFrequently/] // the test reads the canvas of the page
const CLEARLY = 60 // of 255

const sizes = {
    phone: { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true },
    landscape: { viewport: { width: 780, height: 340 }, hasTouch: true, isMobile: true },
    zoomed: { viewport: { width: 195, height: 422 } },
    tablet: { viewport: { width: 820, height: 1100 } },
    desktop: { viewport: { width: 1280, height: 860 } },
}

/** The share of pixels that differ, as the browser decodes both pictures; 1 if their sizes differ. */
const difference = (page, pictures) => page.evaluate(async ([clearly, ...urls]) => {
    const [one, other] = await Promise.all(urls.map(async url => {
        const image = new Image()
        image.src = url
        await image.decode()
        const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
        canvas.getContext('2d').drawImage(image, 0, 0)
        return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    }))
    if (one.width !== other.width || one.height !== other.height) return 1
    let count = 0
    for (let at = 0; at < one.data.length; at += 4)
        if ([0, 1, 2].some(n => Math.abs(one.data[at + n] - other.data[at + n]) > clearly)) count++
    return count / (one.width * one.height)
}, [CLEARLY, ...pictures.map(bytes => `data:image/png;base64,${bytes.toString('base64')}`)])

/** Names of organisations and dates are others each time; what a document says is not the page's. */
const hideNames = page => page.evaluate(() => {
    for (const each of document.querySelectorAll('.brand span, .facts dd, .page img'))
        each.style.visibility = 'hidden'
})

/** Waits until something is drawn. */
const drawn = (page, selector) => page.waitForFunction(selector => {
    const canvas = document.querySelector(selector)
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)
}, selector)

for (const [size, device] of Object.entries(sizes))
    test(`pictures, ${size}`, async () => {
        const differing = []
        const made = await create({ signers: [{ ...ann, fields: [field(0), field(1)] }] }), plain = await create()
        const options = { ...device, deviceScaleFactor: 0.5, reducedMotion: 'reduce', expected }
        await visit(made.links[0], options, async page => {
            const blank = await page.context().newPage()
            const compare = async state => {
                const name = `picture-${size}-${state}.png`, accepted = join(source, 't/browser/pictures', name)
                await settled(page)
                await hideNames(page)
                const bytes = await page.screenshot({ animations: 'disabled', path: join(shots, name) })
                const share = existsSync(accepted) ? await difference(blank, [bytes, readFileSync(accepted)]) : 1
                if (share > MOST) differing.push(`${name}: ${(100 * share).toFixed(1)} %`)
            }
            await page.bringToFront()
            await ready(page)
            if (size === 'phone') await page.locator('.text span').first().waitFor({ state: 'attached' }) // its column
            await compare('intro')
            await page.locator('[data-start]').click()
            await page.locator('.bar').waitFor()
            await compare('document')
            await openSignature(page)
            await page.locator('#tab-type').click()
            await drawn(page, '[data-typed]') // by the service, which may be busy
            await compare('signature')
            await typeSignature(page, null, true)
            await page.locator('#finish').waitFor()
            await compare('finish')
            await page.keyboard.press('Escape')
            await page.locator('#finish').waitFor({ state: 'hidden' })
            await compare('filled')
            await finish(page)
            await compare('done')
            await page.goto(plain.links[0])
            await ready(page)
            await page.locator('.intro [data-open=refuse]').click()
            await compare('decline')
            await page.locator('#refuse [data-confirm]').click()
            await shown(page, 'You declined to sign')
            await compare('declined')
        })
        assert.deepEqual(differing, [])
    })
