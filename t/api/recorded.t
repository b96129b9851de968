# SPDX-License-Identifier: Apache-2.0
# Requests whose fields are all signatures: answers, pages, webhooks and PDFs are the recorded ones, on each database.
# Identifiers, times, hashes and signatures are replaced by numbers. SIGREQ_RECORDING=FILE writes the recording.
use strict;
use warnings;
use File::Temp ();
use JSON::PP ();
use Mojo::File 'path';
use Mojo::JSON 'encode_json';
use Sigreq::Here qw(suite organisation place wait_for);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Test::More;

my $FILE     = suite->{source} . '/t/data/recorded.txt';
my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};
my $dir      = File::Temp->newdir;
my @parts;     # of the recording
my %numbers;   # text → what takes its place

sub numbered { my ($kind, $text) = @_; return $numbers{"$kind $text"} //= "$kind-" . keys %numbers }

# Replaces what differs between two runs. The same identifier has the same number everywhere.
sub stable {
    my $text  = shift;
    my $place = place();
    my %own   = ($place => 'PLACE', $receiver->url('') => 'RECEIVER', $org->{name} => 'ORGANISATION');
    $text =~ s/\Q$_\E/$own{$_}/g for sort { length $b <=> length $a } keys %own;
    $text =~ s/127\.0\.0\.1:\d+/HOST/g;
    $text =~ s/u\d+-\d+\@example/USER\@example/g;
    $text =~ s/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/numbered(uuid => $&)/ge;
    $text =~ s/(?<=\/T \(Signature_)\w{12}|(?<![.\w-])(?=\d*[a-f])[0-9a-f]{8}(?![\w-])|(?<=[";>])\d{8}(?=["&<])/SHORT/g;
    $text =~ s/ data-texts="[^"]*"//;    # it has the texts of all that a page may show
    $text =~ s/-[A-Z0-9]{8}(?=\.(?:css|js|svg))/-ASSET/g;
    $text =~ s/("size" : )\d{4,}/$1SIZE/g;
    $text =~ s/\b[0-9a-f]{64}\b/numbered(sha256 => $&)/ge;
    $text =~ s/\b\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|(?: [+-]\d\d:\d\d))/TIME/g;
    $text =~ s/D:\d{14}Z?/D:TIME/g;
    $text =~ s/\b20\d\d-\d\d-\d\d\b/DAY/g;
    $text =~ s{(/ByteRange \[).*?\]|(/Length )\d{4,}}{$+ N}gs;
    $text =~ s/(?<=[?&=\/.-])[0-9a-f]{16,40}\b/HASH/g;
    $text =~ s/<[0-9a-f]{32,}>/<HEX>/gi;
    return $text;
}

sub note_part { my ($name, $text) = @_; push @parts, "=== $name\n" . stable($text) =~ s/\s*\z/\n/r; return }

# JSON with a member in each line, sorted
sub pretty { return JSON::PP->new->canonical->pretty->utf8->encode($_[0]) }

sub note_answer {
    my ($name, $res) = @_;
    my $type = ($res->headers->content_type // '') =~ s/;.*//r;
    note_part($name, $res->code . " $type\n" . ($type eq 'application/json' ? pretty($res->json) : $res->body));
    return $res;
}

# The objects of a PDF, uncompressed. The serial data of embedded fonts and images is left out.
sub note_pdf {
    my ($name, $bytes) = @_;
    path("$dir/a.pdf")->spurt($bytes);
    my $objects = `qpdf --qdf --object-streams=disable --no-original-object-ids $dir/a.pdf - 2>/dev/null`;
    $objects =~ s/\nxref\n.*//s;
    $objects =~ s/[^\n\x20-\x7e]/?/g;
    return note_part($name, $objects);
}

sub note_text {
    my ($name, $bytes) = @_;
    path("$dir/a.pdf")->spurt($bytes);
    return note_part($name, scalar `pdfinfo -struct-text $dir/a.pdf`);
}

sub called {    # the webhooks of a submission, once COUNT have arrived
    my ($uuid, $count) = @_;
    my @calls;
    wait_for(sub { @calls = grep { $_->{body}{submissionId} eq $uuid } $receiver->received; @calls >= $count });
    return map { [$_->{body}{event}, pretty($_->{body})] } @calls;
}

$client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url("/ok?$_") })
    for qw(sent signed refused completed);

my @people = ({ firstname => "Zo\x{eb}", email => 'zoe@example.org', order => 1 }, { firstname => 'Bob', order => 2 });
my $signers = Sigreq::Client::signers(@people);
push @{ $signers->[0]{fields} },
    { type => 'signature', name => 'Copy', document => 'b.pdf',
        area => { x => 10, y => 10, w => 90, h => 40, page => 1 } };
my @files = (['a.pdf', pdf()], ['b.pdf', pdf(pages => [{}, { rotate => 90 }])]);
my @more  = (part('externalId', 'order-4711'), part('metadata', '{"customer":17}'));
my %drawn = (type => 'drawn', width => 100, height => 50, strokes => [[[10, 10], [50, 40], [90, 12]], [[20, 30]]]);
my %sign  = (action => 'sign', consent => \1, signature => \%drawn);

my $made = note_answer('creation', $client->create(signers => $signers, files => \@files, more => \@more))->json;
my ($zoe, $bob) = signers_of($made);
note_answer('list', $client->get('/signatures', query => { limit => 1 }));
note_answer('page',    $zoe->get('', headers => { Accept => 'text/html' }));
note_answer('state',   $zoe->get(''));
note_answer('preview', $zoe->request(POST => '/preview', json => { signature => \%drawn }));
note_answer('too early',   $bob->post(json => \%sign));
note_answer('not valid',   $zoe->post(json => { %sign, consent => \0 }));
note_answer('sign',        $zoe->post(json => \%sign));
note_answer('sign, again', $zoe->post(json => \%sign));
my $path = "/signatures/$made->{uuid}";
note_pdf('signed once', $client->get("$path/documents/$made->{documents}[0]{uuid}")->body);
note_pdf('in b.pdf',    $client->get("$path/documents/$made->{documents}[1]{uuid}")->body);
note_answer('sign, last', $bob->post(json => \%sign));
note_answer('get',        $client->get($path));
note_pdf('signed twice', $client->get("$path/documents/$made->{documents}[0]{uuid}")->body);
note_text('certificate', $client->get("$path/certificate")->body);
note_part("webhook $_->[0]", $_->[1]) for called($made->{uuid}, 4);

$made = $client->create(files => [['a.pdf', pdf()]])->json;
($zoe) = signers_of($made);
note_answer('refusal', $zoe->refuse('Too expensive'));
note_answer('page of a refused request', $zoe->get('', headers => { Accept => 'text/html' }));
note_part("webhook $_->[0]", $_->[1]) for called($made->{uuid}, 2);

my @wrong = (
    [signers => '[]'], [signers => '{'], [files => [['a.pdf', 'x']]],
    [signers => [{ firstname => 'Ann' }]],
    [signers => Sigreq::Client::signers({ area => { page => 7 } })]);
note_answer("refused creation: $_->[0] " . (ref $_->[1] ? encode_json($_->[1]) : $_->[1]), $client->create(@$_))
    for @wrong;

my $now = join "\n", @parts;
path($ENV{SIGREQ_RECORDING})->spurt($now) if $ENV{SIGREQ_RECORDING};
my $recorded = path($ENV{SIGREQ_RECORDING} || $FILE)->slurp;
path("$dir/now.txt")->spurt($now);
is($now eq $recorded ? '' : `diff -u $FILE $dir/now.txt`, '', 'everything is as recorded');
cmp_ok(scalar @parts, '>', 25, 'there are ' . @parts . ' parts');
done_testing;
