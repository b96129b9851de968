# SPDX-License-Identifier: Apache-2.0
# A documents folder that belongs to another database: `httpd -t` and the start say so, httpd goes on, and the service
# stores nothing there. A database that cannot be asked is a warning: a host must boot while its database is away.
use strict;
use warnings;
use IO::Socket::INET;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Suite;
use Test::More;

my ($one, $two) = map { Sigreq::Apart->new(lastname => $_) } qw(One Two);
my $pgsql  = suite->{db} eq 'pgsql';
my $httpd  = $one->httpd;
my $client = $one->client($httpd);
my $folder = "$httpd->{dir}/documents";
is($client->create(files => [['a.pdf', pdf(nonce => "owned $$")]])->code, 201, 'the folder belongs to the first');
my ($first, $second) = map { uuid_of($_) } $one, $two;
my $of      = qr/belongs to the database $first, but the database of the main server \([^)]*\) is $second/i;
my $foreign = qr/SR0702: SigreqDocuments \Q$folder\E $of: give .* run: sigreqctl documents adopt/;

my $foreign_now = sub { qr/SR0702: SigreqDocuments \Q$folder\E belongs to the database $_[0]/i };

sub uuid_of {    # of a database
    my $empty = "$_[0]{dir}/empty";
    mkdir $empty;
    return $_[0]->ctl('documents', 'adopt', '--documents', $empty)->{database};
}

sub tested { return Sigreq::Httpd->new(@_)->test }

subtest 'httpd -t' => sub {
    my ($status, $said) = tested($one->database, documents => $folder);
    is($status, 0, 'its own folder') or diag $said;
    unlike($said, qr/SR070/, 'is nothing to speak of');
    ($status, $said) = tested($two->database, documents => $folder);
    is($status, 0, 'the folder of another database: other sites may restart');
    like($said, $foreign, 'it is reported with folder, identity and database');
    unlike($said, qr/password/, 'but not its password') if $pgsql;
    my $new = Sigreq::Httpd->new($two->database);
    ($status, $said) = $new->test;
    is($status, 0, 'a folder of nobody') or diag $said;
    ok(!-e "$new->{dir}/documents/.database", 'belongs to nobody afterwards');
    Sigreq::Suite::write_file("$new->{dir}/documents/.database", "what?\n");
    ($status, $said) = $new->test;
    is($status, 0, 'one of which nothing is known') or diag $said;
    like($said, qr/SR0703: .*documents adopt/, 'is a warning');
};
subtest 'of a virtual host' => sub {
    my $host = "<VirtualHost *:1>\nServerName two.test\nDBDriver @{[suite->{db}]}\nDBDParams \"$two->{params}\"\n"
        . "SigreqDocuments \"$folder\"\n</VirtualHost>";
    my ($status, $said) = tested($one->database, server => $host);
    is($status, 0, 'is reported too');
    like($said, qr/SR0702: .* belongs to .*, but the database of the virtual host at \S+:\d+ \(.*\Q$second\E/i,
        'named');
};
subtest 'the start' => sub {
    my $started = $two->httpd(documents => $folder);
    like($started->log, qr/:crit\].* $foreign/, 'with a foreign folder httpd starts, and the log says what is wrong');
    my $other = $two->client($started);
    is($other->get('/health')->json('/documents'), 'unavailable', 'the health check says it');
    is($other->create(files => [['a.pdf', pdf(nonce => "foreign $$")]])->code, 503, 'nothing is stored');
    $started->stop;
    my $again = $one->httpd(documents => $folder);
    is($one->client($again)->get('/health')->code, 200, 'with its own folder it succeeds');
    unlike($again->log, qr/SR070/, 'without a word');
    my @open = grep { defined } map { readlink } glob '/proc/' . $again->pid . '/fd/*';
    is_deeply([grep { /^\Q$one->{params}\E/ } @open], [], 'the parent has no connection');
    $again->stop;
};
subtest 'a restart' => sub {
    my $again = $one->httpd(documents => $folder);
    $two->ctl('documents', 'adopt', '--documents', $folder);
    like(($again->test)[1], $foreign_now->($second), 'httpd -t says that the folder has another database now');
    $again->graceful;
    like($again->log, qr/SR0702: SigreqDocuments \Q$folder\E belongs to the database $second/i, 'the log says why');
    my $health = $one->client($again)->get('/health');
    is($health->code,               503,           'httpd goes on');
    is($health->json('/documents'), 'unavailable', 'but not the service');
    $one->ctl('documents', 'adopt', '--documents', $folder);
    $again->stop;
};

sub away {    # a database that is away: is said, and starts all the same
    my ($name, $params, $expected) = @_;
    my $httpd = Sigreq::Httpd->new(
        driver    => suite->{db},
        params    => $params,
        documents => $folder
    );
    my ($status, $said) = $httpd->test;
    is($status, 0, "$name: httpd -t warns") or diag $said;
    like(
        $said,
        qr/SR0703: the database of the main server \(.*\) cannot be used now: .*$expected/,
        "$name: httpd -t has the reason"
    );
    $httpd->start;
    is(Sigreq::Here::client(base => $httpd->base, connections => 0)->get('/health')->code, 503, "$name: httpd starts");
    like($httpd->log, qr/SR0703/, "$name: the start logs the same warning");
    $httpd->stop;
}
my $free = Sigreq::Suite::free_port();
my ($user) = $one->{params} =~ /(user=\S+)/;
if ($pgsql) {
    my $silent   = IO::Socket::INET->new(Listen => 9, LocalAddr => '127.0.0.1');
    my $silently = 'host=127.0.0.1 port=' . $silent->sockport . " dbname=none $user connect_timeout";
    away('a database that is down', "host=127.0.0.1 port=$free dbname=none $user", qr/Connection refused/);
    my ($status, $said) = tested(
        driver    => 'pgsql',
        params    => "$silently=1000",
        documents => $folder
    );
    is($status, 0, 'a database that never answers: httpd -t ends')
        or diag $said;
    like($said, qr/SR0703: .*no answer within 5 s/, 'a database that never answers: httpd -t has the reason');
    my $params = Sigreq::Apart::make_database();
    away('a database without tables', $params, qr/sigreqctl db/);
}
else {
    my $missing = suite->{dir} . "/db/owned-$$.sqlite3";
    my ($status, $said) = tested(driver => 'sqlite3', params => $missing, documents => $folder);
    is($status, 0, 'a database that is missing: httpd -t warns')
        or diag $said;
    like($said, qr/SR0703: .*run: sigreqctl db init/, 'a database that is missing: httpd -t says what to do');
    ok(!-e $missing, 'a database that is missing: httpd -t does not make it');
    away('a database without tables', $missing,      qr/run: sigreqctl db init/);
    away('what is no database',       '/etc/passwd', qr/file is not a database/);
}
done_testing;
