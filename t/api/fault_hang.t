# SPDX-License-Identifier: Apache-2.0
# The database exists but does not respond: all processes of PostgreSQL are stopped, or a child of httpd is stopped
# while it writes to SQLite. A request waits for SigreqDatabaseTimeout, and others are refused at once. httpd answers
# everything else, and everything works without a restart when the processes continue.
use strict;
use warnings;
use Fcntl qw(F_SETLK F_UNLCK F_WRLCK SEEK_SET);
use Mojo::File 'path';
use Sigreq::Here qw(organisation suite wait_for is_error children sql);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Processes;
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'prefork has one thread per child' if suite->{mpm} eq 'prefork';

my $org    = organisation();
my $client = $org->{test};
my (@stopped, $stalled);

END {
    local $?;
    kill CONT => @stopped if @stopped;
    if ($stalled) { psql($_) for 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()' }
}

sub httpd {    # two children of 16 threads, with a file that is not ours
    my $limit = shift;
    my $httpd = Sigreq::Httpd->new(
        children => 2, threads => 16,
        server => qq{SigreqDatabaseTimeout ${limit}s\nSigreqWebhookAllow 127.0.0.0/8\n}
            . qq{DocumentRoot "\${SIGREQ_STATIC}"\n}
            . qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>});
    local $ENV{SIGREQ_STATIC} = "$httpd->{dir}/static";
    mkdir $ENV{SIGREQ_STATIC};
    Sigreq::Suite::write_file("$ENV{SIGREQ_STATIC}/file.txt", "as it was\n");
    return $httpd->start;
}

sub codes {
    my %codes;
    $codes{ $_->code }++ for @_;
    return \%codes;
}

sub refused {    # how many operations had no connection, nearly all of them because the database was not asked
    my $httpd = shift;
    return $client->{ua}->get($httpd->base . '/metrics')
        ->res->body =~ /^sigreq_database_errors_total\{reason="no-connection"\} (\d+)/m ? $1 : 0;
}

sub stop {    # processes, and waits until each of their threads is
    @stopped = @_;
    kill STOP => @_;
    my @threads = map { glob "/proc/$_/task/*/stat" } @_;
    ok(wait_for(sub { !grep { path($_)->slurp !~ /\) T / } @threads }), scalar(@threads) . ' threads are stopped');
}

sub postgres {    # all its processes, the postmaster first
    my ($postmaster) = path(suite->{dir} . '/pg/data/postmaster.pid')->slurp =~ /^(\d+)/;
    return ($postmaster, Sigreq::Processes::below(qr{}, $postmaster));
}

sub is_shown {    # a figure, of those who read and who write; PROVOKE is called before each look
    my ($httpd, $read, $write, $name, $provoke) = @_;
    my $figures = '';
    my $shown   = wait_for(
        sub {
            $provoke->() if $provoke;
            $figures = $client->{ua}->get($httpd->base . '/metrics')->res->body;
            my $stopped = 'sigreq_database_stopped{server="main",use=';
            $figures =~ /^\Q$stopped\E"read"\} $read$/m && $figures =~ /^\Q$stopped\E"write"\} $write$/m;
        });
    ok($shown, $name) or diag join ' ', $figures =~ /^(sigreq_database_stopped.*)/mg;
}

sub stopped_postgres {
    my $LIMIT    = 8;
    my $httpd    = httpd($LIMIT);
    my $here     = $client->with(base => $httpd->base);
    my $crowd    = $here->crowd;
    my $receiver = Sigreq::Receiver->new;
    $here->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    my @kept = map { $_->json->{uuid} } $crowd->parallel(40, 30, sub { $crowd->create_p(name => "kept $_[0]") });
    is(scalar(grep {defined} @kept), 40, 'before');
    $receiver->wait_for(40);

    my %keys = map { $_ => "hang $$ $_" } 0 .. 59;
    my $create = sub {
        my $i = shift;
        return $crowd->create_p(name => "hang $i", headers => { 'Idempotency-Key' => $keys{$i} });
    };
    stop(postgres());

    # 60 clients, each twice; and somebody who wants a file all the time
    my ($over, @static) = 0;
    my $static;
    $static = sub {
        return if $over;
        $crowd->{ua}->get_p($httpd->base . '/file.txt')->then(
            sub {
                push @static, $_[0]->res;
                Mojo::Promise->timer(0.1)->then($static);
            })->catch(sub { push @static, Mojo::Message::Response->new(code => 0) });
    };
    $static->();
    my @service = $crowd->parallel(120, 60, sub { $create->($_[0] % 60) });
    $over = 1;
    is_deeply(codes(@service), { 503 => 120 }, 'stopped: every request is answered 503');
    ok(!(grep { ($_->headers->header('Retry-After') // '') !~ /^\d+$/ } @service),
        'stopped: every answer has Retry-After');
    is_deeply([keys %{ codes(@static) }], [200], 'a file is served all the time') or diag explain codes(@static);
    # with all threads at the database it would be served when one is given up, two or three times
    cmp_ok(scalar @static, '>=', 10, 'a file is served ' . @static . ' times');
    is_shown($httpd, 1, 1, 'the figures say so');
    like($httpd->log, qr/SR0720/, 'the log too');

    my $refused = refused($httpd);
    my @later = $crowd->parallel(40, 10, sub { $crowd->request_p(GET => "/signatures/$kept[0]") });
    is_deeply(codes(@later), { 503 => 40 }, 'later on, too');
    $refused = refused($httpd) - $refused;
    cmp_ok($refused, '>=', 30, "nearly all later requests do not ask the database ($refused)");
    my $said = qr/SR0100: .*\(the database does not answer \(SigreqDatabaseTimeout\)\).*, and \d+ times before/;
    ok(wait_for(sub { $here->get('/signatures'); $httpd->log =~ $said }),
        'the log has lines for some requests, and the number of the others');
    is($here->get('/health')->code, 503, 'health');

    kill CONT => splice @stopped;
    ok(wait_for(sub { $here->get('/health')->code == 200 }),   'going on: healed');
    ok(wait_for(sub { $here->create->code == 201 }),           'going on: a creation succeeds');
    is_shown($httpd, 0, 0, 'the figures say so');
    like($httpd->log, qr/SR0721/, 'the log too');
    my @again = $crowd->parallel(60, 20, $create);
    is(scalar(grep { $_->code == 201 } @again), 60, 'each creation is repeated, by its key');
    my @found = $crowd->parallel(40, 10, sub { $crowd->request_p(GET => "/signatures/$kept[$_[0]]") });
    is(scalar(grep { $_->code == 200 } @found), 40, 'nothing is lost');
    my $listed = $here->get('/signatures', query => { limit => 100, q => 'hang' })->json->{data};
    my %times;
    $times{ $_->{name} }++ for @$listed;
    is(scalar(keys %times),                      60, 'each of them is there');
    is(scalar(grep { $_ > 1 } values %times),    0,  'each of them is there once');
    my %events;
    $events{ $_->{body}{eventId} }++ for $receiver->wait_for(101);
    is(scalar(keys %events),                     101, 'every webhook is called');
    is(scalar(grep { $_ > 1 } values %events),   0,   'every webhook is called once');
}

sub psql_command { return qq{psql -qXAt -h @{[suite->{dir}]}/pg/s -U postgres -d postgres -c "$_[0]"} }
sub psql { my $command = psql_command(@_); return scalar `$command` }

# Each COMMIT waits for a standby that is not there. Its backend waits on when httpd no longer does, so there must not
# be more and more of them.
sub stalled_standby {
    my $LIMIT  = 4;
    my $httpd  = httpd($LIMIT);
    my $crowd  = $client->with(base => $httpd->base)->crowd;
    my $kept   = $crowd->create(name => 'kept')->json;
    my $create = sub {
        my $i = shift;
        return $crowd->create_p(name => "stalled $i", headers => { 'Idempotency-Key' => "stalled $$ $i" });
    };
    $stalled = 1;
    psql($_) for "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", 'SELECT pg_reload_conf()';
    my $waits = q{FROM pg_stat_activity WHERE wait_event = 'SyncRep'};
    ok(wait_for(sub {    # the processes of PostgreSQL read the setting one after the other
        system(psql_command(q{SELECT pg_logical_emit_message(true, '', '')}) . ' >/dev/null 2>&1 &');
        psql("SELECT count(*) $waits") > 0;
    }), 'a COMMIT waits for the standby');
    ok(wait_for(sub { psql("SELECT count(pg_cancel_backend(pid)) $waits") == 0 }), 'the COMMIT is cancelled');
    my @first = $crowd->parallel(30, 30, $create);
    is_deeply(codes(@first), { 503 => 30 }, 'a standby stalls: who writes is answered 503');
    # The thread for jobs writes, too. What commits nothing does not wait for the standby and sets the figure to 0.
    is_shown($httpd, 0, 1, 'the figures say so', sub { $crowd->parallel(1, 1, sub { $create->(0) }) });
    my (@read, @written);
    $crowd->parallel(
        120, 20,
        sub {
            my $i = shift;
            my $to = $i % 2 ? \@written : \@read;
            my $promise =
                $i % 2 ? $create->(30 + $i % 30) : $crowd->request_p(GET => "/signatures/$kept->{uuid}");
            return $promise->then(sub { push @$to, $_[0] });
        });
    is_deeply(codes(@read),    { 200 => 60 }, 'who reads is answered');
    is_deeply(codes(@written), { 503 => 60 }, 'who writes is not');
    my $waiting = psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") + 0;
    # two children with 12 each, those who try, the suite's httpd
    cmp_ok($waiting, '<=', 45, "$waiting backends wait");
    $stalled = 0;
    psql($_) for 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()';
    ok(wait_for(sub { $crowd->create->code == 201 }), 'going on: healed');
    my @again = $crowd->parallel(60, 20, $create);
    is(scalar(grep { $_->code == 201 } @again), 60, 'each creation is repeated, by its key');
    my $listed = $crowd->get('/signatures', query => { limit => 100, q => 'stalled' })->json->{data};
    my %times;
    $times{ $_->{name} }++ for @$listed;
    is(scalar(keys %times),                   60, 'each of them is there');
    is(scalar(grep { $_ > 1 } values %times), 0,  'each of them is there once');
}

# A signature hangs when it is stored, and the lock of its submission when it is given back. The request waits for the
# first of both alone.
sub late_once {
    my $httpd = httpd(3);
    my $here  = $client->with(base => $httpd->base);
    my $late  = sub {
        my $text = $client->{ua}->get($httpd->base . '/metrics')->res->body;
        return $text =~ /^sigreq_database_errors_total\{reason="late"\} (\d+)$/m ? $1 : -1;
    };
    my ($signer) = signers_of($here->create->json);
    my %hangs = (event => 'INSERT', submission_lock => 'DELETE');
    sql("CREATE FUNCTION sigreq.test_hang() RETURNS trigger LANGUAGE plpgsql AS "
            . "'BEGIN PERFORM pg_sleep(120); RETURN NULL; END'");
    sql("CREATE TRIGGER test_hang AFTER $hangs{$_} ON sigreq.$_ EXECUTE FUNCTION sigreq.test_hang()")
        for sort keys %hangs;
    my $before = $late->();
    is($signer->sign->code, 503, 'a signature hangs: 503');
    is($late->() - $before, 1, 'the signature has waited once');
    psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    sql("DROP TRIGGER test_hang ON sigreq.$_") for sort keys %hangs;
    sql('DROP FUNCTION sigreq.test_hang()');
    ok(wait_for(sub { $signer->sign->code == 200 }), 'going on: signed');
}

# A child that is stopped while it has the lock of SQLite's writers: found by trying, as the lock tells nobody.
sub stop_writer {
    my ($httpd, $crowd) = @_;
    open my $shm, '+<', suite->{params} . '-shm' or die "-shm: $!\n";    # WAL: byte 120 of the -shm file
    my $other_program = sub { fcntl $shm, F_SETLK, pack 's s x4 q q i x4', $_[0], SEEK_SET, 120, 1, 0 };
    for my $try (1 .. 20) {
        my @children = children($httpd->pid);
        wait_for(sub { $other_program->(F_WRLCK) }) or next;
        my $pending = $crowd->create_p(name => 'pending');
        Mojo::Promise->timer(0.5)->wait;                                  # somebody waits, with the lock
        stop($children[$try % @children]);
        $other_program->(F_UNLCK);
        my ($answer) = $crowd->parallel(1, 1, sub { $crowd->create_p(name => 'next') });
        return ($answer, $pending) if $answer->code == 503;
        kill CONT => splice @stopped;
        $pending->wait;
    }
    return;
}

sub stopped_writer {
    my $LIMIT = 4;
    my $httpd = httpd($LIMIT);
    my $crowd = $client->with(base => $httpd->base)->crowd;
    my $kept  = $crowd->create(name => 'kept')->json;
    my ($first, $pending) = stop_writer($httpd, $crowd);
    ok($first, 'a child is stopped while it writes: another request is answered 503') or return;
    my @service = $crowd->parallel(60, 20, sub { $crowd->create_p(name => "stopped $_[0]") });
    is_deeply(codes(@service), { 503 => 60 }, 'so are all that write');
    is($crowd->get("/signatures/$kept->{uuid}")->code, 200, 'reading goes on');
    my $file = $crowd->{ua}->get($httpd->base . '/file.txt', { Accept => '*/*' })->res;
    is($file->code, 200, 'and httpd with everything else');
    like($httpd->log, qr/SR0723: the SQLite write lock has been held/, 'the log says what it is');
    kill CONT => splice @stopped;
    ok(wait_for(sub { $crowd->create(name => 'after')->code == 201 }), 'going on: healed');
    $pending->catch(sub { })->wait;
    my $said = sub { $crowd->create; $httpd->log =~ /SR0723: the SQLite write lock is free/ };
    ok(wait_for($said), 'the log says so');
    is($crowd->get("/signatures/$kept->{uuid}")->code, 200, 'nothing is lost');
}

if (suite->{db} eq 'pgsql') { stopped_postgres(); stalled_standby(); late_once() }
else                        { stopped_writer() }
done_testing;
