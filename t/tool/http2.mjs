// SPDX-License-Identifier: Apache-2.0
// http2.mjs CERTIFICATE KEY: a receiver of webhooks that speaks HTTP/2 and HTTP/1.1 over TLS, whatever ALPN settles on.
// Prints its port, then a line "VERSION CONNECTION PATH BODY" for each request. /refused refuses the stream, after which
// a client may try again if it likes; everything else is answered 200. It ends with its standard input.
import { readFileSync } from 'node:fs';
import { createSecureServer, constants } from 'node:http2';

const [cert, key] = process.argv.slice(2).map((file) => readFileSync(file));
const connections = new Map();
const server = createSecureServer({ cert, key, allowHTTP1: true }, async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const socket = request.stream?.session ?? request.socket;
    if (!connections.has(socket)) connections.set(socket, connections.size + 1);
    console.log(request.httpVersion, connections.get(socket), request.url, body);
    if (request.url === '/refused') return request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    setTimeout(() => response.writeHead(200).end('ok'), 50);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
