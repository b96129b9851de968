# SPDX-License-Identifier: Apache-2.0
# A read-only database: health and requests that store something get 503, and reading works. A PostgreSQL server becomes
# read-only when it is demoted, SQLite by the permissions of its file. When it can be written again, everything works
# without a restart and with the open connections.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::PDF 'pdf';
use Test::More;

my $apart = Sigreq::Apart->new;

if (suite->{db} eq 'sqlite3') {
    my $file  = "$apart->{dir}/db";
    my $first = $apart->serve;
    is($first->create->code, 201, 'the database can be written');
    $apart->stop;
    chmod 0444, glob "$file*";
    my $client = $apart->serve;
    is($client->get('/signatures')->code, 200, 'with a read-only file reading works');
    is($client->create->code,             503, 'a creation gets 503');
    my $health = $client->get('/health');
    is($health->code, 503, 'health is 503');
    my %says = (status => 'unavailable', database => 'unavailable', helper => 'ok');
    is_deeply($health->json, \%says, 'health says which part is unavailable');
    my $why = qr/SR0110: health: unavailable: database: The database cannot be written \(.*readonly database/;
    like($apart->{httpd}->log, $why, 'the log has the reason');
    chmod 0644, glob "$file*";
    is($apart->serve->get('/health')->code, 200, 'health is ok again');
    $apart->stop;
    done_testing;
    exit;
}

my $httpd  = $apart->httpd(server => 'DBDKeep 10');
my $client = $apart->client($httpd);
my ($socket, $name) = map { $apart->{params} =~ /\b$_=(\S+)/ } 'host', 'dbname';

sub sql {
    my @psql = ('psql', '-qXAt', '-o', '/dev/null', '-h', $socket, '-U', 'postgres', '-d', 'postgres');
    system(@psql, '-c', $_[0]) == 0 or die "psql failed\n";
}
sub health { $client->get('/health') }
sub create { $client->create(files => [['a.pdf', pdf(nonce => "read-only $$ " . shift)]]) }

is(create('before')->code, 201, 'the database can be written');
is(health->code, 200, 'health is ok');
sql("ALTER DATABASE $name SET default_transaction_read_only = on");
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$name'");
ok(wait_for(sub { health->code == 503 }), 'read-only: health is 503');
is_deeply(health->json, { status => 'unavailable', database => 'unavailable', helper => 'ok' },
    'read-only: health says which part is unavailable');
like($httpd->log, qr/SR0110: .*database is read-only/i, 'read-only: the log has the reason');
my $crowd = $client->crowd; # opens more connections to the database, which all are read-only
my @read  = $crowd->parallel(12, 6, sub { $crowd->request_p(GET => '/signatures') });
is(scalar(grep { $_->code == 200 } @read), 12, 'reading works');
is(create('during')->code, 503, 'a creation gets 503');
sql("ALTER DATABASE $name RESET default_transaction_read_only");
ok(wait_for(sub { health->code == 200 }), 'health is ok again, although nothing was written since');
my @written = $crowd->parallel(12, 6, sub { $crowd->create_p(files => [['a.pdf', pdf(nonce => "after $$ @_")]]) });
is(scalar(grep { $_->code == 201 } @written), 12, 'the database is written by all connections');
done_testing;
