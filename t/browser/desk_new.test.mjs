// SPDX-License-Identifier: Apache-2.0
// desk_new.test.mjs: a new request at the desk, by mouse and by keyboard, from the documents to the list of requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, ask, atDesk, chromiumOnly, devices, isWide, place, shoot, until, visit } from './browser.mjs'
import { contract } from './pdf.mjs'

const file = (name, pages = 1) => ({ name, mimeType: 'application/pdf', buffer: Buffer.from(contract(pages)) })
let desk

/** Opens a page of the desk, in the environment for tests. */
async function at(path, options, work) {
    await ask('/signatures') // makes the user
    desk ??= visit(place('/desk/'), atDesk, async page => page.url().replace('.production', '.test'))
    return visit(await desk + path, { ...devices.desktop, ...atDesk, ...options }, work)
}
const chosen = page => page.locator('[data-chosen] li > bdi').allTextContents()
const people = page => page.locator('[data-rows=signer] > .person legend').allTextContents()
const values = page => page.locator('[data-rows=signer] > .person [type=email]')
    .evaluateAll(all => all.map(each => each.value))

/** Drops files on the page, as from a folder. */
async function drop(page, ...files) {
    const carrier = await page.evaluateHandle(files => {
        const carrier = new DataTransfer()
        for (const { name, type, text } of files)
            carrier.items.add(new File([Uint8Array.from(text, each => each.charCodeAt())], name, { type }))
        return carrier
    }, files.map(({ name, mimeType, buffer }) => ({ name, type: mimeType, text: buffer.toString('latin1') })))
    for (const type of ['dragover', 'drop']) await page.dispatchEvent('[data-drop]', type, { dataTransfer: carrier })
}

test('files are dropped, chosen and taken away', async () => {
    await at('new', {}, async page => {
        await drop(page, file('Lease.pdf', 2), { ...file('notes.txt'), mimeType: 'text/plain' })
        assert.deepEqual(await chosen(page), ['Lease.pdf'], 'the PDF alone is taken')
        assert.equal(await page.locator('#name').inputValue(), 'Lease', 'it gives the request its name')
        await page.locator('#file').setInputFiles([file('Plan.pdf'), file('Lease.pdf', 2)])
        assert.deepEqual(await chosen(page), ['Lease.pdf', 'Plan.pdf'], 'others are added, none twice')
        assert.equal(await page.locator('#name').inputValue(), 'Lease', 'the name stays')
        await shoot(page, 'desk-new-files')
        await page.getByRole('button', { name: 'Remove Lease.pdf' }).click()
        assert.deepEqual(await chosen(page), ['Plan.pdf'], 'one is taken away')
        assert.deepEqual(await page.evaluate(() => [...document.querySelector('#file').files].map(({ name }) => name)),
            ['Plan.pdf'], 'what is sent')
        await drop(page, ...[1, 2, 3, 4, 5].map(n => file(`${n}.pdf`)))
        assert.equal(await page.locator('#file-large').isVisible(), true, 'more files than the service takes are seen')
        assert.equal(await page.evaluate(() => document.querySelector('#file').validity.valid), false, 'and not sent')
        await page.getByRole('button', { name: 'Remove 5.pdf' }).click()
        assert.equal(await page.locator('#file-large').isVisible(), false, 'until one is taken away')
    })
})

test('signers are added and removed without loading the page', async () => {
    await at('new', {}, async page => {
        await page.locator('#file').setInputFiles(file('Lease.pdf'))
        await page.locator('#signer-email-1').fill('ann@example.org')
        await page.locator('#signer-order-1').fill('2')
        const add = page.getByRole('button', { name: 'Add a signer' })
        await add.focus()
        await page.keyboard.press('Enter')
        assert.equal(await page.evaluate(() => document.activeElement.id), 'signer-firstname-2', 'the focus is in it')
        await page.keyboard.type('Bob')
        assert.equal(await page.locator('#signer-order-2').inputValue(), '2', 'it has the order of the one before')
        assert.equal(await page.locator('#signer-code-2').isVisible(), false, 'a code is not asked for')
        await page.getByLabel('Identity check').nth(1).selectOption('code')
        assert.equal(await page.locator('#signer-code-2').isVisible(), true, 'unless it is needed')
        const hint = await page.locator('#signer-code-2').getAttribute('aria-describedby')
        assert.equal(hint, 'signer-code-2-hint', 'its hint')
        await page.locator('#signer-email-2').fill('bob@example.org')
        await add.click()
        assert.deepEqual(await people(page), ['Signer 1', 'Signer 2', 'Signer 3'])
        await page.getByRole('button', { name: 'Remove Signer 1' }).click()
        assert.deepEqual(await people(page), ['Signer 1', 'Signer 2'], 'they are numbered again')
        assert.deepEqual(await values(page), ['bob@example.org', ''], 'the first has gone')
        assert.equal(await page.evaluate(() => document.activeElement.id), 'signer-firstname-1', 'it has the focus')
        await page.getByRole('button', { name: 'Add a person' }).click()
        await page.getByRole('group', { name: 'Person 1' }).waitFor()
        await assertAccessible(page, 'with rows')
        await page.getByRole('button', { name: 'Remove Person 1' }).click()
        assert.equal(await page.evaluate(() => document.activeElement.value), 'viewer', 'nor after the last one')
        assert.deepEqual(await chosen(page), ['Lease.pdf'], 'the files are still there')
    })
})

test('from the desk and back to it, by keyboard', async () => {
    const name = `By keyboard ${process.pid}`
    await at('', {}, async page => {
        const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key) }
        await page.getByRole('link', { name: 'New request' }).focus()
        await press('Enter')
        await page.locator('#file').setInputFiles(file('Lease.pdf', 2)) // the dialog is the system's
        await page.locator('#name').focus()
        await press('Control+A')
        await page.keyboard.type(name)
        await press('Tab')
        for (const text of ['Ann', 'Lee', 'ann@example.org']) {
            await page.keyboard.type(text)
            await press('Tab')
        }
        await shoot(page, 'desk-new-filled')
        await press('Enter')
        await until(page, () => document.documentElement.classList.contains('ready')
            && document.querySelector('.sheet img')?.naturalWidth > 0)
        await page.locator('[data-kind=signature]').focus()
        await press('Enter')
        await page.locator('[data-saved=saved]').waitFor()
        await shoot(page, 'desk-new-placed')
        await page.locator('[data-send]').focus()
        await press('Enter')
        await page.locator('#send [data-confirm]').focus()
        await press('Enter')
        await page.getByRole('heading', { name: 'The request has been sent' }).waitFor()
        await page.getByRole('link', { name: 'Back to the requests' }).focus()
        await press('Enter')
        const row = page.locator('.rows tbody tr').first()
        await row.waitFor()
        assert.equal(await row.locator('.name a').textContent(), name, 'the list has it')
        assert.equal(await row.locator('.state').getAttribute('data-state'), 'open', 'it is open')
        await shoot(page, 'desk-list')
    })
})

test('what the service refuses stands beside its input', async () => {
    await at('new', { expected: [/status of 400/], viewport: { width: 1280, height: 900 } }, async page => {
        await page.locator('#file').setInputFiles([file('Lease.pdf', 2), file('Plan.pdf')])
        for (const [id, text] of [['firstname', 'Ann'], ['lastname', 'Lee'], ['email', 'ann@example.org']])
            await page.locator(`#signer-${id}-1`).fill(text)
        await page.locator('#mail').check()
        await page.evaluate(() => scrollTo(0, 0))
        await shoot(page, 'desk-guide') // docs/desk.png
        await page.locator('#mail').uncheck()
        await page.locator('#signer-email-1').fill('ann@b')
        await page.locator('#subject').fill('A subject alone')
        await page.locator('[data-go]').click()
        await page.locator('#text-fault, #signer-email-1-fault').waitFor()
        const [id] = await page.locator('[aria-invalid=true]').evaluateAll(all => all.map(each => each.id))
        assert.equal(await page.evaluate(() => document.activeElement.id), id, 'the focus is in it')
        assert.equal(await page.locator('#subject').inputValue(), 'A subject alone', 'nothing is lost')
        await page.locator('#file-again').waitFor()
        await assertAccessible(page, 'with an error')
        await shoot(page, 'desk-new-error')
    })
})

test('a template is used and deleted', async () => {
    await at('templates', {}, async page => {
        await assertAccessible(page, 'the list of templates')
        await shoot(page, 'desk-templates')
        await page.getByRole('link', { name: /^Use/ }).first().click()
        assert.deepEqual(await page.locator('.chosen bdi').allTextContents(), ['Lease.pdf'], 'it has the document')
        await assertAccessible(page, 'a request from a template')
        await shoot(page, 'desk-new-template')
        await page.goBack()
        const rows = await page.locator('.rows tbody tr').count()
        await page.locator('.confirm summary').first().click()
        await shoot(page, 'desk-templates-delete')
        await page.locator('.confirm[open] button').click()
        await page.getByText('The template has been deleted.').waitFor()
        assert.equal(await page.locator('.rows tbody tr').count(), rows - 1, 'it has gone')
    })
})

test('without a script a row is added by the service', async () => {
    await at('new', { javaScriptEnabled: false }, async page => {
        await page.locator('#signer-email-1').fill('ann@example.org')
        await page.getByRole('button', { name: 'Add a signer' }).click()
        assert.deepEqual(await people(page), ['Signer 1', 'Signer 2'])
        assert.deepEqual(await values(page), ['ann@example.org', ''], 'nothing is lost')
    })
})

for (const [size, viewport] of Object.entries({
    narrow: { width: 360, height: 740 }, tablet: { width: 768, height: 1024 }, laptop: { width: 1366, height: 768 },
    wide: { width: 2560, height: 1300 },
}))
    for (const lang of ['en', 'ar'])
        test(`the form, ${size}, ${lang}`, chromiumOnly('it is the same there'), async () => {
            await at(`new?lang=${lang}`, { viewport }, async page => {
                const name = `${'A long name '.repeat(5)}.pdf`
                await page.locator('#file').setInputFiles([file(name, 3), file('Plan.pdf')])
                await page.locator('[data-rows=signer] > .add').click()
                await page.locator('[data-rows=viewer] > .add').click()
                assert.equal(await isWide(page), false, 'nothing is wider than the window')
                await assertAccessible(page, `${size}, ${lang}`)
                await page.evaluate(() => scrollTo(0, 0))
                await shoot(page, `desk-new-${size}-${lang}`)
                await page.emulateMedia({ forcedColors: 'active' })
                await shoot(page, `desk-new-${size}-${lang}-forced`)
            })
        })
