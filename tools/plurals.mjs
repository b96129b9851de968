#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// plurals.mjs FILE: prints a C header with the plural categories (CLDR) of each language of FILE, which is
// src/model/languages.def: for each number from 0 to 199 the letter of its category, z(ero) o(ne) t(wo) f(ew) m(any)
// x (other). Numbers from 200 on are like those of 100 to 199 with the same last two digits, but for millions, which
// nobody counts here.
import { readFileSync } from 'node:fs'

const letters = { zero: 'z', one: 'o', two: 't', few: 'f', many: 'm', other: 'x' }
const rows = readFileSync(process.argv[2], 'utf8').matchAll(/^SR_LANGUAGE\("[^"]+", "([^"]+)"/gm)
const tags = [...rows].map(row => row[1])
const unknown = tags.filter(tag => !Intl.PluralRules.supportedLocalesOf(tag).length)
if (!tags.length || unknown.length) throw new Error(`plurals: this node has no plural rules for ${unknown}`)

console.log('/* made by tools/plurals.mjs */')
console.log('typedef struct plurals_t { const char *tag, *categories; } plurals_t;')
console.log('static const plurals_t embedded_plurals[] = {')
for (const tag of tags) {
    const rules = new Intl.PluralRules(tag)
    const categories = Array.from({ length: 200 }, (_, number) => letters[rules.select(number)]).join('')
    for (let number = 200; number < 2000; number++)
        if (letters[rules.select(number)] !== categories[100 + (number % 100)])
            throw new Error(`plurals: ${number} in ${tag} is unlike ${100 + (number % 100)}`)
    console.log(`    {"${tag}", "${categories}"},`)
}
console.log('    {NULL, NULL},\n};')
