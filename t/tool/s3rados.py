#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""s3rados.py FOLDER PORT PORT [PORT...]: Ceph for the caller's user, with the S3 API of radosgw on the first port and
its monitor on the second one. Everything is in FOLDER; with what a former run has left there, it goes on. It prints
"ready" when it serves, and ends with its standard input. Needs radosgw, ceph-mon and ceph-osd. Keys: test:tester and
testing, other:person and secret, who may have buckets of the same names. A bucket may also be in the host's name:
bucket.s3.localhost. See s3server.py."""
import os
import subprocess
import sys
import uuid

sys.dont_write_bytecode = True  # the folder of this program may be the tree
import s3ready  # noqa: E402

FOLDER, GATEWAY, MONITOR = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
LOG = open(os.path.join(FOLDER, 'log'), 'a')
CONFIGURATION = '''[global]
fsid = %(fsid)s
mon host = v2:127.0.0.1:%(monitor)d
public addr = 127.0.0.1
cluster addr = 127.0.0.1
run dir = %(folder)s
admin socket =
log file =
log to stderr = true
err to stderr = true
auth allow insecure global id reclaim = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
osd objectstore = bluestore
bluestore block size = 8589934592
bluestore block preallocate file = false
mon allow pool size one = true
mon max pg per osd = 2000
mon data = %(folder)s/mon
mon data avail crit = 1
osd data = %(folder)s/osd
[mon]
keyring = %(folder)s/keyring
[osd]
keyring = %(folder)s/osd/keyring
[client]
keyring = %(folder)s/keyring
rgw frontends = beast endpoint=127.0.0.1:%(gateway)d
rgw enable apis = s3, swift, swift_auth
rgw swift account in url = true
rgw dns name = s3.localhost
'''


def path(name):
    return os.path.join(FOLDER, name)


def program(name, *arguments):
    return [name, '-c', path('ceph.conf'), *arguments]


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=LOG, timeout=120)
    if result.returncode:
        sys.exit('s3rados.py: %s failed: see %s/log' % (command[0], FOLDER))
    return result.stdout.decode().strip()


def start(*command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=LOG, stderr=LOG, start_new_session=True).pid


def make_monitor():
    fsid, keyring = str(uuid.uuid4()), path('keyring')
    for name in ('mon', 'osd'):
        os.makedirs(path(name))
    with open(path('ceph.conf'), 'w') as file:
        file.write(CONFIGURATION % dict(fsid=fsid, monitor=MONITOR, gateway=GATEWAY, folder=FOLDER))
    run('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
    run('ceph-authtool', keyring, '--gen-key', '-n', 'client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *')
    run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', '[v2:127.0.0.1:%d]' % MONITOR, path('monmap'))
    run(*program('ceph-mon', '--mkfs', '-i', 'a', '--monmap', path('monmap'), '--keyring', keyring))


def make_storage():
    ceph = program('ceph')
    run(*ceph, 'osd', 'create')
    run(*ceph, 'auth', 'get-or-create', 'osd.0', 'mon', 'allow profile osd', 'osd', 'allow *', '-o', path('osd/keyring'))
    run(*program('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', str(uuid.uuid4())))
    run(*ceph, 'osd', 'crush', 'add', 'osd.0', '1', 'root=default', 'host=localhost')


def make_users():
    admin = program('radosgw-admin', '-n', 'client.admin')
    run(*admin, 'user', 'create', '--uid', 'test', '--display-name', 'test', '--access-key', 'test:tester', '--secret',
        'testing')
    run(*admin, 'subuser', 'create', '--uid', 'test', '--subuser', 'test:tester', '--key-type', 'swift', '--secret',
        'testing', '--access', 'full')
    run(*admin, 'user', 'create', '--tenant', 'other', '--uid', 'other', '--display-name', 'other', '--access-key',
        'other:person', '--secret', 'secret')


def main():
    new, pids = not os.path.exists(path('made')), []
    try:
        if new:
            make_monitor()
        pids.append(start(*program('ceph-mon', '-f', '-i', 'a')))
        if new:
            make_storage()
        pids.append(start(*program('ceph-osd', '-f', '-i', '0')))
        if new:
            make_users()
            open(path('made'), 'w').close()
        pids.append(start(*program('radosgw', '-f', '-n', 'client.admin')))
        s3ready.serve(FOLDER, [GATEWAY], '/')
    finally:
        s3ready.kill(pids)


main()
