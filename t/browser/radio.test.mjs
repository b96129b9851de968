// SPDX-License-Identifier: Apache-2.0
// radio.test.mjs: form fields of the document on the signing page: radio buttons at their places, by mouse, by keyboard
// and without a script, and the labels of a list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    ann, ask, assertAccessible, assertSealed, create, devices, DONE, field, finish, ready, settled, shoot, shown,
    typeSignature, visit,
} from './browser.mjs'
import { makePdf } from './pdf.mjs'

const form = '/Type/XObject/Subtype/Form/BBox[0 0 20 20]'
const look = content => `<<${form}/Length ${content.length}>>stream\n${content}\nendstream`
const widget = (x, y, more, width = 20) =>
    `<</Type/Annot/Subtype/Widget/F 4/P 5 0 R/Rect[${x} ${y} ${x + width} ${y + 20}]${more}>>`
const button = (x, y, group, state, shown) =>
    widget(x, y, `/Parent ${group} 0 R/AS/${shown}/AP<</N<</${state} 6 0 R/Off 7 0 R>>>>`)
/** The objects 6 and 7 are what buttons show, 8 to 11 a group with a value, 12 to 14 one without, 15 a list. */
const lease = makePdf([{ width: 612, height: 792, lines: ['Lease'],
    more: '/Annots[9 0 R 10 0 R 11 0 R 13 0 R 14 0 R 15 0 R]' }], '/AcroForm<</Fields[8 0 R 12 0 R 15 0 R]>>', [
    look('1 1 18 18 re S 5 5 10 10 re f'), look('1 1 18 18 re S'),
    '<</FT/Btn/Ff 49152/T(pay)/V/month/Kids[9 0 R 10 0 R 11 0 R]>>', button(72, 600, 8, 'month', 'month'),
    button(172, 600, 8, 'quarter', 'Off'), button(272, 600, 8, 'year', 'Off'),
    `<</FT/Btn/Ff 49152/T(pets)/Kids[13 0 R 14 0 R]>>`, button(72, 500, 12, 'cat', 'Off'),
    button(172, 500, 12, 'dog', 'Off'), widget(72, 400, '/FT/Ch/T(floor)/Opt[[(1)(First)][(2)(Second)]]/V(1)', 120),
])
const entry = (name, more = {}) => ({ type: 'choice', name, document: 'Lease.pdf', area: { field: name }, ...more })
const send = fields => create({ pdf: lease, signers: [{ ...ann, fields: [field(0), ...fields] }] })
const valuesOf = async made => Object.fromEntries((await ask(`/signatures/${made.uuid}`)).submitters[0].fields
    .filter(each => 'value' in each).map(each => [each.name, each.value]))
const by = (page, name) => page.getByRole('radio', { name, exact: true })

for (const [name, device] of Object.entries(devices))
    test(`radio buttons are inputs at their places, ${name}`, async () => {
        const made = await send([entry('pay'), entry('pets', { required: false }), entry('floor')])
        await visit(made.links[0], device, async page => {
            await ready(page)
            await page.locator('[data-start]').click()
            await page.locator('.bar').waitFor()
            await assertAccessible(page, 'before a button is chosen')
            const sheet = await page.locator('.page').boundingBox(), year = await by(page, 'pay: year').boundingBox()
            const x = (year.x + year.width / 2 - sheet.x) / sheet.width * 612
            const y = (year.y + year.height / 2 - sheet.y) / sheet.height * 792
            assert.ok(Math.abs(x - 282) < 4 && Math.abs(792 - y - 610) < 4, `it is at its place: ${x} ${y}`)
            assert.ok(await by(page, 'pay: month').isChecked(), 'the value of the caller is chosen')
            await by(page, 'pay: year').click()
            assert.ok(!await by(page, 'pay: month').isChecked(), 'one button at a time')
            await by(page, 'pets: cat').focus()
            await page.keyboard.press('Space')
            await page.keyboard.press('ArrowRight')
            assert.ok(await by(page, 'pets: dog').isChecked(), 'arrow keys lead through a group')
            await page.keyboard.press('Delete')
            assert.ok(!await by(page, 'pets: dog').isChecked(), 'an optional choice can be taken back')
            const options = page.locator('select[aria-label="floor"] option')
            assert.deepEqual((await options.allInnerTexts()).slice(1), ['First', 'Second'], 'a list has labels')
            await page.locator('select[aria-label="floor"]').selectOption('2')
            await shoot(page, `${name}-radio`)
            await assertAccessible(page, 'after buttons were chosen')
            await page.reload()
            await ready(page)
            assert.ok(await by(page, 'pay: year').isChecked(), 'the choice is kept in the tab')
            await page.locator('.field').click()
            await typeSignature(page, 'Ann Lee')
            while (await page.locator('[data-next]').getAttribute('data-step') === 'next.any') {
                await settled(page)
                await page.locator('[data-next]').click()
            }
            await settled(page)
            if (await page.locator('#finish').isHidden()) await page.locator('[data-next]').click()
            await page.locator('#finish').waitFor()
            const said = await page.locator('[data-entered] dl div').allInnerTexts()
            assert.deepEqual(said.map(each => each.replace(/\s+/g, ' ')), ['pay year', 'floor Second'],
                'the last step lists what was chosen')
            await finish(page)
        })
        assert.deepEqual(await valuesOf(made), { pay: 'year', pets: '', floor: '2' })
        await assertSealed(made, 1)
    })

test('a group that must be filled in says so at its first button', async () => {
    const made = await send([entry('pets')])
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await page.locator('[data-start]').click()
        await page.locator('.field').click()
        await typeSignature(page, 'Ann Lee')
        await page.locator('[data-next]').click()
        assert.equal(await page.evaluate(() => document.activeElement.value), 'cat', 'Next leads to the first button')
        await page.keyboard.press('ArrowLeft')
        assert.ok(await by(page, 'pets: dog').isChecked())
        await finish(page)
    })
    assert.deepEqual(await valuesOf(made), { pets: 'dog' })
})

test('without a script a group is a list', async () => {
    const made = await send([entry('pay'), entry('floor')])
    await visit(made.links[0], { javaScriptEnabled: false }, async page => {
        assert.deepEqual(await page.locator('#plain-3 option').allInnerTexts(), ['–', 'First', 'Second'])
        await page.locator('#plain-2').selectOption('quarter')
        await page.locator('#plain-typed').fill('Ann Lee')
        await page.locator('section.plain-only form').getByRole('button').click()
        await shown(page, DONE)
    })
    assert.deepEqual(await valuesOf(made), { pay: 'quarter', floor: '1' })
})
