// SPDX-License-Identifier: Apache-2.0
// values.test.mjs: fields with values on the signing page: inputs over the pages, in the order of reading, by keyboard,
// on a phone, from right to left and without a script. What the page shows of a value is what the PDF has.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
    ann, ask, assertAccessible, chromiumOnly, counted, create, devices, DONE, field, isWide, leaveLastStep, ready,
    settled, shoot, shown, typeSignature, visit,
} from './browser.mjs'
import { inkOf } from './ink.mjs'
import { contract, makePdf } from './pdf.mjs'

const folder = mkdtempSync(join(tmpdir(), 'values-'))
after(() => rmSync(folder, { recursive: true }))

const entry = (type, name, area, more = {}) =>
    ({ ...field(area.page ?? 0, { w: 180, h: 20, ...area }), type, name, ...more })
const box = (name, x, y, more) => entry('checkbox', name, { x, y, w: 15, h: 15 }, more)
const initials = page => entry('initials', 'Initials', { x: 500, y: 40, w: 60, h: 30, page })
/** Not in the order of reading. */
const lease = [
    field(0), entry('text', 'Email', { x: 72, y: 750, page: 1 }, { format: 'email', required: false }),
    entry('text', 'Position', { x: 72, y: 700 }),
    entry('text', 'Rent', { x: 380, y: 700, w: 120 }, { format: 'decimal', value: '950,00' }),
    box('Pets', 72, 660, { required: false }),
    entry('choice', 'Country', { x: 72, y: 620 }, { options: ['Ireland', 'France', 'Spain'] }),
    entry('text', 'Notes', { x: 72, y: 500, w: 360, h: 80 }, { multiline: true, required: false, maxLength: 900 }),
    box('Yes', 72, 460, { group: 'smoker', required: true }), box('No', 172, 460, { group: 'smoker', required: true }),
    entry('text', 'Flat', { x: 380, y: 620, w: 120 }, { value: '12', readOnly: true }),
    entry('date', 'Day', { x: 380, y: 90, w: 120 }), initials(0), initials(1),
]

const open = (made, options, work) => visit(made.links[0], options, async page => {
    await ready(page)
    await page.locator('[data-start]').click()
    await page.locator('.bar').waitFor()
    await work(page)
})
const by = (page, name) => page.locator(`.control[aria-label="${name}"]`)
const plain = all => all.map(each => each.replace(/[\u2068\u2069]/g, ''))
const focused = page => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent)
async function next(page) {
    await settled(page)
    await page.locator('[data-next]').click()
}
const drawn = (page, name) => page.locator('.entry.drawn', { has: by(page, name) }).waitFor()
/** The values that the submission has in the end, by name. */
const valuesOf = async made => Object.fromEntries((await ask(`/signatures/${made.uuid}`)).submitters[0].fields
    .filter(each => 'value' in each).map(each => [each.name, each.value]))
async function confirm(page) {
    const button = page.locator('#finish [data-confirm]:enabled')
    await settled(page)
    await button.click()
    await settled(page)
    if (await button.isVisible()) await button.click() // the first click has shown the end of the text
}

for (const [name, device] of Object.entries(devices))
    test(`Next leads through all fields in the order of reading, ${name}`, async () => {
        const made = await create({ signers: [{ ...ann, fields: lease }] })
        const answers = { Position: 'Engineer', Country: 'France', Notes: 'The hall\nhas a scratch.', Yes: true }
        await open(made, device, async page => {
            await counted(page, '1 of 11 filled in')
            await assertAccessible(page, 'before anything is filled in')
            const seen = []
            while (await page.locator('[data-next]').getAttribute('data-step') === 'next.any') {
                await next(page)
                const at = await focused(page)
                if (at.startsWith('Sign here')) break
                seen.push(at)
                if (answers[at] === true) await page.keyboard.press('Space')
                else if (at === 'Country') await by(page, at).selectOption(answers[at])
                else if (answers[at]) await page.keyboard.type(answers[at])
            }
            await shoot(page, `${name}-values`)
            assert.deepEqual(seen, ['Position', 'Pets', 'Country', 'Notes', 'Yes'], 'those that have no value')
            await drawn(page, 'Notes')
            await next(page)
            if (await page.locator('#signature').isHidden()) await next(page)
            await page.locator('#signature').waitFor()
            await typeSignature(page, 'Ann Lee')
            await counted(page, '6 of 11 filled in')
            await next(page) // to the initials, and there
            if (await page.locator('#initials-signature').isHidden()) await next(page)
            await page.locator('#initials-signature').waitFor()
            await assertAccessible(page, 'initials')
            await page.locator('#initials-tab-type').click()
            assert.equal(await page.locator('#initials-typed').inputValue(), 'AL')
            await page.locator('#initials-signature [data-adopt]').click()
            await counted(page, '8 of 11 filled in')
            assert.equal(await page.locator('.field.signed').count(), 3, 'initials are added on all pages')
            await next(page)
            assert.equal(await focused(page), 'Email')
            await page.keyboard.type('ann@example.org')
            await page.keyboard.press('Enter')
            await page.locator('#finish').waitFor()
            await assertAccessible(page, 'the last step')
            await shoot(page, `${name}-values-finish`)
            assert.deepEqual(await page.locator('[data-entered] dl div').allInnerTexts().then(all =>
                all.map(each => each.replace(/\s+/g, ' '))), ['Position Engineer', 'Rent 950,00', 'Country France',
                'Notes The hall has a scratch.', 'Yes ✓', 'Email ann@example.org'])
            assert.ok(!await isWide(page))
            await confirm(page)
            await shown(page, DONE)
        })
        const { Day, ...values } = await valuesOf(made)
        assert.match(Day, /^\d{4}-\d\d-\d\d$/)
        assert.deepEqual(values, { Email: 'ann@example.org', Position: 'Engineer', Rent: '950,00', Pets: false,
            Country: 'France', Notes: 'The hall\nhas a scratch.', Yes: true, No: false, Flat: '12' })
    })

test('faults are beside their fields, and nothing is signed', async () => {
    const made = await create({ signers: [{ ...ann, fields: [...lease.slice(0, 4), lease[5]] }] })
    await open(made, { expected: [/400 \(Bad Request\)/] }, async page => {
        await by(page, 'Position').fill('W'.repeat(200))
        await by(page, 'Rent').fill('much')
        await by(page, 'Email').focus()
        const fault = name => page.locator('.entry', { has: by(page, name) }).locator('.about p')
        await fault('Position').getByText('This text is too long for its field. Please shorten it.').waitFor()
        await fault('Rent').getByText('Please enter a number.').waitFor()
        const described = await by(page, 'Rent').getAttribute('aria-describedby')
        assert.equal(await page.locator(`#${described}`).innerText(), 'Please enter a number.')
        assert.equal(await by(page, 'Rent').getAttribute('aria-invalid'), 'true')
        const said = await fault('Rent').boundingBox()
        assert.ok(said.height > 12 && said.y < (await by(page, 'Rent').boundingBox()).y, 'above the field')
        await assertAccessible(page, 'faults')
        await shoot(page, 'desktop-values-faults')
        await by(page, 'Position').fill('Engineer')
        assert.equal(await fault('Position').innerText(), '', 'the message is gone with the value')
        await by(page, 'Country').selectOption('Spain')
        await by(page, 'Rent').fill('951,00')
        await page.locator('.field').click()
        await typeSignature(page, 'Ann Lee')
        await leaveLastStep(page).catch(() => {})
        // the service refuses what the page does not know
        await page.route('**/sign/*', async route => {
            if (route.request().method() !== 'POST') return route.fallback()
            return route.fulfill({ status: 400, json: { fields: [{ number: 3, code: 'required' }] } })
        })
        while (await page.locator('#finish').isHidden()) await next(page)
        await confirm(page)
        await fault('Position').getByText('Please fill in this field.').waitFor()
        assert.ok(await page.locator('#finish').isHidden())
        assert.equal(await focused(page), 'Position', 'the first field with a fault')
    })
    assert.equal((await ask(`/signatures/${made.uuid}`)).submitters[0].status, 'opened')
})

test('a tab keeps what was entered; a group has one tick; a value of the sender stays', async () => {
    const made = await create({ signers: [{ ...ann, fields: lease }] })
    await open(made, {}, async page => {
        const rent = await page.locator('.entry', { has: by(page, 'Rent') })
        await by(page, 'Rent').click()
        await by(page, 'Position').click()
        assert.equal(await by(page, 'Rent').inputValue(), '950,00')
        assert.ok(await rent.evaluate(each => each.classList.contains('drawn')), 'the image of the page has the value')
        await page.keyboard.type('Engineer')
        await by(page, 'Yes').check()
        await by(page, 'No').check()
        assert.ok(!await by(page, 'Yes').isChecked(), 'one tick')
        await by(page, 'Rent').fill('999')
        await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))
        page.on('dialog', dialog => dialog.accept())
        await page.reload()
        await ready(page)
        await page.locator('.bar').waitFor()
        await counted(page, '3 of 11 filled in')
        await drawn(page, 'Position')
        assert.deepEqual(await Promise.all(['Position', 'Rent'].map(name => by(page, name).inputValue())),
            ['Engineer', '999'])
        assert.ok(await by(page, 'No').isChecked())
    })
})

test('a phone gets large letters and the right keyboard', chromiumOnly('a finger cannot be driven'), async () => {
    const made = await create({ signers: [{ ...ann, fields: lease }] })
    await open(made, devices.phone, async page => {
        for (const [name, mode] of [['Position', ''], ['Rent', 'decimal'], ['Email', 'email']]) {
            await next(page)
            await by(page, name).focus()
            const is = await by(page, name).evaluate(each => ({ size: parseFloat(getComputedStyle(each).fontSize),
                width: each.clientWidth, height: each.clientHeight, mode: each.inputMode }))
            assert.ok(await by(page, name).evaluate(each => {
                const { left, bottom } = each.getBoundingClientRect()
                return document.elementFromPoint(left + 8, bottom - 3) === each
            }), `${name}: all of it is seen`)
            assert.ok(is.size >= 16 && is.width > 150 && is.height >= 34, `${name}: ${JSON.stringify(is)}`)
            assert.equal(is.mode, mode)
            assert.ok(!await isWide(page))
        }
    })
})

test('from right to left', async () => {
    const made = await create({ signers: [{ ...ann, locale: 'he', fields: lease }] })
    await open(made, devices.phone, async page => {
        assert.equal(await page.evaluate(() => document.dir), 'rtl')
        await next(page)
        assert.equal(await focused(page), 'Position')
        await page.keyboard.type('מהנדסת')
        await by(page, 'Country').focus()
        await drawn(page, 'Position')
        await assertAccessible(page, 'from right to left')
        assert.ok(!await isWide(page))
        await shoot(page, 'phone-values-he')
    })
})

test('200 fields on 40 pages', async () => {
    const fields = Array.from({ length: 200 }, (_, at) => entry('text', `Field ${at}`,
        { x: 72, y: 650 - 100 * (at % 5), page: Math.floor(at / 5) }, { required: false }))
    const made = await create({ pdf: contract(40), signers: [{ ...ann, fields: [field(39), ...fields] }] })
    await open(made, {}, async page => {
        await counted(page, '0 of 201 filled in')
        await by(page, 'Field 0').click()
        for (let at = 1; at < 30; at++) await page.keyboard.press('Enter')
        assert.equal(await focused(page), 'Field 29')
        await page.keyboard.press('Tab')
        assert.equal(await focused(page), 'Field 30', 'also on the next page')
        const layouts = await page.evaluate(async () => {
            let changes = 0
            const watch = new MutationObserver(all => (changes += all.length))
            watch.observe(document.getElementById('documents'), { subtree: true, attributes: true, childList: true,
                attributeFilter: ['class', 'style'] })
            for (let at = 0; at < 20; at++) {
                scrollBy({ top: 40, behavior: 'instant' })
                await new Promise(requestAnimationFrame)
            }
            return changes
        })
        assert.ok(layouts < 20, `${layouts} changes while it is scrolled`)
    })
})

test('without a script there is one form, which comes back with what was entered', async () => {
    const made = await create({ signers: [{ ...ann, fields: lease }] })
    const expected = [/400 \(Bad Request\)/]
    await visit(made.links[0], { javaScriptEnabled: false, expected }, async page => {
        const form = page.locator('section.plain-only form'), input = name => form.getByLabel(name, { exact: true })
        assert.deepEqual(plain(await form.locator('legend').allInnerTexts()),
            ['Lease.pdf, page 1', 'Lease.pdf, page 2'])
        assert.deepEqual((await form.locator('fieldset label').allInnerTexts()).map(each => each.replace(' *', '')),
            ['Position', 'Rent', 'Pets', 'Country', 'Notes', 'Yes', 'No', 'Email'])
        assert.equal(await form.locator('[name=value-10]').count(), 0, 'nothing that cannot be changed')
        await input('Position *').fill('Chief "Engineer" & <more>')
        await input('Rent *').fill('much')
        await input('Pets').check()
        await input('Country *').selectOption('Spain')
        await input('Notes').fill('one\ntwo')
        await form.getByRole('button').click()
        await form.getByText('Please enter a number.').waitFor()
        await shoot(page, 'desktop-values-plain')
        assert.deepEqual(await Promise.all(['Position *', 'Rent *', 'Country *', 'Notes'].map(name =>
            input(name).inputValue())), ['Chief "Engineer" & <more>', 'much', 'Spain', 'one\ntwo'])
        assert.ok(await input('Pets').isChecked())
        await input('Rent *').fill('951')
        await input('No *').check()
        await form.getByRole('button').click()
        await shown(page, DONE)
    })
    const { Day, ...values } = await valuesOf(made)
    assert.match(Day, /^\d{4}/)
    assert.deepEqual(values, { Email: '', Position: 'Chief "Engineer" & <more>', Rent: '951', Pets: true,
        Country: 'Spain', Notes: 'one\ntwo', Yes: false, No: true, Flat: '12' })
})

// --- what is shown is what is sealed

const blank = makePdf([{ width: 612, height: 792 }])
const places = { Short: [72, 700, 180, 20], Long: [72, 640, 180, 20], Lines: [72, 500, 200, 90],
    Tick: [72, 460, 24, 15], Choice: [72, 420, 180, 20], Greek: [300, 700, 180, 30], Hebrew: [300, 640, 180, 20],
    Given: [300, 420, 180, 20] }
const sent = { Short: 'Engineer', Long: 'The chief operating engineer of the whole works', Tick: true, Choice: 'France',
    Lines: 'One line.\n\nThen a long one, which is broken at the end.', Greek: 'Ελένη Παπαδοπούλου', Hebrew: 'שלום כהן',
    Given: 'new' }

test('what is shown is what is sealed', chromiumOnly('the same in all'), async () => {
    const kinds = { Lines: ['text', { multiline: true }], Tick: ['checkbox'], Given: ['text', { value: 'old value' }],
        Choice: ['choice', { options: ['Ireland', 'France'] }], Greek: ['text', { align: 'center' }] }
    const fields = Object.entries(places).map(([name, [x, y, w, h]]) => {
        const [type = 'text', more = {}] = kinds[name] ?? []
        return entry(type, name, { x, y, w, h }, more)
    })
    const made = await create({ pdf: blank, signers: [{ ...ann, fields: [field(0), ...fields] }] })
    const clips = {}
    await open(made, { viewport: { width: 1280, height: 1500 } }, async page => {
        for (const [name, value] of Object.entries(sent)) {
            if (value === true) await by(page, name).check()
            else if (name === 'Choice') await by(page, name).selectOption(value)
            else await by(page, name).fill(value)
        }
        await by(page, 'Short').focus()
        for (const name of Object.keys(sent)) if (name !== 'Short') await drawn(page, name)
        await page.locator('.field').click()
        await typeSignature(page, 'Ann Lee')
        await leaveLastStep(page)
        await drawn(page, 'Short')
        const look = await page.context().newPage()
        await page.evaluate(() => { // the edges of fields are not a part of their values
            for (const each of document.querySelectorAll('.entry')) each.style.visibility = 'hidden'
        })
        const sheet = await page.locator('.page').boundingBox()
        for (const [name, [x, y, w, h]] of Object.entries(places)) {
            const scale = sheet.width / 612
            const clip = { x: sheet.x + x * scale, y: sheet.y + (792 - y - h) * scale,
                width: w * scale, height: h * scale }
            clips[name] = await inkOf(look, await page.screenshot({ clip, animations: 'disabled' }), true)
        }
        await next(page)
        await confirm(page)
        await shown(page, DONE)
        const file = join(folder, 'sealed.pdf'), [document] = (await ask(`/signatures/${made.uuid}`)).documents
        const link = `${made.links[0]}/documents/${document.uuid}`
        writeFileSync(file, Buffer.from(await (await fetch(link)).arrayBuffer()))
        for (const [name, [x, y, w, h]] of Object.entries(places)) {
            const part = [x, 792 - y - h, w, h].map(value => String(Math.round(value * 2)))
            execFileSync('pdftoppm', ['-r', '144', '-png', '-singlefile', '-x', part[0], '-y', part[1], '-W', part[2],
                '-H', part[3], file, join(folder, name)])
            const sealed = await inkOf(look, readFileSync(join(folder, `${name}.png`)), true)
            clips[name].forEach((side, at) => assert.ok(Math.abs(side - sealed[at]) <= 0.02 + (at % 2 ? 1 / h : 1 / w),
                `${name}: ${clips[name]} on the page, ${sealed} in the PDF`))
        }
    })
})
