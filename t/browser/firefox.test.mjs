// SPDX-License-Identifier: Apache-2.0
// firefox.test.mjs: the ways to sign, the steps of the page and the check of signers, in one Firefox ESR, Debian's.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./flow.test.mjs')
await import('./way.test.mjs')
await import('./identity.test.mjs')
