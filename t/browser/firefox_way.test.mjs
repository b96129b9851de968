// SPDX-License-Identifier: Apache-2.0
// firefox_way.test.mjs: the way through the page, once more in Debian's Firefox ESR.
process.env.SIGREQ_BROWSER = 'firefox'
await import('./way.test.mjs')
