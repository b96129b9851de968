# A PostgreSQL that becomes read-only, as one that was demoted: health and whatever stores say 503, reading goes on, and
# all is well when it can be written again, without a restart and with the connections that are open.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::PDF 'pdf';
use Test::More;

plan skip_all => 'PostgreSQL alone has such a setting' if suite->{db} ne 'pgsql';
my $apart  = Sigreq::Apart->new;
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
ok(wait_for(sub { health->code == 503 }, 20), 'read-only: health is 503');
is_deeply(health->json, { status => 'unavailable', database => 'unavailable', helper => 'ok' }, '... and says what');
like($httpd->log, qr/SR0110: .*database is read-only/i, '... so does the log');
my $crowd = $client->crowd; # opens more connections to the database, which all are read-only
my @read  = $crowd->parallel(12, 6, sub { $crowd->request_p(GET => '/signatures') });
is(scalar(grep { $_->code == 200 } @read), 12, 'reading goes on');
is(create('during')->code, 503, 'a creation is told to come again');
sql("ALTER DATABASE $name RESET default_transaction_read_only");
ok(wait_for(sub { health->code == 200 }, 20), 'health is well again, though nobody has written since');
my @written = $crowd->parallel(12, 6, sub { $crowd->create_p(files => [['a.pdf', pdf(nonce => "after $$ @_")]]) });
is(scalar(grep { $_->code == 201 } @written), 12, 'and is written, by all connections');
done_testing;
