# SPDX-License-Identifier: Apache-2.0
"""s3ready.py: what s3server.py and s3rados.py do with the servers that they have started. Nothing runs it by itself."""
import http.client
import os
import signal
import sys
import time


def answers(port, path):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=5)
    try:
        connection.request('GET', path)
        return connection.getresponse().status > 0
    except OSError:
        return False


def serve(folder, ports, path):
    """Prints "ready" when all ports answer, and returns when the standard input has ended. Exits if a child has ended,
    or after two minutes."""
    for _ in range(1200):
        if all(answers(port, path) for port in ports):
            break
        if os.waitpid(-1, os.WNOHANG)[0]:
            sys.exit('%s: a server has ended: see %s/log' % (sys.argv[0], folder))
        time.sleep(0.1)
    else:
        sys.exit('%s: the servers do not answer' % sys.argv[0])
    print('ready', flush=True)
    sys.stdin.read()


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
