// SPDX-License-Identifier: Apache-2.0
// webkit.mjs: WebKitGTK's MiniBrowser, driven by WebDriver (W3C) with fetch alone: Debian's webkit2gtk-driver has both.
// It needs a screen: Xvfb is one.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** It lies in a folder of the architecture and of WebKitGTK's version. */
function findBrowser() {
    const [found] = readdirSync('/usr/lib').filter(name => name.endsWith('-linux-gnu')).flatMap(arch =>
        readdirSync(join('/usr/lib', arch)).filter(name => name.startsWith('webkit2gtk-'))
            .map(name => join('/usr/lib', arch, name, 'MiniBrowser'))).filter(existsSync)
    return found
}

/** The first line that a program writes. */
const firstLine = child => new Promise((resolve, reject) => {
    child.stdout.once('data', data => resolve(String(data).trim()))
    child.once('exit', status => reject(new Error(`it ended with ${status}`)))
})

async function until(work, seconds = 120) {
    for (const end = Date.now() + seconds * 1000; ;) {
        try {
            const result = await work()
            if (result) return result
        } catch (error) {
            if (Date.now() > end) throw error
        }
        if (Date.now() > end) throw new Error(`not within ${seconds} s: ${work}`)
        await new Promise(resolve => setTimeout(resolve, 100))
    }
}

/** Does work(page) in a window of its own. */
export async function inWebKit(port, work) {
    const screen = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'],
        { stdio: ['ignore', 'pipe', 'ignore'] })
    const display = `:${await firstLine(screen)}`
    const driver = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], { stdio: 'ignore',
        env: { ...process.env, DISPLAY: display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1',
            WEBKIT_DISABLE_DMABUF_RENDERER: '1', WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' } })
    let session = ''
    const call = async (method, path, body) => {
        const answer = await fetch(`http://127.0.0.1:${port}${session}${path}`,
            { method, body: body && JSON.stringify(body) })
        const { value } = await answer.json()
        if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`)
        return value
    }
    const find = async css => Object.values(await call('POST', '/element', { using: 'css selector', value: css }))[0]
    const run = (script, ...args) => call('POST', '/execute/sync', { script, args })
    const options = { binary: findBrowser(), args: ['--automation'] }
    try {
        const { sessionId } = await until(() =>
            call('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } }))
        session = `/session/${sessionId}`
        return await work({
            run,
            goto: url => call('POST', '/url', { url }),
            /** Scripts and clicks are for the frame that a script returns, or without one for the page again. */
            enter: async script => call('POST', '/frame', { id: script ? await run(script) : null }),
            waitFor: script => until(() => run(script)),
            click: css => until(async () => {
                await call('POST', `/element/${await find(css)}/click`, {})
                return true
            }),
            type: async (css, text) => call('POST', `/element/${await find(css)}/value`, { text }),
            /** A stroke, or any other way of the mouse: [[x, y], …] from an element's centre. */
            drag: async (css, points) => {
                const origin = { 'element-6066-11e4-a52e-4f735466cecf': await find(css) }
                const moves = points.map(([x, y]) => ({ type: 'pointerMove', duration: 10, x, y, origin }))
                const actions = [moves[0], { type: 'pointerDown', button: 0 }, ...moves.slice(1),
                    { type: 'pointerUp', button: 0 }]
                await call('POST', '/actions', { actions: [{ type: 'pointer', id: 'mouse', actions }] })
            },
        })
    } finally {
        if (session) await call('DELETE', '').catch(() => {})
        driver.kill()
        screen.kill()
    }
}
