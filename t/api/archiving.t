# SPDX-License-Identifier: Apache-2.0
# SigreqLongTerm lta: completed submissions are archived in the background, when there are proofs that are newer than
# the last signature, and are renewed before the document timestamps end (SigreqRenew). Nobody waits for it. Processes
# that are killed, and several hosts, do nothing half and nothing twice.
use strict;
use warnings;
use Digest::SHA ();
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for sql);
use Sigreq::Httpd;
use Sigreq::Judge qw(java_judge pyhanko_judge);
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::Signer qw(signers_of chain_fault pdfsig qpdf_check);
use Sigreq::TSA;
use Sigreq::Validator;
use Test::More;
use Time::HiRes 'sleep';

my $apart     = Sigreq::Apart->new;
my $folder    = $apart->{dir};
my $responder = Sigreq::Responder->new("$folder/pki");
my $pki       = Sigreq::PKI->new("$folder/pki", http => $responder->http, ocsp => $responder->ocsp);
$responder->set('age', 0);    # so that nobody waits for proofs that are newer than a signature
$pki->issue('short', 'tsaroot2', 'tsa', days => 30);
my %tsa = map { $_ => Sigreq::TSA->new($pki, $_) } qw(tsa1 short);
$pki->put_pair('seal', $folder);
mkdir "$folder/documents";

my $count = 0;

sub directives {    # with a folder of its own for proofs; more directives
    my ($tsa, @more) = @_;
    my $proofs = "$folder/proofs" . ++$count;
    mkdir $proofs;
    my %file = map { $_ => '"' . $pki->file("$_.crt") . '"' } qw(root roots authorities);
    return join "\n", "SigreqSealAuthorities $file{root}", qq{SigreqProofs "$proofs"}, 'SigreqProofsAllow 127.0.0.0/8',
        'SigreqTimestamp ' . $tsa{$tsa}->url, "SigreqTimestampAuthorities $file{authorities}",
        "SigreqTrust $file{roots}", Sigreq::Httpd::seal(SigreqTestSeal => $folder), @more,
        qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>};
}

sub host {          # one more httpd of the database and the documents
    my ($tsa, @more) = @_;
    return $apart->httpd(server => directives($tsa, @more), seal => Sigreq::Httpd::seal(SigreqSeal => $folder),
        documents => "$folder/documents", children => 2);
}

my ($httpd, $client);

sub serve {         # after the httpd before it
    undef $client;
    $httpd->stop if $httpd;
    $httpd  = host(@_);
    $client = $apart->client($httpd);
    return;
}

sub figure {
    my ($pattern) = @_;
    return $client->{ua}->get($httpd->base . '/metrics')->res->body =~ $pattern ? $1 : undef;
}
sub due { figure(qr/^sigreq_archive_due\{server="main"\} (\d+)/m) }

sub proven  { figure(qr/^(sigreq_proof_expiry_timestamp_seconds\{environment="test"\} \d{10})/m) }    # the seal
sub stamped { figure(qr/^(sigreq_timestamp_proof_expiry_timestamp_seconds \d{10})/m) }    # an authority was asked

sub completed {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
    is($_->sign->code, 200, 'a signer signs') for signers_of($made);
    return $made;
}

sub audit    { return $client->get("/signatures/$_[0]{uuid}/audit")->json }
sub archived { return grep { $_->{event} eq 'archived' } @{ audit(@_)->{events} } }

sub document {
    my ($made, %query) = @_;
    return $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}", query => \%query)->body;
}

sub in_database { my ($statement) = @_; return sql($statement, $apart->{params}) }
sub job {           # columns of the last job that archives a submission
    my ($made, $columns) = @_;
    return in_database("SELECT $columns FROM job WHERE kind = 'archive' AND submission_id = "
            . "(SELECT id FROM submission WHERE uuid = '$made->{uuid}') ORDER BY id DESC LIMIT 1");
}

sub levels {
    my $res = $client->post('/verify', body => $_[0], headers => { 'Content-Type' => 'application/pdf' });
    my @signatures = @{ $res->json->{signatures} };
    return join ' ', $res->json->{conclusion}, map { ($_->{level} // $_->{kind}, $_->{trust}) } @signatures;
}

sub is_judged {     # by other programs: a document with one signature and so many document timestamps
    my ($pdf, $timestamps) = @_;
    is(qpdf_check($pdf), '', 'qpdf has nothing to say');
    is(pdfsig($pdf)->{valid}, 1, 'pdfsig calls the signature valid');
    return if suite->{db} ne 'sqlite3';    # once is enough: the document does not depend on the database
    my $file  = Sigreq::Validator::saved($pdf);
    my $judged = java_judge({ roots => $pki->file('roots.crt') }, "$file")->{"$file"};
    is_deeply([map {"$_->{kind} $_->{intact} $_->{chain}"} @{ $judged->{signatures} // [] }],
        ['signature 1 ok', ('timestamp 1 ok') x $timestamps], 'PDFBox and Bouncy Castle agree')
        or diag explain $judged;
    my $hanko = pyhanko_judge($pki->file('roots.crt'), "$file");
    SKIP: {
        skip 'pyHanko is not here', 1 if !$hanko;
        my ($signature) = @{ $hanko->{"$file"}{signatures} };    # it does not look at document timestamps
        is_deeply([@$signature{qw(intact valid modification)}], [1, 1, 'LTA_UPDATES'], 'pyHanko agrees')
            or diag explain $hanko;
    }
}

sub is_sound {      # what must be true whatever has happened
    my ($made, $before) = @_;
    is(scalar archived($made), 1, 'there is one event');
    is(chain_fault(audit($made)), undef, 'the audit trail is a chain');
    my ($event) = archived($made);
    my $document = document($made);
    is($event->{detail}{documents}[0]{after}, Digest::SHA::sha256_hex($document),
        'the event has the hash of the document as it is');
    ok(substr($document, 0, length $before) eq $before, 'the archived document begins with the signed one');
}

subtest 'in the background' => sub {
    serve('tsa1', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s');
    ok(wait_for(\&proven), 'there are proofs of the seal');
    my $made   = completed();    # which also makes the authority known
    my $before = document($made);
    ok(wait_for(sub { archived($made) }), 'a completed submission is archived');
    is_sound($made, $before);
    is(levels(document($made)), 'signed B-LTA trusted timestamp trusted', 'the document is PAdES B-LTA');
    ok(document($made, version => 'signed') eq $before, 'version=signed is what the signer has left');
    is_judged(document($made), 1);
    my ($event) = archived($made);
    like($event->{detail}{documents}[0]{timestamp}{authority}, qr/tsa1/, 'the event names the authority');
    like($event->{detail}{documents}[0]{timestamp}{time}, qr/^20\d\d-/, 'the event has the time');
    ok(wait_for(sub { job($made, 'state') eq 'done' }), 'its job is done');
    ok(wait_for(sub { due() == 0 }), 'nothing is due');
};

subtest 'proofs that are older than the signature' => sub {
    serve('tsa1', 'SigreqLongTerm lta');    # whose proofs are not fetched again for long
    ok(wait_for(\&proven), 'there are proofs of the seal');
    my $made = completed();
    ok(wait_for(\&stamped), 'there are proofs of the authority');
    my $later = completed();
    is(due(), 0, 'nothing is due');
    is(job($later, 'id'), '', 'there is no job that could fail');
    in_database("UPDATE submission SET closed_at = closed_at - 87000000000 WHERE uuid = '$later->{uuid}'");
    ok(wait_for(sub { archived($later) }), 'after a day it is archived all the same');
    is(levels(document($later)), 'signed B-LTA trusted timestamp trusted',
        'a submission is archived after a day with the proofs that there are');
    is(scalar archived($made), 0, 'the submission that was completed first is not archived');
};

subtest 'authorities that are away' => sub {
    serve('tsa1', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s', 'SigreqTimestampMode prefer');
    ok(wait_for(\&proven), 'there are proofs of the seal');
    $tsa{tsa1}->mode('500');
    my $made   = completed();
    my $before = document($made);
    ok(wait_for(sub { (job($made, 'attempts') || 0) == 1 }), 'archiving fails');
    is(job($made, 'state'), 'scheduled', 'the failed job will be tried again');
    ok(wait_for(sub { due() > 0 }), 'the metric says that something is due');
    ok(document($made) eq $before, 'nothing has happened to the document');
    ok(wait_for(sub { $httpd->log =~ /SR0600: archive \d+ failed at attempt 1 of 10/ }), 'the log has the failure');
    $tsa{tsa1}->mode('ok');
    ok(wait_for(sub {    # the authority is skipped for a while after its failures
            in_database("UPDATE job SET due_at = 1, attempts = 0 WHERE kind = 'archive' AND state = 'scheduled'");
            return archived($made);
        }), 'when they are back it is archived');
    is_sound($made, $before);
    is(levels(document($made)), 'signed B-LTA trusted timestamp trusted',
        'the timestamp of the archived document proves when');
};

subtest 'renewal' => sub {
    serve('short', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s', 'SigreqRenew 29d');
    ok(wait_for(\&proven), 'there are proofs of the seal');
    my $made = completed();
    ok(wait_for(sub { archived($made) }), 'a submission is archived by a timestamp that ends in 30 days');
    ok(wait_for(sub { job($made, 'state') eq 'done' }), 'the job is done after one timestamp');
    serve('short', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s');
    in_database("UPDATE job SET ended_at = ended_at - 87000000000 WHERE kind = 'archive' AND state = 'done'");
    ok(wait_for(sub { job($made, 'state') eq 'scheduled' }), '90 days before that it is due');
    is(scalar archived($made), 1, 'another timestamp of the same authority would renew nothing');
    cmp_ok(job($made, 'due_at') / 1e6, '>', time + 80_000, 'the renewal is tried again in a day');
    is(job($made, 'attempts'), 0, 'the renewal that has to wait is no failure');
    serve('tsa1', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s', 'SigreqRenew 31d');
    ok(wait_for(sub {    # it waits for the proofs, which nobody needed here before
            in_database("UPDATE job SET due_at = 1, attempts = 0 WHERE kind = 'archive' AND state = 'scheduled'");
            return archived($made) == 2;
        }), 'an authority whose certificate ends later renews it')
        or diag job($made, 'error');
    my $document = document($made);
    is(levels($document), 'signed B-LTA trusted timestamp trusted timestamp trusted',
        'the renewed document is PAdES B-LTA');
    is_judged($document, 2);
    my $first = (archived($made))[0]{detail}{documents}[0]{after};
    my $size  = -1;
    for my $end (0 .. length $document) {    # the length of the first archived version
        last if $size >= 0;
        next if substr($document, $end, 6) ne "%%EOF\n";
        $size = $end + 6 if Digest::SHA::sha256_hex(substr $document, 0, $end + 6) eq $first;
    }
    cmp_ok(index($document, '/CRLs', $size), '>', 0, 'the renewed document has a proof about the authority before');
    ok(wait_for(sub { job($made, 'state') eq 'done' }), 'the renewal is done');
};

subtest 'killed again and again' => sub {
    serve('tsa1', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s');
    ok(wait_for(\&proven), 'there are proofs of the seal');
    my @made   = map { completed() } 1 .. 6;
    my %before = map { $_->{uuid} => document($_) } @made;
    $tsa{tsa1}->delay(150);
    for (1 .. 25) {
        sleep rand 0.4;
        kill KILL => children($httpd->pid);
        last if @made == grep { scalar eval { archived($_) } } @made;
    }
    $tsa{tsa1}->delay(0);
    ok(wait_for(sub {
            in_database("UPDATE job SET due_at = 1, attempts = 0 WHERE kind = 'archive' AND state = 'scheduled'");
            return @made == grep { scalar eval { archived($_) } } @made;
        }), 'all are archived in the end');
    is_sound($_, $before{ $_->{uuid} }) for @made;
    my %database = $apart->database;
    my $ctl = suite->{source} . "/build/sigreqctl --driver $database{driver} --params '$database{params}'";
    my $said = qx($ctl --documents '$folder/documents' check --evidence 2>&1);
    is($? >> 8, 0, 'sigreqctl check finds no fault') or diag $said;
};

subtest 'two hosts' => sub {
    my $other = host('tsa1', 'SigreqLongTerm lta', 'SigreqProofsRefresh 1s');
    my @made   = map { completed() } 1 .. 8;
    my %before = map { $_->{uuid} => document($_) } @made;
    ok(wait_for(sub {    # a busy database is tried again
            in_database("UPDATE job SET due_at = 1, attempts = 0 WHERE kind = 'archive' AND state = 'scheduled'");
            return @made == grep { scalar archived($_) } @made;
        }), 'all are archived')
        or diag map {"$_\n"} map { $_->log =~ /(SR060\d: .*)/g } $httpd, $other;
    is_sound($_, $before{ $_->{uuid} }) for @made;
    $other->stop;
};

subtest 'deletion' => sub {
    my $made = completed();
    ok(wait_for(sub { archived($made) }), 'a submission is archived');
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'it can be deleted');
    is(job($made, 'id'), '', 'the job of the deleted submission is gone');
};

$httpd->stop;
done_testing;
