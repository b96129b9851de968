// SPDX-License-Identifier: Apache-2.0
// eslint.config.mjs: what `make lint` checks in JavaScript: the rules that eslint recommends, for the signing page in
// browsers and for tests and tools in Node.js. ESLINT_PACKAGES names the folder that `tools/npm t/lint` has filled.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.env.ESLINT_PACKAGES, 'package.json'))
const js = require('@eslint/js')
const globals = require('globals')

const rules = {
    'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'none' }],
    'no-var': 'error', 'prefer-const': 'error', eqeqeq: ['error', 'always', { null: 'ignore' }],
}
export default [
    js.configs.recommended,
    { rules, linterOptions: { reportUnusedDisableDirectives: 'error' } },
    { files: ['src/web/assets/**/*.js'], languageOptions: { globals: globals.browser } },
    // functions that playwright runs in the page stand in files of Node.js
    { files: ['**/*.mjs'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
]
