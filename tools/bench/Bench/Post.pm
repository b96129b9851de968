# SPDX-License-Identifier: Apache-2.0
# Bench::Post: POST of 100 kB and two signers, of a document seen before and of a new one each time, against pgbench
# doing the same database work, and against a handler that only stores the upload. Then the processor time of all
# processes for previews as PDF, and for creations with areas at texts.
package Bench::Post;
use strict;
use warnings;
use Bench::Measure qw(in_turns pgbench ratio rounds wrk);
use Bench::Replay;
use Bench::Upload;
use JSON::PP qw(encode_json);
use Sigreq::Multipart qw(multipart part);
use Sigreq::PDF 'pdf';

# How many have their processor time taken together.
use constant { PREVIEWS => 200, CREATIONS => 100 };
use constant PATH => '/api/v3/signatures';

my %place = (x => 72, y => 72, w => 180, h => 20);

sub run {
    my ($server, $report) = @_;
    my $pgsql = $server->database('pgsql', 'pgsql');
    my $sqlite3 = $server->database('sqlite3', 'sqlite3');
    $server->start;
    Bench::Upload::create($server, $_) for $pgsql, $sqlite3; # seen from now on
    my $script = pgbench_script($server, $pgsql);
    check_script($server, $pgsql, $script);
    my $rates = in_turns(
        'seen pgsql' => sub { post($server, $pgsql, @_) },
        'pgbench' => sub { pgbench($server, $pgsql, $script, @_) },
        'new pgsql' => sub { post($server, $pgsql, @_, seed()) },
        'store only' => sub { store_only($server, $pgsql, @_) },
        'seen sqlite3' => sub { post($server, $sqlite3, @_) },
        'new sqlite3' => sub { post($server, $sqlite3, @_, seed()) });
    for (['seen pgsql', 'pgbench', ['≥', 0.5]], ['new pgsql', 'pgbench'], ['seen pgsql', 'store only'],
        ['new pgsql', 'store only'], ['seen sqlite3', 'store only'], ['new sqlite3', 'store only']) {
        my ($what, $beside, $target) = @$_;
        $report->row(
            what => name_of($what), beside => name_of($beside), a => $rates->{$what}, b => $rates->{$beside},
            ratio => ratio($rates->{$what}, $rates->{$beside}), target => $target);
    }
    compare_costs($server, $report, $sqlite3);
}

# A preview finds its document new each time.
sub compare_costs {
    my ($server, $report, $host) = @_;
    my $ten = form(10, Bench::Upload::signers());
    my @previews = (
        ['a preview as PDF, 10 pages', PATH . '/preview', sub {$ten}, 'application/pdf'],
        ['its creation without the commit', PATH . '/preview', sub {$ten}, 'application/json']);
    compare_cost($server, $report, $host, PREVIEWS, 1.5, @previews);
    my @texts = map {"Clause $_ of page @{[5 * $_]}:"} 1 .. 20;
    my @forms = (
        ['20 areas at texts of 100 pages', form(100, fields(map { { anchor => { text => $_ } } } @texts))],
        ['20 areas at coordinates', form(100, fields(map { { page => 5 * $_ - 1, %place } } 1 .. 20))]);
    for my $kind (['new document', \&renewed], ['known document', sub { $_[0] }]) {
        my ($document, $of) = @$kind;
        my @creations = map {
            my ($what, $body) = @$_;
            ["the creation, $document, $what", PATH, sub { $of->($body) }, 'application/json']
        } @forms;
        compare_cost($server, $report, $host, CREATIONS, 2, @creations);
    }
}

sub renewed { # the same with another document
    my $nonce = sprintf 'nonce:%032s', seed();
    return $_[0] =~ s/${\Bench::Upload::NONCE}/$nonce/r;
}

sub fields { # a signer with a signature in each of these areas
    my $number = 0;
    my @fields = map {
        +{ type => 'signature', name => 'Signature ' . ++$number, document => 'contract.pdf', area => $_ }
    } @_;
    return encode_json([{ firstname => 'Ann', lastname => 'Lee', fields => \@fields }]);
}

sub form { # the body of the creation of a contract
    my ($pages, $signers) = @_;
    my $line = sub { "BT /F 10 Tf 72 @{[740 - 13 * $_[0]]} Td ($_[1]) Tj ET" };
    my @texts = map {
        my $page = $_;
        my @lines = map { $line->($_, "This is line $_ of a contract between two parties.") } 0 .. 48;
        { content => join "\n", @lines, $line->(49, 'Clause ' . $page / 5 . " of page $page:") }
    } 1 .. $pages;
    my $document = pdf(pages => \@texts, nonce => Bench::Upload::NONCE);
    return multipart(
        part('file', $document, filename => 'contract.pdf', type => 'application/pdf'),
        part('name', 'Contract of sale'), part('signers', $signers));
}

sub compare_cost { # of so many requests of each of two kinds: [name, path, CODE that gives the body, Accept]
    my ($server, $report, $host, $count, $target, @kinds) = @_;
    my @spent = ([], []);
    for my $round (0 .. rounds()) {    # the first is the warm-up
        for my $kind (0, 1) {
            my $spent = spent($server, $host, $count, @{ $kinds[$kind] }[1 .. 3]);
            push @{ $spent[$kind] }, $spent if $round;
        }
    }
    $report->row(
        what => "processor time of $kinds[0][0]", a => $spent[0], beside => $kinds[1][0], b => $spent[1],
        format => sub { sprintf '%.1f ms', $_[0] }, ratio => ratio(@spent), target => ['≤', $target]);
}

sub spent {    # in ms for each
    my ($server, $host, $count, $path, $body, $type) = @_;
    my $before = $server->processor_seconds;
    for (1 .. $count) {
        my $file = Bench::Server::spew("$server->{dir}/form", $body->());
        my $status = $server->curl($host, $path, '-o', "$server->{dir}/answer", '-H',
            'Content-Type: ' . Bench::Upload::TYPE, '-H', "Accept: $type", '--data-binary', "\@$file");
        die "POST $path answers $status: " . Bench::Server::slurp("$server->{dir}/answer") . "\n"
            if $status !~ /^20[01]$/;
    }
    return 1000 * ($server->processor_seconds - $before) / $count;
}

sub name_of {
    my $name = shift;
    return 'the same statements by pgbench' if $name eq 'pgbench';
    return 'the same upload, only stored' if $name eq 'store only';
    my ($kind, $driver) = split ' ', $name;
    return 'POST 100 kB, document ' . ($kind eq 'seen' ? 'seen before' : 'new each time') . ", $driver";
}

sub post {
    my ($server, $host, $seconds, @seed) = @_;
    return upload($server, $host, '/api/v3/signatures', $seconds, @seed);
}

sub upload {
    my ($server, $host, $path, $seconds, @seed) = @_;
    my @arguments = ("$server->{dir}/upload", Bench::Upload::TYPE, $host->{token}, @seed);
    return wrk($server, $host, $path, $seconds, 'post.lua', @arguments);
}

my $seeds = 0;
# Other documents in each round, and in each process: 16 characters at most.
sub seed { return sprintf '%08x%06x%x', time, $$ & 0xff_ffff, ++$seeds }

sub store_only {
    my ($server, $host, $seconds) = @_;
    my $rate = upload($server, $host, '/store-only', $seconds);
    # the last requests may still be under way, and their files change names
    system 'sh', '-c', 'exec find "$1" -type f -delete 2>/dev/null', 'sh', "$server->{dir}/store-only";
    return $rate;
}

sub pgbench_script {
    my ($server, $host) = @_;
    return Bench::Replay::script($server, $host, 'post', 'submission_create',
        sub { Bench::Upload::create($server, $host) }, '\set tail random(100000000000, 999999999999)');
}

sub check_script { # it must really create
    my ($server, $host, $script) = @_;
    my $count = sub { $server->psql($host->{database}, 'SELECT count(*) FROM sigreq.submission') };
    my $before = $count->();
    $server->{pgbench_done} = 0;
    pgbench($server, $host, $script, 1);
    my $made = $count->() - $before;
    die "pgbench made $made submissions in $server->{pgbench_done} transactions\n" if $made != $server->{pgbench_done};
}

1;
