# SPDX-License-Identifier: Apache-2.0
# The database stops and starts again: requests get 503 with Retry-After meanwhile, the service recovers without a
# restart of httpd, and nothing is lost that was acknowledged.
use strict;
use warnings;
use Fcntl qw(F_SETLK F_UNLCK F_WRLCK SEEK_SET);
use Sigreq::Apart;
use Sigreq::Here qw(organisation suite database_stop database_start wait_for is_error temporary_files);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Test::More;
use Time::HiRes 'sleep';

my $org    = organisation();
my $client = $org->{test};

# a virtual host whose database never was there
my $none = $client->with(host => 'nodatabase.test');
for my $request (['GET', '/signatures'], ['GET', '/tokens/current'], ['DELETE', '/webhooks/sent-webhook-url']) {
    my $res = $none->request(@$request);
    is($res->code, 503, "@$request: answered with 503");
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, "@$request: the answer has Retry-After");
    unlike($res->body, qr/nowhere|sqlite|host=/i, "@$request: the answer tells no internals");
}
is($none->create()->code, 503, 'a creation too');
is_deeply($none->get('/health')->json, { status => 'unavailable', database => 'unavailable', helper => 'ok' },
    'health says which part');
is_error($none->with(token => 'nonsense')->get('/signatures'), 401, 'User not founded for this API Token',
    'a malformed token needs no database');

my @kept = map { $client->create(name => "kept $_", files => [['a.pdf', pdf(nonce => "kept $$ $_")]])->json } 1 .. 3;

if (suite->{db} eq 'pgsql') {
    # away, with a log of its own
    my $httpd = Sigreq::Httpd->new(children => 2)->start;
    my $here  = $client->with(base => $httpd->base);
    is($here->get('/signatures')->code, 200, 'a second httpd');
    database_stop();
    my @refused = $here->crowd->parallel(600, 20, sub { $here->crowd->request_p(GET => '/signatures') });
    is(scalar(grep { $_->code == 503 } @refused), 600, 'away: it answers 503');
    my @lines = split /\n/, $httpd->log;
    cmp_ok(scalar @lines, '<', 600, 'the log has ' . @lines . ' lines');
    my ($why) = map {/SR0724: the database rejects connections.*: (.*)/} @lines;
    like($why // '', qr/Connection refused|No such file|shutting down|herunter/, # while it stops, on a busy machine
        'one line has the reason in the words of libpq');
    ok(wait_for(sub { $here->get('/signatures'); $httpd->log =~ /SR0100: .*, and \d+ times before/ }),
        'the log has the number of requests that have no line');
    my $crowd   = $client->crowd;
    my @answers = $crowd->parallel(
        60, 30,
        sub {
            my $i = shift;
            $i % 2
                ? $crowd->request_p(GET => "/signatures/$kept[0]{uuid}")
                : $crowd->create_p(files => [['a.pdf', pdf(nonce => "away $$ $i")]]);
        });
    my %codes;
    $codes{ $_->code }++ for @answers;
    is_deeply(\%codes, { 503 => 60 }, 'away: every request gets 503');
    ok(!(grep { ($_->headers->header('Retry-After') // '') !~ /^\d+$/ } @answers),
        'away: every answer has Retry-After');
    is($client->get('/health')->json('/database'), 'unavailable', 'health');

    # back
    database_start();
    ok(wait_for(sub { $client->get('/signatures')->code == 200 }), 'back');
    ok(wait_for(sub { $here->get('/signatures')->code == 200 }),   'the database is back in the other httpd');
    like($httpd->log, qr/SR0721/, 'the log of the other httpd says so');
    my @after = $crowd->parallel(40, 20, sub { $crowd->request_p(GET => "/signatures/$kept[1]{uuid}") });
    is(scalar(grep { $_->code == 200 } @after), 40, 'every connection is healed');

    # a restart so quick that nobody saw it: each pooled connection is dead, and no request may notice
    $crowd->parallel(30, 15, sub { $crowd->request_p(GET => '/signatures') });
    database_stop();
    database_start();
    @after = $crowd->parallel(
        60, 15,
        sub {
            my $i = shift;
            $i % 2 ? $crowd->request_p(GET => "/signatures/$kept[2]{uuid}") : $crowd->create_p(name => "after $i");
        });
    my $failed = grep { $_->code !~ /^20[01]$/ } @after;
    is($failed, 0, 'between two requests: nobody notices');
    ok(!(grep { $_->code !~ /^(?:20[01]|503)$/ } @after), 'between two requests: there are only plain answers');

    # in the middle of creations: what was acknowledged is there, once
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        sleep 0.3;
        eval { database_stop(); database_start() };
        require POSIX;
        POSIX::_exit(0);
    }
    my @middle = $crowd->parallel(400, 20, sub { my $i = shift; $crowd->create_p(name => "middle $i") });
    waitpid $pid, 0;
    my %middle;
    $middle{ $_->code }++ for @middle;
    diag 'in the middle of 400 creations: ' . join ', ', map {"$middle{$_} of $_"} sort keys %middle
        if grep { !/^(?:201|503)$/ } keys %middle;
    is(scalar(grep { !/^(?:201|503)$/ } keys %middle), 0, 'in the middle: 201 or 503');
    ok(wait_for(sub { $client->get('/signatures')->code == 200 }), 'healed');
    my %listed;
    my $after;
    do {
        my $page = $client->get('/signatures',
            query => { limit => 100, q => 'middle', defined $after ? (after => $after) : () })->json;
        $listed{ $_->{uuid} }++ for @{ $page->{data} };
        $after = $page->{pagination}{next};
    } while defined $after;
    is(scalar(grep { $_->code == 201 && !$listed{ $_->json('/uuid') } } @middle), 0, 'what was acknowledged is there');
    is(scalar(grep { $_ > 1 } values %listed),                                    0, 'once');
}
if (suite->{db} eq 'sqlite3') {

    # another program holds the writer's lock of SQLite (WAL: byte 120 of the -shm file)
    open my $shm, '+<', suite->{params} . '-shm' or die "-shm: $!\n";
    my $lock = sub { fcntl $shm, F_SETLK, pack 's s x4 q q i x4', $_[0], SEEK_SET, 120, 1, 0 };
    ok(wait_for(sub { $lock->(F_WRLCK) }), 'SQLite: somebody else writes') or diag $!;
    my $httpd = Sigreq::Httpd->new(server => 'SigreqDatabaseTimeout 3s')->start;
    my $res   = $client->with(base => $httpd->base)->create;
    is($res->code, 503, 'a creation is told to come again');
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, 'the refused creation has Retry-After');
    is($client->get('/signatures')->code, 200, 'reading goes on');
    $lock->(F_UNLCK);
    is($client->create()->code, 201, 'a creation succeeds afterwards');

    # its file is replaced by a copy: nothing is written to the former file
    my $apart = Sigreq::Apart->new;
    $httpd = $apart->httpd;
    my $here = $apart->client($httpd);
    is($here->create(name => 'before')->code, 201, 'another database');
    my $file = $apart->{params};
    system 'cp', "$file$_", "$file.copy$_" for grep { -e "$file$_" } '', '-wal';
    rename "$file$_", "$file.former$_" for '', '-wal', '-shm';
    $res = $here->create(name => 'between');
    is($res->code, 503, 'its file is away: a creation gets 503');
    rename "$file.copy$_", "$file$_" for '', '-wal';
    is($here->create(name => 'between')->code, 503, 'another file is in its place: the same');
    is($here->get('/signatures')->code,        503, 'another file is in its place: a list gets 503');
    like($httpd->log, qr/SR0100: .*the database file was replaced/, 'the log says that the file was replaced');
    $httpd->graceful;
    ok(wait_for(sub { $here->get('/signatures')->code == 200 }), 'after a restart it is used');
    is_deeply([map { $_->{name} } @{ $here->get('/signatures')->json->{data} }], ['before'],
        'the file that is used has its content');
}
is($client->get("/signatures/$_->{uuid}")->code, 200, "$_->{name} is still there") for @kept;
is($client->create()->code,                      201, 'creating goes on');
ok(wait_for(sub { !temporary_files() }), 'no temporary file');
done_testing;
