// SPDX-License-Identifier: Apache-2.0
// paper.test.mjs: photographs and scans of signatures: the paper becomes transparent, and photographs are upright.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, openSignature, ready, settled, shoot, visit } from './browser.mjs'

/** An image file of the type. `at` is the text of a function that returns the red, green and blue of x and y. */
const fileOf = async (page, width, height, at, type = 'image/png') => Buffer.from(await page.evaluate(async what => {
    const [width, height, text, type] = what, at = new Function('x', 'y', `return ${text}`)
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    const image = new ImageData(width, height)
    for (let place = 0; place < width * height; place++)
        image.data.set([...at(place % width, Math.floor(place / width)), 255], 4 * place)
    canvas.getContext('2d').putImageData(image, 0, 0)
    const blob = await new Promise(resolve => canvas.toBlob(resolve, type, 1))
    return Array.from(new Uint8Array(await blob.arrayBuffer()))
}, [width, height, at, type]))

/** Uploads a file and reads the preview: its size, and the opacity and the red, green and blue at parts of it. */
async function previewOf(page, file, places) {
    const [answer] = await Promise.all([page.waitForResponse(/\/preview$/),
        page.locator('#upload').setInputFiles({ name: 'a', mimeType: 'image/png', buffer: file })])
    assert.equal(answer.status(), 200)
    const { image, type } = await answer.json()
    await page.locator('[data-drop][aria-busy=false]').waitFor()
    return page.evaluate(async ([base64, type, parts]) => {
        const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
        const image = await createImageBitmap(new Blob([bytes], { type }))
        const { width, height } = image
        const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
        context.drawImage(image, 0, 0)
        const { data } = context.getImageData(0, 0, width, height)
        const at = parts.map(([x, y]) => {
            const place = 4 * (Math.floor(y * height) * width + Math.floor(x * width))
            return [...data.slice(place, place + 4)]
        })
        return { width, height, at, opaque: data.filter((value, at) => at % 4 === 3 && value === 255).length }
    }, [image, type, places])
}

async function inUpload(work, options = {}) {
    const made = await create()
    await visit(made.links[0], options, async page => {
        await ready(page)
        await openSignature(page)
        await page.getByRole('tab', { name: 'Upload' }).click()
        await work(page)
        await settled(page)
    })
}

const close = (is, wanted, by) => is.every((value, at) => Math.abs(value - wanted[at]) <= by)
const middle = [0.5, 0.5], corner = [0.005, 0.03]

/** A bar of ink on paper that is lighter on its right and has a little noise. */
const bar = (left, top, right, bottom) => `x >= ${left} && x < ${right} && y >= ${top} && y < ${bottom} ? [60, 20, 90]
    : [0, 5, 20].map(less => Math.floor(150 + x / 8) + (7 * x + 13 * y) % 5 - less)`

test('paper', () => inUpload(async page => {
    const onPaper = await previewOf(page, await fileOf(page, 600, 400, bar(300, 200, 500, 220)), [middle, corner])
    assert.deepEqual([onPaper.width, onPaper.height], [206, 26], 'the ink and its padding are left')
    assert.ok(onPaper.opaque > 0.95 * 200 * 20, `the ink is opaque: ${onPaper.opaque} pixels`)
    assert.ok(close(onPaper.at[0], [60, 20, 90, 255], 6), `the ink keeps its colour: ${onPaper.at[0]}`)
    assert.equal(onPaper.at[1][3], 0, 'the padding is transparent')

    const cut = await previewOf(page, await fileOf(page, 600, 400, bar(0, 170, 600, 230)), [middle])
    assert.ok(close([cut.width, cut.height], [614, 74], 2),
        `ink that was cut close is not taken for the table: ${cut.width} x ${cut.height}`)

    const gray = 'x >= 150 && x < 250 && y >= 90 && y < 110 ? 20 : x % 60 === 20 && y % 60 === 20 ? 192 : 235'
    const noisy = await previewOf(page, await fileOf(page, 400, 200, `Array(3).fill(${gray})`), [])
    assert.ok(noisy.width / noisy.height > 4, 'noise of the paper does not make the image wider')

    const table = `x < 90 || y > 340 ? [70, 50, 40] : ${bar(300, 200, 500, 220)}`
    const onTable = await previewOf(page, await fileOf(page, 600, 400, table), [])
    assert.deepEqual([onTable.width, onTable.height], [206, 26], 'the table below the paper is not ink')

    const large = await previewOf(page, await fileOf(page, 3000, 2000, bar(1500, 1000, 2500, 1100), 'image/jpeg'), [])
    assert.ok(close([large.width, large.height], [681, 81], 3), `a large photograph: ${large.width} x ${large.height}`)

    const curve = 'Math.abs(y - 400 - 160 * Math.sin(x / 70) * Math.cos(x / 190)) < 7 + 3 * Math.sin(x / 30)'
    const shadow = `Math.floor(230 - 90 * Math.hypot(x, y) / 1400 + (7 * x + 13 * y) % 9)`
    const written = `x > 250 && x < 950 && ${curve} ? [30, 40, 120] : [0, 4, 18].map(less => ${shadow} - less)`
    await previewOf(page, await fileOf(page, 1200, 800, written, 'image/jpeg'), [])
    await shoot(page, 'paper')
}))

test('an image without paper is shown as it is', () => inUpload(async page => {
    const dark = await previewOf(page, await fileOf(page, 300, 200, '[x % 200, 40, y]'), [[0.5, 0.25]])
    assert.deepEqual([dark.width, dark.height, dark.opaque], [300, 200, 300 * 200], 'it is neither cropped nor changed')
    assert.ok(close(dark.at[0], [150, 40, 50, 255], 2), `its colours: ${dark.at[0]}`)
    await page.locator('#upload').setInputFiles({
        name: 'a.png', mimeType: 'image/png', buffer: await fileOf(page, 300, 200, '[235, 235, 235]'),
    })
    await page.getByText('This file can’t be used').waitFor() // it shows nothing but paper
}, { expected: [/400/] }))

test('an image is sent as it is if the browser hides what a canvas contains', () => inUpload(async page => {
    const hint = page.getByText('we remove the paper background')
    await hint.waitFor()
    await page.evaluate(() => {
        CanvasRenderingContext2D.prototype.getImageData = (x, y, width, height) => new ImageData(width, height)
    })
    await page.locator('#upload').setInputFiles({
        name: 'a.png', mimeType: 'image/png', buffer: await fileOf(page, 600, 400, bar(300, 200, 500, 220)),
    })
    await hint.waitFor({ state: 'detached' })
}))

/** A JPEG file with the Exif orientation in an APP1 segment after its first marker. */
function withOrientation(jpeg, orientation) {
    const exif = Buffer.from('4578696600004d4d002a0000000800010112000300000001' + '00000000' + '00000000', 'hex')
    exif.writeUInt16BE(orientation, 24)
    const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2])
    return Buffer.concat([jpeg.subarray(0, 2), head, exif, jpeg.subarray(2)])
}

/** x and y of the upright image, 96 x 32, for a place of the file (Exif 3.0, 4.6.5.1.6). */
const upright = ['[x, y]', '[95 - x, y]', '[95 - x, 31 - y]', '[x, 31 - y]',
    '[y, x]', '[95 - y, x]', '[95 - y, 31 - x]', '[y, 31 - x]']

test('photographs are upright', () => inUpload(async page => {
    for (const [at, place] of upright.entries()) {
        const size = at < 4 ? [96, 32] : [32, 96]
        const file = colour => fileOf(page, ...size, `(([x, y]) => Array(3).fill(${colour}))(${place})`, 'image/jpeg')
        const quarters = [[0.3, 0.25], [0.7, 0.25], [0.3, 0.75], [0.7, 0.75]]
        const photograph = await previewOf(page,
            withOrientation(await file('x >= 48 && y >= 16 ? 200 : 40'), at + 1), quarters)
        assert.deepEqual([photograph.width, photograph.height], [96, 32])
        assert.ok(close(photograph.at.map(([red]) => red), [40, 40, 40, 200], 10), `orientation ${at + 1}`)
        const ink = await previewOf(page, withOrientation(await file('x < 8 || y < 8 ? 40 : 230'), at + 1),
            [[0.5, 0.2], [0.1, 0.5], [0.6, 0.6]])
        assert.ok(ink.width > 96 && ink.height > 32, `${ink.width} x ${ink.height}`)
        assert.ok(close(ink.at.map(pixel => pixel[3]), [255, 255, 0], 10), `orientation ${at + 1}, ink on paper`)
    }
}))
