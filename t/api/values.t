# SPDX-License-Identifier: Apache-2.0
# Fields beside the signature: text, date, check box, choice and initials. The caller and the signers fill them in, the
# document shows them, and later changes are found.
use strict;
use warnings;
use utf8;
use Encode 'decode_utf8';
use Mojo::File 'tempfile';
use Mojo::JSON;
use Sigreq::Here qw(organisation is_error is_text suite);
use Sigreq::Judge 'pyhanko_judge';
use Sigreq::PDF qw(pdf with_value);
use Sigreq::Preview;
use Sigreq::Signer;
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);

sub area { my ($y, %more) = @_; return { x => 72, y => $y, w => 180, h => 20, page => 0, %more } }

sub field {
    my ($type, $y, %more) = @_;
    return { type => $type, name => $type, document => 'a.pdf', area => area($y), %more };
}
sub signature { return field('signature', 700, area => area(700, h => 50), @_) }
sub person { my ($name, @fields) = @_; return { firstname => $name, lastname => 'Lee', fields => \@fields } }

sub creation { my ($signers, %more) = @_; return $client->create(signers => $signers, %more) }

sub made {
    my $res = creation(@_);
    is($res->code, 201, 'created') or diag $res->body;
    is($client->get('/signatures/' . $res->json->{uuid})->body, $res->body, 'GET shows the same');
    return $res->json;
}

# --- refusals

sub refused {
    my ($message, @fields) = @_;
    is_text(creation([person(Ann => @fields)]), 400, "Signer 1, $message");
}

my $needs = 'Must have at least 1 field of type signature';
is_text(creation([person(Ann => field('text', 100))]), 400, "Signer 1: $needs");
is_text(creation([person(Ann => field('initials', 100))]), 400, "Signer 1: $needs");
refused("Field 2: $_->[0]", signature(), field(text => 100, %{ $_->[1] })) for
    ['size must be a number from 6 to 72', { size => 5 }],
    ['maxLength must be an integer from 1 to 4000', { maxLength => 0 }],
    ['readOnly must be true or false', { readOnly => 'yes' }],
    ['readOnly needs a value', { readOnly => $yes }],
    ['align must be start, center, end, left or right', { align => 'top' }],
    ['format must be integer, decimal, email or date', { format => 'x' }],
    ['value must be a string, true or false', { value => 5 }],
    ['value must be a string', { value => $yes }],
    ['value must have at most 3 characters', { value => 'Rent', maxLength => 3 }],
    ['value must be a day, such as 2026-11-22', { value => '2026-02-30', format => 'date' }],
    ['value must be a whole number, such as 42', { value => '4,2', format => 'integer' }],
    ['The text is too long for its field', { value => 'W' x 200, readOnly => $yes }];
for (['The field is too small for a text', 99, 5], ['The text is too long for its field', 30, 9]) {
    my %area = (x => 72, y => 100, w => $_->[1], h => $_->[2], page => 0);
    refused("Field 2: $_->[0]", signature(), field(date => 0, area => \%area));
}
refused('Field 2: options must be 2 to 100 different texts of at most 200 characters',
    signature(), field(choice => 100, options => $_)) for undef, ['a'], ['a', 'a'], ['a', 5], 'ab';
refused('Field 2: value must be one of the options',
    signature(), field(choice => 100, options => ['a', 'b'], value => 'c'));
my %everywhere = (area => { x => 10, y => 5, w => 40, h => 3, unit => 'percent', pages => 'all' });
refused('Field 2: Only initials, date and read-only text can be on all pages', signature(), $_)
    for field(text => 0, %everywhere, value => 'x'), field(checkbox => 0, %everywhere, value => $yes, readOnly => $yes);
is_text(creation([person(Ann => signature(), map { field(checkbox => 100 + $_, group => 'g', value => $yes) } 1, 2)]),
    400, 'Signer 1: At most 1 check box of group g can be ticked');
is_text(
    $client->create(
        files   => [['a.pdf', pdf()], ['b.pdf', pdf()]],
        signers => [person(Ann => signature(), field(text => 100, document => 'b.pdf'))]),
    400, 'Signer 1, Field 2: Document b.pdf needs a field of type signature of this signer');

my $wide = field(text => 100, value => 'W' x 200, readOnly => $yes);
is_text(
    creation([person(Ann => signature(), field(initials => 0, %everywhere), $wide)],
        files => [['a.pdf', pdf(pages => [{}, {}])]]),
    400, 'Signer 1, Field 3: The text is too long for its field', 'fields are counted as the request has them');

# --- a lease: the caller's values, then two signers in order

my $pages = pdf(pages => [{}, { rotate => 90 }, {}]);
my @ann   = (
    signature(name => 'Tenant'),
    field(text     => 100, name => 'rent', value => '0950,00', readOnly => $yes, align => 'end'),
    field(text     => 130, name => 'job title', maxLength => 40),
    field(checkbox => 160, name => 'pets', area => area(160, w => 20)),
    field(choice   => 190, name => 'payment', options => ['monthly', 'quarterly'], value => 'monthly'),
    field(date     => 220, name => 'day'),
    field(text     => 250, name => 'notes', multiline => $yes, required => $no, area => area(250, h => 60)),
    field(initials => 750, name => 'initials', area => { x => 500, y => 750, w => 60, h => 20, pages => 'all' }));
my @bob = (
    signature(name => 'Landlord', area => area(600, h => 50)),
    field(text => 350, name => 'rent', value => "Zürich,\r\n5 €", multiline => $yes, area => area(350, h => 40)),
    map { field(checkbox => 380 + 30 * $_, name => "way $_", group => 'way', required => $yes,
            area => area(380 + 30 * $_, w => 20, page => 1)) } 1, 2);
my $lease = made(
    [{ %{ person(Ann => @ann) }, order => 1 }, { %{ person(Bob => @bob) }, order => 2 }],
    files => [['a.pdf', $pages]]);
my @said = @{ $lease->{submitters}[0]{fields} };
is(scalar @said, 10, 'initials on all pages are one field for each page');
is_deeply([map { $_->{page} } @said[7 .. 9]], [0, 1, 2], 'on each page');
is_deeply([map { exists $_->{value} ? $_->{value} // 'null' : 'absent' } @said[0 .. 7]],
    ['absent', '0950,00', 'null', 'null', 'monthly', 'null', 'null', 'absent'], 'the caller\'s values');
is_deeply([@{ $said[4] }{qw(type options)}], ['choice', ['monthly', 'quarterly']],
    'members are shown as they were sent');
is_deeply([grep { exists $said[2]{$_} } qw(required readOnly align multiline)], [], 'and no others');

my ($ann, $bob) = Sigreq::Signer::signers_of($lease);
my $document = $ann->state->{documents}[0];

sub texts {    # of the document that a signer can download
    my ($signer) = @_;
    my $answer = $signer->get("/documents/$document->{uuid}");
    diag($answer->body) if $answer->code != 200;
    my $file = tempfile->spurt($answer->body);
    return ($file, decode_utf8(`pdftotext -layout -enc UTF-8 $file -`));
}

my (undef, $before) = texts($ann);
like($before, qr/0950,00/, 'the caller\'s values are in the document before anybody signs');
is(`qpdf --check @{[(texts($ann))[0]]} >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');
my @fields = @{ $ann->state->{fields} };
is_deeply([map { $_->{number} // 'none' } @fields], ['none', 2 .. 7, ('none') x 3], 'fields with values have numbers');
is_deeply([@{ $fields[2] }{qw(required readOnly maxLength)}], [$yes, $no, 40], 'the state says what the page needs');
is_deeply($fields[5]{readOnly}, $yes, 'the service fills in the day');

sub sign {
    my ($signer, $values, %more) = @_;
    my %zone = (utcOffset => 0, timeZone => 'UTC');
    return $signer->post(json => { %{ Sigreq::Signer::typed() }, values => $values, %zone, %more });
}

sub faults { my $res = shift; return join ', ', sort map {"$_->{number} $_->{code}"} @{ $res->json->{fields} // [] } }

is_error(sign($ann, 'x'), 400, 'values must be an object');
is_error(my $empty = sign($ann, {}), 400, 'A field is not filled in correctly');
is_deeply($empty->json->{fields}, [{ number => 3, code => 'required', message => 'The field must be filled in' }],
    'the answer names the field');
is(faults(sign($ann, $_->[0])), $_->[1], $_->[2]) for
    [{ 3 => ' ' }, '3 required', 'white space is not a value'],
    [{ 3 => 'x' x 41 }, '3 length', 'too long'],
    [{ 3 => 'W' x 40 }, '3 fit', 'too wide'],
    [{ 3 => 'x', 2 => '1' }, '2 readOnly', 'a value that is not to be changed'],
    [{ 3 => 'x', 5 => 'never', 4 => 'true' }, '4 type, 5 option', 'all faults at once'],
    [{ 3 => 'x', 99 => 'x', 1 => 'x' }, '0 unknown, 0 unknown', 'no such field'];
is($ann->state->{state}, 'opened', 'nothing has changed');

my ($day, $month, $year) = (gmtime)[3, 4, 5];
my $today = sprintf '%04d-%02d-%02d', $year + 1900, $month + 1, $day;
my $res = sign($ann, { 3 => 'Engineer', 4 => $yes, 7 => "First line\r\nsecond" });
is($res->code, 200, 'Ann signs') or diag $res->body;
my $shown = $client->get("/signatures/$lease->{uuid}")->json;
is_deeply([map { $_->{value} } @{ $shown->{submitters}[0]{fields} }[1 .. 6]],
    ['0950,00', 'Engineer', $yes, 'monthly', $today, "First line\nsecond"], 'GET has the signer\'s values');
my ($first, $text) = texts($bob);
like($text, qr/$_/, "the document shows $_") for '0950,00', 'Engineer', 'monthly', 'First line', 'second', $year + 1900;

is(faults(sign($bob, {})), '3 required', 'one box of a required group must be ticked');
is(faults(sign($bob, { 3 => $yes, 4 => $yes })), '3 group', 'and only one');
is(sign($bob, { 4 => $yes })->code, 200, 'Bob signs');
my ($both, $all) = texts($bob);
like($all, qr/Zürich,\s+5 €/, 'a value that the signer has left as it was');
my $pdfsig = `pdfsig -nocert $both`;
is(scalar(() = $pdfsig =~ /Signature is Valid/g), 5, 'pdfsig: all signatures are valid') or diag $pdfsig;
is(`qpdf --check $both >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');

# --- a text and a date on all pages, in percent, of which each page has its own

my $last    = 11;
my $lengths = pdf(pages => [{ mediabox => [0, 0, 400, 700] }, map { +{ rotate => 90 * ($_ % 4) } } 1 .. $last]);
my $minutes = made(
    [   person(
            Ann => signature(),
            field(text => 0, name => 'number', %everywhere, value => 'No. 4711', readOnly => $yes),
            field(date => 0, name => 'day', area => { %{ $everywhere{area} }, y => 10 }))
    ],
    files => [['a.pdf', $lengths]]);
my @repeated = @{ $minutes->{submitters}[0]{fields} };
shift @repeated;
is_deeply(
    [map {"$_->{name} $_->{page} $_->{percent}{y}"} @repeated],
    [(map {"number $_ 5"} 0 .. $last), map {"day $_ 10"} 0 .. $last],
    'each page has its field at the same place');
is_deeply([map { $_->{area} } @repeated[0, -1]],
    [map { +{ x => 10, y => $_->[0], w => 40, h => 3, unit => 'percent', page => $_->[1] } } [5, 0], [10, $last]],
    'its area has the page');
my ($reader) = Sigreq::Signer::signers_of($minutes);
$document = $reader->state->{documents}[0];
my @shown_before = split /\f/, (texts($reader))[1];
is(scalar(grep {/No\. 4711/} @shown_before), $last + 1, 'each page shows the text before the signature');
is(sign($reader, {})->code, 200, 'nothing is to be filled in');
my ($signed, $words) = texts($reader);
is(scalar(grep { /No\. 4711/ && /\b@{[$year + 1900]}\b/ } split /\f/, $words),
    $last + 1, 'each page shows the text and the day');
is(`qpdf --check $signed >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');
like(`pdfsig -nocert $signed`, qr/Signature is Valid/, 'the signature is valid');
my @filled = @{ $client->get("/signatures/$minutes->{uuid}")->json('/submitters/0/fields') };
is_deeply([map { $_->{value} } splice @filled, -$last - 1], [($today) x ($last + 1)], 'each date has its value');

# --- evidence and verification

my $audit = $client->get("/signatures/$lease->{uuid}/audit")->json;
my ($event) = grep { $_->{event} eq 'signed' } @{ $audit->{events} // $audit };
is_deeply([map {"$_->{field}: $_->{value}"} @{ $event->{detail}{values} }],
    ['rent: 0950,00', 'job title: Engineer', 'pets: 1', 'payment: monthly', "day: $today", "notes: First line\nsecond"],
    'the event has the values');
is_deeply([sort grep {/value/} keys %{ $event->{commitments} }], [map {"detail.values.$_.value"} 0 .. 5],
    'and commits to each of them');

sub conclusion {
    my ($bytes) = @_;
    my $res = $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    return $res->json->{conclusion} . join '', map {" @{ $_->{filled} // [] }"} @{ $res->json->{signatures} };
}

my $sealed = $both->slurp;
is(conclusion($sealed), 'signed rent_2 way 1 way 2 ', 'the document is signed, and Bob has filled in fields');
my $director = with_value($sealed, '/V(Engineer)', '/V(Director)');
like(conclusion($director), qr/^changed/, 'a changed value is found');

SKIP: {
    my $other = tempfile(SUFFIX => '.pdf')->spurt($director);
    my ($root) = glob suite()->{dir} . '/seal-test/*.crt';
    my $said   = pyhanko_judge($root, "$both", "$other") or skip 'without SIGREQ_JUDGE', 2;
    my $levels = sub { join ' ', map { $_->{modification} } @{ $said->{ $_[0] }{signatures} } };
    is($levels->("$both"), 'FORM_FILLING ' x 4 . 'NONE', 'pyHanko: Bob has filled in fields after Ann');
    like($levels->("$other"), qr/^OTHER/, 'pyHanko: the changed value is a violation');
}

done_testing;
