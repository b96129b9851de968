#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sigv4.py PROGRAM COUNT SEED: compares PROGRAM (t/tool/s3sign) with botocore, for COUNT generated requests: canonical
request, string to sign, URL without the query, signature. Prints "N equal, N differ" and the first difference of each
kind. Needs python3-botocore."""
import datetime
import hashlib
import json
import random
import subprocess
import sys
from urllib.parse import quote

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LETTERS = list('abzAZ019') + list(' +%~/-_.*\'()!$&,;:=@?#[]"<>\\^`{|}') + [
    'é', 'ß', '漢', '😀', 'e\u0301', '\u202e', '\u00a0', '%2F', '%20', '//', '/./', '/../']


def text(chance, most, least=0):
    return ''.join(chance.choice(LETTERS) for _ in range(chance.randint(least, most)))


def make_query(chance):
    names = [text(chance, 8, 1), 'uploads', 'partNumber', 'list-type', 'prefix', 'a', 'A', 'a-b', 'a.b', '']
    query = [[chance.choice(names), chance.choice([text(chance, 12), '', '1', '2'])]
             for _ in range(chance.choice([0, 0, 1, 2, 3, 6]))]
    if query and chance.random() < 0.3:
        query.append([query[0][0], text(chance, 3)])
    return query


def make_headers(chance):
    values = ['a  b   c', ' lead', 'trail ', 'a\tb', 'Zürich', '', '"q"']
    possible = [(0.5, [['Content-MD5', 'CY9rzUYh03PK3k6DJie09g==']]), (0.3, [['Range', 'bytes=0-9']]),
                (0.3, [['X-Amz-Meta-Name', chance.choice(values)]]),
                (0.2, [['Content-Type', 'application/pdf; charset="x"']]),
                (0.2, [['X-Amz-Meta-Twice', 'b'], ['x-amz-meta-twice', 'a']])]
    return [header for share, headers in possible if chance.random() < share for header in headers]


def make(chance):
    host = chance.choice(['127.0.0.1', 's3.example.org', 'bucket.s3.eu-central-1.amazonaws.com', '[::1]'])
    hashes = [hashlib.sha256(body).hexdigest() for body in (text(chance, 30).encode(), b'')]
    return dict(method=chance.choice(['GET', 'PUT', 'HEAD', 'DELETE', 'POST']), scheme=chance.choice(['http', 'https']),
                authority=host + chance.choice(['', ':80', ':443', ':8800', ':9000']), path='/' + text(chance, 40),
                query=make_query(chance), headers=make_headers(chance),
                payload=chance.choice(['UNSIGNED-PAYLOAD', *hashes]),
                access=chance.choice(['test:tester', 'AKIAIOSFODNN7EXAMPLE']),
                secret=chance.choice(['testing', 'wJalr/XUtn+FEMI/K7MDENG' * 2]),
                token=chance.choice([None, None, 'FwoGZX/+=' + 'A' * chance.randint(0, 600)]),
                region=chance.choice(['us-east-1', 'eu-central-1', 'garage']), now=chance.randint(1, 4102444800))


def expect(row):
    url = '%s://%s%s' % (row['scheme'], row['authority'], quote(row['path'], safe='/~'))
    request = AWSRequest(method=row['method'], url=url, params=[tuple(pair) for pair in row['query']] or None)
    for name, value in row['headers']:
        request.headers.add_header(name, value)
    when = datetime.datetime.fromtimestamp(row['now'], datetime.timezone.utc)
    request.context['timestamp'] = when.strftime('%Y%m%dT%H%M%SZ')
    auth = S3SigV4Auth(Credentials(row['access'], row['secret'], row['token']), 's3', row['region'])
    auth.payload = lambda _: row['payload']
    auth._modify_request_before_signing(request)
    canonical = auth.canonical_request(request)
    to_sign = auth.string_to_sign(request, canonical)
    return canonical, to_sign, url, auth.signature(to_sign, request)


def main(program, count, seed):
    chance = random.Random(seed)
    rows = [make(chance) for _ in range(count)]
    given = ''.join(json.dumps(row) + '\n' for row in rows)
    done = subprocess.run([program], input=given.encode(), stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode().splitlines()
    assert len(answers) == count, (len(answers), count)
    different, shown = 0, set()
    for row, answer in zip(rows, answers):
        canonical, to_sign, url, signature = json.loads(answer)
        got = (canonical, to_sign, url.split('?')[0], signature)
        kinds = ('canonical request', 'string to sign', 'URL', 'signature')
        wrong = [both for both in zip(kinds, got, expect(row)) if both[1] != both[2]]
        different += bool(wrong)
        for kind, mine, theirs in wrong:
            if kind not in shown:
                print('%s of %r:\n  src        %r\n  botocore %r' % (kind, row, mine, theirs))
            shown.add(kind)
    print('%d equal, %d differ' % (count - different, different))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
