// SPDX-License-Identifier: Apache-2.0
// geometry.test.mjs: the preview agrees with the sealed document. The ink in a field of the page is at the same place
// as in the sealed PDF as poppler and mupdf draw it, within 2 % of the field. Every fifth one of 12 drawings, 20 names
// in 8 scripts and 10 images, each on one of three sizes of screen in turn; or all of them (SIGREQ_GEOMETRY=most); or
// 30 drawings, and all on three sizes (SIGREQ_GEOMETRY=all).
// Turning a phone changes no drawing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import { ann, create, field, ready, until, visit } from './browser.mjs'
import { inkOf } from './ink.mjs'
import { makePdf } from './pdf.mjs'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'geometry-'))
after(() => rmSync(folder, { recursive: true }))
const area = { x: 150, y: 300, w: 220, h: 70 }
const blank = makePdf([{ width: 612, height: 792 }])
const sizes = [{ width: 1280, height: 860 }, { width: 390, height: 780 }, { width: 820, height: 1100 }]
const DPI = 150
const isWhole = process.env.SIGREQ_GEOMETRY === 'all'
const expected = [/willReadFrequently/] // the test reads the canvas of the page

let seed = 7
const random = (least, most) => {
    seed = (seed * 16807) % 2147483647
    return least + (most - least) * (seed / 2147483647)
}

// --- the marks

/** Strokes somewhere on the pad, in parts of its size: from a small one in a corner to one that fills it. */
function drawing(number) {
    const w = random(0.1, 0.9), h = random(0.15, 0.9), left = random(0, 1 - w), top = random(0, 1 - h)
    return Array.from({ length: 1 + number % 4 }, (_, stroke) => {
        const bend = random(1, 9), turn = random(0, 6), count = number % 7 ? 14 : 1 + stroke
        return Array.from({ length: count }, (__, at) => [
            left + w * (0.5 + 0.5 * Math.cos(turn + bend * at / 14)), top + h * (0.5 + 0.5 * Math.sin(at * bend / 10)),
        ])
    })
}

const names = ['Ann Lee', 'Jürgen Müßig', 'Łukasz Żółć', 'Nguyễn Thị Ánh', 'x', 'Wolfeschlegelsteinhausenbergerdorff',
    'Ελένη Παπαδοπούλου', 'Γιώργος', 'Анна Каренина', 'Щербаков', 'ليلى حداد', 'محمد', 'שלום כהן', 'דוד 42',
    'नेहा शर्मा', 'क्षितिज', '李安', '王小明', 'Ann 李', 'Ann علي']

function png({ width, height, alpha, at }) {
    const bytes = alpha ? 4 : 3, rows = Buffer.alloc(height * (1 + width * bytes))
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) rows.set(at(x, y), y * (1 + width * bytes) + 1 + x * bytes)
    const table = Array.from({ length: 256 }, (_, n) => {
        let value = n
        for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
        return value
    })
    const chunk = (type, data) => {
        const body = Buffer.concat([Buffer.from(type), data]), whole = Buffer.alloc(body.length + 8)
        const sum = body.reduce((value, byte) => table[(value ^ byte) & 255] ^ (value >>> 8), 0xffffffff)
        whole.writeUInt32BE(data.length)
        body.copy(whole, 4)
        whole.writeUInt32BE((sum ^ 0xffffffff) >>> 0, body.length + 4)
        return whole
    }
    const head = Buffer.alloc(13)
    head.writeUInt32BE(width)
    head.writeUInt32BE(height, 4)
    head.set([8, alpha ? 6 : 2], 8)
    const start = Buffer.from('89504e470d0a1a0a', 'hex')
    return Buffer.concat([start, chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

/** A line of blue ink, on paper with a shadow and noise, or on nothing. */
function image(number) {
    const width = 300 + 60 * number, height = 200 + 30 * (number % 3), alpha = number % 2 === 1
    const left = 40 + 5 * number, right = width - 30 - 12 * number, thick = 4 + number % 4
    const middle = x => height / 2 + (height / 5) * Math.sin(x / (15 + number))
    const noise = (x, y) => (7 * x + 13 * y) % 6
    return png({
        width, height, alpha,
        at: (x, y) => {
            const ink = x > left && x < right && Math.abs(y - middle(x)) < thick
            const light = Math.round(165 + 70 * x / width + noise(x, y)), colour = ink ? [13, 26, 115]
                : [light, light - 4, light - 18]
            return alpha ? [...colour, ink ? 255 : 0] : colour
        },
    })
}

const marks = [
    ...Array.from({ length: isWhole ? 30 : 12 }, (_, n) => ({ name: `drawing ${n + 1}`, strokes: drawing(n) })),
    ...names.map(text => ({ name: text, text })),
    ...Array.from({ length: 10 }, (_, n) => ({ name: `image ${n + 1}`, image: image(n) })),
].filter((_, number) => process.env.SIGREQ_GEOMETRY || number % 5 === 0)

// --- the page

async function make(page, mark) {
    const dialog = page.locator('#signature')
    await page.locator('.field').evaluate(button => button.click())
    await dialog.waitFor()
    await page.locator(`#tab-${mark.strokes ? 'draw' : mark.text ? 'type' : 'upload'}`).click()
    if (mark.text) await page.locator('#typed').fill(mark.text)
    if (mark.image) {
        await page.locator('#upload').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: mark.image })
        await page.locator('[data-drop]:not(.empty)').waitFor()
    }
    if (mark.strokes) {
        const clear = page.locator('[data-clear]') // which does nothing while there is nothing
        if (await clear.getAttribute('aria-disabled') !== 'true') await clear.click()
        const box = await page.locator('[data-pad]').boundingBox()
        const to = ([x, y]) => page.mouse.move(box.x + 2 + x * (box.width - 4), box.y + 2 + y * (box.height - 4))
        for (const points of mark.strokes) {
            await to(points[0])
            await page.mouse.down()
            for (const point of points.slice(1)) await to(point)
            await page.mouse.up()
        }
    }
    await page.locator('[data-adopt]').click()
    await dialog.waitFor({ state: 'hidden' })
    if (await page.locator('#finish').isVisible()) await page.locator('#finish .quiet[data-close]').click()
}

/** Where the field is on the screen, of which only this part is compared. */
const placeOf = page => page.locator('.page').first().evaluate((sheet, [x, y, w, h]) => {
    sheet.scrollIntoView({ block: 'center', behavior: 'instant' })
    scrollBy({ top: sheet.getBoundingClientRect().height * (y + h / 2 - 0.5), behavior: 'instant' })
    const box = sheet.getBoundingClientRect()
    return { x: box.x + box.width * x, y: box.y + box.height * y, width: box.width * w, height: box.height * h }
}, [area.x / 612, 1 - (area.y + area.h) / 792, area.w / 612, area.h / 792])

/** Painted as large as it is shown. */
const painted = page => until(page, () => {
    const canvas = document.querySelector('.ink')
    return canvas.width === Math.round(canvas.clientWidth * devicePixelRatio)
        && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)
})

async function seenOnPage(page, look, { on = sizes, gray = false } = {}) {
    const seen = []
    for (const size of on) {
        await page.setViewportSize(size)
        const clip = await placeOf(page)
        await painted(page)
        const ink = await inkOf(look, await page.screenshot({ clip, animations: 'disabled' }), gray)
        seen.push({ size, ink, pixel: 1 / clip.height })
    }
    return seen
}

// --- the sealed PDF

async function seal(link, sent, mark) {
    const form = new FormData()
    if (mark.image) {
        form.set('action', 'sign')
        form.set('consent', 'yes')
        form.set('image', new Blob([mark.image]), 'a.png')
    }
    const json = JSON.stringify({ action: 'sign', consent: true, ...sent })
    const answer = await fetch(link, {
        method: 'POST', body: mark.image ? form : json,
        headers: { Accept: 'application/json', ...(mark.image ? {} : { 'Content-Type': 'application/json' }) },
    })
    const state = await answer.json()
    assert.equal(answer.status, 200, `${mark.name}: ${JSON.stringify(state)}`)
    return Buffer.from(await (await fetch(`${link}/documents/${state.documents[0].uuid}`)).arrayBuffer())
}

async function seenInPdf(bytes, number, look, gray) {
    const file = join(folder, `${number}.pdf`), images = [`${file}.poppler`, `${file}.mupdf.png`]
    const part = [area.x, 792 - area.y - area.h, area.w, area.h].map(value => Math.round(value * DPI / 72))
    const [x, y, w, h] = part.map(String)
    writeFileSync(file, bytes)
    await run('pdftoppm', ['-r', String(DPI), '-png', '-singlefile', '-x', x, '-y', y, '-W', w, '-H', h, file,
        images[0]])
    await run('mutool', ['draw', '-q', '-r', String(DPI), '-o', images[1], file, '1'])
    return [await inkOf(look, readFileSync(`${images[0]}.png`), gray),
        await inkOf(look, readFileSync(images[1]), gray, part)]
}

function assertSame(mark, page, pdf) {
    for (const { size, ink: one, pixel } of page)
        for (const [which, other] of pdf.entries()) {
            const apart = Math.max(...one.map((value, side) => Math.abs(value - other[side])))
            const told = [one, other].map(box => box.map(value => value.toFixed(3)).join(' ')).join(' | ')
            const most = Math.max(0.02, pixel)
            assert.ok(apart <= most, `${mark.name}, ${size.width} wide, ${['poppler', 'mupdf'][which]}: ${told}`)
        }
}

test('the ink of the page is the ink of the PDF', async () => {
    const signer = { ...ann, fields: [field(0, area)] }
    const shown = await create({ pdf: blank, signers: [signer] }), made = []
    while (made.length < marks.length) // not all at the same time: the machine may be busy
        made.push(...await Promise.all([1, 2, 3, 4].map(() => create({ pdf: blank, signers: [signer] }))))
    await visit(shown.links[0], { deviceScaleFactor: 2, viewport: sizes[0], expected }, async page => {
        const look = await page.context().browser().newPage()
        let sent
        page.on('request', request => {
            if (request.url().endsWith('/preview')) sent = JSON.parse(request.postData() || '{}')
        })
        await ready(page)
        await page.evaluate(() => {
            const { fetch } = window
            window.fetch = (link, options) => {
                if (/\/preview$/.test(link)) window.sent = options.body.get?.('image')
                return fetch(link, options)
            }
        })
        for (const [number, each] of marks.entries()) {
            const mark = { ...each }
            await page.setViewportSize(sizes[0])
            await make(page, mark)
            if (mark.image) mark.image = Buffer.from(await page.evaluate(async () => // as the page has made it
                Array.from(new Uint8Array(await window.sent.arrayBuffer()))))
            if (mark.text) sent = { signature: { type: 'typed', text: mark.text } } // it may have been asked before
            const sealed = seal(made[number].links[0].replace(/\?.*/, ''), sent, mark)
                .then(bytes => seenInPdf(bytes, number, look))
            const on = isWhole ? sizes : [sizes[number % sizes.length]]
            const [seen, pdf] = await Promise.all([seenOnPage(page, look, { on }), sealed])
            assertSame(mark, seen, pdf)
        }
        await look.close()
    })
})

test('with a caption, ink and caption of the page and of the last step are those of the PDF', async () => {
    const signers = [{ ...ann, locale: 'ar', fields: [{ ...field(0, area), caption: 'name,date,id' }] }]
    const { links: [link] } = await create({ pdf: blank, signers }) // one: the width of a caption depends on its id
    await visit(link, { deviceScaleFactor: 2, viewport: sizes[0], expected }, async page => {
        const look = await page.context().browser().newPage(), mark = { name: 'a caption', text: 'Ann Lee' }
        const kinds = [false, true]
        let sent
        page.on('request', request => {
            if (request.url().endsWith('/preview')) sent = JSON.parse(request.postData())
        })
        await ready(page)
        await make(page, mark)
        const shown = []
        for (const gray of kinds) shown.push(await seenOnPage(page, look, { gray }))
        await page.setViewportSize(sizes[0])
        await page.locator('[data-next]').click()
        const image = await page.locator('[data-review]').screenshot()
        const [ink, caption] = await Promise.all(kinds.map(gray => inkOf(look, image, gray)))

        const bytes = await seal(link.replace(/\?.*/, ''), sent, mark)
        const pdf = await Promise.all(kinds.map(gray => seenInPdf(bytes, `caption-${gray}`, look, gray)))
        assert.ok(pdf[0][0][3] < 0.9 && pdf[1][0][1] > 0.85, `the caption is below: ${pdf[0][0]} | ${pdf[1][0]}`)
        for (const [at, seen] of shown.entries()) assertSame(mark, seen, pdf[at])
        const [[inPdf], [below]] = pdf
        const ratio = (a, b) => (b[2] - b[0]) / (a[2] - a[0]), apart = (a, b) => (b[1] - a[3]) / (a[3] - a[1])
        assert.ok(Math.abs(ratio(ink, caption) - ratio(inPdf, below)) < 0.05, 'as wide as the ink says')
        assert.ok(Math.abs(apart(ink, caption) - apart(inPdf, below)) < 0.05, 'as far below')
        await look.close()
    })
})

test('turned and resized, a drawing stays as it was made', async () => {
    const made = await create({ pdf: blank, signers: [{ ...ann, fields: [field(0, area)] }] })
    const turned = [{ width: 780, height: 390 }, { width: 390, height: 780 }, { width: 390, height: 500 }]
    await visit(made.links[0], { deviceScaleFactor: 2, viewport: turned[1], expected }, async page => {
        const sent = []
        page.on('request', request => {
            if (request.url().endsWith('/preview')) sent.push(JSON.parse(request.postData()).signature)
        })
        await ready(page)
        const mark = { strokes: drawing(3) }
        await make(page, mark)
        const look = await page.context().browser().newPage()
        const seen = () => seenOnPage(page, look, { on: [sizes[0]] })
        const [{ ink: before }] = await seen()
        await page.setViewportSize(turned[1])
        await page.locator('.field').evaluate(button => button.click())
        await page.locator('#signature').waitFor()
        for (let times = 0; times < 3; times++)
            for (const size of turned) {
                await page.setViewportSize(size)
                await until(page, () => {
                    const pad = document.querySelector('[data-pad]')
                    return pad.width === Math.round(pad.clientWidth * devicePixelRatio)
                })
            }
        await page.locator('[data-adopt]').click()
        await page.locator('#signature').waitFor({ state: 'hidden' })
        if (await page.locator('#finish').isVisible()) await page.locator('#finish .quiet[data-close]').click()
        assert.deepEqual(sent.at(-1), sent.find(each => each.type === 'drawn'), 'the same strokes')
        assert.ok(sent.filter(each => each.type === 'drawn').length > 1, 'sent twice')
        const [{ ink: after }] = await seen()
        const apart = Math.max(...after.map((value, side) => Math.abs(value - before[side])))
        // scrolled by parts of a pixel, so not exactly
        assert.ok(apart < 0.01, `in the same place, to a pixel or two: ${before} | ${after}`)
        await look.close()
    })
})

test('a place over the edge: the part that the PDF shows is shown, and the page says so', async () => {
    const places = [{ ...area, x: 500 }, { ...area, y: 2000 }]
    const fields = places.map(place => field(0, place))
    const made = await create({ pdf: blank, signers: [{ ...ann, fields }] })
    assert.deepEqual(made.warnings, ['Signer 1, Field 1: the area lies partly outside of page 0',
        'Signer 1, Field 2: the area lies outside of page 0'])
    await visit(made.links[0], { viewport: sizes[0] }, async page => {
        await ready(page)
        await page.getByText('lies partly outside page 1').waitFor()
        await page.getByText('lies outside page 1').waitFor()
        const seen = await page.locator('.page').first().evaluate(sheet => {
            const whole = sheet.getBoundingClientRect()
            return [...sheet.querySelectorAll('.ink')].map(ink => {
                ink.hidden = false
                const box = ink.getBoundingClientRect()
                return [(box.x - whole.x) / whole.width * 612, (whole.bottom - box.bottom) / whole.height * 792,
                    box.width / whole.width * 612, box.height / whole.height * 792].map(Math.round)
            })
        })
        assert.deepEqual(seen.sort((a, b) => a[1] - b[1]), places.map(({ x, y, w, h }) => [x, y, w, h]))
    })
})
