# SPDX-License-Identifier: Apache-2.0
# A PostgreSQL that can lose committed data: `httpd -t`, the start, the health check and `sigreqctl db status`
# say so, and the service goes on.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Clock qw(clock_missing clocked);
use Sigreq::Here 'suite';
use Sigreq::Httpd;
use Test::More;

my $apart  = Sigreq::Apart->new;
my $httpd  = $apart->httpd;
my $client = $apart->client($httpd);

sub health { return $client->get('/health', query => { verbose => '' })->json->{durability} }
sub status { return $apart->ctl('db', 'status')->{risk} }

is(health(),                                          'ok',  'the database keeps what it has committed');
is($client->get('/health')->json->{durability},       undef, 'who does not ask for more is not told');
is(status(),                                          undef, 'sigreqctl db status has no risk to report');
unlike($httpd->log, qr/SR0704/, 'nor has the error log');
if (suite->{db} ne 'pgsql') {
    done_testing;
    exit;
}

sub is_told {    # by all of them
    my ($name, $reason) = @_;
    my ($code, $said) = $httpd->test;
    is($code, 0, "$name: httpd -t succeeds");
    like($said, qr/SR0704: the database of the main server \(.*\) can lose committed data: $reason/,
        "$name: httpd -t warns");
    like(status(), qr/^$reason/, "$name: sigreqctl db status warns");
    is(health(), 'at risk', "$name: the health check warns");
}

my ($name) = $apart->{params} =~ /dbname=(\S+)/;
my $set    = "ALTER DATABASE $name SET synchronous_commit =";
my $reset  = "ALTER DATABASE $name RESET synchronous_commit";
sub reconnect { $httpd->graceful }    # settings of a database hold for new connections
my @reload = ('SELECT pg_reload_conf()');

my ($code, $said) = Sigreq::Httpd->new($apart->database, children => 300)->test;
is($code, 0, 'too few connections for 300 children: httpd -t succeeds');
like($said, qr/SR0705: .* accepts \d+ connections, and httpd's children may open \d+: set max_connections/,
    'too few connections for 300 children: httpd -t warns');
like($apart->ctl('db', 'status', '--connections', 3000)->{risk}, qr/^it accepts \d+ connections/,
    'too few connections for 3000 children: db status warns');

SKIP: {
    skip(clock_missing(), 2) if clock_missing();
    ($code, $said) = clocked(sub { $httpd->test }, 3600);
    is($code, 0, 'a clock that is an hour ahead: httpd -t succeeds');
    like($said, qr/SR0706: .*\b3[56]\d\d s\b/, 'a clock that is an hour ahead: httpd -t warns');
}

Sigreq::Apart::superuser("$set off");
reconnect();
is_told('commits do not wait for the disk', 'synchronous_commit is off: a crash of the server');
like($httpd->log, qr/SR0704: .*synchronous_commit is off/, 'the log of the restart warns that commits do not wait');
Sigreq::Apart::superuser($reset);
reconnect();
is(health(), 'ok', 'all is well again');

Sigreq::Apart::superuser(q{SELECT pg_create_physical_replication_slot('durable')});
is_told('a standby that nothing waits for', 'it has a standby, but synchronous_standby_names is empty: a failover');
Sigreq::Apart::superuser("$set local", q{ALTER SYSTEM SET synchronous_standby_names = 'durable'}, @reload);
reconnect();
is_told('commits that do not wait for it', 'synchronous_commit is local: a failover');
Sigreq::Apart::superuser(q{ALTER SYSTEM RESET synchronous_standby_names}, @reload); # nothing else is committed before
Sigreq::Apart::superuser($reset, q{SELECT pg_drop_replication_slot('durable')});

Sigreq::Apart::superuser('ALTER SYSTEM SET full_page_writes = off', @reload);
is_told('pages that may be torn', 'full_page_writes is off');
Sigreq::Apart::superuser('ALTER SYSTEM SET fsync = off', @reload);
is_told('no waiting for the disk at all', 'fsync is off');
Sigreq::Apart::superuser(map({"ALTER SYSTEM RESET $_"} qw(fsync full_page_writes)), @reload);
reconnect();
is(health(), 'ok', 'all is well at the end');
done_testing;
