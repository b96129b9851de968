# SPDX-License-Identifier: Apache-2.0
# A document of one organisation is new to every other organisation, and in its own other environment: a helper reads it
# again, and its report is only for the organisation that has uploaded it. So nobody learns what others have, and a
# report that a hostile document has forged affects only its owner.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Here qw(organisation suite documents reports workers end_workers);
use Sigreq::PDF qw(pdf without_end);
use Test::More;

my ($first, $second) = (organisation(), organisation());
my $poor  = organisation(quota => 0);
my $count = 0;
sub nonce { "reports $$ " . suite->{db} . suite->{mpm} . ++$count }

# Whether a helper was asked: there were none before.
sub asks {
    my $code = shift;
    end_workers();
    my $answer = $code->();
    return ($answer, scalar(my @now = workers()) > 0);
}

subtest 'the same bytes' => sub {
    my $bytes  = pdf(nonce => nonce());
    my $before = documents();
    my $post   = sub {
        my ($client, $known, $name) = @_;
        my ($answer, $asked) = asks(sub { $client->create(files => [['a.pdf', $bytes]]) });
        is($answer->code, 201, "$name: accepted");
        is($asked, !$known, "$name: " . ($known ? 'nobody is asked' : 'a helper is asked'));
        return $answer->json('/documents/0/sha256');
    };
    my $sha256 = $post->($first->{test}, 0, 'a new document needs a helper');
    is(scalar(my @one = reports($sha256)), 1, 'there is one report');
    $post->($first->{test},  1, 'a document that was seen before needs no helper');
    $post->($first->{live},  0, 'a document that was seen in the other environment needs a helper');
    $post->($second->{test}, 0, 'a document that another organisation has needs a helper');
    $post->($_, 1, 'a document that was seen before needs no helper') for $first->{live}, $second->{test};
    is(scalar(my @three = reports($sha256)), 3, 'each has a report');
    is(documents(), $before + 1, 'the document is stored once');
};

subtest 'a request that fails leaves no report' => sub {
    my $bytes = pdf(nonce => nonce());
    my $known = $first->{test}->create(files => [['a.pdf', $bytes]]);
    is($known->code, 201, 'another organisation has the document');
    for my $try (1, 2) {
        my ($answer, $asked) = asks(sub { $poor->{live}->create(files => [['a.pdf', $bytes]]) });
        is($answer->code, 403, "try $try: no quota");
        ok($asked, "try $try: a helper reads the document");
    }
    is(scalar(my @one = reports($known->json('/documents/0/sha256'))), 1, 'the report of the other is the only one');
};

# A report may refer to the rewritten document. It is used only if the organisation itself has that document.
subtest 'a report that refers to a document of another organisation' => sub {
    my ($own, $foreign) = (without_end(pdf(nonce => nonce())), pdf(nonce => nonce()));
    my $made   = $first->{test}->create(files => [['a.pdf', $own]]);
    my $other  = $second->{live}->create(files => [['a.pdf', $foreign]]);
    my ($file) = reports($made->json('/documents/0/sha256'));
    my $report = decode_json(path($file)->slurp);
    my $right  = $report->{rewritten}{sha256};
    $report->{rewritten} = { sha256 => $other->json('/documents/0/sha256'), size => length $foreign };
    unlink $file;
    open my $to, '>', $file or die "$file: $!\n";
    print {$to} encode_json($report);
    close $to;
    my $again = $first->{test}->create(files => [['a.pdf', $own]]);
    is($again->code, 201, 'the document is uploaded again');
    my $shown = $first->{test}
        ->get('/signatures/' . $again->json('/uuid') . '/documents/' . $again->json('/documents/0/uuid'));
    ok($shown->body ne $foreign, 'the download is not the document of the other organisation');
    is($shown->headers->etag, qq("$right"), 'the download is the rewritten document');
};
done_testing;
