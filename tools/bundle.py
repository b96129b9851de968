#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""bundle.py OUT: makes the files that browsers load for the pages. The program esbuild bundles the entries in
src/web/assets/{js,css} into OUT. Each name contains a hash of the content. A file that gets smaller by compression also
has the forms .gz and .br. OUT/../api gets the API's page for people and its policy (tools/api_page.py). tools/embed
puts all of them into the module. esbuild, brotli and cmark are Debian packages."""
import base64
import gzip
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

from api_page import api_page

if len(sys.argv) != 2:
    sys.exit('usage: tools/bundle.py OUT')
out = pathlib.Path(sys.argv[1])
lacking = [program for program in ('esbuild', 'brotli', 'cmark') if not shutil.which(program)]
if lacking:
    sys.exit(f"bundle: missing: {' '.join(lacking)}. 'make deps' installs them.")


def bundle(entries, *options):
    command = ['esbuild', *(f'src/web/assets/{entry}' for entry in entries), '--bundle', '--minify', '--charset=utf8',
               '--legal-comments=eof', '--log-level=warning', '--target=es2022,chrome100,firefox100,safari15.4']
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(1)  # esbuild has printed the reason
    return done.stdout


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
named = [f'--outdir={out}', '--entry-names=[name]-[hash]', '--loader:.svg=copy']
bundle(['js/page.js', 'js/board/main.js', 'js/desk_new.js', 'js/copy.js', 'css/page.css', 'css/place.css',
        'css/desk.css', 'css/icon.svg'], '--format=esm', *named)
bundle(['js/boot.js', 'js/embed.js'], '--format=iife', *named)

for file in sorted(out.iterdir()):
    data = file.read_bytes()
    brotli = subprocess.run(['brotli', '--stdout', '--quality=11', file], stdout=subprocess.PIPE, check=True).stdout
    for suffix, form in ('gz', gzip.compress(data, mtime=0)), ('br', brotli):
        if len(form) < len(data) * 0.95:
            write(out / f'{file.name}.{suffix}', form)

css = bundle(['css/api.css']).strip()
api = out.parent / 'api'
api.mkdir(exist_ok=True)
with open('src/api/openapi.json', encoding='utf-8') as spec:
    write(api / 'page.html', api_page(json.load(spec), css))
digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
write(api / 'policy', f"default-src 'none'; style-src 'sha256-{digest}'; "
                      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
