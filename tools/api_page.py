# SPDX-License-Identifier: Apache-2.0
"""api_page.py: the page for people at <location>/api/v3/, made from openapi.json when the module is built. It is one
HTML file without scripts: an entry for each operation, with its members, its answers and an example in five languages,
which stand in api_examples.py."""
import functools
import json
import subprocess

from api_examples import examples_of

METHODS = ('get', 'post', 'put', 'patch', 'delete')
DEPTH = 4  # levels of members within members that are shown
LIMITS = {
    'minLength': 'at least {} characters', 'maxLength': 'at most {} characters',
    'minimum': 'at least {}', 'maximum': 'at most {}',
    'minItems': 'at least {} entries', 'maxItems': 'at most {} entries', 'default': 'default {}',
}


def escape(text):
    for sign, entity in ('&', '&amp;'), ('<', '&lt;'), ('>', '&gt;'), ('"', '&quot;'):
        text = text.replace(sign, entity)
    return text


def code(text):
    return f'<code>{escape(text)}</code>'


def in_json(value, indent=2):
    return json.dumps(value, ensure_ascii=False, indent=indent)


def note(html):
    return f'<span class="type">{html}</span>'


def verb(method):
    return f'<b class="{method}">{method.upper()}</b>'


def verbatim(value):
    return f'<pre tabindex="0">{escape(value if isinstance(value, str) else in_json(value))}</pre>'


def details(summary, html, attributes=''):
    return f'<details{attributes}><summary>{summary}</summary>{html}</details>'


@functools.cache
def prose(text):
    """Markdown as HTML: paragraphs."""
    return subprocess.run(['cmark'], input=text, capture_output=True, check=True, text=True).stdout if text else ''


def words(text):
    """Markdown as HTML within a paragraph."""
    return prose(text).strip().removeprefix('<p>').removesuffix('</p>')


class Page:
    def __init__(self, spec):
        self.spec = spec

    def resolve(self, node):
        if not node or '$ref' not in node:
            return node
        found = self.spec
        for key in node['$ref'].split('/')[1:]:
            found = found[key.replace('~1', '/')]
        return {**self.resolve(found), **{key: value for key, value in node.items() if key != '$ref'}}

    def merged(self, node):  # allOf is a type with more about its members
        schema = self.resolve(node) or {}
        if 'allOf' not in schema:
            return schema
        all_parts, properties = {}, {}
        for part in [*map(self.merged, schema['allOf']), {key: schema[key] for key in schema if key != 'allOf'}]:
            properties |= part.get('properties', {})
            all_parts |= part
        return {**all_parts, 'properties': properties}

    def type_of(self, node):
        schema = self.merged(node)
        if 'const' in schema:
            return code(in_json(schema['const']))
        if 'enum' in schema:
            return ', '.join(code(in_json(each)) for each in schema['enum'])
        types = schema.get('type', [])
        types = [f"array of {self.type_of(schema.get('items'))}" if each == 'array' else each
                 for each in (types if isinstance(types, list) else [types])]
        if not types:
            return ' or '.join(self.type_of(each) for each in schema.get('oneOf', schema.get('anyOf', []))) or 'any'
        return ' or '.join(types) + (f" ({escape(schema['format'])})" if 'format' in schema else '')

    @staticmethod
    def limits_of(schema):
        for key, text in LIMITS.items():
            limit = schema.get(key)
            if limit == 1 and key in ('minLength', 'minItems'):
                yield 'not empty'
            elif limit is not None:
                yield text.replace('{}', escape(limit if isinstance(limit, str) else in_json(limit, None)))

    def inner(self, node):  # the object that an object, an array or an alternative is about
        schema = self.merged(node)
        if 'properties' in schema:
            return schema
        for key in 'items', 'contentSchema':
            if key in schema:
                return self.inner(schema[key])
        return next(filter(None, map(self.inner, schema.get('oneOf', []) + schema.get('anyOf', []))), None)

    def member(self, name, node, required, depth, description=None):
        schema = self.merged(node)
        below = self.inner(schema) if depth < DEPTH else None
        notes = [self.type_of(schema), *(['required'] if required else []), *self.limits_of(schema)]
        more = details(f'Members of {code(name)}', self.members(below, depth + 1)) if below else ''
        text = words(description or schema.get('description'))
        return f"<dt>{code(name)} {note(' · '.join(notes))}</dt><dd>{text}{more}</dd>"

    def members(self, schema, depth=0):
        required = schema.get('required', [])
        html = (self.member(name, node, name in required, depth) for name, node in schema['properties'].items())
        return f"<dl>{''.join(html)}</dl>"

    def parameters_of(self, operation):
        parameters = self.spec['paths'][operation['path']].get('parameters', []) + operation.get('parameters', [])
        html = ''.join(
            self.member(each['name'], each['schema'], each.get('required'), DEPTH,
                        f"In the {each['in']}. {each.get('description', '')}".strip())
            for each in map(self.resolve, parameters))
        return html and f'<h4>Parameters</h4><dl>{html}</dl>'

    def body_of(self, operation):
        body, html = self.resolve(operation.get('requestBody')) or {}, ''
        for kind, shape in body.get('content', {}).items():
            schema = self.inner(shape.get('schema'))
            optional = '' if body.get('required') else ', optional'
            html += f"<h4>Body: {code(kind)}{optional}</h4>{self.members(schema) if schema else ''}"
        return html

    def answer(self, status, node):
        node = self.resolve(node)
        kind, shape = next(iter(node.get('content', {}).items()), ('', {}))
        schema = self.inner(shape.get('schema'))
        examples = [self.resolve(each)['value'] for each in shape.get('examples', {}).values()]
        more = ''.join(map(verbatim, [shape['example']] if 'example' in shape else examples[:1]))
        if status < '300' and schema:
            more += self.members(schema)
        line = f'<b class="s{status[0]}">{status}</b> ' + words(node['description'])
        line += f' {note(escape(kind))}' if kind else ' '
        return details(line, more, ' class="answer"') if more else f'<p class="answer">{line}</p>'

    def answers_of(self, operation):
        return '<h4>Answers</h4>' + ''.join(self.answer(*each) for each in sorted(operation['responses'].items()))

    def entry(self, operation):
        name, method = operation['operationId'], operation['method']
        path = escape(('' if operation['base'] else 'BASE_URL') + operation['path'])
        free = f" {note('no token needed')}" if operation.get('security') == [] else ''
        examples = ''.join(
            details(language, verbatim(text), f' name="{name}"' + ('' if at else ' open'))
            for at, (language, text) in enumerate(examples_of(operation, self.resolve)))
        members = self.parameters_of(operation) + self.body_of(operation) + self.answers_of(operation)
        return f'''<section class="operation" id="{name}" aria-labelledby="{name}-title">
<div><h3 id="{name}-title">{escape(operation['summary'])}</h3>
<p class="request">{verb(method)} <code>{path.replace('/', '/<wbr>')}</code>{free}</p>
{prose(operation.get('description'))}{members}</div>
<div class="examples"><h4>Example</h4>{examples}</div></section>'''

    def webhook(self, name, post):
        example = next(iter(post['requestBody']['content'].values()))['example']
        return f'''<section class="operation webhook" aria-labelledby="webhook-{name}">
<div><h3 id="webhook-{name}">{escape(post['summary'])}: {code(name)}</h3>
{prose(post.get('description'))}{self.body_of(post)}</div>
<div class="examples"><h4>Example</h4>{verbatim(example)}</div></section>'''

    def group(self, tag, operations):
        html = ''.join(map(self.entry, operations))
        if tag['name'] == 'webhooks':
            html += ''.join(self.webhook(name, methods['post']) for name, methods in self.spec['webhooks'].items())
        return f'''<section aria-labelledby="tag-{tag['name']}">
<h2 id="tag-{tag['name']}">{tag['name']}</h2><p>{words(tag.get('description'))}</p>{html}</section>'''

    def html(self, css):
        # paths with servers of their own are those of signing links
        operations = [{'path': path, 'base': '' if 'servers' in methods else '/api/v3', 'method': method, **operation}
                      for path, methods in self.spec['paths'].items()
                      for method, operation in methods.items() if method in METHODS]
        info, contents, body = self.spec['info'], '', []
        for tag in self.spec['tags']:
            tagged = [each for each in operations if tag['name'] in each['tags']]
            links = ''.join(f"<li><a href=\"#{each['operationId']}\">{verb(each['method'])} "
                            f"{escape(each['summary'])}</a></li>" for each in tagged)
            contents += f"<li><a href=\"#tag-{tag['name']}\">{tag['name']}</a><ul>{links}</ul></li>"
            body.append(self.group(tag, tagged))
        sections, title = '\n'.join(body), escape(info['title'])
        return f'''<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{css}</style></head><body>
<a class="skip" href="#main">Skip to the description</a>
<nav aria-label="Contents">
<p class="title"><a href="#main">{title}</a> {note(escape(info['version']))}</p>
<ul><li><a href="openapi.json">openapi.json</a></li>{contents}</ul></nav>
<main id="main"><h1>{title}</h1>
{prose(info['description'])}
<p>In the examples, {code('BASE_URL')} is the URL of the service without {code('/api/v3')}, and {code('TOKEN')}
a token.
{code('openapi.json')} has the same as this page for programs (OpenAPI {escape(self.spec['openapi'])}).</p>
{sections}</main></body></html>
'''


def api_page(spec, css):
    """The page's HTML. The descriptions are Markdown, and `css` is the text of its style."""
    return Page(spec).html(css)
