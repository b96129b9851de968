// SPDX-License-Identifier: Apache-2.0
// api_page.mjs: the page for people at <location>/api/v3/, made from openapi.json when the module is built. It is one
// HTML file without scripts: an entry for each operation, with its members, its answers and an example in five
// languages, which stand in api_examples.mjs.
import { examplesOf } from './api_examples.mjs'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const DEPTH = 4 // levels of members within members that are shown

const escape = text => String(text)
    .replace(/[&<>"]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])
const code = text => `<code>${escape(text)}</code>`
const json = value => JSON.stringify(value, null, 2)
const note = html => `<span class="type">${html}</span>`
const verb = method => `<b class="${method}">${method.toUpperCase()}</b>`
const verbatim = text => `<pre tabindex="0">${escape(text)}</pre>`
const details = (summary, html, attributes = '') =>
    `<details${attributes}><summary>${summary}</summary>${html}</details>`

/** The page's HTML. `marked` turns the descriptions, which are Markdown, into HTML; `css` is the text of its style. */
export function apiPage(spec, marked, css) {
    const prose = text => text ? marked.parse(text) : ''
    const words = text => text ? marked.parseInline(text) : ''

    const resolve = node => {
        if (!node?.$ref) return node
        const { $ref, ...own } = node
        const found = $ref.split('/').slice(1).reduce((at, key) => at?.[key.replaceAll('~1', '/')], spec)
        if (!found) throw new Error(`${$ref} is not there`)
        return { ...resolve(found), ...own }
    }
    const merged = node => { // allOf is a type with more about its members
        const schema = resolve(node)
        if (!schema?.allOf) return schema
        const { allOf, ...own } = schema
        return [...allOf.map(merged), own].reduce((all, part) =>
            ({ ...all, ...part, properties: { ...all.properties, ...part.properties } }), {})
    }

    const typeOf = node => {
        const schema = merged(node) ?? {}
        if (schema.const !== undefined) return code(json(schema.const))
        if (schema.enum) return schema.enum.map(each => code(json(each))).join(', ')
        const types = [schema.type ?? []].flat()
            .map(type => type === 'array' ? `array of ${typeOf(schema.items)}` : type)
        if (!types.length) return (schema.oneOf ?? schema.anyOf ?? []).map(typeOf).join(' or ') || 'any'
        return types.join(' or ') + (schema.format ? ` (${escape(schema.format)})` : '')
    }
    const LIMITS = {
        minLength: 'at least {} characters', maxLength: 'at most {} characters',
        minimum: 'at least {}', maximum: 'at most {}',
        minItems: 'at least {} entries', maxItems: 'at most {} entries', default: 'default {}',
    }
    const limitOf = (key, limit, text) =>
        /^min(Length|Items)$/.test(key) && limit === 1 ? 'not empty' : text.replace('{}', escape(limit))
    const limitsOf = schema => Object.entries(LIMITS)
        .filter(([key]) => schema[key] !== undefined && schema[key] !== null)
        .map(([key, text]) => limitOf(key, schema[key], text))

    const inner = node => { // the object that an object, an array or an alternative is about
        const schema = merged(node) ?? {}
        if (schema.properties) return schema
        if (schema.items) return inner(schema.items)
        if (schema.contentSchema) return inner(schema.contentSchema)
        return [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].map(inner).find(Boolean)
    }
    const member = (name, node, required, depth) => {
        const schema = merged(node), below = depth < DEPTH && inner(schema)
        const notes = [typeOf(schema), ...(required ? ['required'] : []), ...limitsOf(schema)]
        const more = below ? details(`Members of ${code(name)}`, members(below, depth + 1)) : ''
        return `<dt>${code(name)} ${note(notes.join(' · '))}</dt><dd>${words(schema.description)}${more}</dd>`
    }
    const members = (schema, depth = 0) => `<dl>${Object.entries(schema.properties)
        .map(([name, node]) => member(name, node, schema.required?.includes(name), depth)).join('')}</dl>`

    const parametersOf = (path, operation) => {
        const all = [...(spec.paths[path].parameters ?? []), ...(operation.parameters ?? [])].map(resolve)
        if (!all.length) return ''
        return `<h4>Parameters</h4><dl>${all.map(each => member(each.name,
            { ...each.schema, description: [`In the ${each.in}.`, each.description].filter(Boolean).join(' ') },
            each.required, DEPTH)).join('')}</dl>`
    }
    const bodyOf = operation => {
        const body = resolve(operation.requestBody)
        if (!body) return ''
        return Object.entries(body.content).map(([type, { schema }]) => {
            const object = inner(schema)
            return `<h4>Body: ${code(type)}${body.required ? '' : ', optional'}</h4>${object ? members(object) : ''}`
        }).join('')
    }
    const answersOf = operation => `<h4>Answers</h4>${Object.entries(operation.responses).map(([status, node]) => {
        const { description, content } = resolve(node)
        const [type, shape] = Object.entries(content ?? {})[0] ?? []
        const object = shape?.schema && inner(shape.schema)
        const example = shape?.example ?? Object.values(shape?.examples ?? {}).map(resolve)[0]?.value
        const shown = example === undefined ? '' : verbatim(typeof example === 'string' ? example : json(example))
        const more = [shown, status < 300 && object ? members(object) : ''].join('')
        const line = `<b class="s${status[0]}">${status}</b> ${words(description)} ${type ? note(escape(type)) : ''}`
        return more ? details(line, more, ' class="answer"') : `<p class="answer">${line}</p>`
    }).join('')}`

    // paths with servers of their own are those of signing links
    const operations = Object.entries(spec.paths).flatMap(([path, methods]) => Object.keys(methods)
        .filter(method => METHODS.includes(method))
        .map(method => ({ path, base: methods.servers ? '' : '/api/v3', method, ...methods[method] })))
    const entry = operation => {
        const { method, path, base, operationId, summary, description } = operation
        const shown = base ? path : `BASE_URL${path}`
        const examples = examplesOf(operation, resolve).map(([language, text], at) =>
            details(language, verbatim(text), ` name="${operationId}"${at ? '' : ' open'}`))
        return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<div><h3 id="${operationId}-title">${escape(summary)}</h3>
<p class="request">${verb(method)} <code>${escape(shown).replaceAll('/', '/<wbr>')}</code>${
    operation.security?.length === 0 ? ` ${note('no token needed')}` : ''}</p>
${prose(description)}${parametersOf(path, operation)}${bodyOf(operation)}${answersOf(operation)}</div>
<div class="examples"><h4>Example</h4>${examples.join('')}</div></section>`
    }
    const webhook = ([name, { post }]) => {
        const [[, { example }]] = Object.entries(post.requestBody.content)
        return `<section class="operation webhook" aria-labelledby="webhook-${name}">
<div><h3 id="webhook-${name}">${escape(post.summary)}: ${code(name)}</h3>
${prose(post.description)}${bodyOf(post)}</div>
<div class="examples"><h4>Example</h4>${verbatim(json(example))}</div></section>`
    }
    const called = name => name === 'webhooks' ? Object.entries(spec.webhooks).map(webhook).join('') : ''
    const groups = spec.tags.map(tag => ({ ...tag, all: operations.filter(each => each.tags.includes(tag.name)) }))
    const link = ({ operationId, method, summary }) =>
        `<li><a href="#${operationId}">${verb(method)} ${escape(summary)}</a></li>`
    const contents = groups.map(({ name, all }) =>
        `<li><a href="#tag-${name}">${name}</a><ul>${all.map(link).join('')}</ul></li>`).join('')
    const body = groups.map(({ name, description, all }) => `<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2><p>${words(description)}</p>${all.map(entry).join('')}${called(name)}</section>`)

    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(spec.info.title)}</title><style>${css}</style></head><body>
<a class="skip" href="#main">Skip to the description</a>
<nav aria-label="Contents">
<p class="title"><a href="#main">${escape(spec.info.title)}</a> ${note(escape(spec.info.version))}</p>
<ul><li><a href="openapi.json">openapi.json</a></li>${contents}</ul></nav>
<main id="main"><h1>${escape(spec.info.title)}</h1>
${prose(spec.info.description)}
<p>In the examples, ${code('BASE_URL')} is the URL of the service without ${code('/api/v3')}, and ${code('TOKEN')}
a token.
${code('openapi.json')} has the same as this page for programs (OpenAPI ${escape(spec.openapi)}).</p>
${body.join('\n')}</main></body></html>
`
}
