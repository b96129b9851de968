#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// bundle.mjs NPM OUT: makes the files that browsers load for the signing page: esbuild bundles the entries in
// src/web/assets/{js,css} with the packages in NPM/node_modules into OUT; each name holds a hash of its content, and
// beside each file that gets smaller by it lie its compressed forms, .gz and .br. OUT/../api gets the API's page for
// people and its policy (tools/api_page.mjs). tools/embed puts all of them into the module.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync, readdirSync, rmSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { apiPage } from './api_page.mjs'

const [npm, out] = process.argv.slice(2)
if (!out) throw new Error('usage: tools/bundle.mjs NPM OUT')
const require = createRequire(resolve(npm, 'package.json'))
const esbuild = require('esbuild'), { marked } = require('marked')
const assets = 'src/web/assets'

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const common = {
    bundle: true, minify: true, outdir: out, entryNames: '[name]-[hash]', assetNames: '[name]-[hash]',
    nodePaths: [resolve(npm, 'node_modules')], loader: { '.woff2': 'file', '.svg': 'copy' }, legalComments: 'eof',
    charset: 'utf8', logLevel: 'warning', target: ['es2022', 'chrome100', 'firefox100', 'safari15.4'],
}
const build = options => esbuild.build({ ...common, ...options }).catch(() => process.exit(1)) // it has said why
const entries = ['js/page.js', 'css/page.css', 'css/icon.svg']
await build({ format: 'esm', entryPoints: entries.map(entry => `${assets}/${entry}`) })
await build({ format: 'iife', entryPoints: [`${assets}/js/boot.js`] })

for (const name of readdirSync(out)) {
    const bytes = readFileSync(join(out, name))
    const brotli = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    const forms = { gz: gzipSync(bytes, { level: 9 }), br: brotliCompressSync(bytes, { params: brotli }) }
    for (const [suffix, form] of Object.entries(forms))
        if (form.length < bytes.length * 0.95) writeFileSync(join(out, `${name}.${suffix}`), form)
}

const { outputFiles: [{ text }] } = await build({ entryPoints: [`${assets}/css/api.css`], write: false })
const css = text.trim(), api = join(out, '../api')
mkdirSync(api, { recursive: true })
writeFileSync(join(api, 'page.html'), apiPage(JSON.parse(readFileSync('src/api/openapi.json')), marked, css))
const digest = createHash('sha256').update(css).digest('base64')
writeFileSync(join(api, 'policy'), `default-src 'none'; style-src 'sha256-${digest}'; `
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
