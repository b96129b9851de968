# SPDX-License-Identifier: Apache-2.0
# A database that can only be read: health and whatever stores say 503, and reading goes on. A PostgreSQL becomes so
# when it is demoted. All is well when it can be written again, without a restart and with the connections that are
# open. SQLite becomes so with its file.
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
    is($first->create->code, 201, 'it can be written');
    $apart->stop;
    chmod 0444, glob "$file*";
    my $client = $apart->serve;
    is($client->get('/signatures')->code, 200, 'a read-only file: reading goes on');
    is($client->create->code,             503, 'a creation is told to come again');
    my $health = $client->get('/health');
    is($health->code, 503, 'health is 503');
    my %says = (status => 'unavailable', database => 'unavailable', helper => 'ok');
    is_deeply($health->json, \%says, '... and says what');
    my $why = qr/SR0110: health: unavailable: database: The database cannot be written \(.*readonly database/;
    like($apart->{httpd}->log, $why, '... so does the log');
    chmod 0644, glob "$file*";
    is($apart->serve->get('/health')->code, 200, 'health is well again');
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

is(create('before')->code, 201, 'it can be written');
is(health->code, 200, 'and health is well');
sql("ALTER DATABASE $name SET default_transaction_read_only = on");
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$name'");
ok(wait_for(sub { health->code == 503 }), 'read-only: health is 503');
is_deeply(health->json, { status => 'unavailable', database => 'unavailable', helper => 'ok' }, '... and says what');
like($httpd->log, qr/SR0110: .*database is read-only/i, '... so does the log');
my $crowd = $client->crowd; # opens more connections to the database, which all are read-only
my @read  = $crowd->parallel(12, 6, sub { $crowd->request_p(GET => '/signatures') });
is(scalar(grep { $_->code == 200 } @read), 12, 'reading goes on');
is(create('during')->code, 503, 'a creation is told to come again');
sql("ALTER DATABASE $name RESET default_transaction_read_only");
ok(wait_for(sub { health->code == 200 }), 'health is well again, though nobody has written since');
my @written = $crowd->parallel(12, 6, sub { $crowd->create_p(files => [['a.pdf', pdf(nonce => "after $$ @_")]]) });
is(scalar(grep { $_->code == 201 } @written), 12, 'and is written, by all connections');
done_testing;
