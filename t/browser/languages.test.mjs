// languages.test.mjs: each language of the page on the smallest phone: nothing is wider than the screen, no text is cut
// in a button, and axe has nothing to say of the start, the dialog and the last step.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
    assertAccessible, chromiumOnly, create, devices, isWide, openSignature, ready, settled, source, visit,
} from './browser.mjs'

const languages = [...readFileSync(join(source, 'src/model/languages.def'), 'utf8')
    .matchAll(/^SR_LANGUAGE\("([^"]+)", "([^"]+)"/gm)].map(([, code, tag]) => ({ code, tag }))
const small = { ...devices.phone, viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' }

/** Buttons whose text is wider or higher than they are. */
const cutButtons = page => page.evaluate(() => [...document.querySelectorAll('button, .button')]
    .filter(button => button.offsetParent && !button.matches('.field'))
    .filter(button => button.scrollWidth > button.clientWidth + 1 || button.scrollHeight > button.clientHeight + 1)
    .map(button => button.textContent.trim()))

async function assertFits(page, state) {
    await assertAccessible(page, state)
    assert.ok(!(await isWide(page)), `${state}: nothing is wider than the screen`)
    assert.deepEqual(await cutButtons(page), [], `${state}: no button is cut`)
}

test('there are 22 languages', () => assert.equal(languages.length, 22))

const once = chromiumOnly('one browser is enough for the texts')
for (const { code, tag } of languages)
    test(`${code} fits, and axe has nothing to say`, once, async () => {
        const made = await create()
        await visit(`${made.links[0]}?lang=${code}`, small, async page => {
            await ready(page)
            assert.equal(await page.locator('html').getAttribute('lang'), tag)
            await assertFits(page, 'start')
            await openSignature(page)
            await assertFits(page, 'dialog')
            await page.locator('#tab-type').click()
            await page.locator('#typed').fill('Ann Lee')
            await page.locator('[data-adopt]').click()
            await settled(page)
            await page.locator('#finish [data-confirm]').waitFor()
            await assertFits(page, 'last step')
        })
    })
