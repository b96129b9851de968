// SPDX-License-Identifier: Apache-2.0
// board.mjs: shared by the tests of the placement page: drafts, and what one does with fields.
import assert from 'node:assert/strict'
import { ann, ask, bob, create, devices, field, until, visit } from './browser.mjs'

export const nobody = [{ ...ann, fields: [] }, { ...bob, fields: [] }]
export const at = (x, y, w, h, page = 0) => ({ x, y, w, h, page, unit: 'percent' })
export const entry = (type, name, area, more) => ({ ...field(), type, name, area, ...more })
export const some = [{ ...ann, fields: [entry('signature', 'Signature', at(12, 70, 30, 7)),
    entry('text', 'Job title', at(12, 55, 26, 2.4))] }, { ...bob, fields: [] }]

export const ready = page => until(page, () => document.documentElement.classList.contains('ready')
    && document.querySelector('.sheet img')?.naturalWidth > 0)
export async function board(options, work) {
    const { signers = some, pdf, parts, ...context } = options
    const made = await create({ signers, pdf, redirectUrl: options.redirectUrl, parts: { draft: 'true', ...parts } })
    await visit(made.placementLink, { ...devices.desktop, ...context }, async page => {
        await ready(page)
        await work(page, made)
    })
    return made
}
export const status = (page, name) => page.locator(`[data-saved="${name}"]`).waitFor()
export const saved = page => status(page, 'saved')
/** The fields that the service has. */
export const stored = async ({ uuid }) => (await ask(`/signatures/${uuid}`)).submitters.map(({ fields }) => fields)
export const boxes = page => page.locator('#documents .box')
export const near = (is, want, most, what) => assert.ok(Math.abs(is - want) <= most, `${what}: ${is}, not ${want}`)
export const sheet = (page, n = 0) => page.locator(`.sheet[data-page="${n}"]`)
export const kind = (page, name) => page.locator(`[data-kind=${name}]`)
/** A point of a page, in percent. */
export async function pointOf(page, x, y, n = 0) {
    const box = await sheet(page, n).boundingBox()
    return [box.x + box.width * x / 100, box.y + box.height * y / 100]
}
export const middleOf = async locator => {
    const box = await locator.boundingBox()
    return [box.x + box.width / 2, box.y + box.height / 2]
}
export async function drag(page, from, to, steps = 8) {
    await page.mouse.move(...from)
    await page.mouse.down()
    await page.mouse.move(from[0] + 8, from[1] + 8)
    await page.mouse.move(...to, { steps })
}
export const said = (page, hasText) => page.locator('[data-live]', { hasText }).waitFor({ state: 'attached' })
export const failed = [/Failed to load resource/]
