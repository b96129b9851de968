// SPDX-License-Identifier: Apache-2.0
// firefox.test.mjs: the ways to sign, in Debian's Firefox ESR.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./flow.test.mjs')
