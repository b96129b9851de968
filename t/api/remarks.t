# SPDX-License-Identifier: Apache-2.0
# `warnings` of a creation: ignored parts and members, and areas outside of their page. Also the area that answers
# return.
use strict;
use warnings;
use utf8;
use Mojo::JSON        qw(encode_json);
use Sigreq::Here      qw(organisation place is_text);
use Sigreq::Multipart qw(part);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $org    = organisation();
my $client = $org->{test};

sub warned {    # creates with these options; the warnings, which GET and the list show as well
    my ($name, %o) = @_;
    my $res = $client->create(%o);
    is($res->code, 201, "$name: created") or diag $res->body;
    my $made = $res->json;
    is($client->get("/signatures/$made->{uuid}")->body, $res->body, "$name: GET shows the same warnings");
    return $made->{warnings};
}

sub with_areas {
    my $number = 0;
    my @fields = map { +{ type => 'signature', name => 'f' . ++$number, document => 'a.pdf', area => $_ } } @_;
    return Sigreq::Client::signers({ fields => \@fields });
}

is(warned('what the contract shows'), undef, 'without a warning there is no member');
is(warned('an empty file field', more => [part('file', '', filename => '', type => 'application/octet-stream')]),
    undef, 'an empty part is not reported');
is_deeply(
    warned('form parts', more => [map { part($_, 'true') } 'sendemail', 'x' x 100, 'sendemail', '', "a\tb"]),
    ['unknown form part sendemail', 'unknown form part ' . 'x' x 64 . '…', 'unknown form part without a name',
        "unknown form part a\x{FFFD}b"],
    'each name is reported once, short and printable');
is_deeply(
    warned('files', more => [part('file', pdf()), part('sendEmail', 'true', filename => 'blob')]),
    ['form part file has no file name: it was passed over', 'form part sendEmail is a file: it was passed over'],
    'a file without a name and a field that is a file are reported');
my $signers = Sigreq::Client::signers({ emial => 'ann@x.org' }, {});
$signers->[1]{fields}[0]{required} = \1;
$signers->[1]{fields}[0]{area}{units} = 'pt';
is_deeply(
    warned('members', signers => $signers, more => [part('x', '')]),
    ['unknown form part x', 'Signer 1: unknown member emial', 'Signer 2, Field 1: unknown member required',
        'Signer 2, Field 1: unknown member units of its area'],
    'unknown members are reported with their places');
my $long = Sigreq::Client::signers({ '' => 1, 'm' x 65 => 2, 'é' x 200 => 3 });
$long->[0]{fields}[0] = { %{ $long->[0]{fields}[0] }, '' => 1, 'f' x 20_000 => 2 };
is_deeply(
    [sort @{ warned('names', signers => $long) }],
    [(map {"Signer 1, Field 1: unknown member $_"} 'f' x 64 . '…', 'without a name'),
        map {"Signer 1: unknown member $_"} 'm' x 64 . '…', 'without a name', 'é' x 64 . '…'],
    'long and empty names are shortened, and the child that reads them goes on');
my $many = warned('many', more => [map { part("p$_", 'x') } 1 .. 30]);
is(scalar @$many, 21, 'twenty warnings are shown');
is($many->[20], 'and 10 more', 'the last warning has the number of the others');

# --- areas

my %on = (x => 10, y => 10, w => 50, h => 20, page => 0);
my $cropped = { mediabox => [0, 0, 600, 800], cropbox => [100, 100, 500, 700] };
my @pages = (files => [['a.pdf', pdf(pages => [{}, $cropped])]]);
is_deeply(
    warned(
        'areas', @pages,
        signers => with_areas(
            \%on, { %on, x => 612 }, { %on, x => 600 }, { %on, x => 562 }, { %on, y => -5, origin => 'top-left' },
            { %on, page => 1, x => 390 }, { %on, page => 1, x => 360 }, { %on, page => 1, x => 350 },
            { %on, y => 1e300 })),
    ['Signer 1, Field 2: the area lies outside of page 0', 'Signer 1, Field 3: the area lies partly outside of page 0',
        'Signer 1, Field 5: the area lies partly outside of page 0',
        'Signer 1, Field 6: the area lies partly outside of page 1',
        'Signer 1, Field 7: the area lies partly outside of page 1',
        'Signer 1, Field 9: the area lies outside of page 0'],
    'areas that lie outside are reported');

is_deeply(
    warned(
        'small areas, and rotated pages', files => [['a.pdf', pdf(pages => [{}, { rotate => 90 }])]],
        signers => with_areas(
            { %on, w => 19 }, { %on, h => 7 }, { %on, w => 20, h => 8 }, { %on, w => 0.3, h => 0.1 },
            { %on, page => 1, w => 8, h => 20 }, { %on, page => 1, w => 20, h => 8, origin => 'user-space' },
            { %on, page => 1, origin => 'top-left' },
            { %on, page => 1, w => 7, h => 4, unit => 'percent' },
            { %on, page => 1, w => 2, h => 1, unit => 'percent' })),
    [(map {"Signer 1, Field $_: the area is less than 20 points wide or 8 points high"} 1, 2, 4),
        'Signer 1, Field 5: page 1 is rotated by 90 degrees, and the area counts before that',
        map {"Signer 1, Field $_: the area is less than 20 points wide or 8 points high"} 6, 9],
    'areas on rotated pages are reported, unless they say their origin or are in percent');

my $sent = '{"x":10.25,"y":-3,"w":1e2,"h":20,"page":1,"origin":"top-left"}';
my $json = encode_json(with_areas('AREA')) =~ s/"AREA"/$sent/r;
my $made = $client->create(@pages, signers => $json)->json;
my $area = $made->{submitters}[0]{fields}[0]{area};
is_deeply($area, { x => 10.25, y => -3, w => 100, h => 20, page => 1, origin => 'top-left' }, 'an area is given back');
my $again = $client->create(@pages, signers => with_areas($area))->json;
is_deeply([@{ $again->{submitters}[0]{fields}[0] }{qw(area percent rect)}],
    [@{ $made->{submitters}[0]{fields}[0] }{qw(area percent rect)}], 'an area that is sent again gives the same place');
sub origin { $_[0]->create(signers => with_areas(\%on))->json('/submitters/0/fields/0/area/origin') }
is(origin($client), 'user-space', 'the area has its origin');
is(origin($client->with(base => place('/topleft'))), 'top-left',
    'the area keeps its origin if the server has another default');

# --- numbers

for my $case (['9223372036854775808', 1], ['-' . '9' x 40, 1], ['1e300', 1], ['1e309', 0], ['9' x 400, 0]) {
    my ($number, $fine) = @$case;
    my $text = encode_json(with_areas({ %on, x => 'X' })) =~ s/"X"/$number/r;
    my $name = 'x: ' . substr $number, 0, 30;
    my $res = $client->create(signers => $text);
    if ($fine) { like(($res->json('/warnings') // [])->[0], qr/lies outside of page 0$/, $name) }
    else       { is_text($res, 400, 'Signer 1, Field 1: Area x/y coordinate must be a number', $name) }
}
my $far = encode_json(with_areas({ %on, page => 'X' })) =~ s/"X"/99999999999999999999/r;
is_text($client->create(signers => $far), 400, 'Index page unknown', 'a page that no document has');

# --- a replay answers the same

my %key  = (headers => { 'Idempotency-Key' => "warned $$" });
my $one  = $client->create(%key, more => [part('sendemail', 'true')]);
my $next = $client->create(%key);
is_deeply($one->json('/warnings'), ['unknown form part sendemail'], 'the first answer has a warning');
is($next->body, $one->body, 'the repetition has the same warning');
done_testing;
