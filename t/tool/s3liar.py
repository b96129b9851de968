#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""s3liar.py PORT: a proxy in front of an S3 server on 127.0.0.1:PORT that lies about requests for blobs. It prints its
own port, and ends with its standard input. PUT /-/FAULT/COUNT/METHOD arms a fault for the next COUNT such requests;
GET /-/ tells how many blobs were asked for since then. The faults:
500, 503, 429, 501, html (502), denied, expired, region, redirect, bucket, skew, ok200error: such a response
reset: the connection ends. lost: it ends after the request was done. stall: no response
cut: half of the body. short: half of it with its own length. wrong: another byte. late: 404
lie: 200, and nothing is done"""
import http.client
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
BLOB = re.compile(r'/[0-9a-f]{2}/[0-9a-f]{64}')
REFUSALS = {'500': (500, 'InternalError'), '503': (503, 'SlowDown'), '429': (429, 'TooManyRequests'),
            '501': (501, 'NotImplemented'), 'denied': (403, 'AccessDenied'), 'expired': (400, 'ExpiredToken'),
            'region': (400, 'AuthorizationHeaderMalformed'), 'redirect': (307, 'TemporaryRedirect'),
            'bucket': (404, 'NoSuchBucket'), 'skew': (403, 'RequestTimeTooSkewed'),
            'ok200error': (200, 'InternalError'), 'late': (404, 'NoSuchKey')}
BODY = ('<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message><Region>eu-central-1</Region>'
        '<RequestId>liar1</RequestId></Error>')
mutex = threading.Lock()
armed = {'fault': '', 'count': 0, 'method': '', 'asked': 0}


class Proxy(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def reply(self, status, body=b'', headers=(), declared=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body) if declared is None else declared))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def drop(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0')
        self.close_connection = True
        self.connection.close()

    def control(self):
        parts = self.path.split('/')
        with mutex:
            asked = armed['asked']
            if self.command == 'PUT':
                armed.update(fault=parts[2], count=int(parts[3]), method=parts[4], asked=0)
        self.reply(200, str(asked).encode())

    def take_fault(self):
        with mutex:
            if not BLOB.search(self.path) or armed['method'] not in ('any', self.command):
                return ''
            armed['asked'] += 1
            if armed['count'] <= 0:
                return ''
            armed['count'] -= 1
            return armed['fault']

    def forward(self, body):
        server = http.client.HTTPConnection('127.0.0.1', PORT, timeout=60)
        server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() != 'expect':
                server.putheader(name, value)
        server.endheaders(body or None)
        answer = server.getresponse()
        return answer.status, answer.getheaders(), answer.read()

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.path.startswith('/-/'):
            return self.control()
        fault = self.take_fault()
        if fault == 'stall':
            time.sleep(60)
        if fault in ('reset', 'stall'):
            return self.drop()
        if fault == 'html':
            return self.reply(502, b'<html>Bad gateway<br></html>')
        if fault == 'lie':
            return self.reply(200)
        if fault in REFUSALS:
            status, code = REFUSALS[fault]
            return self.reply(status, (BODY % code).encode(), [('x-amz-request-id', 'liar1')])
        status, headers, content = self.forward(body)
        if fault == 'lost':
            return self.drop()
        return self.pass_on(fault, status, headers, content)

    def pass_on(self, fault, status, headers, content):
        length = len(content)
        kept = [(name, value) for name, value in headers
                if name.lower() not in ('content-length', 'transfer-encoding', 'connection')]
        if self.command == 'HEAD':
            length = int(dict((name.lower(), value) for name, value in headers).get('content-length', 0))
        if fault == 'wrong' and content:
            content = bytes([content[0] ^ 1]) + content[1:]
        if fault in ('cut', 'short'):
            content = content[:length // 2]
            length = length if fault == 'cut' else len(content)
            self.close_connection = fault == 'cut'
        self.reply(status, content, kept, length)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(('127.0.0.1', 0), Proxy)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
