#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// dates.mjs FILE: prints a C header with the dates (CLDR) of each language of FILE, which is src/model/languages.def:
// one pattern for each month, with {d} for the day and {y} for the year, the ten digits, and whether the language is
// written from right to left. Dates in English have the day first, which no reader of English misreads.
import { readFileSync } from 'node:fs'

const rows = readFileSync(process.argv[2], 'utf8').matchAll(/^SR_LANGUAGE\("[^"]+", "([^"]+)"/gm)
const tags = [...rows].map(row => row[1])
const unknown = tags.filter(tag => !Intl.DateTimeFormat.supportedLocalesOf(tag).length)
if (!tags.length || unknown.length) throw new Error(`dates: this node has no dates of ${unknown}`)

/** The pattern of a month, made of one of its days. */
function patternOf(format, digits, month, day) {
    const local = number => [...String(number)].map(digit => digits[digit]).join('')
    const known = { day: ['{d}', local(day)], year: ['{y}', local(2026)] }
    return format.formatToParts(new Date(Date.UTC(2026, month, day))).map(({ type, value }) => {
        if (!known[type]) return value.replace(/[\u00a0\u202f]/g, ' ') // few fonts have the narrow one
        if (known[type][1] !== value) throw new Error(`dates: ${value} is not ${known[type][1]}`)
        return known[type][0]
    }).join('')
}

console.log('/* made by tools/dates.mjs */')
console.log('typedef struct dates_t { const char *tag, *digits[10], *months[12]; bool rtl; } dates_t;')
console.log('static const dates_t embedded_dates[] = {')
for (const tag of tags) {
    const form = tag === 'en' ? 'en-GB' : tag
    const format = new Intl.DateTimeFormat(form, { dateStyle: 'long', calendar: 'gregory', timeZone: 'UTC' })
    const { numberingSystem } = format.resolvedOptions()
    const number = new Intl.NumberFormat(tag, { numberingSystem })
    const digits = Array.from({ length: 10 }, (_, digit) => number.format(digit))
    const months = Array.from({ length: 12 }, (_, month) => {
        const pattern = patternOf(format, digits, month, 5)
        if (pattern !== patternOf(format, digits, month, 25)) throw new Error(`dates: ${tag} has two patterns`)
        return pattern
    })
    const rtl = new Intl.Locale(tag).textInfo.direction === 'rtl'
    const list = texts => texts.map(text => JSON.stringify(text)).join(', ')
    console.log(`    {"${tag}", {${list(digits)}}, {${list(months)}}, ${rtl}},`)
}
console.log('    {NULL, {NULL}, {NULL}, false},\n};')
