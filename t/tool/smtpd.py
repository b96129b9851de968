#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# smtpd.py LOG [CERTIFICATE KEY USER PASSWORD [smtps]]: a mail server on the loopback for tests (aiosmtpd of Debian). Prints
# its port; writes a line of JSON for each mail. With a certificate it wants STARTTLS (smtps: TLS from the first byte), and
# the user's password. A mail to nobody@… is refused, one to
# later@… for the time being, one to slow@… takes its time, and the connection is lost after one to drop@….
import asyncio, base64, json, socket, ssl, sys
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith('nobody@'):
            return '550 5.1.1 No such user'
        if address.startswith('named@'):
            return f'550 5.1.1 <{address}> is unknown'
        if address.startswith('later@'):
            return '450 4.2.0 Greylisted'
        if address.startswith('slow@'):
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):
        drops = envelope.rcpt_tos[0].startswith('drop@')
        with open(sys.argv[1], 'a') as log:
            log.write(json.dumps({
                'from': envelope.mail_from, 'to': envelope.rcpt_tos,
                'tls': server.transport.get_extra_info('sslcontext') is not None,
                'user': session.auth_data, 'data': base64.b64encode(envelope.original_content).decode()}) + '\n')
        if drops:  # it has the mail, and nobody is told
            server.transport.abort()
        return '250 OK'


def authenticate(server, session, envelope, mechanism, data):
    good = (data.login.decode(), data.password.decode()) == tuple(sys.argv[4:6])
    return AuthResult(success=good, handled=False, auth_data=data.login.decode())


options = {}
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    options = {'authenticator': authenticate, 'auth_required': True}
    if sys.argv[6:] == ['smtps']:
        options |= {'ssl_context': context, 'auth_require_tls': False}  # it does not see that there is TLS already
    else:
        options |= {'tls_context': context, 'require_starttls': True}


class Here(Controller):
    def _trigger_server(self):  # its own first connection; the port is the system's choice
        socket.create_connection(self.server.sockets[0].getsockname()).close()


controller = Here(Handler(), hostname='127.0.0.1', port=0, **options)
controller.start()
print(controller.server.sockets[0].getsockname()[1], flush=True)
sys.stdin.read()
