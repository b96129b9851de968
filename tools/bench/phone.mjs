// SPDX-License-Identifier: Apache-2.0
// phone.mjs BASE TOKEN ROUNDS NPM: how long it takes from the navigation to a signing link until the first page of a
// document of 20 can be read, on a throttled phone (CPU 4 × slower, 1.6 Mbit/s down, 0.75 up, 150 ms there and back):
// {"new": [seconds…], "seen": [seconds…], "kilobytes": […], "requests": […], "paths": […]}: of documents that nobody
// has looked at yet, and again by somebody else; how much the page of a document of two pages loads until it is quiet;
// and what 100 signers of one document of 20 pages load, below /sign/, each image drawn once.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { contract } from '../../t/browser/pdf.mjs'

const [base, token, rounds, npm] = process.argv.slice(2)
const { chromium } = createRequire(resolve(npm, 'package.json'))('playwright-core')

async function create(round, names = ['Ann', 'Bob'], pages = 20) {
    const form = new FormData()
    const pdf = contract(pages, `Lease ${process.pid}-${round}`)
    form.set('file', new Blob([pdf], { type: 'application/pdf' }), 'Lease.pdf')
    form.set('name', 'Lease for 12 Harbour Road')
    form.set('signers', JSON.stringify(names.map(firstname => ({
        firstname, lastname: 'Lee', fields: [{ type: 'signature', name: 'Signature', document: 'Lease.pdf',
            area: { x: 72, y: 90, w: 180, h: 50, page: pages - 1 } }],
    }))))
    const answer = await fetch(`${base}/api/v3/signatures`, {
        method: 'POST', body: form, headers: { Authorization: `Bearer ${token}` } })
    if (answer.status !== 201) throw new Error(await answer.text())
    return (await answer.json()).submitters.map(submitter => base + new URL(submitter.signatureLink).pathname)
}

// a page can be read when its image is decoded and has been painted
const watch = () => addEventListener('DOMContentLoaded', () => {
    const image = document.querySelector('.page img')
    image.decode().then(() => requestAnimationFrame(() => setTimeout(() => (window.readable = performance.now()))))
})

/** Without a request for a second, nothing more is loaded. */
const QUIET = 1000

/** {kilobytes, requests} that a page has loaded when it is quiet, as they went over the network. */
async function loaded(session, link, page) {
    const open = new Set()
    let bytes = 0, requests = 0, latest = Date.now()
    session.on('Network.requestWillBeSent', ({ requestId }) => { open.add(requestId); requests++ })
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        bytes += encodedDataLength
        open.delete(requestId)
        latest = Date.now()
    })
    await page.goto(link)
    await page.waitForFunction(() => window.readable)
    while (open.size || Date.now() - latest < QUIET) await new Promise(resolve => setTimeout(resolve, 100))
    return { kilobytes: bytes / 1000, requests }
}

async function visit(browser, link, weigh) {
    const context = await browser.newContext({
        viewport: { width: 390, height: 780 }, deviceScaleFactor: 3, hasTouch: true, isMobile: true })
    await context.addInitScript(watch)
    const page = await context.newPage(), session = await context.newCDPSession(page)
    await session.send('Network.emulateNetworkConditions', {
        offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 })
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    if (weigh) await session.send('Network.enable')
    const weight = weigh && await loaded(session, link, page)
    if (!weigh) await page.goto(link, { waitUntil: 'commit' })
    const milliseconds = await (await page.waitForFunction(() => window.readable)).jsonValue()
    await context.close()
    return weight ?? milliseconds / 1000
}

const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
})
const seconds = { new: [], seen: [] }
await visit(browser, (await create('first'))[0]) // the browser's own start
for (let round = 0; round < Number(rounds); round++) {
    const [first, second] = await create(round)
    seconds.new.push(await visit(browser, first))
    seconds.seen.push(await visit(browser, second))
}
const weights = []
for (let round = 0; round < Number(rounds); round++)
    weights.push(await visit(browser, (await create(`two ${round}`, ['Ann'], 2))[0], true))
await browser.close()

async function pathsOf(link) {
    const state = await (await fetch(link, { headers: { Accept: 'application/json' } })).json()
    const [{ uuid, sha256 }] = state.documents, signer = link.split('/').at(-1)
    return [signer, ...Array.from({ length: 20 }, (_, n) => [`?width=1200&`, '.json?'].map(end =>
        `${signer}/documents/${uuid}/pages/${n}${end}version=${sha256}`)).flat()]
}
const links = await create('many', Array.from({ length: 100 }, (_, n) => `Signer ${n}`))
const paths = (await Promise.all(links.map(pathsOf))).flat()
for (const path of paths.slice(0, 41)) await (await fetch(`${base}/sign/${path}`)).arrayBuffer()
console.log(JSON.stringify({ ...seconds, paths, kilobytes: weights.map(each => each.kilobytes),
    requests: weights.map(each => each.requests) }))
