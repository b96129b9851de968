// SPDX-License-Identifier: Apache-2.0
// firefox_way.test.mjs: the steps of the page, in Debian's Firefox ESR.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./way.test.mjs')
