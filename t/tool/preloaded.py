# SPDX-License-Identifier: Apache-2.0
"""preloaded.py ARGUMENT...: runs `judge.py ARGUMENT...`, which is in the same folder. t/run puts both there, and calls
this program `judge`. To import pyHanko takes ten times as long as to judge a document, so the first call starts a
process that has imported it and that forks for each call. It ends with everything else that t/run has started."""
import contextlib, fcntl, gc, json, os, runpy, signal, socket, sys, traceback

HERE = os.path.dirname(os.path.abspath(__file__))
JUDGE = HERE + '/judge.py'
SOCKET = HERE + '/judge.socket'


def run(arguments):
    """The exit status of the judge, in this process."""
    sys.argv = [JUDGE, *arguments]
    try:
        runpy.run_path(JUDGE, run_name='__main__')
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1


def answer(connection):
    text, files, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    folder, arguments = json.loads(text)
    os.chdir(folder)
    status = run(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(b'%d' % status)


def reap(*_):
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve(ready):
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    for number in range(3, 256):  # of the call, such as its lock
        if number != ready:
            with contextlib.suppress(OSError):
                os.close(number)
    if run([]) == 77:  # without arguments, it says how it is called after it has imported everything
        os._exit(0)
    gc.freeze()
    signal.signal(signal.SIGCHLD, reap)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(SOCKET + '.new')
    listener.listen(100)
    os.rename(SOCKET + '.new', SOCKET)
    os.close(ready)
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            try:
                answer(connection)
            finally:
                os._exit(0)
        connection.close()


def start():
    started, ready = os.pipe()
    if not os.fork():
        try:
            serve(ready)
        finally:
            os._exit(1)
    os.close(ready)
    os.read(started, 1)  # until it waits for calls, or has ended
    os.close(started)


def connected():
    """A connection to the process that has imported pyHanko, or None if there cannot be one."""
    if 'LD_PRELOAD' in os.environ:  # a clock or a sanitizer, which the other process does not have
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.suppress(OSError):
        connection.connect(SOCKET)
        return connection
    with open(JUDGE + '.lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):  # another call may have started it
            connection.connect(SOCKET)
            return connection
        start()
        with contextlib.suppress(OSError):
            connection.connect(SOCKET)
            return connection
    return None


def main():
    connection = connected()
    if not connection:
        os.execv(sys.executable, [sys.executable, JUDGE, *sys.argv[1:]])
    socket.send_fds(connection, [json.dumps([os.getcwd(), sys.argv[1:]]).encode()], [1, 2])
    status = connection.recv(16)
    sys.exit(int(status) if status else 'judge: the process that judges has ended')


main()
