#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// bundle.mjs OUT: makes the files that browsers load for the signing page. The program esbuild bundles the entries in
// src/web/assets/{js,css} into OUT. Each name contains a hash of the content. A file that gets smaller by compression
// also has the forms .gz and .br. OUT/../api gets the API's page for people and its policy (tools/api_page.mjs).
// tools/embed puts all of them into the module. esbuild and marked are Debian packages.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync, readdirSync, rmSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { apiPage } from './api_page.mjs'

const [out] = process.argv.slice(2)
if (!out) throw new Error('usage: tools/bundle.mjs OUT')
const { marked } = createRequire(import.meta.url)('/usr/share/nodejs/marked')
marked.setOptions({ headerIds: false, mangle: false })
const assets = 'src/web/assets'

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
function bundle(entries, ...options) {
    const all = [...entries.map(entry => `${assets}/${entry}`), '--bundle', '--minify', '--charset=utf8',
        '--legal-comments=eof', '--log-level=warning', '--target=es2022,chrome100,firefox100,safari15.4', ...options]
    try {
        return execFileSync('esbuild', all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    } catch (error) {
        if (error.code === 'ENOENT') console.error("bundle: esbuild is missing. 'make deps' installs it.")
        return process.exit(1) // else esbuild has printed the reason
    }
}
const named = [`--outdir=${out}`, '--entry-names=[name]-[hash]', '--loader:.svg=copy']
bundle(['js/page.js', 'css/page.css', 'css/icon.svg'], '--format=esm', ...named)
bundle(['js/boot.js'], '--format=iife', ...named)

for (const name of readdirSync(out)) {
    const bytes = readFileSync(join(out, name))
    const brotli = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    const forms = { gz: gzipSync(bytes, { level: 9 }), br: brotliCompressSync(bytes, { params: brotli }) }
    for (const [suffix, form] of Object.entries(forms))
        if (form.length < bytes.length * 0.95) writeFileSync(join(out, `${name}.${suffix}`), form)
}

const css = bundle(['css/api.css']).trim(), api = join(out, '../api')
mkdirSync(api, { recursive: true })
writeFileSync(join(api, 'page.html'), apiPage(JSON.parse(readFileSync('src/api/openapi.json')), marked, css))
const digest = createHash('sha256').update(css).digest('base64')
writeFileSync(join(api, 'policy'), `default-src 'none'; style-src 'sha256-${digest}'; `
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
