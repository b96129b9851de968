#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""s3server.py FOLDER PORT PORT PORT PORT: OpenStack Swift for the caller's user, with its S3 API on the first port.
Everything is in FOLDER, which must keep extended attributes. It prints "ready" when it serves, and ends with its
standard input. Needs swift-proxy, swift-account, swift-container and swift-object. Keys: test:tester and testing,
other:person and secret. The region is us-east-1. A bucket may also be in the host's name: bucket.s3.localhost."""
import os
import sys

sys.dont_write_bytecode = True  # the folder of this program may be the tree
import s3ready  # noqa: E402

FOLDER, PORTS = os.path.abspath(sys.argv[1]), [int(port) for port in sys.argv[2:6]]
STORAGE = ('object', 'container', 'account')
PIPELINE = ('catch_errors gatekeeper healthcheck memory listing_formats s3api tempauth copy slo dlo symlink '
            'proxy-server')

# tempauth insists on memcached. The proxy is one process, so a dictionary will do.
MEMORY = '''
import time
class Memory:
    kept = {}
    def get(self, key, *_, **__):
        value, until = self.kept.get(key, (None, 0))
        return value if until > time.time() else None
    def set(self, key, value, *_, **options):
        self.kept[key] = (value, time.time() + (options.get('time') or 3600))
    def delete(self, key, *_, **__):
        self.kept.pop(key, None)
def factory(_, **__):
    return lambda app: lambda env, start: app(dict(env, **{'swift.cache': Memory()}), start)
'''


def write(name, *lines):
    with open(os.path.join(FOLDER, name), 'w') as file:
        file.write('\n'.join(lines) + '\n')


def defaults(port):
    return ('[DEFAULT]', 'bind_ip = 127.0.0.1', 'bind_port = %d' % port, 'swift_dir = ' + FOLDER,
            'devices = %s/disk' % FOLDER, 'recon_cache_path = %s/cache' % FOLDER, 'mount_check = false',
            'disable_fallocate = true', 'workers = 0', 'log_level = WARNING')


def configure():
    for name in ('disk/d1', 'cache'):
        os.makedirs(os.path.join(FOLDER, name), exist_ok=True)
    write('swift.conf', '[swift-hash]', 'swift_hash_path_suffix = s', 'swift_hash_path_prefix = p',
          '[storage-policy:0]', 'name = one', 'default = yes')
    for number, role in enumerate(STORAGE, 1):
        write(role + '.conf', *defaults(PORTS[number]), '[pipeline:main]', 'pipeline = %s-server' % role,
              '[app:%s-server]' % role, 'use = egg:swift#' + role)
    filters = [line for name in PIPELINE.split() if name not in ('memory', 'tempauth', 's3api', 'proxy-server')
               for line in ('[filter:%s]' % name, 'use = egg:swift#' + name)]
    write('proxy.conf', *defaults(PORTS[0]), '[pipeline:main]', 'pipeline = ' + PIPELINE, '[app:proxy-server]',
          'use = egg:swift#proxy', 'account_autocreate = true', '[filter:memory]',
          'paste.filter_factory = memory:factory', '[filter:s3api]', 'use = egg:swift#s3api', 'location = us-east-1',
          'storage_domain = s3.localhost', '[filter:tempauth]', 'use = egg:swift#tempauth',
          'user_test_tester = testing .admin',
          'user_other_person = secret .admin', *filters)
    write('memory.py', MEMORY)


def make_rings(builder):
    for number, role in enumerate(STORAGE, 1):
        ring = builder(4, 1, 0)
        ring.add_dev(dict(id=0, region=1, zone=1, ip='127.0.0.1', port=PORTS[number], device='d1', weight=1.0, meta='',
                          replication_ip='127.0.0.1', replication_port=PORTS[number]))
        ring.rebalance()
        ring.get_ring().save('%s/%s.ring.gz' % (FOLDER, role))


def serve(run_wsgi, role):
    pid = os.fork()
    if pid:
        return pid
    null = os.open('/dev/null', os.O_RDONLY)
    log = os.open(FOLDER + '/log', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, descriptor in enumerate((null, log, log)):
        os.dup2(descriptor, number)
    os._exit(run_wsgi('%s/%s.conf' % (FOLDER, role), role + '-server', verbose=True) or 0)


def main():
    configure()
    sys.path.insert(0, FOLDER)
    from swift.common import utils
    utils.set_swift_dir(FOLDER)  # which would be /etc/swift
    from swift.common.ring import RingBuilder
    from swift.common.wsgi import run_wsgi
    make_rings(RingBuilder)
    pids = [serve(run_wsgi, role) for role in STORAGE + ('proxy',)]
    try:
        s3ready.serve(FOLDER, PORTS, '/healthcheck')
    finally:
        s3ready.kill(pids)


main()
