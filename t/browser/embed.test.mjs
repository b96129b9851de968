// SPDX-License-Identifier: Apache-2.0
// embed.test.mjs: embed.js in a page of another site, whose frames may store nothing: signing, declining, the check of
// a signer, placing fields, closed links, and sites that are not permitted.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
    act, ann, ask, assertSealed, bob, chromiumOnly, create, devices, DONE, elsewhere, isFirefox, isWide, settled, shoot,
    source, storeNothing, themed, until, visit,
} from './browser.mjs'
import { embedFile, pageOf, site } from './site.mjs'

const small = { ...devices.phone, viewport: { width: 360, height: 740 } }
const expected = [...elsewhere, /Blocked autofocusing/, /status of 4/]
const uuidOf = link => link.match(/[0-9a-f-]{36}/)[0]

/** Opens a site, waits for its frame, and calls work(page, frame, own): `own` is the frame itself. */
const look = (link, page, work, { script, ...options } = {}) => site(link, page, url =>
    visit(url, { prepare: isFirefox ? undefined : storeNothing, expected, ...options }, async page =>
        work(page, page.frameLocator('iframe'), () => page.frames().at(-1))), script)

const seen = page => page.evaluate(() => window.seen)
const types = async page => (await seen(page)).map(([type]) => type)
const happened = (page, type) => until(page, type => window.seen.some(([each]) => each === type), type)
const heightOf = page => page.evaluate(() =>
    document.querySelector('sigreq-sign').shadowRoot.querySelector('iframe').clientHeight)
/** Until the page has told the height that it has. */
const settledHeight = async (page, own) => {
    const height = await own().evaluate(() => Math.ceil(document.body.getBoundingClientRect().height))
    await until(page, height => window.told.findLast(each => each.height)?.height === height, height)
    return height
}

async function sign(page, frame, own) {
    await frame.locator('[data-start]').click()
    await frame.locator('.field').first().click()
    await frame.locator('#tab-type').click()
    await frame.locator('[data-adopt]').click()
    await frame.locator('#finish').waitFor()
    await settled(own())
    await frame.locator('#finish [data-confirm]').click()
    await happened(page, 'closed')
}

for (const [lang, device, attributes] of [['ar', small, 'lang="ar"'], ['en', devices.desktop, '']])
    test(`signing, ${lang}`, async () => {
        const made = await create(), link = themed(made.links[0]), ids = { submission: made.uuid, signer: uuidOf(link) }
        await look(link, pageOf(link, attributes, lang === 'ar' ? 'rtl' : 'ltr'), async (page, frame, own) => {
            await happened(page, 'opened')
            const { documentElement: { lang: language, dir } } = await own().evaluate(() => ({
                documentElement: { lang: document.documentElement.lang, dir: document.documentElement.dir },
            }))
            assert.deepEqual([language, dir], [lang, lang === 'ar' ? 'rtl' : 'ltr'])
            assert.ok(await settledHeight(page, own) > device.viewport.height)
            assert.equal(await heightOf(page), device.viewport.height, 'not higher than the window')
            await shoot(page, `embed-${lang}-opened`)
            await sign(page, frame, own)
            const detail = { version: 1, ...ids }
            assert.deepEqual(await seen(page), [['ready', detail], ['opened', detail], ['ready', detail],
                ['completed', detail], ['closed', { ...detail, reason: 'completed' }]])
            const old = await page.evaluate(() => window.told.filter(each => each.type === 'sigreq:completed'))
            assert.deepEqual(old, [{ type: 'sigreq:completed' }])
            if (lang === 'en') await frame.getByRole('heading', { name: DONE }).waitFor()
            await settledHeight(page, own)
            assert.ok(!(await isWide(page)), 'nothing is wider than the screen')
            await shoot(page, `embed-${lang}-signed`)
        }, device)
        await assertSealed(made, 1)
    })

test('declining', async () => {
    const made = await create(), link = themed(made.links[0])
    await look(link, pageOf(link), async (page, frame, own) => {
        await frame.locator('.intro [data-open=refuse]').click()
        await settled(own())
        await frame.locator('#refuse [data-confirm]').click()
        await happened(page, 'closed')
        assert.deepEqual((await types(page)).slice(2), ['ready', 'refused', 'closed'])
        assert.equal((await seen(page)).at(-1)[1].reason, 'refused')
        await shoot(page, 'embed-refused')
    }, small)
})

test('a code is asked for first', async () => {
    const authentication = { method: 'code', code: '4711-KX', when: 'open' }
    const made = await create({ signers: [{ ...ann, authentication }] }), link = themed(made.links[0])
    await look(link, pageOf(link), async (page, frame, own) => {
        await frame.locator('#check-code').waitFor()
        await happened(page, 'ready')
        assert.deepEqual(await seen(page), [['ready', { version: 1, signer: uuidOf(link) }]], 'nothing of the request')
        await settledHeight(page, own)
        await shoot(page, 'embed-code')
        await frame.locator('#check-code').fill('4711kx')
        await frame.locator('.identity button').click()
        await happened(page, 'opened')
        await sign(page, frame, own)
        assert.deepEqual((await types(page)).slice(1), ['ready', 'opened', 'ready', 'completed', 'closed'])
        for (const [type, { signer, submission }] of (await seen(page)).slice(1))
            assert.deepEqual([signer, submission], [uuidOf(link), made.uuid], `${type}: without the session`)
    }, small)
    await assertSealed(made, 1)
})

/** A link for each reason of `closed`. */
const closed = {
    cancelled: async () => {
        const made = await create()
        await ask(`/signatures/${made.uuid}/cancel`, 'POST')
        return made.links[0]
    },
    expired: async () => {
        const made = await create({ expiresAt: new Date(Date.now() + 2000).toISOString() })
        const isGone = async () => (await fetch(made.links[0])).status === 410
        for (let i = 0; i < 600 && !await isGone(); i++) await new Promise(resolve => setTimeout(resolve, 200))
        return made.links[0]
    },
    waiting: async () => (await create({ signers: [{ ...bob, order: 1 }, { ...ann, order: 2 }] })).links[1],
    closed: async () => {
        const made = await create({ signers: [ann, bob] })
        await act(made.links[1], { action: 'refuse' })
        return made.links[0]
    },
    replaced: async () => {
        const made = await create(), [{ uuid }] = made.submitters
        await ask(`/signatures/${made.uuid}/signers/${uuid}/replace`, 'POST', { firstname: 'Cy', lastname: 'Day' })
        return made.links[0]
    },
    unknown: async () => (await create()).links[0].replace(/[0-9a-f]{12}$/, '000000000000'),
}
test('closed links', async () => {
    for (const [reason, make] of Object.entries(closed)) {
        const link = themed(await make())
        await look(link, pageOf(link), async (page, frame, own) => {
            await happened(page, 'closed')
            assert.deepEqual(await types(page), ['ready', 'closed'], reason)
            assert.equal((await seen(page))[1][1].reason, reason)
            const height = await settledHeight(page, own)
            assert.ok(height < 1000, `${reason}: ${height}`)
            assert.equal(await heightOf(page), Math.max(height, 432), reason)
            assert.ok(await own().evaluate(() => document.documentElement.scrollHeight <= innerHeight), 'it fits')
            await shoot(page, `embed-${reason}`)
        }, { ...small, viewport: { width: 360, height: 1000 } })
    }
})

test('placing fields', async () => {
    const made = await create({ signers: [{ ...ann, fields: [] }], parts: { draft: 'true' } })
    const link = themed(made.placementLink), detail = { version: 1, submission: made.uuid }
    const sheet = '.sheet[data-page="0"] img'
    await look(link, pageOf(link), async (page, frame) => {
        await happened(page, 'ready')
        await frame.locator(sheet).waitFor()
        await frame.locator('[data-kind=signature]').click()
        await frame.locator(sheet).click({ position: { x: 200, y: 200 }, force: true })
        await happened(page, 'saved')
        await shoot(page, 'embed-placing')
        await frame.locator('[data-send]').click()
        await frame.locator('#send [data-confirm]').click()
        await happened(page, 'sent')
        assert.deepEqual([...new Set(await types(page))], ['ready', 'saved', 'sent'])
        for (const [type, told] of await seen(page)) assert.deepEqual(told, detail, type)
    }, devices.desktop)
    assert.equal((await ask(`/signatures/${made.uuid}`)).submitters[0].status, 'sent')
    for (const [gone, reason] of [[link, '410'], [link.replace(/[0-9a-f]{12}$/, '000000000000'), '404']])
        await look(gone, pageOf(gone), async page => {
            await happened(page, 'error')
            assert.deepEqual(await seen(page), [['ready', { version: 1 }], ['error', { version: 1, reason }]])
        }, small)
})

test('a frame that follows each height comes to rest', async () => {
    const link = themed(await closed.waiting())
    const script = `addEventListener('message', ({ data: { height } }) =>
        height && (document.querySelector('iframe').style.height = height + 'px'))`
    const page = `<!doctype html><title>x</title><link rel="stylesheet" href="/site.css">
        <script src="/site.js"></script><script src="/own.js"></script><iframe src="${link}" width="360" height="`
    for (const height of [100, 416, 900])
        await look(link, `${page}${height}"></iframe>`, async (page, frame, own) => {
            await until(page, () => window.told.some(each => each.height))
            await page.waitForTimeout(1500)
            const told = await page.evaluate(() => window.told.filter(each => each.height).map(each => each.height))
            assert.ok(told.length <= 3, `${height}: ${told}`)
            assert.equal(await own().evaluate(() => innerHeight), told.at(-1))
        }, { script })
})

test('the element: its life, and what it does not believe', async () => {
    const made = await create(), link = themed(made.links[0]), other = themed((await create()).links[0])
    const html = `${pageOf(link)}<script src="${link.replace(/sign\/.*/, 'sign/embed.js?again')}"></script>`
    await look(link, html, async (page, frame, own) => {
        const change = async (what, value) => {
            await page.evaluate(() => { window.seen.length = 0 })
            await page.evaluate(([what, value]) => document.querySelector('sigreq-sign').setAttribute(what, value),
                [what, value])
        }
        await happened(page, 'opened')
        await page.evaluate(() => postMessage({ type: 'sigreq:completed' }, '*'))
        await page.evaluate(link => {
            const frame = document.createElement('iframe')
            frame.src = link
            frame.id = 'beside'
            document.body.append(frame)
        }, other)
        await until(page, () => window.told.filter(({ type }) => type === 'sigreq:opened').length === 2)
        assert.deepEqual(await types(page), ['ready', 'opened'], 'messages of the page and of other frames')
        await page.evaluate(() => document.querySelector('#beside').remove())
        await change('lang', 'de')
        await happened(page, 'opened')
        assert.equal(await own().evaluate(() => document.documentElement.lang), 'de')
        await change('src', other)
        await happened(page, 'opened')
        assert.equal((await seen(page))[0][1].signer, uuidOf(other))
        for (const src of ['javascript:parent.pwned=1', 'data:text/html,x', 'http://[']) {
            await change('src', src)
            await happened(page, 'error')
            assert.deepEqual(await seen(page), [['error', { reason: 'src' }]], src)
        }
        assert.equal(await page.evaluate(() => window.pwned), undefined)
        await change('src', link)
        await happened(page, 'opened')
        await page.evaluate(() => {
            window.seen.length = 0
            window.element = document.querySelector('sigreq-sign')
            window.element.remove()
        })
        assert.equal(await page.locator('iframe').count(), 0)
        await page.evaluate(() => document.body.append(window.element))
        await happened(page, 'opened')
        assert.equal(await page.locator('iframe').count(), 1)
    })
})

test('a page that is not available', chromiumOnly('responses cannot be changed'), async () => {
    const link = themed(await closed.unknown()), answer = async route => {
        const response = await route.fetch(), body = (await response.text()).replace('"404"', '"503"')
        return route.fulfill({ response, body })
    }
    await look(link, pageOf(link), async page => {
        await happened(page, 'error')
        assert.deepEqual(await seen(page), [['ready', { version: 1 }], ['error', { version: 1, reason: '503' }]])
    }, { prepare: page => page.route(link, answer) })
})

test('a site that is not permitted gets an error', async () => {
    const { links: [link] } = await create()
    const refused = [...expected, /frame-ancestors/, /ERR_BLOCKED/, /X-Frame-Options/]
    await look(link, pageOf(link), async page => {
        await happened(page, 'error')
        assert.deepEqual(await seen(page), [['error', { reason: 'timeout' }]])
    }, { expected: refused })
})

test('the example of docs/signing-page.md', async () => {
    const text = readFileSync(join(source, 'docs/signing-page.md'), 'utf8'), link = themed((await create()).links[0])
    const [, html, script] = text.match(/```html\n(.*?)```\n```js\n(.*?)```/s)
    const page = html.replace(/https:\S+embed\.js/, embedFile(link)).replace(/https:\S+\{uuid\}/, link)
    await look(link, page, async (page, frame, own) => {
        await frame.locator('[data-start]').waitFor()
        await act(link, { action: 'sign', consent: true, signature: { type: 'typed', text: 'Ann Lee' } })
        await own().evaluate(() => location.reload())
        await page.getByText('Thank you. Your lease is signed.').waitFor()
    }, { script })
})
