# SPDX-License-Identifier: Apache-2.0
# What one organisation has uploaded is new to every other, and to its own other environment: a helper is asked, and
# what it reports is kept for the one who asked alone. So nobody learns what others have, and what a hostile document
# has made a helper say reaches nobody else.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Here qw(organisation suite documents reports workers wait_for);
use Sigreq::PDF qw(pdf without_end);
use Test::More;

my ($first, $second) = (organisation(), organisation());
my $poor  = organisation(quota => 0);
my $count = 0;
sub nonce { "reports $$ " . suite->{db} . suite->{mpm} . ++$count }

# Whether a helper was asked: there were none before.
sub asks {
    my $code = shift;
    kill KILL => workers();
    wait_for(sub { !workers() }) or die "workers do not end\n";
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
        is($asked, !$known, '… ' . ($known ? 'and nobody is asked' : 'and a helper is asked'));
        return $answer->json('/documents/0/sha256');
    };
    my $sha256 = $post->($first->{test}, 0, 'new to all');
    is(scalar(my @one = reports($sha256)), 1, 'one report');
    $post->($first->{test},  1, 'seen before');
    $post->($first->{live},  0, 'seen in the other environment');
    $post->($second->{test}, 0, 'seen by another organisation');
    $post->($_, 1, 'seen before') for $first->{live}, $second->{test};
    is(scalar(my @three = reports($sha256)), 3, 'a report for each');
    is(documents(), $before + 1, 'and one document');
};

subtest 'a request that fails leaves no report' => sub {
    my $bytes = pdf(nonce => nonce());
    my $known = $first->{test}->create(files => [['a.pdf', $bytes]]);
    is($known->code, 201, 'another organisation has the document');
    for my $try (1, 2) {
        my ($answer, $asked) = asks(sub { $poor->{live}->create(files => [['a.pdf', $bytes]]) });
        is($answer->code, 403, "try $try: no quota");
        ok($asked, '… and a helper is asked');
    }
    is(scalar(my @one = reports($known->json('/documents/0/sha256'))), 1, 'the report of the other is the only one');
};

# A report may name what the document was rewritten as: it is taken where the organisation has that itself.
subtest 'a report that names the document of another' => sub {
    my ($own, $foreign) = (without_end(pdf(nonce => nonce())), pdf(nonce => nonce()));
    my $made   = $first->{test}->create(files => [['a.pdf', $own]]);
    my $other  = $second->{live}->create(files => [['a.pdf', $foreign]]);
    my ($file) = reports($made->json('/documents/0/sha256'));
    my $report = decode_json(path($file)->slurp);
    my $right  = $report->{normalised}{sha256};
    $report->{normalised} = { sha256 => $other->json('/documents/0/sha256'), size => length $foreign };
    unlink $file;
    open my $to, '>', $file or die "$file: $!\n";
    print {$to} encode_json($report);
    close $to;
    my $again = $first->{test}->create(files => [['a.pdf', $own]]);
    is($again->code, 201, 'the document once more');
    my $shown = $first->{test}
        ->get('/signatures/' . $again->json('/uuid') . '/documents/' . $again->json('/documents/0/uuid'));
    ok($shown->body ne $foreign, 'is not what the other has');
    is($shown->headers->etag, qq("$right"), 'but what it was rewritten as');
};
done_testing;
