// SPDX-License-Identifier: Apache-2.0
// states.test.mjs: other situations: reloads, two tabs, lost connections, closed links.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
    act, ann, anotherTab, ask, assertAccessible, assertSealed, bob, counted, create, devices, DONE, drawOn, field,
    finish, openSignature, place, ready, settled, shoot, shown, typeSignature, visit,
} from './browser.mjs'
import { contract } from './pdf.mjs'

const toFinish = async page => {
    await ready(page)
    await openSignature(page)
    await typeSignature(page)
    await page.locator('#finish').waitFor()
    await settled(page)
}
const confirm = async page => {
    await settled(page)
    await page.locator('#finish [data-confirm]').click()
}
const refuse = link => act(link, { action: 'refuse' })
const isPost = route => route.request().method() === 'POST'
const signedEvents = async uuid =>
    (await ask(`/signatures/${uuid}/audit`)).events.filter(event => event.event === 'signed').length

test('a reload loses nothing', async () => {
    const made = await create({ signers: [{ ...ann, fields: [field(0), field(1)] }] })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await typeSignature(page, 'A. Lee')
        await counted(page, '1 of 2 filled in')
        await page.reload()
        await ready(page)
        await counted(page, '1 of 2 filled in')
        await page.locator('.field:not(.signed)').click()
        await counted(page, 'Not sent yet')
        await finish(page)
        assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'it is forgotten when it is done')
    })
    await assertSealed(made, 1)
})

test('what is drawn or typed and not added yet is kept; leaving asks', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/ERR_/] }, async page => {
        const asked = []
        page.on('dialog', dialog => { asked.push(dialog.type()); dialog.accept() })
        const draft = () => page.evaluate(() => JSON.parse(Object.values({ ...sessionStorage })[0] ?? '{}').draft)
        const again = async () => {
            await page.reload()
            await ready(page)
            await openSignature(page)
        }
        await ready(page)
        await openSignature(page)
        await page.locator('#tab-draw').click()
        await drawOn(page, page.locator('[data-pad]'))
        await page.context().setOffline(true)
        await settled(page)
        await page.locator('[data-adopt]').click()
        await page.getByText('Your signature is still here').waitFor()
        await page.context().setOffline(false)
        const { strokes } = await draft()
        await again()
        assert.deepEqual(asked, ['beforeunload'])
        assert.ok(await page.locator('[data-hint]').isHidden(), 'the drawing is on the pad')
        assert.deepEqual((await draft()).strokes, strokes)
        await page.locator('#tab-type').click()
        await page.locator('#typed').fill('A. Lee')
        await again()
        assert.equal(await page.locator('#typed').inputValue(), 'A. Lee')
        await page.locator('[data-adopt]').click()
        await page.locator('#finish').waitFor()
        assert.equal(await draft(), null)
        await finish(page)
    })
    await assertSealed(made, 1)
})

test('going back after signing signs nothing twice', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await toFinish(page)
        await confirm(page)
        await shown(page, DONE)
        await page.goBack()
        await page.goForward()
        await shown(page, DONE)
    })
    assert.equal(await signedEvents(made.uuid), 1)
})

test('two tabs at once: the second finds it signed', async () => {
    const made = await create()
    const expected = [/409/]
    await visit(made.links[0], { expected }, async page => {
        const other = await anotherTab(page, made.links[0])
        await toFinish(page)
        await toFinish(other)
        await Promise.all([confirm(page), confirm(other)])
        await shown(page, DONE)
        await shown(other, DONE)
    })
    assert.equal(await signedEvents(made.uuid), 1)
    await assertSealed(made, 1)
})

test('the connection is lost before the request arrives: nothing happens, and again works', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/ERR_/] }, async page => {
        await toFinish(page)
        await page.context().setOffline(true)
        await confirm(page)
        await page.getByText('The connection was lost').waitFor()
        await assertAccessible(page, 'lost')
        await shoot(page, 'desktop-lost')
        assert.equal(await signedEvents(made.uuid), 0)
        await page.context().setOffline(false)
        await confirm(page)
        await shown(page, DONE)
    })
    await assertSealed(made, 1)
})

test('the answer is lost after it was signed: the page knows', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/ERR_/] }, async page => {
        await toFinish(page)
        await page.route(/\/sign\//, async route => {
            if (!isPost(route)) return route.continue()
            await route.fetch()
            await route.abort('connectionreset')
        })
        await confirm(page)
        await shown(page, DONE)
    })
    assert.equal(await signedEvents(made.uuid), 1)
})

test('answer and connection are lost after it was signed: the next attempt signs nothing', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/ERR_/] }, async page => {
        await toFinish(page)
        let posts = 0
        await page.route(/\/sign\//, async route => {
            if (!isPost(route)) return route.abort('internetdisconnected')
            posts++
            await route.fetch()
            await route.abort('connectionreset')
        })
        await confirm(page)
        await page.getByText('The connection was lost').waitFor()
        await page.unroute(/\/sign\//)
        page.on('request', request => request.method() === 'POST' && posts++)
        await confirm(page)
        await shown(page, DONE)
        assert.equal(posts, 1)
    })
    assert.equal(await signedEvents(made.uuid), 1)
})

test('the service is busy: said, and tried again', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/503/] }, async page => {
        await toFinish(page)
        let first = true
        await page.route(/\/sign\//, route => {
            if (!isPost(route) || !first) return route.continue()
            first = false
            return route.fulfill({ status: 503, json: { statusCode: 503 } })
        })
        await confirm(page)
        await page.getByText('The service is busy').waitFor()
        await confirm(page)
        await shown(page, DONE)
    })
})

test('another refuses while one signs', async () => {
    const made = await create({ signers: [ann, bob] })
    await visit(made.links[0], { expected: [/409/] }, async page => {
        await toFinish(page)
        await refuse(made.links[1])
        await confirm(page)
        await shown(page, 'This request is closed')
    })
})

test('what ends while the dialog is open is shown by the page of its outcome', async () => {
    const made = await create({ signers: [ann, bob] })
    await visit(made.links[0], { expected: [/409/] }, async page => {
        await ready(page)
        await openSignature(page)
        await page.locator('#tab-type').click()
        await refuse(made.links[1])
        await page.locator('#typed').fill('A. Lee')
        await page.locator('[data-adopt]').click()
        await shown(page, 'This request is closed')
    })
})

test('a signature that is being prepared says so', async () => {
    const made = await create()
    await visit(made.links[0], {}, async page => {
        await ready(page)
        await openSignature(page)
        await page.locator('#tab-draw').click()
        await drawOn(page, page.locator('[data-pad]'))
        let answer
        const held = new Promise(resolve => { answer = resolve })
        await page.route(/preview$/, async route => { await held; await route.continue() })
        await settled(page)
        await page.locator('[data-adopt]').click()
        await page.getByRole('button', { name: 'Preparing…', disabled: true }).waitFor()
        answer()
        await page.locator('#finish').waitFor()
        await finish(page)
    })
})

test('who asks, until when in the time zone of the reader, and what the service has noticed', async () => {
    const expiresAt = '2035-05-17T18:30:00Z'
    const made = await create({ expiresAt, pdf: contract(1, 'Lease', '/OpenAction << /S /JavaScript /JS (1) >>') })
    const bare = await create({ expiresAt, skipIntro: true })
    for (const link of [...made.links, ...bare.links])
        await visit(link, { timezoneId: 'Asia/Kolkata' }, async page => {
            await ready(page)
            assert.match(await page.locator('.facts [data-clock]').innerText(),
                /^18 May 2035(?: at|,) 00:00 (?:GMT\+5:30|IST)$/)
        })
    await visit(made.links[0], {}, async page => {
        await ready(page)
        assert.match(await page.locator('.intro .files').innerText(), /2 notices/)
        const note = await page.locator('.document > .note').first().evaluate(each => {
            const style = getComputedStyle(each)
            return [each.textContent, style.color, style.borderInlineStartWidth, style.backgroundColor]
        })
        assert.match(note[0], /contains JavaScript/)
        assert.deepEqual(note.slice(1), ['rgb(180, 83, 9)', '3px', 'rgb(255, 244, 214)'])
        await openSignature(page)
        await typeSignature(page)
        assert.match(await page.locator('#finish .files').innerText(), /2 notices/)
        await assertAccessible(page, 'warned')
    })
})

test('a signature that the service does not take is said in the words of the page', async () => {
    const made = await create()
    await visit(made.links[0], { expected: [/400/] }, async page => {
        await toFinish(page)
        const json = { statusCode: 400, message: 'No glyphs for it' }
        await page.route(/\/sign\//, route =>
            (isPost(route) ? route.fulfill({ status: 400, json }) : route.continue()))
        await confirm(page)
        await page.getByText('This wasn’t accepted.').waitFor()
        assert.doesNotMatch(await page.locator('#finish').innerText(), /glyphs/)
    })
})

test('without the intro: who asks, and the text to agree to, are there', async () => {
    const made = await create({ skipIntro: true })
    await visit(made.links[0], devices.phone, async page => {
        await ready(page)
        assert.equal(await page.locator('.intro').count(), 0, 'no intro')
        assert.match(await page.locator('.slim').innerText(), /From[^]*Kim[^]*Roe[^]*@example.org[^]*For[^]*Ann/)
        await openSignature(page)
        await typeSignature(page)
        assert.match(await page.locator('#finish .consent').innerText(), /IP address/)
        await settled(page)
        await confirm(page)
        await shown(page, DONE)
    })
})

test('links that lead nowhere, and a service that is away', async () => {
    const nowhere = place('/sign/00000000-0000-4000-8000-000000000000')
    await visit(nowhere, { expected: [/404/] }, async page => {
        await shown(page, 'We can’t find this request')
        await assertAccessible(page, 'unknown')
        await shoot(page, 'desktop-unknown')
    })
    await visit(place('/sign/some/thing/else'), { expected: [/404/], ...devices.phone }, async page => {
        await shown(page, 'We can’t find this request')
        assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.card')).textAlign), 'center')
    })
    const away = nowhere.replace('127.0.0.1', 'nodatabase.test')
    await visit(away, { expected: [/503/] }, async page => {
        await shown(page, 'Something’s wrong on our side')
        await assertAccessible(page, 'away')
        await page.getByRole('link', { name: 'Try again' }).click()
        await shown(page, 'Something’s wrong on our side')
    })
})

test('an image of a page that does not come can be asked for again', async () => {
    const made = await create()
    let broken = true
    const prepare = page =>
        page.route(/\/pages\/\d+\?/, route => (broken ? route.fulfill({ status: 503 }) : route.continue()))
    await visit(made.links[0], { expected: [/503/], prepare }, async page => {
        const again = page.getByRole('button', { name: 'Load again' }).first()
        await again.waitFor()
        broken = false
        await again.click()
        await ready(page)
    })
})
