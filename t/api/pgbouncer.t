# SPDX-License-Identifier: Apache-2.0
# PgBouncer between httpd and PostgreSQL, in transaction mode and configured as conf/sigreq.conf says: everything works,
# also sigreqctl, and also after a restart of PostgreSQL or PgBouncer.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for database_stop database_start);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Sigreq::Suite;
use Test::More;
use Time::HiRes 'sleep';

plan skip_all => 'on PostgreSQL alone' if suite->{db} ne 'pgsql';

my $program = -x '/usr/sbin/pgbouncer' ? '/usr/sbin/pgbouncer' : die "no pgbouncer: run tools/deps test\n";
my $dir     = tempdir('bouncer.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $port    = Sigreq::Suite::free_port();
my ($postgres) = suite->{params} =~ /host=(\S+)/;
my $pid;

Sigreq::Suite::write_file("$dir/users", qq{"sigreq" ""\n});
Sigreq::Suite::write_file("$dir/ini", <<"INI");
[databases]
* = host=$postgres
[pgbouncer]
listen_port = $port
unix_socket_dir = $dir
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
default_pool_size = 4
query_wait_timeout = 5
server_login_retry = 1
logfile = $dir/log
INI

sub bouncer_start {
    $pid = fork // die "fork: $!\n";
    if (!$pid) { exec $program, '-q', "$dir/ini" or die "pgbouncer: $!\n" }
    return wait_for(sub { -S "$dir/.s.PGSQL.$port" });
}
sub bouncer_stop { kill TERM => $pid if $pid; waitpid $pid, 0 if $pid; undef $pid }
END { local $?; bouncer_stop() }

# of its database: the role's limit in the place of the options, which PgBouncer refuses
my $direct = Sigreq::Apart::make_database();
my ($database) = $direct =~ /dbname=(\S+)/;
my $params = "host=$dir port=$port dbname=$database user=sigreq connect_timeout=2 tcp_user_timeout=3000"
    . ' keepalives_idle=2 keepalives_interval=2 keepalives_count=2';
my @alter = ('-h', $postgres, '-U', 'postgres', '-d', 'postgres', '-c',
    "ALTER ROLE sigreq IN DATABASE $database SET statement_timeout = '5s'");
is(system('psql', '-qX', @alter), 0, 'the role has a statement_timeout');
ok(bouncer_start(), 'PgBouncer') or diag path("$dir/log")->slurp;
is(`psql -qXAt '$params' -c 'SHOW statement_timeout' 2>&1`, "5s\n", 'the statement_timeout applies through PgBouncer');
like(`psql -qXAt "$params options='-c statement_timeout=5000'" -c 'SELECT 1' 2>&1`,
    qr/unsupported startup parameter/, 'PgBouncer refuses options');

my $apart = Sigreq::Apart->new(params => $params);    # db init, and more
is($apart->ctl('db', 'upgrade')->{current}, Mojo::JSON->true, 'sigreqctl db upgrade');
my $receiver = Sigreq::Receiver->new;
my %serve    = (server => "SigreqWebhookAllow 127.0.0.0/8\n", children => 2);
my $client   = $apart->serve(%serve);
my $crowd    = $client->crowd;
$client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url("/ok") }) for qw(sent completed);

my @made;

sub sign_some {    # 20 submissions: all created, all signed
    my $name = shift;
    my @new = $crowd->parallel(20, 10,
        sub { $crowd->create_p(name => "$name $_[0]", files => [['a.pdf', pdf(nonce => "$name $$ $_[0]")]]) });
    is(scalar(grep { $_->code == 201 } @new), 20, "$name: created") or diag join "\n", map { $_->body } @new;
    @new = map { $_->json } grep { $_->code == 201 } @new;
    my @signers = map { signers_of($_, connections => 0) } @new;
    my @signed = $crowd->parallel(scalar @signers, 8, sub { $signers[$_[0]]->sign_p });
    is(scalar(grep { $_->code == 200 } @signed), 20,
        'all submissions are signed') or diag join "\n", map { $_->body } @signed;
    push @made, @new;
}

sub is_whole {    # everything is listed, once, as completed, and was told once
    my $name = shift;
    my $listed = $client->get('/signatures', query => { limit => 100, status => 'completed' })->json->{data};
    my %times;
    $times{ $_->{uuid} }++ for @$listed;
    is_deeply([sort keys %times], [sort map { $_->{uuid} } @made], "$name: the list has them");
    is(scalar(grep { $_ != 1 } values %times), 0, "$name: the list has each once");
    my %events;
    $events{ $_->{body}{eventId} }++ for $receiver->wait_for(2 * @made);
    is(scalar(keys %events), 2 * @made, "$name: their webhooks are called");
    is(scalar(grep { $_ != 1 } values %events), 0, "$name: each webhook is called once");
}

sub again {    # waits until all is well; before, there are only 503s
    my $name = shift;
    my %codes;
    ok( wait_for(
            sub {
                my @answers = $crowd->parallel(20, 10, sub { $crowd->request_p(GET => '/signatures') });
                $codes{ $_->code }++ for @answers;
                return !grep { $_->code != 200 } @answers;
            }),
        "$name: the service works again");
    is(scalar(grep { !/^(?:200|503)$/ } keys %codes), 0, "$name: there are no other errors than 503")
        or diag explain \%codes;
}

sign_some('first');
is_whole('first');
my $sessions = "SELECT query FROM pg_stat_activity WHERE datname = '$database'";
my @sent     = `psql -qXAt -h $postgres -U postgres -d postgres -c "$sessions"`;
ok(scalar(grep {/sigreq\./} @sent), 'sessions of PgBouncer have run operations') or diag @sent;
is(scalar(grep {/^PREPARE /} @sent), 0, 'no session of PgBouncer has prepared a statement') or diag @sent;
my $documents = $apart->{httpd}{dir} . '/documents';
is($apart->ctl('gc', '--documents', $documents)->{deleted}, 0, 'sigreqctl gc');
database_stop();
is($client->get('/signatures')->code, 503, 'without PostgreSQL');
database_start();
again('PostgreSQL restarted');
sign_some('second');
bouncer_stop();
is($client->get('/signatures')->code, 503, 'without PgBouncer');
ok(bouncer_start(), 'PgBouncer is started');
again('PgBouncer restarted');
sign_some('third');
is_whole('at the end');
$apart->stop;
done_testing;
