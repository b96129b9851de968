// SPDX-License-Identifier: Apache-2.0
// browser.mjs: shared by the tests of the signing page: submissions, a browser, and errors that must never occur in it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { contract } from './pdf.mjs'

const suite = JSON.parse(readFileSync(process.env.SIGREQ_SUITE))
const require = createRequire(join(suite.source, 'build/npm/browser/package.json'))
const { chromium, firefox } = require('playwright-core')
/** Without comments: a browser needs half the time to read it. */
export const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
export const { source } = suite
export const shots = join(source, 'build/screenshots')
mkdirSync(shots, { recursive: true })

export const place = path => `http://127.0.0.1:${suite.port}${path}`
export const logFile = join(suite.dir, 't/logs/error_log')

export const devices = {
    desktop: { viewport: { width: 1280, height: 860 } },
    phone: { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
}

// --- submissions

const ctl = (...words) => JSON.parse(execFileSync(join(suite.source, 'build/sigreqctl'),
    ['--driver', suite.db, '--params', suite.params, '--json', ...words]))

let token
const email = `browser${process.pid}@example.org`
function tokenOfOurs() {
    if (token) return token
    const name = `Browser ${process.pid}`
    const { uuid } = ctl('org', 'create', '--name', name)
    ctl('user', 'create', '--organization', uuid, '--firstname', 'Kim', '--lastname', 'Roe', '--email', email)
    const who = ['--organization', uuid, '--user', email, '--environment', 'test']
    token = ctl('token', 'create', ...who, '--name', 'browser').token
    return token
}

/** Signs the sender of all submissions in at the desk: an option of `visit`. */
export const atDesk = { httpCredentials: { username: email, password: 'x' } }

export const field = (page = 0, area = {}) => ({
    type: 'signature', name: 'Signature', document: 'Lease.pdf', area: { x: 72, y: 90, w: 180, h: 50, page, ...area },
})
export const ann = { firstname: 'Ann', lastname: 'Lee', email: 'ann@example.org', fields: [field()] }
export const bob = { firstname: 'Bob', lastname: 'Ray', email: 'bob@example.org', fields: [field(0, { y: 20 })] }

/** Creates a submission: its answer of the API, and the links of its signers. `parts`: more parts of the form. */
export async function create(what = {}) {
    const { signers = [ann], pdf = contract(2), name = 'Lease for 12 Harbour Road', skipIntro, expiresAt } = what
    const { parts = {} } = what
    const { redirectUrl } = what, location = redirectUrl ? '/timed' : '' // which permits app.example.org
    const form = new FormData()
    form.set('file', new Blob([pdf], { type: 'application/pdf' }), 'Lease.pdf')
    form.set('name', name)
    form.set('signers', JSON.stringify(signers))
    if (skipIntro) form.set('skipIntro', 'true')
    if (expiresAt) form.set('expiresAt', expiresAt)
    if (redirectUrl) form.set('redirectUrl', redirectUrl)
    for (const [part, value] of Object.entries(parts)) form.set(part, value)
    const answer = await fetch(place(`${location}/api/v3/signatures`), {
        method: 'POST', body: form, headers: { Authorization: `Bearer ${tokenOfOurs()}` },
    })
    const body = await answer.text()
    assert.equal(answer.status, 201, body)
    const made = JSON.parse(body)
    return { ...made, links: made.submitters.map(submitter => submitter.signatureLink) }
}

export async function ask(path, method = 'GET', body = undefined) {
    const answer = await fetch(place(`/api/v3${path}`), {
        method, body: body && JSON.stringify(body),
        headers: { Authorization: `Bearer ${tokenOfOurs()}`, ...body && { 'Content-Type': 'application/json' } },
    })
    return answer.json()
}

/** What a program does with a signing link. */
export async function act(link, what) {
    const answer = await fetch(link, {
        method: 'POST', body: JSON.stringify(what),
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    })
    assert.equal(answer.status, 200, await answer.text())
}

/** The submission's documents pass the validator, each with so many valid signatures. */
export async function assertSealed({ uuid }, signatures) {
    const { submitters } = await ask(`/signatures/${uuid}`)
    const signed = submitters.find(submitter => submitter.signedDocuments)?.signedDocuments
    assert.ok(signed?.length, 'there are signed documents')
    for (const document of signed) {
        const answer = await fetch(document.url, { headers: { Authorization: `Bearer ${tokenOfOurs()}` } })
        const file = join(tmpdir(), `signed-${process.pid}.pdf`)
        writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
        const said = execFileSync('pdfsig', ['-nocert', file], { encoding: 'utf8' })
        assert.doesNotMatch(said, /Signature Validation: Signature is (?!Valid)/, said)
        // several fields of one signer have one signature as their value
        assert.equal(new Set(said.match(/Signed Ranges: .*/g)).size, signatures, said)
        assert.match(said, /Total document signed/)
        execFileSync('qpdf', ['--check', file])
    }
    return submitters
}

// --- the browser

export const isFirefox = process.env.SIGREQ_BROWSER === 'firefox'
/** For tests of what Firefox has not, or what cannot be driven in it. */
export const chromiumOnly = why => ({ skip: isFirefox && why })

/** A Firefox needs eight seconds of a processor until it is there. A busy machine may take minutes for that. */
const timeout = 900_000
const launch = {
    chromium: () => chromium.launch({
        timeout,
        executablePath: '/usr/bin/chromium-headless-shell',
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
            '--host-resolver-rules=MAP *.test 127.0.0.1'],
    }),
    // Debian's own, by WebDriver BiDi. It starts no process in reserve, which takes longer than most of what the tests
    // do with a page, lets frames of other sites store nothing, shows 20 frames a second, which are enough for
    // conditions, and has no animations, which cannot be chosen for a test.
    firefox: () => firefox.launch({
        timeout, channel: 'moz-firefox', executablePath: '/usr/bin/firefox-esr', firefoxUserPrefs: {
            'fission.autostart': false, 'dom.ipc.processCount': 1, 'dom.ipc.processPrelaunch.enabled': false,
            'network.cookie.cookieBehavior': 1, 'layout.frame_rate': 20, 'ui.prefersReducedMotion': 1,
            'accessibility.force_disabled': 1,
        },
    }),
}
/** A browser that could not be started is started again, twice. */
const start = async (name, again = 2) => launch[name]().catch(error => {
    if (!again) throw error
    console.error(`${name} did not start: ${error}`)
    return start(name, again - 1)
})
let launched = null
after(async () => (await launched)?.close())

/** Animations and smooth scrolling take a quarter of the processor time: a test has them if it says so. */
const still = { ...devices.desktop, locale: 'en-GB', reducedMotion: 'reduce' }
export const moving = { reducedMotion: 'no-preference' }

/** What the console may say in a test that provokes it. */
const isExpected = (problem, expected) => expected.some(pattern => pattern.test(problem))

/**
 * Opens a page, does `work(page)`, and sees to it that nothing happened that must not: an error in the console or in a
 * script, a request to another host, a report against the policy. Options are the browser context's, what is `expected`
 * in the console, and `prepare(page)`, which is done before. `work` may take out of its second argument, a list, what
 * has happened until now.
 */
export async function visit(link, options, work) {
    const { expected = [], prepare = () => {}, ...context } = options
    if (isFirefox) delete context.isMobile
    const browser = await (launched ??= start(isFirefox ? 'firefox' : 'chromium'))
    const own = await browser.newContext({ ...still, ...context })
    const problems = []
    const note = problem => isExpected(problem, expected) || problems.push(problem)
    if (context.javaScriptEnabled !== false) {
        await own.exposeFunction('noteViolation', what => note(`policy: ${what}`))
        await own.addInitScript(() => addEventListener('securitypolicyviolation',
            event => window.noteViolation(`${event.violatedDirective} ${event.blockedURI}`)))
    }
    await own.addInitScript(() => {
        let before = -1e4
        addEventListener('click', ({ timeStamp }) => {
            Object.assign(window, { lastClick: performance.now(), sinceClick: timeStamp - before })
            before = timeStamp
        }, { capture: true })
    })
    own.on('request', request => {
        if (new URL(request.url()).host !== new URL(link).host) note(`request to ${request.url()}`)
    })
    own.on('console', message => ['error', 'warning'].includes(message.type()) && note(`console: ${message.text()}`))
    own.on('weberror', error => note(`script: ${error.error().stack}`))
    const page = await own.newPage()
    page.setDefaultTimeout(120_000)
    try {
        await prepare(page)
        await page.goto(link)
        const result = await work(page, problems)
        assert.deepEqual(problems, [])
        return result
    } finally {
        await own.close()
    }
}

/** A second tab of the same browser. */
export const anotherTab = async (page, link) => {
    const tab = await page.context().newPage()
    await tab.goto(link)
    return tab
}

/**
 * For people to look at, with SIGREQ_SCREENSHOTS=1: no test reads it. To stop animations a style is put into the page,
 * which Firefox reports against the policy.
 */
export const shoot = async (page, name) => isFirefox || !process.env.SIGREQ_SCREENSHOTS
    || page.screenshot({ animations: 'disabled', path: join(shots, `${suite.db}-${name}.png`) })

/** No violation of WCAG 2.2 AA, nor of axe's best practices; without those `rules` that are false. */
export async function assertAccessible(page, what, rules = {}) {
    if (!await page.evaluate(() => Boolean(window.axe))) await page.evaluate(axeSource)
    const said = await page.evaluate(async rules => {
        // A text that fades in or out has the contrast of neither state.
        const fades = document.getAnimations().filter(each => each.effect.getComputedTiming().iterations !== Infinity)
        await Promise.all(fades.map(each => each.finished.catch(() => null)))
        const { violations } = await window.axe.run(document, {
            rules: Object.fromEntries(Object.entries(rules).map(([rule, enabled]) => [rule, { enabled }])),
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            resultTypes: ['violations'], preload: false,
        })
        return violations.map(each => `${each.id}: ${each.nodes.map(node => node.html).join(' | ')}`)
    }, rules)
    assert.deepEqual(said, [], what)
}

/** Whether something is wider than the screen. */
export const isWide = page => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)

/** The link at the location that has a theme, and that sites may show in a frame. */
export const themed = link => link.replace(/\/(sign|place)\//, '/themed/$1/')

/** A site of somebody's with the page in a frame; messages that have nothing but a type are in window.told. */
export async function embedder(link, work) {
    const html = `<!doctype html><title>x</title><link rel="icon" href="data:,"><script>window.told = []
        addEventListener('message', ({ data: { type, ...more }, origin }) =>
            JSON.stringify(more) === '{}' && told.push([type, origin]))</script>
        <iframe width="400" height="700" src="${link}"></iframe>`
    const server = createServer((request, response) => response.end(html)).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
        return await work(server.address().port)
    } finally {
        server.close()
    }
}

/** As in a browser that lets frames of other sites store nothing. */
export const storeNothing = page => page.addInitScript(() => {
    for (const name of ['sessionStorage', 'localStorage'])
        Object.defineProperty(window, name, { get: () => { throw new DOMException('denied', 'SecurityError') } })
})

/** The page's host is another than the embedder's. */
export const elsewhere = [/^request to/]

// --- what a signer does

export const DONE = 'All done – you’ve signed'
export const shown = (page, name) => page.getByRole('heading', { name }).waitFor()

/** How far the signer is, as the bar says it. */
export const counted = (page, hasText) => page.locator('[data-counter]', { hasText }).waitFor()

/** Until a function of the page returns true. By itself, Playwright has the page draw 60 frames a second for that. */
export const until = (page, condition, value) => page.waitForFunction(condition, value, { polling: 50 })

/** The page is ready when its script is, and the first image is there. */
export const ready = page => until(page, () => document.documentElement.classList.contains('ready')
    && document.querySelector('.page img').naturalWidth > 0)

/** A second click at one place within half a second counts as a double click: a person's second one comes later. */
export const settled = page => until(page, () => performance.now() - (window.lastClick ?? -1e4) > 550)

/** As people come there: from the intro to the document, and by the bar to the field and into the dialog. */
export async function openSignature(page) {
    const start = page.locator('[data-start]'), next = page.locator('[data-next]')
    if (await next.isHidden() && await start.count()) await start.click()
    await next.waitFor()
    if (await next.getAttribute('data-step') === 'next') {
        await next.click()
        await page.locator('[data-next][data-step=sign]').waitFor()
        await settled(page)
    }
    if (await page.locator('#signature').isHidden()) await next.click()
    await page.locator('#signature').waitFor()
}

/** In one field, or `everywhere`. */
export async function typeSignature(page, name, everywhere) {
    await page.getByRole('tab', { name: 'Type' }).click()
    if (name) await page.locator('#typed').fill(name)
    const all = page.locator('#signature [data-all] input')
    if (everywhere && await all.isVisible()) await all.check()
    await page.locator('#signature [data-adopt]').click()
}

/** From the last step, which opens by itself after the last field, back to the document. */
export async function leaveLastStep(page) {
    await page.locator('#finish').waitFor()
    await page.keyboard.press('Escape')
}

/** From all filled in to the done page. */
export async function finish(page) {
    await settled(page)
    // on a busy machine the last dialog may open by itself between the question and the click, which it then stops
    for (let i = 0; i < 60 && await page.locator('#finish').isHidden(); i++)
        await page.locator('[data-next]').click({ timeout: 2000 }).catch(() => {})
    await settled(page)
    await page.locator('#finish [data-confirm]').click()
    await shown(page, DONE)
}

/**
 * Two clicks or taps at one place. For the page they are a tenth of a second apart, however busy the machine is,
 * because Chromium is told when each of them happens. Firefox is not: returns whether they were near enough.
 */
export async function twice(page, x, y, finger) {
    if (isFirefox) {
        await page.mouse.dblclick(x, y, { delay: 20 })
        return page.evaluate(() => window.sinceClick < 400)
    }
    const session = await page.context().newCDPSession(page), begin = Date.now() / 1000 - 0.2
    const touch = (type, touchPoints, timestamp) =>
        session.send('Input.dispatchTouchEvent', { type, touchPoints, timestamp })
    const press = (type, clickCount, timestamp) =>
        session.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount, timestamp })
    for (const number of [1, 2]) {
        const at = begin + number * 0.1
        await (finger ? touch('touchStart', [{ x, y }], at) : press('mousePressed', number, at))
        await (finger ? touch('touchEnd', [], at + 0.02) : press('mouseReleased', number, at + 0.02))
    }
    await session.detach()
    return true
}

/** A wave over an element, with the mouse. */
export async function drawOn(page, element) {
    const box = await element.boundingBox()
    const at = step => [box.x + box.width * (0.15 + 0.7 * step / 40),
        box.y + box.height * (0.5 + 0.25 * Math.sin(step / 3))]
    await page.mouse.move(...at(0))
    await page.mouse.down()
    for (let step = 1; step <= 40; step++) await page.mouse.move(...at(step))
    await page.mouse.up()
}

/** The same with a finger. */
export async function drawByTouch(page, element) {
    const box = await element.boundingBox(), session = await page.context().newCDPSession(page)
    const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points })
    const at = step => ({ x: box.x + box.width * (0.15 + 0.7 * step / 30),
        y: box.y + box.height * (0.5 + 0.25 * Math.sin(step / 3)), force: 0.3 + 0.01 * step })
    await touch('touchStart', [at(0)])
    for (let step = 1; step <= 30; step++) await touch('touchMove', [at(step)])
    await touch('touchEnd', [])
    await page.waitForTimeout(700) // nobody's finger is back at once: Chromium would not take it for a tap
}
