// SPDX-License-Identifier: Apache-2.0
// firefox.test.mjs: the ways to sign and the steps of the page, in one Firefox ESR, which is Debian's.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./flow.test.mjs')
await import('./way.test.mjs')
