# SPDX-License-Identifier: Apache-2.0
# sigreqctl archive: document timestamps of completed submissions, and their renewal. What judges and the service say of
# such documents, and that a process that is killed, and two at the same time, do nothing half and nothing twice.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use JSON::PP 'decode_json';
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Judge 'java_judge';
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Signer qw(signers_of chain_fault pdfsig qpdf_check);
use Sigreq::TSA;
use Sigreq::Validator;
use Test::More;

my $apart  = Sigreq::Apart->new;
my $pki    = Sigreq::PKI->new("$apart->{dir}/pki");
$pki->issue('long', 'tsaroot2', 'tsa', days => 1000);
my ($long, @tsa) = map { Sigreq::TSA->new($pki, $_) } qw(long tsa1 tsa2);
my @asked  = @tsa;    # by sigreqctl
my @seal   = map { "SigreqTestSeal$_->[0] " . $pki->file($_->[1]) } ['Certificate', 'seal-chain.crt'],
    ['Key', 'seal.key'];
my $client = $apart->serve(server => join "\n", @seal, 'SigreqTimestamp ' . $tsa[0]->url,
    'SigreqTimestampAuthorities "' . $pki->file('authorities.crt') . '"');
my %database = $apart->database;

sub command {
    return (suite->{source} . '/build/sigreqctl', '--driver', $database{driver}, '--params', $database{params},
        '--json', '--documents', "$apart->{httpd}{dir}/documents", 'archive',
        '--timestamp', join(' ', map { $_->url } @asked), '--authorities', $pki->file('authorities.crt'),
        '--helper', suite->{source} . '/build/sigreq-pdfd', @_);
}

my @under;     # a program that runs it

sub begin {    # [process, its output]
    my $pid = open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @under, command(@_) or die "sigreqctl: $!\n";
    return [$pid, $pipe];
}

sub end {      # exit code, and all it said
    my $pipe = $_[0][1];
    my $said = do { local $/ = undef; <$pipe> };
    close $pipe;
    return ($? & 127 ? "signal $?" : $? >> 8, $said);
}

sub archive {  # exit code, how many were archived, all it said
    my ($code, $said) = end(begin(@_));
    my ($json) = $said =~ /^(\{.*)/ms;
    return ($code, $json ? decode_json($json)->{archived} : undef, $said);
}

sub field {
    my ($document, $y) = @_;
    my %area = (x => 72, y => $y, w => 180, h => 50, page => 0);
    return { type => 'signature', name => 'Signature', document => $document, area => \%area };
}

sub completed {
    my $made = $client->create(
        files   => [map { ["$_.pdf", pdf(nonce => rand)] } 'a', 'b'],
        signers => Sigreq::Client::signers({ fields => [map { field("$_.pdf", 60) } 'a', 'b'] },
            { fields => [field('a.pdf', 120)] })
    )->json;
    is($_->sign->code, 200, 'a signer signs') for signers_of($made);
    return $made;
}

sub audit    { return $client->get("/signatures/$_[0]{uuid}/audit")->json }
sub archived { return grep { $_->{event} eq 'archived' } @{ audit(@_)->{events} } }
sub document {
    my ($made, $i, %query) = @_;
    return $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[$i]{uuid}", query => \%query);
}
sub signed { return document(@_, version => 'signed')->body }

sub conclusion {
    my %headers = ('Content-Type' => 'application/pdf');
    return $client->post('/verify', body => $_[0], headers => \%headers)->json->{conclusion};
}

sub is_archived {    # a document, with so many signatures and document timestamps
    my ($name, $pdf, $signatures, $timestamps) = @_;
    is(qpdf_check($pdf), '', "$name: qpdf has nothing to say");
    is(pdfsig($pdf)->{valid}, $signatures, "$name: pdfsig calls each signature valid");
    is(conclusion($pdf), 'signed', "$name: POST /verify calls it signed");
    my $file   = Sigreq::Validator::saved($pdf);
    my $judged = java_judge({ roots => $pki->file('roots.crt') }, "$file")->{"$file"};
    my @found  = @{ $judged->{signatures} // [] };
    is(scalar(grep { $_->{kind} eq 'timestamp' } @found), $timestamps, "$name: PDFBox finds the document timestamps")
        or diag explain $judged;
    is(scalar(grep { $_->{intact} } @found), $signatures + $timestamps, "$name: PDFBox calls all intact");
    ok($found[-1]{whole} && $found[-1]{kind} eq 'timestamp', "$name: the last timestamp covers the whole document");
    return;
}

sub is_consistent {
    my @check = command();
    my $said  = qx(@{[map {"'$_'"} @check[0 .. 7]]} check --evidence 2>&1);
    is($? >> 8, 0, 'sigreqctl check finds no fault') or diag $said;
    return;
}

subtest 'a completed submission' => sub {
    my $open = $client->create->json;
    my ($code, $count, $said) = archive($open->{uuid});
    is($code, 4, 'an open one is refused');
    like($said, qr/Only a completed submission can be archived/,
        'the answer says that only a completed submission can be archived');
    is((archive('11111111-2222-4333-8444-555555555555'))[0], 3, 'there is no such submission');

    my $made   = completed();
    my @before = map { document($made, $_)->body } 0, 1;
    $tsa[0]->forget;
    ($code, $count, $said) = archive($made->{uuid});
    is($code,                     0, 'it is archived') or diag $said;
    is($count,                    1, 'one submission is archived');
    is($tsa[0]->counts->{tokens}, 2, 'each document got one timestamp');
    for my $i (0, 1) {
        my $answer = document($made, $i);
        my $pdf    = $answer->body;
        ok(substr($pdf, 0, length $before[$i]) eq $before[$i], 'the signed document is the beginning of it');
        cmp_ok(length($pdf) - length $before[$i], '<', 36_000, 'not much follows the signed document');
        ok(signed($made, $i) eq $before[$i], 'version=signed is the document of the last signature');
        is_archived("document $i", $pdf, $i ? 1 : 2, 1);
    }
    my ($event) = archived($made);
    is(scalar @{ $event->{detail}{documents} }, 2, 'the event names both documents');
    like($event->{detail}{documents}[0]{timestamp}{authority}, qr/tsa1/, 'the event names the authority');
    is(chain_fault(audit($made)), undef, 'the audit trail is a chain');
    ($code, $count) = archive($made->{uuid});
    is("$code $count", '0 0', 'it is not archived again');
};

subtest 'all that are due' => sub {
    my @made = (completed(), completed());
    my ($code, $count, $said) = archive();
    is("$code $count", '0 2', 'two were not archived yet') or diag $said;
    is((archive())[1], 0, 'none is due after that');
    ($code, $count) = archive('--renew', 30_000);
    is("$code $count", '0 0', 'an early renewal by the same authority would renew nothing');
    is(scalar archived($made[0]), 1, 'nothing is appended by an early renewal');
    @asked = $long;
    ($code, $count) = archive('--renew', 30_000);
    cmp_ok($count, '>=', 3, 'all are renewed by an authority whose certificate ends later');
    @asked = @tsa;
    is(scalar archived($made[0]), 2, 'the renewal is a second event');
    is_archived('a renewed document', document($made[0], 1)->body, 1, 2);
};

subtest 'authorities that fail' => sub {
    my $made   = completed();
    my $before = document($made, 0)->body;
    $_->mode('500') for @tsa;
    my ($code, $count, $said) = archive();
    is("$code $count", '1 0', 'nothing is archived') or diag $said;
    like($said, qr/$made->{uuid}: .*timestamp/, 'the output says which submission was not archived');
    ok(document($made, 0)->body eq $before, 'the document is as it was');
    $tsa[1]->mode('ok');
    is((archive())[1], 1, 'the second authority does it');
    $tsa[0]->mode('ok');
};

subtest 'two at the same time' => sub {
    my $made = completed();
    my @both = map { begin($made->{uuid}) } 1, 2;
    my @said = map { (end($_))[1] } @both;
    is(scalar(grep {/"archived": ?1/} @said), 1, 'one of them archives it') or diag @said;
    is(scalar archived($made), 1, 'the submission is archived once');
};

subtest 'killed' => sub {
    my $made   = completed();
    my $before = document($made, 0)->body;
    $tsa[0]->forget;
    $tsa[0]->delay(5000);
    my $one = begin($made->{uuid});
    wait_for(sub { $tsa[0]->counts->{queries} > 0 });
    kill 'KILL', $one->[0];
    end($one);
    ok(document($made, 0)->body eq $before, 'the document is as it was');
    is(scalar archived($made), 0, 'there is no event');
    $tsa[0]->delay(0);
    is((archive($made->{uuid}))[1], 1, 'a second run ends it');
    is(chain_fault(audit($made)), undef, 'the audit trail is a chain');
    is_consistent();
};

# The calls that change something outside of the process, each of which is the last one of a process once.
my @calls = qw(fsync fdatasync link linkat rename renameat unlink unlinkat ftruncate pwrite64 connect sendto);

sub chosen {    # all of 1 to N, or eight of them
    my $n = shift;
    return $n <= 8 ? 1 .. $n : map { 1 + int(($n - 1) * $_ / 7) } 0 .. 7;
}

subtest 'killed at any point' => sub {
    my $traced = "$apart->{dir}/calls";
    plan skip_all => 'strace cannot trace here'  if system('strace -qq -o /dev/null true 2>/dev/null') != 0;
    plan skip_all => 'a sanitizer does not work' if $ENV{SIGREQ_SANITIZE} || defined $ENV{ASAN_OPTIONS};
    @under = ('strace', '-qq', '-o', $traced, '-e', 'trace=' . join ',', @calls);
    is((archive(completed()->{uuid}))[1], 1, 'archived under strace');
    my %count;
    open my $file, '<', $traced or die "$traced: $!\n";
    while (<$file>) { $count{$1}++ if /^(\w+)\(/ }
    cmp_ok(scalar keys %count, '>=', 3, 'it makes calls that change something');
    note join ' ', map {"$_ $count{$_}"} sort keys %count;
    my ($made, $before, @wrong, $kills, $ended);
    for my $call (sort keys %count) {
        for my $n (chosen($count{$call})) {
            ($made, $before) = (completed(), undef) if !$made;
            $before //= document($made, 0)->body;
            my $kill = "inject=$call:signal=KILL:when=$n";
            @under = ('strace', '-qq', '-o', '/dev/null', '-e', "trace=$call", '-e', $kill);
            my ($code) = archive($made->{uuid});
            $kills++ if $code =~ /signal|137/;
            my $document = document($made, 0)->body;
            my @events   = archived($made);
            my $after    = @events ? $events[0]{detail}{documents}[0]{after} : sha256_hex($before);
            push @wrong, "$call $n: event and document differ" if $after ne sha256_hex($document) || @events > 1;
            push @wrong, "$call $n: no chain" if chain_fault(audit($made));
            next if !@events;
            $ended++;
            undef $made;
        }
    }
    @under = ();
    is_deeply(\@wrong, [], 'event and revision agree after each');
    cmp_ok($kills, '>', 10, "there were $kills kills");
    note "$ended of them came after the commit";
    is((archive($made->{uuid}))[1], 1, 'a last run ends what was begun') if $made;
    is_consistent();
};

$apart->stop;
done_testing;
