// texts.js: the words of the script, as the server has chosen them. What is filled in is isolated, because it may run
// in the other direction.
let texts = {}
let plural = new Intl.PluralRules('en')

export function setTexts(given, language) {
    texts = given
    plural = new Intl.PluralRules(language)
}

export function text(key, values = {}) {
    let entry = texts[key] ?? key
    if (typeof entry === 'object') entry = plural.select(values.count) === 'one' ? entry.one : entry.other
    return entry.replace(/\{(\w+)\}/g, (place, name) => {
        const value = values[name] ?? ''
        return typeof value === 'number' ? String(value) : `\u2068${value}\u2069`
    })
}
