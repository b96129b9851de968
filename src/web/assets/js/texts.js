// SPDX-License-Identifier: Apache-2.0
// texts.js: the words of the script, as the server has chosen them. What is filled in is isolated, because it may run
// in the other direction. A text that depends on a number is an object with the plural categories of its language
// (CLDR). An older browser may know others: then it is `other`.
let texts = {}
let plural = null

export function setTexts(given, language) {
    texts = given
    plural = new Intl.PluralRules(language)
}

export function text(key, values = {}) {
    let entry = texts[key] ?? key
    if (typeof entry === 'object') entry = entry[plural.select(values.count)] ?? entry.other
    return entry.replace(/\{(\w+)\}/g, (place, name) => {
        const value = values[name] ?? ''
        return typeof value === 'number' ? String(value) : `\u2068${value}\u2069`
    })
}
