// SPDX-License-Identifier: Apache-2.0
// webkit.test.mjs: signing in WebKitGTK, the engine of Safari: typed, drawn and in a page of another site, and axe on
// the way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ann, assertSealed, axeSource, create, DONE, field, themed } from './browser.mjs'
import { pageOf, site } from './site.mjs'
import { inWebKit } from './webkit.mjs'

const port = 30_001 + 4 * (process.pid % 630) // below what the kernel hands out, above what free_port() does
const settled = page => page.waitFor('return performance.now() - (window.lastClick ?? -1e4) > 600')

async function open(page, link) {
    await page.goto(link)
    await page.waitFor("return document.documentElement.classList.contains('ready')")
    await page.waitFor("return document.querySelector('.page img').naturalWidth > 0")
    await page.run("addEventListener('click', () => (window.lastClick = performance.now()), { capture: true })")
}

async function assertAccessible(page, what) {
    await page.run(axeSource)
    await page.run(`window.found = null; axe.run(document).then(found => (window.found = found.violations.map(each =>
        each.id + ': ' + each.nodes.map(node => node.html).join(' | '))))`)
    await page.waitFor('return window.found !== null')
    assert.deepEqual(await page.run('return window.found'), [], what)
}

async function sign(page) {
    await page.waitFor("return document.querySelector('#finish').open")
    await assertAccessible(page, 'finish')
    await settled(page)
    await page.click('#finish [data-confirm]')
    await page.waitFor("return Boolean(document.querySelector('[data-closed]'))")
    assert.equal(await page.run("return document.querySelector('#title').textContent"), DONE)
    await assertAccessible(page, 'done')
}

test('typed, by the bar', async () => {
    const made = await create({ signers: [{ ...ann, fields: [field(0), field(1)] }] })
    await inWebKit(port, async page => {
        await open(page, made.links[0])
        await assertAccessible(page, 'intro')
        await page.click('[data-start]')
        await page.waitFor("return !document.querySelector('.bar').hidden")
        await page.run("document.querySelector('.field').scrollIntoView({ block: 'center', behavior: 'instant' })")
        await page.waitFor("return document.querySelector('[data-next]').dataset.step === 'sign'")
        await page.click('[data-next]')
        await page.waitFor("return document.querySelector('#signature').open")
        await settled(page)
        await page.click('#tab-type')
        await page.click('[data-all] input')
        await assertAccessible(page, 'the signature')
        await page.click('[data-adopt]')
        await sign(page)
    })
    await assertSealed(made, 1)
})

test('drawn; a stroke that ends beside the pad closes nothing', async () => {
    const made = await create()
    await inWebKit(port + 1, async page => {
        await open(page, made.links[0])
        await page.click('[data-start]')
        await page.click('.field')
        await page.waitFor("return document.querySelector('#signature').open")
        await settled(page)
        await page.click('#tab-draw')
        const width = await page.run("return document.querySelector('[data-pad]').clientWidth")
        await page.drag('[data-pad]', [[-80, 10], [-40, -20], [0, 20], [60, -20], [Math.round(width / 2) + 12, 0]])
        assert.ok(await page.run("return document.querySelector('#signature').open"))
        await settled(page)
        await page.click('[data-adopt]')
        await sign(page)
    })
    const [submitter] = await assertSealed(made, 1)
    assert.equal(submitter.signerInformation.signatureType, 'drawn')
})

test('a code before signing', async () => {
    const authentication = { method: 'code', code: '4711-KX', when: 'sign' }
    const made = await create({ signers: [{ ...ann, authentication }] })
    await inWebKit(port + 2, async page => {
        await open(page, made.links[0])
        await page.click('[data-start]')
        await page.click('.field')
        await page.waitFor("return document.querySelector('#signature').open")
        await settled(page)
        await page.click('#tab-type')
        await page.click('[data-adopt]')
        await page.waitFor("return document.activeElement.id === 'check-code'")
        await assertAccessible(page, 'the check')
        await page.type('#check-code', '4711kx\uE007') // Enter
        await sign(page)
    })
    await assertSealed(made, 1)
})

test('in a page of another site', async () => {
    const made = await create(), link = themed(made.links[0])
    await inWebKit(port + 3, page => site(link, pageOf(link, 'lang="ar"', 'rtl'), async url => {
        const happened = type => page.waitFor(`return window.seen.some(([each]) => each === '${type}')`)
        await page.goto(url)
        await happened('opened')
        await page.enter("return document.querySelector('sigreq-sign').shadowRoot.querySelector('iframe')")
        await page.run("addEventListener('click', () => (window.lastClick = performance.now()), { capture: true })")
        assert.equal(await page.run('return document.documentElement.dir'), 'rtl')
        await page.click('[data-start]')
        await page.click('.field')
        await page.waitFor("return document.querySelector('#signature').open")
        await settled(page)
        await page.click('#tab-type')
        await page.click('[data-adopt]')
        await page.waitFor("return document.querySelector('#finish').open")
        await settled(page)
        await page.click('#finish [data-confirm]')
        await page.enter()
        await happened('closed')
        assert.deepEqual(await page.run('return window.seen.map(([type]) => type)'),
            ['ready', 'opened', 'ready', 'completed', 'closed'])
    }))
    await assertSealed(made, 1)
})
