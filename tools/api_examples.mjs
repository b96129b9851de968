// SPDX-License-Identifier: Apache-2.0
// api_examples.mjs: how each operation of the API is called from a shell, Python, JavaScript, PHP and Perl. The
// programs take BASE_URL and TOKEN from the environment, and what a path needs, such as UUID. t/api/page.t runs some.

const variable = name => name.toUpperCase()
const quoted = text => `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` // as in Python, PHP and Perl
const shell = text => `'${String(text).replaceAll("'", `'\\''`)}'`

/** What is sent: {method, pieces of the path, token, body}; `body` is null, {json}, {parts} or {file}. */
function requestOf(operation, resolve) {
    const { method, path, base } = operation, body = resolve(operation.requestBody)
    const [type, shape] = Object.entries(body?.content ?? {})[0] ?? []
    const request = { method: method.toUpperCase(), pieces: `${base}${path}`.split(/\{(\w+)\}/), body: null, type }
    request.token = operation.security?.length !== 0
    request.accept = operation.operationId === 'getSigning' // without it, the answer is the page
    if (type === 'application/json') request.body = { json: JSON.stringify(shape.example) }
    if (type === 'application/pdf') request.body = { file: 'signed.pdf' }
    if (type === 'multipart/form-data') {
        const { required, properties } = resolve(shape.schema)
        request.body = { parts: required.map(name => ({ name, value: properties[name].example })) } // a file has none
    }
    const answer = Object.keys(resolve(operation.responses['200'])?.content ?? {})[0]
    if (answer === 'application/pdf') request.save = 'document.pdf'
    return request
}

/** The URL: fixed pieces, and between them variables, by functions of the language. */
const urlOf = ({ pieces }, fixed, filled) =>
    pieces.map((piece, at) => at % 2 ? filled(variable(piece)) : fixed(piece)).join('')

function inShell({ method, pieces, token, accept, body, type, save }) {
    const url = `"$BASE_URL${urlOf({ pieces }, piece => piece, name => `$${name}`)}"`
    const options = []
    if (method !== 'GET' && !(method === 'POST' && body)) options.push(`-X ${method}`)
    if (token) options.push('-H "Authorization: Bearer $TOKEN"')
    if (accept) options.push("-H 'Accept: application/json'")
    if (body?.json) options.push(`--json ${shell(body.json)}`)
    if (body?.file) options.push(`-H 'Content-Type: ${type}' --data-binary @${body.file}`)
    for (const { name, value } of body?.parts ?? [])
        options.push(value === undefined
            ? `-F '${name}=@lease.pdf;type=application/pdf'` : `--form-string ${shell(`${name}=${value}`)}`)
    if (save) options.push(`-o ${save}`)
    return ['curl -sS --fail-with-body', ...options, url].join(' \\\n  ')
}

function inPython({ method, pieces, token, accept, body, type, save }) {
    const lines = ['import os', 'import requests', '']
    const path = urlOf({ pieces }, piece => piece, name => `{os.environ['${name}']}`)
    const values = [`url = os.environ["BASE_URL"] + f"${path}"`], given = ['url']
    if (token) values.push('headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}')
    else if (accept) values.push('headers = {"Accept": "application/json"}')
    else if (body) values.push('headers = {}')
    if (token || accept || body) given.push('headers=headers')
    if (body?.json) values.push(`body = ${quoted(body.json)}`)
    if (body?.json) values.push('headers["Content-Type"] = "application/json"')
    if (body?.json) given.push('data=body')
    if (body?.file) values.push(`headers["Content-Type"] = "${type}"`)
    if (body?.file) given.push(`data=open("${body.file}", "rb")`)
    if (body?.parts) {
        values.push('files = {"file": ("lease.pdf", open("lease.pdf", "rb"), "application/pdf")}')
        values.push(`data = {${body.parts.filter(part => part.value !== undefined)
            .map(({ name, value }) => `"${name}": ${quoted(value)}`).join(',\n        ')}}`)
        given.push('files=files', 'data=data')
    }
    return [...lines, ...values, `answer = requests.${method.toLowerCase()}(${given.join(', ')})`,
        'answer.raise_for_status()',
        save ? `open("${save}", "wb").write(answer.content)` : 'print(answer.text)'].join('\n')
}

function inJavaScript({ method, pieces, token, accept, body, type, save }) {
    const names = [...(token ? ['TOKEN'] : []), ...pieces.filter((_, at) => at % 2).map(variable)]
    const lines = [], given = []
    const files = [...(body?.file || body?.parts ? ['readFile'] : []), ...(save ? ['writeFile'] : [])]
    if (files.length) lines.push(`import { ${files.join(', ')} } from 'node:fs/promises'`, '')
    lines.push(`const { ${['BASE_URL', ...names].join(', ')} } = process.env`)
    const headers = [...(token ? ['Authorization: `Bearer ${TOKEN}`'] : []),
        ...(accept ? ["Accept: 'application/json'"] : []),
        ...(body?.json || body?.file ? [`'Content-Type': '${type}'`] : [])]
    if (method !== 'GET') given.push(`method: '${method}'`)
    if (headers.length) given.push(`headers: { ${headers.join(', ')} }`)
    if (body?.json) given.push(`body: ${quoted(body.json)}`)
    if (body?.file) given.push(`body: await readFile('${body.file}')`)
    if (body?.parts) {
        lines.push('const form = new FormData()')
        for (const { name, value } of body.parts)
            lines.push(`form.set('${name}', ${value === undefined
                ? "new Blob([await readFile('lease.pdf')], { type: 'application/pdf' }), 'lease.pdf'"
                : quoted(value)})`)
        given.push('body: form')
    }
    const url = `\`\${BASE_URL}${urlOf({ pieces }, piece => piece, name => `\${${name}}`)}\``
    lines.push(`const answer = await fetch(${url}, {${given.length ? `\n  ${given.join(',\n  ')},\n` : ''}})`,
        'if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)',
        save ? `await writeFile('${save}', Buffer.from(await answer.arrayBuffer()))`
            : 'console.log(await answer.text())')
    return lines.join('\n')
}

function inPHP({ method, pieces, token, accept, body, type, save }) {
    const url = `getenv('BASE_URL') . ${urlOf({ pieces },
        piece => piece ? quoted(piece) : '', name => ` . getenv('${name}')${' . '}`)}`.replace(/ \. $/, '')
    const headers = [...(token ? ["'Authorization: Bearer ' . getenv('TOKEN')"] : []),
        ...(accept ? ["'Accept: application/json'"] : []),
        ...(body?.json || body?.file ? [`'Content-Type: ${type}'`] : [])]
    const options = ['CURLOPT_RETURNTRANSFER => true', 'CURLOPT_FAILONERROR => true']
    if (method !== 'GET') options.push(`CURLOPT_CUSTOMREQUEST => '${method}'`)
    if (headers.length) options.push(`CURLOPT_HTTPHEADER => [${headers.join(', ')}]`)
    if (body?.json) options.push(`CURLOPT_POSTFIELDS => ${quoted(body.json)}`)
    if (body?.file) options.push(`CURLOPT_POSTFIELDS => file_get_contents('${body.file}')`)
    const part = ({ name, value }) => `'${name}' => ${value === undefined
        ? "new CURLFile('lease.pdf', 'application/pdf', 'lease.pdf')" : quoted(value)}`
    if (body?.parts)
        options.push(`CURLOPT_POSTFIELDS => [\n        ${body.parts.map(part).join(',\n        ')},\n    ]`)
    return ['<?php', `$request = curl_init(${url});`,
        `curl_setopt_array($request, [\n    ${options.join(',\n    ')},\n]);`,
        '$answer = curl_exec($request);', "if ($answer === false) exit(curl_error($request) . \"\\n\");",
        save ? `file_put_contents('${save}', $answer);` : 'echo $answer, "\\n";'].join('\n')
}

function inPerl({ method, pieces, token, accept, body, type, save }) {
    const url = `"$ENV{BASE_URL}${urlOf({ pieces }, piece => piece, name => `$ENV{${name}}`)}"`
    const lines = ['use v5.36;', 'use HTTP::Request::Common qw(DELETE GET PATCH POST);', 'use LWP::UserAgent;', '']
    const given = [url]
    if (token) given.push('Authorization => "Bearer $ENV{TOKEN}"')
    if (accept) given.push("Accept => 'application/json'")
    if (body?.json) given.push(`Content_Type => '${type}'`, `Content => ${quoted(body.json)}`)
    if (body?.file) {
        lines.push(`open my $file, '<:raw', '${body.file}' or die "${body.file}: $!";`)
        given.push(`Content_Type => '${type}'`, 'Content => do { local $/; <$file> }')
    }
    const part = ({ name, value }) => `${name} => ${value === undefined
        ? "['lease.pdf', 'lease.pdf', Content_Type => 'application/pdf']" : quoted(value)}`
    if (body?.parts)
        given.push("Content_Type => 'form-data'", `Content => [\n        ${body.parts.map(part).join(',\n        ')}]`)
    return [...lines, `my $answer = LWP::UserAgent->new->request(${method}(\n    ${given.join(',\n    ')}));`,
        'die $answer->status_line, "\\n", $answer->decoded_content unless $answer->is_success;',
        save ? `open my $out, '>:raw', '${save}' or die "${save}: $!";\nprint $out $answer->content;`
            : 'say $answer->decoded_content;'].join('\n')
}

const LANGUAGES = { Shell: inShell, Python: inPython, JavaScript: inJavaScript, PHP: inPHP, Perl: inPerl }

/** [[name of the language, program], …] */
export function examplesOf(operation, resolve) {
    const request = requestOf(operation, resolve)
    return Object.entries(LANGUAGES).map(([name, write]) => [name, write(request)])
}
