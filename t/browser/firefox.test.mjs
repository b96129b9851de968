// SPDX-License-Identifier: Apache-2.0
// firefox.test.mjs: the ways to sign, the steps of the page, the check of signers and embed.js, in one Firefox
// ESR, Debian's.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./flow.test.mjs')
await import('./way.test.mjs')
await import('./identity.test.mjs')
await import('./embed.test.mjs')
