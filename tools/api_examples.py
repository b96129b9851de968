# SPDX-License-Identifier: Apache-2.0
"""api_examples.py: how each operation of the API is called from a shell, Python, JavaScript, PHP and Perl. The programs
take BASE_URL and TOKEN from the environment, and what a path needs, such as UUID. t/api/page.t runs some."""
import json
import re
from types import SimpleNamespace


def quoted(text):  # as in Python, JavaScript, PHP and Perl
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def shell(text):
    return "'" + text.replace("'", "'\\''") + "'"


def request_of(operation, resolve):
    """What is sent. At most one of `json`, `parts` and `file` is set, and `body` tells whether one is."""
    content = (resolve(operation.get('requestBody')) or {}).get('content', {})
    kind, shape = next(iter(content.items()), (None, {}))
    saved = 'application/pdf' in list((resolve(operation['responses'].get('200')) or {}).get('content', {}))[:1]
    request = SimpleNamespace(
        method=operation['method'].upper(), pieces=re.split(r'\{(\w+)\}', operation['base'] + operation['path']),
        type=kind, body=True, json=None, file=None, parts=[], save='document.pdf' if saved else None,
        token=operation.get('security') != [],
        accept=operation['operationId'] == 'getSigning')  # without it, the answer is the page
    if kind == 'application/json':
        request.json = json.dumps(shape['example'], ensure_ascii=False, separators=(',', ':'))
    elif kind == 'application/pdf':
        request.file = 'signed.pdf'
    elif kind == 'multipart/form-data':
        schema = resolve(shape['schema'])
        # a file, which has no example, and not a template
        request.parts = [(name, schema['properties'][name].get('example')) for name in ['file', *schema['required']]]
    else:
        request.body = False
    return request


def variables(request):
    return [name.upper() for name in request.pieces[1::2]]


def url_of(request, variable):
    """The URL: fixed pieces, and between them variables, in the form of a language."""
    return ''.join(variable.replace('NAME', piece.upper()) if at % 2 else piece
                   for at, piece in enumerate(request.pieces))


def in_shell(request):
    options = []
    if request.method != 'GET' and not (request.method == 'POST' and request.body):
        options.append(f'-X {request.method}')
    if request.token:
        options.append('-H "Authorization: Bearer $TOKEN"')
    if request.accept:
        options.append("-H 'Accept: application/json'")
    if request.json:
        options.append(f'--json {shell(request.json)}')
    if request.file:
        options.append(f"-H 'Content-Type: {request.type}' --data-binary @{request.file}")
    for name, value in request.parts:
        options.append(f"-F '{name}=@lease.pdf;type=application/pdf'" if value is None
                       else f'--form-string {shell(f"{name}={value}")}')
    if request.save:
        options.append(f'-o {request.save}')
    url = url_of(request, '$NAME')
    return ' \\\n  '.join(['curl -sS --fail-with-body', *options, f'"$BASE_URL{url}"'])


def in_python(request):
    path = url_of(request, "{os.environ['NAME']}")
    lines = ['import os', 'import requests', '', f'url = os.environ["BASE_URL"] + f"{path}"']
    given = ['url']
    if request.token:
        lines.append('headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}')
    elif request.accept:
        lines.append('headers = {"Accept": "application/json"}')
    elif request.body:
        lines.append('headers = {}')
    if request.token or request.accept or request.body:
        given.append('headers=headers')
    if request.json:
        lines += [f'body = {quoted(request.json)}', 'headers["Content-Type"] = "application/json"']
        given.append('data=body')
    if request.file:
        lines.append(f'headers["Content-Type"] = "{request.type}"')
        given.append(f'data=open("{request.file}", "rb")')
    if request.parts:
        data = ',\n        '.join(f'"{name}": {quoted(value)}' for name, value in request.parts if value is not None)
        lines += ['files = {"file": ("lease.pdf", open("lease.pdf", "rb"), "application/pdf")}', f'data = {{{data}}}']
        given += ['files=files', 'data=data']
    return '\n'.join([*lines, f'answer = requests.{request.method.lower()}({", ".join(given)})',
                      'answer.raise_for_status()',
                      f'open("{request.save}", "wb").write(answer.content)' if request.save else 'print(answer.text)'])


def in_javascript(request):
    lines, given, headers = [], [], []
    files = ['readFile'] * bool(request.file or request.parts) + ['writeFile'] * bool(request.save)
    if files:
        lines += [f"import {{ {', '.join(files)} }} from 'node:fs/promises'", '']
    names = ['BASE_URL'] + ['TOKEN'] * request.token + variables(request)
    lines.append(f"const {{ {', '.join(names)} }} = process.env")
    if request.token:
        headers.append('Authorization: `Bearer ${TOKEN}`')
    if request.accept:
        headers.append("Accept: 'application/json'")
    if request.json or request.file:
        headers.append(f"'Content-Type': '{request.type}'")
    if request.method != 'GET':
        given.append(f"method: '{request.method}'")
    if headers:
        given.append(f"headers: {{ {', '.join(headers)} }}")
    if request.json:
        given.append(f'body: {quoted(request.json)}')
    if request.file:
        given.append(f"body: await readFile('{request.file}')")
    if request.parts:
        lines.append('const form = new FormData()')
        blob = "new Blob([await readFile('lease.pdf')], { type: 'application/pdf' }), 'lease.pdf'"
        lines += [f"form.set('{name}', {blob if value is None else quoted(value)})" for name, value in request.parts]
        given.append('body: form')
    options = ('\n  ' + ',\n  '.join(given) + ',\n') if given else ''
    url = url_of(request, '${NAME}')
    return '\n'.join([*lines, f'const answer = await fetch(`${{BASE_URL}}{url}`, {{{options}}})',
                      'if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)',
                      f"await writeFile('{request.save}', Buffer.from(await answer.arrayBuffer()))" if request.save
                      else 'console.log(await answer.text())'])


def in_php(request):
    url = ["getenv('BASE_URL')"] + [f"getenv('{piece.upper()}')" if at % 2 else quoted(piece)
                                    for at, piece in enumerate(request.pieces) if piece]
    headers, options = [], ['CURLOPT_RETURNTRANSFER => true', 'CURLOPT_FAILONERROR => true']
    if request.token:
        headers.append("'Authorization: Bearer ' . getenv('TOKEN')")
    if request.accept:
        headers.append("'Accept: application/json'")
    if request.json or request.file:
        headers.append(f"'Content-Type: {request.type}'")
    if request.method != 'GET':
        options.append(f"CURLOPT_CUSTOMREQUEST => '{request.method}'")
    if headers:
        options.append(f"CURLOPT_HTTPHEADER => [{', '.join(headers)}]")
    if request.json:
        options.append(f'CURLOPT_POSTFIELDS => {quoted(request.json)}')
    if request.file:
        options.append(f"CURLOPT_POSTFIELDS => file_get_contents('{request.file}')")
    if request.parts:
        file = "new CURLFile('lease.pdf', 'application/pdf', 'lease.pdf')"
        parts = ',\n        '.join(f"'{name}' => {file if value is None else quoted(value)}"
                                  for name, value in request.parts)
        options.append(f'CURLOPT_POSTFIELDS => [\n        {parts},\n    ]')
    all_options = ',\n    '.join(options)
    return '\n'.join([
        '<?php', f"$request = curl_init({' . '.join(url)});",
        f'curl_setopt_array($request, [\n    {all_options},\n]);',
        '$answer = curl_exec($request);', 'if ($answer === false) exit(curl_error($request) . "\\n");',
        f"file_put_contents('{request.save}', $answer);" if request.save else 'echo $answer, "\\n";'])


def in_perl(request):
    url = url_of(request, '$ENV{NAME}')
    lines = ['use v5.36;', 'use HTTP::Request::Common qw(DELETE GET PATCH POST);', 'use LWP::UserAgent;', '']
    given = [f'"$ENV{{BASE_URL}}{url}"']
    if request.token:
        given.append('Authorization => "Bearer $ENV{TOKEN}"')
    if request.accept:
        given.append("Accept => 'application/json'")
    if request.json:
        given += [f"Content_Type => '{request.type}'", f'Content => {quoted(request.json)}']
    if request.file:
        lines.append(f"open my $file, '<:raw', '{request.file}' or die \"{request.file}: $!\";")
        given += [f"Content_Type => '{request.type}'", 'Content => do { local $/; <$file> }']
    if request.parts:
        file = "['lease.pdf', 'lease.pdf', Content_Type => 'application/pdf']"
        parts = ',\n        '.join(f'{name} => {file if value is None else quoted(value)}'
                                  for name, value in request.parts)
        given += ["Content_Type => 'form-data'", f'Content => [\n        {parts}]']
    all_given = ',\n    '.join(given)
    return '\n'.join([
        *lines, f'my $answer = LWP::UserAgent->new->request({request.method}(\n    {all_given}));',
        'die $answer->status_line, "\\n", $answer->decoded_content unless $answer->is_success;',
        f"open my $out, '>:raw', '{request.save}' or die \"{request.save}: $!\";\nprint $out $answer->content;"
        if request.save else 'say $answer->decoded_content;'])


LANGUAGES = {'Shell': in_shell, 'Python': in_python, 'JavaScript': in_javascript, 'PHP': in_php, 'Perl': in_perl}


def examples_of(operation, resolve):
    """[(name of the language, program), …]"""
    request = request_of(operation, resolve)
    return [(name, write(request)) for name, write in LANGUAGES.items()]
