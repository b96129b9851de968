// SPDX-License-Identifier: Apache-2.0
// place.test.mjs: the placement page of a draft: fields are placed with mouse, finger and keyboard, and sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    at, board, boxes, drag, entry, kind, middleOf, near, nobody, pointOf, ready, said, saved, sheet, some, status,
    stored,
} from './board.mjs'
import {
    ann, ask, assertAccessible, chromiumOnly, create, devices, isFirefox, isWide, settled, shoot, until, visit,
} from './browser.mjs'
import { contract, makePdf } from './pdf.mjs'

test('a field is dragged from the palette, moved to another page, resized and deleted', async () => {
    await board({ signers: nobody }, async (page, made) => {
        await page.locator('[data-signers]').getByText('Bob Ray').click()
        await page.keyboard.down('Alt')
        await drag(page, await middleOf(kind(page, 'signature')), await pointOf(page, 40, 60))
        assert.equal(await page.locator('[data-ghost]').isVisible(), true, 'it is seen while it is carried')
        assert.equal(await boxes(page).count(), 0, 'it is not placed yet')
        await page.mouse.up()
        await saved(page)
        const [, [first]] = await stored(made)
        assert.equal(first.type, 'signature')
        near(first.percent.x + first.percent.w / 2, 40, 0.3, 'its middle is where it was dropped')
        near(first.percent.w * 6.12, 180, 0.1, 'its width')
        await drag(page, await middleOf(boxes(page)), await middleOf(boxes(page)).then(([x, y]) => [x + 60, y + 40]))
        await page.mouse.up()
        await saved(page)
        const { percent } = (await stored(made))[1][0]
        near(percent.x, first.percent.x + 6000 / (await sheet(page).boundingBox()).width, 0.3, 'it was moved')
        await page.evaluate(() => scrollBy(0, 500))
        await until(page, () => document.querySelector('.sheet[data-page="1"]')?.getBoundingClientRect().top < 600)
        await drag(page, await middleOf(boxes(page)), await pointOf(page, 50, 10, 1))
        await page.mouse.up()
        await saved(page)
        assert.equal((await stored(made))[1][0].page, 1, 'it is on the other page')
        const corner = await middleOf(page.locator('.box .handle-se'))
        await drag(page, corner, [1, corner[1] - 300])
        await page.mouse.up()
        await saved(page)
        const small = (await stored(made))[1][0]
        near(small.percent.w * 6.12, 40, 0.1, 'it has the smallest width')
        near(small.percent.h * 7.92, 16, 0.1, 'and height')
        await page.keyboard.up('Alt')
        await page.keyboard.press('Delete')
        await saved(page)
        assert.deepEqual(await stored(made), [[], []])
    })
})

test('a kind that was pressed is placed by a click, and keeps to the lines of the text', async () => {
    await board({ signers: nobody }, async (page, made) => {
        await kind(page, 'text').click()
        await page.locator('[data-armed]', { hasText: /Text.* for .*Ann Lee/ }).waitFor()
        await page.mouse.move(...await pointOf(page, 50, 41))
        await page.locator('[data-ghost]').waitFor()
        await page.keyboard.press('Escape')
        assert.ok(await page.locator('[data-ghost]').isHidden(), 'Escape puts it back')
        await settled(page)
        await kind(page, 'text').click()
        // the base lines of the text are 90 + 22 n points below the edge of the page
        const [x] = await pointOf(page, 50, 0), [, y] = await pointOf(page, 0, (100 * (90 + 22 * 12 - 5)) / 792)
        await page.mouse.move(x, y)
        await page.locator('[data-guide=y]:not([hidden])').waitFor()
        await shoot(page, 'place-guide')
        await page.mouse.click(x, y)
        await saved(page)
        const [[{ percent, name }]] = await stored(made), bottom = (percent.y + percent.h) * 7.92
        assert.equal(name, 'Text 1')
        near(bottom - (9 - 0.35 * 12), 90 + 22 * 12, 1.5, 'its text is on the line')
        assert.ok(await page.locator('[data-armed]').isHidden())
        // edges of other fields
        await settled(page)
        await kind(page, 'checkbox').click()
        const box = await boxes(page).first().boundingBox()
        await page.mouse.move(box.x + 10, box.y + 80)
        await page.locator('[data-guide=x]:not([hidden])').waitFor()
        await page.mouse.click(box.x + 10, box.y + 80)
        await saved(page)
        const [all] = await stored(made)
        near(all[1].percent.x, all[0].percent.x, 0.01, 'the same left edge')
    })
})

test('a field keeps to a line that is drawn on the page', async () => {
    const line = ') Tj ET 0.5 w 72 400 m 300 400 l S BT (', mark = 'R'.repeat(line.length)
    const pdf = makePdf([{ width: 612, height: 792, lines: ['Sign below', mark] }])
    pdf.write(line, pdf.indexOf(mark), 'latin1')
    await board({ signers: nobody, pdf }, async (page, made) => {
        await kind(page, 'signature').click()
        const [x] = await pointOf(page, 40, 0), [, y] = await pointOf(page, 0, (100 * (392 - 25 - 4)) / 792)
        const guide = page.locator('[data-guide=y]:not([hidden])')
        for (let i = 0; i < 200 && !await guide.count(); i++) { // until the page has been examined
            await page.mouse.move(x + (i % 2), y)
            await page.waitForTimeout(50)
        }
        await page.mouse.click(x, y)
        await saved(page)
        const [[{ percent }]] = await stored(made)
        near((percent.y + percent.h) * 7.92, 392, 1, 'it stands on the line')
    })
})

test('a draft is placed and sent with the keyboard alone', async () => {
    const made = await board({ signers: nobody }, async (page, { uuid }) => {
        const focused = () => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.name
            ?? document.activeElement.textContent)
        const to = async (key, wanted) => {
            for (let i = 0; i < 60; i++) {
                if (await page.evaluate(wanted => document.activeElement.matches(wanted), wanted)) return
                await page.keyboard.press(key)
            }
            assert.fail(`no way to ${wanted}`)
        }
        await to('Tab', '[data-kind=signature]')
        await page.keyboard.press('Enter')
        await said(page, /Signature.* for .* added/)
        const before = await focused()
        assert.match(before, /^.Signature. “.Signature.” for .Ann Lee., page 1/)
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('Shift+ArrowDown')
        await page.keyboard.press('Control+ArrowRight')
        await saved(page)
        const numbers = text => text.match(/(\d+) from the left, (\d+) from the top, (\d+) by/).slice(1).map(Number)
        const [x, y, w] = numbers(before)
        assert.deepEqual(numbers(await focused()), [x + 1, y + 10, w + 1], 'one point, or ten, or wider')
        await page.keyboard.press('Control+d')
        assert.equal(await boxes(page).count(), 2)
        await page.keyboard.press('Enter')
        assert.equal(await focused(), 'name', 'Enter leads to the members')
        await page.keyboard.type('Bob signs')
        await page.keyboard.press('Tab')
        assert.equal(await focused(), 'signer')
        await page.keyboard.press('ArrowDown')
        await to('Tab', '[name=x]')
        await page.keyboard.press('Control+a')
        await page.keyboard.type('72')
        await page.keyboard.press('Tab')
        await page.keyboard.press('Control+a')
        await page.keyboard.type('600')
        await page.keyboard.press('Escape')
        assert.match(await focused(), /“.Bob signs.” for .Bob Ray., page 1, 72 from the left, 600 from the top/)
        await page.keyboard.press('Shift+Tab')
        assert.match(await focused(), /for .*Ann Lee/, 'Tab walks through the fields')
        await saved(page)
        const [[own], [other]] = await stored({ uuid })
        assert.deepEqual([own.name, other.name], ['Signature', 'Bob signs'])
        near(other.percent.x * 6.12, 72, 0.01, 'x')
        assert.equal(await page.locator('[data-send]').getAttribute('aria-disabled'), 'false')
        await to('Shift+Tab', '[data-send]')
        await page.keyboard.press('Enter')
        await page.locator('#send').waitFor()
        await assertAccessible(page, 'the dialog to send')
        await shoot(page, 'place-send')
        await to('Tab', '#send [data-confirm]')
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'The request has been sent' }).waitFor()
        assert.equal(await page.evaluate(() => document.activeElement.id), 'title')
        await assertAccessible(page, 'after sending')
        await shoot(page, 'place-sent')
    })
    assert.notEqual((await ask(`/signatures/${made.uuid}`)).status, 'draft')
    assert.equal((await fetch(made.placementLink)).status, 410)
})

test('what is missing is beside Send, and Send leads there', async () => {
    await board({}, async page => {
        const send = page.locator('[data-send]')
        assert.equal(await send.getAttribute('aria-disabled'), 'true')
        assert.match(await page.locator('#send-why').innerText(), /Bob Ray.* needs a signature field/)
        await send.click({ force: true })
        assert.ok(await page.locator('#send').isHidden())
        assert.equal(await page.evaluate(() => document.activeElement.dataset.kind), 'signature')
        assert.ok(await page.getByRole('radio', { name: 'Bob Ray' }).isChecked(), 'for whom it is missing')
        await page.keyboard.press('Enter')
        await saved(page)
        assert.equal(await page.locator('#send-why').innerText(), '')
        assert.equal(await send.getAttribute('aria-disabled'), 'false')
    })
})

test('each change can be undone and redone, by buttons and keys', async () => {
    await board({}, async (page, made) => {
        const [undo, redo] = ['undo', 'redo'].map(name => page.locator(`[data-act=${name}]`))
        assert.ok(await undo.isDisabled() && await redo.isDisabled())
        await boxes(page).first().click()
        const start = await boxes(page).first().getAttribute('aria-label')
        for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowLeft')
        await page.locator('[data-members] [data-act=duplicate]').click()
        await page.locator('[data-members] [data-act=all]').click()
        await said(page, /Copies added: 1/)
        assert.equal((await page.locator('[data-list] li').count()), 4)
        await page.locator('.box.selected').first().focus()
        await page.keyboard.press('Control+z')
        await page.keyboard.press('Control+z')
        assert.equal(await page.locator('[data-list] li').count(), 2)
        await undo.click()
        assert.equal(await boxes(page).first().getAttribute('aria-label'), start, 'steps of one key are one change')
        assert.ok(await undo.isDisabled())
        await redo.click()
        await page.keyboard.press('Control+Shift+z')
        await page.keyboard.press('Control+y')
        assert.equal(await page.locator('[data-list] li').count(), 4)
        assert.ok(await redo.isDisabled())
        await saved(page)
        assert.equal((await stored(made))[0].length, 4)
    })
})

test('members are changed beside the pages, and what is wrong with them is said there', async () => {
    await board({}, async (page, made) => {
        await page.locator('[data-list] button', { hasText: 'Job title' }).click()
        const member = name => page.locator(`#member-${name}`)
        await member('format').selectOption('integer')
        await member('value').fill('seven')
        await member('value').press('Tab')
        await page.locator('#fault-value', { hasText: 'match' }).waitFor()
        await status(page, 'faulty')
        assert.match(await page.locator('#send-why').innerText(), /\(\+1\)/)
        await assertAccessible(page, 'a fault')
        await member('value').fill('7')
        await member('readOnly').check()
        await member('required').uncheck()
        await saved(page)
        const text = (await stored(made))[0].find(({ type }) => type === 'text')
        assert.deepEqual([text.value, text.format, text.readOnly, text.required], ['7', 'integer', true, false])
        await member('kind').selectOption('choice')
        await member('options').press('Control+a')
        await page.keyboard.type('monthly\nyearly')
        assert.equal(await member('options').inputValue(), 'monthly\nyearly', 'nothing interferes with writing')
        await page.keyboard.press('Tab')
        await member('value').selectOption('yearly')
        await saved(page)
        const choice = (await stored(made))[0].find(({ type }) => type === 'choice')
        assert.deepEqual([choice.options, choice.value, choice.format], [['monthly', 'yearly'], 'yearly', undefined])
        await kind(page, 'radio').focus()
        await page.keyboard.press('Enter')
        await page.keyboard.press('Control+d')
        await saved(page)
        const radios = (await stored(made))[0].filter(({ type }) => type === 'checkbox')
        assert.deepEqual(radios.map(({ group }) => group), ['Group 1', 'Group 1'])
        await shoot(page, 'place-members')
    })
})

const screens = {
    phone: { ...devices.phone, viewport: { width: 360, height: 740 } },
    tablet: { viewport: { width: 768, height: 1024 }, hasTouch: true },
    wide: { viewport: { width: 2560, height: 1300 } },
}
for (const [name, device] of Object.entries(screens))
    for (const lang of ['en', 'ar'])
        test(`the page fits and is accessible, ${name}, ${lang}`, async () => {
            const made = await create({ signers: some, parts: { draft: 'true' } })
            await visit(`${made.placementLink}?lang=${lang}`, device, async page => {
                await ready(page)
                assert.ok(!await isWide(page), 'nothing is wider than the screen')
                await assertAccessible(page, name)
                await shoot(page, `place-${name}-${lang}`)
                await boxes(page).first().click()
                await page.locator('.box.selected').waitFor()
                if (name === 'phone') {
                    await page.locator('[data-quick]').waitFor()
                    await settled(page)
                    await page.locator('[data-quick] [data-act=details]').click()
                    await until(page, () =>
                        document.querySelector('.panel').getBoundingClientRect().bottom <= innerHeight)
                }
                assert.ok(!await isWide(page), 'nor with a field selected')
                await assertAccessible(page, `${name}, a field is selected`)
                await shoot(page, `place-${name}-${lang}-selected`)
            })
        })

test('a field is dragged with a finger, and the page scrolls with another touch', chromiumOnly('CDP'), async () => {
    await board({ ...devices.phone, signers: nobody }, async (page, made) => {
        const session = await page.context().newCDPSession(page)
        const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points })
        const swipe = async ([x0, y0], [x1, y1]) => {
            await touch('touchStart', [{ x: x0, y: y0 }])
            for (let i = 0.1; i < 1.01; i += 0.1)
                await touch('touchMove', [{ x: x0 + (x1 - x0) * i, y: y0 + (y1 - y0) * i }])
            await touch('touchEnd', [])
        }
        await swipe(await middleOf(kind(page, 'signature')), await pointOf(page, 50, 30))
        await saved(page)
        const [[first]] = await stored(made)
        near(first.percent.x + first.percent.w / 2, 50, 2, 'it is where the finger was')
        await swipe(await middleOf(boxes(page)), await pointOf(page, 50, 60))
        await saved(page)
        near((await stored(made))[0][0].percent.y + 3, 60, 3, 'it was moved')
        assert.equal(await page.evaluate(() => scrollY), 0, 'the page did not scroll')
        await swipe(await pointOf(page, 20, 60), await pointOf(page, 20, 20))
        await until(page, () => scrollY > 20)
        assert.equal(await boxes(page).count(), 1)
    })
})

/** A form: a text field and two radio buttons. */
const widget = (x, more) => `<</Type/Annot/Subtype/Widget/F 4/P 5 0 R/Rect[${x} 600 ${x + 100} 620]${more}>>`
const look = '<</Type/XObject/Subtype/Form/BBox[0 0 20 20]/Length 0>>stream\n\nendstream'
const button = (x, name) => widget(x, `/Parent 8 0 R/AS/Off/AP<</N<</${name} 6 0 R/Off 6 0 R>>>>`)
const form = makePdf([{ width: 612, height: 792, lines: ['Lease', 'Signature of the tenant'],
    more: '/Annots[7 0 R 9 0 R 10 0 R]' }], '/AcroForm<</Fields[7 0 R 8 0 R]>>', [look,
    widget(72, '/FT/Tx/T(rent)/DA(/Helv 10 Tf 0 g)'), '<</FT/Btn/Ff 49152/T(pay)/Kids[9 0 R 10 0 R]>>',
    button(200, 'month'), button(320, 'year')])

test('form fields of the document are offered, and anchors stay until their fields are moved', async () => {
    const anchor = { text: 'Signature of the tenant' }
    const anchored = entry('signature', 'Tenant', { anchor, dy: 20, w: 180, h: 40 })
    await board({ pdf: form, signers: [{ ...ann, fields: [anchored] }] }, async (page, made) => {
        const offers = page.locator('[data-offers] button')
        await offers.getByText('rent').waitFor()
        await assertAccessible(page, 'form fields are offered')
        assert.equal(await page.locator('.offer').count(), 2)
        await page.getByRole('button', { name: 'Add the form field' }).first().click()
        await offers.getByText('pay').click()
        assert.ok(await page.locator('[data-offers]').isHidden(), 'all of them are used')
        await page.locator('.box-choice').click()
        assert.equal(await page.locator('.handle').count(), 0, 'the form says where it is')
        await page.locator('[data-anchor]', { hasText: 'form field' }).waitFor()
        await shoot(page, 'place-form')
        await page.keyboard.press('ArrowLeft')
        await saved(page)
        const areas = fields => Object.fromEntries(fields.map(({ name, area }) => [name, area]))
        const before = areas((await stored(made))[0])
        assert.deepEqual([before.rent, before.pay], [{ field: 'rent' }, { field: 'pay' }])
        assert.equal(before.Tenant.anchor.text, 'Signature of the tenant')
        await page.locator('.box.anchored').click()
        await page.locator('[data-anchor]', { hasText: 'Signature of the tenant' }).waitFor()
        await page.keyboard.press('ArrowDown')
        await saved(page)
        assert.equal(areas((await stored(made))[0]).Tenant.unit, 'percent')
        assert.equal(await page.locator('.anchored').count(), 0)
    })
})

/** The time that the page needs while a field is dragged, in milliseconds. */
async function timeOfDrag(page) {
    const session = await page.context().newCDPSession(page), box = page.locator('.box.selected')
    const time = async () => (await session.send('Performance.getMetrics')).metrics
        .find(({ name }) => name === 'TaskDuration').value * 1000
    await session.send('Performance.enable')
    await box.waitFor()
    const [x, y] = await middleOf(box), before = await time()
    await drag(page, [x, y], [x + 150, y + 30], 100)
    const spent = await time() - before
    await page.mouse.up()
    return spent
}

test('of 300 pages and 1,000 fields only those near the view are in the document', async () => {
    const fields = Array.from({ length: 1000 }, (_, n) => entry('initials', `Initials ${n}`,
        at(10 + (n % 4) * 20, 20 + (n % 3) * 20, 10, 4, Math.floor(n / 4) + 50)))
    await board({ signers: [{ ...ann, fields }], pdf: contract(300) }, async page => {
        assert.ok(await page.locator('.sheet').count() <= 6)
        assert.equal(await page.locator('[data-list] li').count(), 1000)
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2))
        await page.locator('.sheet[data-page="150"]').waitFor({ state: 'attached' })
        assert.ok(await page.locator('.sheet').count() <= 6)
        assert.ok(await boxes(page).count() <= 24)
        await page.locator('[data-list] li').last().locator('button').click()
        await until(page, () => document.activeElement.matches('.sheet[data-page="299"] .box'))
        if (isFirefox || !process.env.SIGREQ_TIMES) return
        const long = await timeOfDrag(page)
        await board({}, async small => {
            await boxes(small).first().click()
            const short = await timeOfDrag(small)
            console.error(`dragging takes ${(long / short).toFixed(2)} times as long as with 2 pages and 2 fields`)
        })
    })
})
