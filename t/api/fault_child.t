# SPDX-License-Identifier: Apache-2.0
# An httpd child dies during an upload, a client disconnects, httpd restarts gracefully under load: no temporary file is
# left, no request is lost unnecessarily, and the data is complete.
use strict;
use warnings;
use Sigreq::Here qw(organisation suite children workers wait_for temporary_files documents);
use Sigreq::Httpd;
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF       qw(pdf pdf_of_size);
use Sigreq::Raw;
use Test::More;
use Time::HiRes 'sleep';

my $org    = organisation();
my $client = $org->{test};

sub begin_upload {    # half of a creation of 3 MB
    my $body = multipart(
        part(
            'file', pdf_of_size(3_000_000, nonce => "half $$ " . rand), filename => 'a.pdf', type => 'application/pdf'),
        part('name', 'n'));
    my $raw = Sigreq::Raw->new($_[0] // suite->{port});
    $raw->send(
        "POST /api/v3/signatures HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $client->{token}\r\n"
            . "Content-Type: multipart/form-data; boundary="
            . BOUNDARY
            . "\r\nContent-Length: "
            . length($body)
            . "\r\n\r\n"
            . substr $body, 0, 1_500_000);
    return $raw;
}

my $stored  = documents();
my @uploads = map { begin_upload() } 1 .. 4;
ok(wait_for(sub { temporary_files() == 4 }), 'uploads under way have temporary files');
$_->close for @uploads;
ok(wait_for(sub { !temporary_files() }), 'clients that go away leave no temporary file')
    or diag join "\n", temporary_files();

@uploads = map { begin_upload() } 1 .. 4;
ok(wait_for(sub { temporary_files() == 4 }), 'and again');
my @children = children();
my @workers  = workers();
kill KILL => @children;
ok($_->closes, 'the connection of a killed child closes') for @uploads;
ok( wait_for(
        sub {
            my @now = children();
            @now && eval { $client->get('/health')->code == 200 }
        }),
    'httpd has new children');
ok(!temporary_files(), 'killed children leave no temporary file') or diag join "\n", temporary_files();
ok( wait_for(
        sub {
            !(grep { -e "/proc/$_" && (readlink "/proc/$_/exe" // '') =~ /pdfd/ } @workers);
        }),
    'nor a worker without a parent');
is(scalar documents(),      $stored, 'and no document');
is($client->create()->code, 201,     'creating goes on');

subtest 'graceful restart under load' => sub {
    my @patient = (server => 'SigreqDatabaseTimeout 60s');    # children that start take the processors from others
    my $httpd = Sigreq::Httpd->new(mpm => suite->{mpm}, children => 2, @patient)->start;
    my $crowd = $client->with(base => $httpd->base)->crowd;
    my $pid   = fork // die "fork: $!";
    if (!$pid) {    # 3 restarts while requests run; each waits until the last is over
        $httpd->graceful for 1 .. 3;
        require POSIX;
        POSIX::_exit(0);
    }
    my @answers;
    my $failed = eval {
        @answers = $crowd->parallel(
            300, 6,
            sub {
                my $i = shift;
                $i % 3
                    ? $crowd->request_p(GET => '/signatures', query => { limit => 1 })
                    : $crowd->create_p(files => [['a.pdf', pdf(nonce => "graceful $$ $i")]]);
            });
        0;
    } // $@;
    waitpid $pid, 0;
    is($failed, 0, 'no request is lost');
    my %codes;
    $codes{ $_->code }++ for @answers;
    is_deeply(\%codes, { 200 => 200, 201 => 100 }, 'all answered well')
        or diag join "\n", map { $_->code . ' ' . $_->body } grep { $_->code !~ /^20[01]$/ } @answers;
    # httpd may lose a TERM that comes in the middle of a restart, so it is stopped when the last one is over
    ok(wait_for(sub { 4 == (() = $httpd->log =~ /resuming normal operations/g) }), 'there were three restarts');
    unlike($httpd->log, qr/exit signal|AH00052|Assertion/, 'nobody crashed');
    diag $httpd->log if $httpd->log =~ /SR0100/;
    my $last = $httpd->pid;
    $httpd->stop;
    ok(wait_for(sub { !-e "/proc/$last" }), 'it stops');
    unlike($httpd->log, qr/SIGKILL/, 'httpd stops by itself');
};
done_testing;
