# SPDX-License-Identifier: Apache-2.0
# Values and initials in the requests of signers: in JSON, in a form, and in a form with files. The limits of a request
# grow with the fields.
use strict;
use warnings;
use utf8;
use MIME::Base64 'decode_base64';
use Mojo::JSON qw(false true);
use Sigreq::Here qw(organisation is_error);
use Sigreq::Signer 'signers_of';
use Test::More;

my $client = organisation()->{test};
my $png    = decode_base64('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJ'
        . 'RU5ErkJggg==');
my %browser = (Accept => 'text/html');
my $file    = sub { return { content => $png, filename => 'a.png' } };

sub field {
    my ($type, $y, %more) = @_;
    return {
        type => $type, name => "$type $y", document => 'a.pdf', %more,
        area => { x => 72, y => $y, w => 180, h => 20, page => 0 }
    };
}

# A signer, and a function that returns the values of their fields.
sub signer {
    my @fields = (field(signature => 700), @_);
    my $made   = $client->create(
        signers => [{ firstname => 'Ann', lastname => 'Lee', email => 'ann@example.org', fields => \@fields }])->json;
    my $values = sub {
        my $fields = $client->get("/signatures/$made->{uuid}")->json->{submitters}[0]{fields};
        return [map { $_->{value} } @$fields[1 .. $#$fields]];
    };
    return (signers_of($made), $values);
}

my @fields = (
    field(text => 600), field(checkbox => 560, value => true), field(checkbox => 520, required => false),
    field(choice => 480, options => ['a', 'b'], value => 'a'), field(initials => 440));
my %sign = (action => 'sign', consent => 'yes');

my ($signer, $values) = signer(@fields);
is($signer->post(form => { %sign, typed => 'Ann', 'value-2' => "1\r\n", 'value-3' => 'true' })->code,
    400, 'a line end is not possible in one line');
my %filled = ('value-2' => 'Zoë & Co', 'value-3' => 'true', 'value-4' => 'no');
is($signer->post(form => { %sign, typed => 'Ann', %filled })->code, 303, 'a form');
is_deeply($values->(), ['Zoë & Co', true, false, 'a', undef], 'a box is ticked by true alone');

($signer, $values) = signer(@fields);
my $faults = $signer->post(form => { %sign, typed => 'Ann', 'value-2' => 'x', 'value-5' => 'c' }, headers => \%browser);
is($faults->code, 400, 'a form with faults');
like($faults->body, qr/id="plain-fault-5">This/, 'is shown again');
unlike($faults->body, qr/<option[^>]* selected/, 'no option is chosen');
like($faults->body, qr/name="value-2"[^>]* value="x"/, 'with what was entered');
is($signer->state->{state}, 'opened', 'nothing is signed');
%filled = ('value-2' => 'é', 'value-3' => 'true', 'value-5' => 'b');
my $res = $signer->post(form => { %sign, image => $file->(), initials => $file->(), %filled });
is($res->json->{state}, 'completed', 'a form with files');
is_deeply($values->(), ['é', true, false, 'b', undef], 'a form with files has values');

($signer, $values) = signer(@fields);
my $typed = Sigreq::Signer::typed();
is_error($signer->post(json => { %$typed, values => [] }), 400, 'values must be an object', 'an array');
is($signer->post(json => { %$typed, values => { 2 => 5 } })->json->{fields}[0]{code}, 'type', 'a number');
is_error($signer->post(json => { %$typed, initials => { type => 'typed' } }), 400, qr/not blank/, 'blank initials');
my %initials = (type => 'typed', text => 'A.');
is($signer->post(json => { %$typed, values => { 2 => 'x' }, initials => \%initials })->code, 200, 'JSON');
is_deeply($values->(), ['x', true, false, 'a', undef], 'without a value, a field keeps the value of the caller');

# --- many long values

my %many = map { ($_ => "\x{1f600}" x 4000) } 2 .. 201;
my @long = map { field(text => 3 * $_, maxLength => 1) } 1 .. 200;
for (['JSON', json => { %$typed, values => {%many} }],
    ['a form', form => { %sign, typed => 'Ann', map { ("value-$_" => $many{$_}) } keys %many }],
    ['a form with a file', form => { %sign, image => $file->(), map { ("value-$_" => $many{$_}) } keys %many }]) {
    my ($what, $form, $body) = @$_;
    my ($ann) = signer(@long);
    my $answer = $ann->post($form => $body);
    is($answer->code, 400, "$what of 200 values of 4,000 characters is read");
    my @faults = $answer->body =~ /"code": ?"length"|id="plain-fault-/g;
    is(scalar @faults, 200, "$what: each has a fault");
    my ($bob) = signer();
    is($bob->post($form => $body)->code, 413, "$what: without fields it is too large");
}
done_testing;
