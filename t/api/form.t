# SPDX-License-Identifier: Apache-2.0
# Fields with values in form fields that a document has already: text, date, check box and choice. The form decides on
# their places and options, the signers fill them in, and later changes are found.
use strict;
use warnings;
use utf8;
use Encode 'decode_utf8';
use Mojo::File 'tempfile';
use Mojo::JSON;
use Sigreq::Here qw(organisation is_text suite);
use Sigreq::Judge 'pyhanko_judge';
use Sigreq::PDF qw(pdf with_value);
use Sigreq::Preview;
use Sigreq::Signer;
use Test::More;

my $client = organisation()->{test};
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);
my $count = 0;

sub widget { my ($y, $more) = @_; return "/Type/Annot/Subtype/Widget/F 4/P 3 0 R/Rect[100 $y 200 @{[$y + 20]}]$more" }

# The fields are the objects from number 6 on.
my $state = '/AS/Off/AP<</N<</Yes 3 0 R/Off 3 0 R>>>>';
my @form  = (
    widget(700, '/FT/Tx/T(rent)/MaxLen 10/V(950,00)/DA(/Helv 9 Tf 0 g)/TU(The rent)'),
    widget(660, "/FT/Btn/T(pets)$state"),
    widget(620, '/FT/Ch/Ff 131072/T(term)/Opt[( )(a)[(b)(Beta)](a)]/I[2]/V(b)'),
    '/FT/Tx/Ff 4096/T(party)/Kids[10 0 R 11 0 R]',
    widget(560, '/T(notes)/Parent 9 0 R/MaxLen 5000'),
    widget(520, '/T(day)/Parent 9 0 R/Ff 0'),
    widget(480, '/FT/Ch/T(list)/Opt[(x)(y)]'),
    '/FT/Tx/T(apart)/V(before)/Kids[14 0 R]',
    widget(440, '/Parent 13 0 R'),
    widget(400, '/FT/Sig/T(tenant)'),
    widget(360, '/FT/Tx/T(fixed)/Ff 1/V(x)'),
    widget(340, '/FT/Tx/T(hidden)/F 2'),
    widget(320, '/FT/Ch/Ff 2097152/T(many)/Opt[(a)(b)]'),
    '/FT/Btn/Ff 49152/T(pay)/Kids[20 0 R 21 0 R]',
    widget(300, "/Parent 19 0 R$state"),
    widget(280, "/Parent 19 0 R$state"),
    widget(260, '/FT/Tx/T(twice)'),
    widget(240, '/FT/Tx/T(twice)'),
    '/FT/Tx/T(spread)/Kids[25 0 R 26 0 R]',
    widget(220, '/Parent 24 0 R'),
    widget(200, '/Parent 24 0 R'),
    widget(180, '/FT/Tx/Ff 8192/T(secret)'),
    widget(160, '/FT/Tx/Ff 16777216/T(iban)/MaxLen 10/DA(/Helv 10 Tf 0 0.5 1 rg)/Q 2'),
    widget(140, '/FT/Ch/Ff 131072/T(plan)/Opt[[(m)(Monthly)][(y)(Yearly)][( )(x)]]/V(m)/Q 1'),
    widget(120, '/FT/Ch/T(colour)/Opt[[(r)(Red)][(b)(Blue)]]/V[(r)]'),
    widget(100, '/FT/Tx/T(iso)/MaxLen 10'),
    widget(80,  '/FT/Tx/T(brief)/MaxLen 9'));

sub form {
    my (%more)  = @_;
    my @widgets = grep { $form[$_ - 6] =~ m{/Rect} } 6 .. $#form + 6;
    my @roots   = grep { $form[$_ - 6] !~ m{/Parent} } 6 .. $#form + 6;
    my $refer   = sub { join ' ', map {"$_ 0 R"} @_ };
    return pdf(
        nonce   => "form $$ " . ++$count,
        pages   => [{ more => "/Annots[@{[$refer->(@widgets)]}]", %{ $more{page} // {} } }],
        objects => [map {"<<$_>>"} @form],
        catalog => "/AcroForm<</DA(/Helv 0 Tf 0 g)/Fields[@{[$refer->(@roots)]}]>>");
}

sub field {
    my ($type, $name, %more) = @_;
    my $area = ref $name ? $name : { field => $name };
    return { type => $type, name => ref $name ? 'Sign' : $name, document => 'a.pdf', area => $area, %more };
}
sub signature { return field(signature => { x => 300, y => $_[0] // 700, w => 180, h => 50, page => 0 }) }
sub person { my ($name, @fields) = @_; return { firstname => $name, lastname => 'Lee', fields => \@fields } }

sub creation {
    my ($bytes, @signers) = @_;
    return $client->create(files => [['a.pdf', $bytes]], signers => \@signers);
}

# --- refusals

sub refused {
    my ($message, @field) = @_;
    is_text(creation(form(), person(Ann => signature(), field(@field))), 400, $message);
}
refused("Document a.pdf has no $_->[2] $_->[1]", @$_[0, 1], $_->[3] ? %{ $_->[3] } : ()) for
    [text => 'cost', 'text field'], [text => 'pets', 'text field'], [text => 'hidden', 'text field'],
    [text => 'secret', 'text field'], [text => 'party', 'text field'], [checkbox => 'rent', 'check box'],
    [choice => 'rent', 'choice field'], [date => 'term', 'text field'];
refused("Document a.pdf: $_->[0]", @$_[1, 2]) for
    ['text field fixed is read-only', text => 'fixed'],
    ['text field twice is there more than once', text => 'twice'],
    ['text field spread is not shown in exactly one place of one page', text => 'spread'],
    ['text field brief has no room for a date of 10 characters', date => 'brief'],
    ['choice field pay has two buttons for one value', choice => 'pay'],
    ['choice field many permits several choices, which cannot be filled in', choice => 'many'];
refused("Signer 1, Field 2: $_->[0]", @$_[1, 2], %{ $_->[3] }) for
    ['options must be those of the form field', choice => 'term', { options => ['a', 'c'] }],
    ['value must be one of the options', choice => 'term', { value => 'c' }],
    ['value must be one of the options', choice => 'plan', { value => 'Monthly' }],
    ['value must have at most 10 characters', text => 'rent', { value => '12345678901', maxLength => 50 }],
    ['size must be a number from 6 to 72', text => 'rent', { size => 5 }],
    ['readOnly needs a value', checkbox => 'pets', { readOnly => $yes }];
is_text(creation(form(), person(Ann => signature(), field(text => 'rent'), field(text => 'rent'))), 400,
    'Document a.pdf: text field rent is named more than once');
is_text(creation(pdf(nonce => "none $$"), person(Ann => signature(), field(text => 'rent'))), 400,
    'Document a.pdf has no text field rent', 'a document without a form');

# Two groups of radio buttons: the objects 6 and 7 are what a button shows, 8 to 10 one group, 11 to 13 the other one.
# 14 to 16 are a text in cells, a combo box and a list.
sub groups {
    my ($first, $second) = @_;
    my $form   = '/Type/XObject/Subtype/Form/BBox[0 0 9 9]';
    my $look   = sub { "<<$form/Length @{[length $_[0]]}>>stream\n$_[0]\nendstream" };
    my $button = sub {
        my ($y, $group, $state, $is_on) = @_;
        my $shown = $is_on ? $state : 'Off';
        return '<<' . widget($y, "/Parent $group 0 R/AS/$shown/AP<</N<</$state 6 0 R/Off 7 0 R>>>>") . '>>';
    };
    return pdf(
        nonce   => "groups $$ " . ++$count,
        pages   => [{ more => '/Annots[9 0 R 10 0 R 12 0 R 13 0 R 14 0 R 15 0 R 16 0 R]' }],
        catalog => '/AcroForm<</DA(/Helv 0 Tf 0 g)/Fields[8 0 R 11 0 R 14 0 R 15 0 R 16 0 R]>>',
        objects => [
            $look->('0 0 9 9 re f'), $look->('0 0 9 9 re S'),
            '<</FT/Btn/Ff 49152/T(pay)/V/month/Kids[9 0 R 10 0 R]>>',
            $button->(700, 8, 'month', 1), $button->(660, 8, $first // '1#20year#E4'),
            '<</FT/Btn/Ff 32768/T(home)/Opt[(Flat)(House)]/Kids[13 0 R 12 0 R]>>',
            $button->(620, 11, '0'), $button->(580, 11, $second // '1'),
            map { '<<' . widget(@$_) . '>>' } [540, '/FT/Tx/Ff 16777216/T(iban)/MaxLen 10'],
            [500, '/FT/Ch/Ff 131072/T(plan)/Opt[[(m)(Monthly)][(y)(Yearly)]]/V(m)'],
            [460, '/FT/Ch/T(colour)/Opt[[(r)(Red)][(b)(Blue)]]']]);
}

sub radio {
    my ($message, $bytes) = @_;
    return is_text(creation($bytes, person(Ann => signature(), field(choice => 'pay'))),
        400, "Document a.pdf: choice field pay has $message");
}
radio('two buttons for one value', groups('month'));
radio('a button without a value', groups('Off'));
radio('a button without a value', groups() =~ s{/N<<}{/X<<}gr);
is_text(creation(groups(), person(Ann => signature(), field(choice => 'pay', value => '1#20year'))), 400,
    'Signer 1, Field 2: value must be one of the options');
is_text(creation(groups(), person(Ann => signature(), field(choice => 'pay', options => ['month', 'year']))), 400,
    'Signer 1, Field 2: options must be those of the form field');

# --- two signers

sub texts {    # of the document that a signer can download
    my ($signer) = @_;
    my $file = tempfile->spurt($signer->get("/documents/$signer->{document}")->body);
    return ($file, decode_utf8(`pdftotext -layout -enc UTF-8 $file -`));
}

sub sign {
    my ($signer, $values) = @_;
    my %zone = (utcOffset => 0, timeZone => 'UTC');
    return $signer->post(json => { %{ Sigreq::Signer::typed() }, values => $values, %zone });
}

sub faults { my $res = shift; return join ', ', map {"$_->{number} $_->{code}"} @{ $res->json->{fields} // [] } }

sub conclusion {
    my ($bytes) = @_;
    my $res = $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    return $res->json->{conclusion} . join '', map {" @{ $_->{filled} // [] }"} @{ $res->json->{signatures} };
}

sub listed {    # the fields of a document that have a value, as it says itself
    my ($bytes) = @_;
    my $res = $client->post('/documents/inspect', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    return { map { defined $_->{value} ? ($_->{field} => ($_->{readOnly} ? '' : 'open ') . $_->{value}) : () }
            @{ $res->json->{fields} } };
}

sub whole {
    my ($name, $bytes, $own, @more) = @_;
    my $res = creation($bytes,
        person(Ann => $own, field(text => 'rent', value => '1050,00', readOnly => $yes, maxLength => 50),
            field(checkbox => 'pets'), field(choice => 'term', required => $no), @more),
        person(Bob => signature(600), field(text => 'party.notes', maxLength => 100), field(date => 'party.day'),
            field(choice => 'list')));
    is($res->code, 201, "$name: created") or diag $res->body;
    my ($ann, $bob) = Sigreq::Signer::signers_of($res->json);
    $_->{document} = $ann->state->{documents}[0]{uuid} for $ann, $bob;
    return ($res->json, $ann, $bob);
}

subtest 'a form that two people fill in' => sub {
    my ($lease, $ann, $bob) = whole(plain => form(), signature());
    my @said = @{ $lease->{submitters}[0]{fields} };
    is_deeply($said[1]{area}, { field => 'rent' }, 'the area is shown as it was sent');
    is_deeply([@{ $said[1] }{qw(rect value maxLength multiline)}], [[100, 700, 200, 720], '1050,00', 10, $no],
        'the form has the place and limits the length');
    is_deeply([@{ $said[3] }{qw(options value)}], [['a', 'b'], 'b'], 'the form has the options and a value');
    is($lease->{submitters}[1]{fields}[1]{maxLength}, 100, 'the smaller length is taken');
    is($lease->{submitters}[1]{fields}[1]{multiline}, $yes, 'flags may be inherited');
    is_deeply($client->get("/signatures/$lease->{uuid}")->json->{submitters}[0]{fields}, \@said, 'GET shows the same');

    my ($before, $text) = texts($ann);
    like($text, qr/1050,00/, 'the value of the caller is in the document before anybody signs');
    is(listed($before->slurp)->{apart}, 'open before', 'other fields stay as they are');
    is(faults(sign($ann, { 4 => 'c' })), '4 option', 'another value is refused');
    is(sign($ann, { 3 => $yes, 4 => 'a' })->code, 200, 'Ann signs');
    is(faults(sign($bob, {})), '2 required, 4 required', 'values that are missing');
    is(sign($bob, { 2 => "Zürich\n(old)", 4 => 'y' })->code, 200, 'Bob signs');
    my ($both, $all) = texts($bob);
    like($all, qr/\Q$_\E/, "the document shows $_") for '1050,00', 'Zürich', '(old)', (gmtime)[5] + 1900;
    my $values = listed($both->slurp);
    is_deeply([@$values{qw(rent pets term party.notes list)}], ['1050,00', 1, 'a', "Zürich\n(old)", 'y'],
        'the fields have the values, and are read-only');
    is(`qpdf --check $both >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');
    my $pdfsig = `pdfsig -nocert $both`;
    is(scalar(() = $pdfsig =~ /Signature is Valid/g), 2, 'pdfsig: all signatures are valid') or diag $pdfsig;
    my $sealed = $both->slurp;
    like($sealed, qr{/FieldMDP.{0,90}/Fields\[\(rent\)\(pets\)\(term\)\]}, 'the signature locks the fields');
    like($sealed, qr{/TU \(The rent\)}, 'a field keeps what it had');
    is(conclusion($sealed), 'signed party.notes party.day list ', 'it is signed, and Bob has filled in fields');
    like(conclusion(with_value($sealed, '/V(1050,00)', '/V(2050,00)')), qr/^(?:changed|extended)/,
        'a changed value is found');
};

subtest 'with a signature field that the document has' => sub {
    my (undef, $ann, $bob) = whole('existing signature', form(page => { rotate => 180 }), field(signature => 'tenant'));
    is(sign($ann, { 3 => $yes })->code, 200, 'Ann signs');
    is(sign($bob, { 2 => 'x', 4 => 'y' })->code, 200, 'Bob signs');
    my ($both) = texts($bob);
    is(scalar(() = `pdfsig -nocert $both` =~ /Signature is Valid/g), 2, 'pdfsig: all signatures are valid');
    my $alone = creation(form(), person(Ann => field(signature => 'tenant'), field(text => 'rent')));
    is($alone->code, 201, 'nothing is added') or diag $alone->body;
    my ($signer) = Sigreq::Signer::signers_of($alone->json);
    $signer->{document} = $signer->state->{documents}[0]{uuid};
    is(sign($signer, {})->code, 200, 'the value of the form is taken');
    like((texts($signer))[1], qr/950,00/, 'and shown');
};

subtest 'letters, cells and labels of the form' => sub {
    my $res = creation(form(), person(Ann => signature(), field(text => 'iban', maxLength => 8),
        field(choice => 'plan'),
        field(choice => 'colour', align => 'center', size => 20), field(date => 'iso', maxLength => 4, comb => $yes),
        field(text => 'rent', comb => $yes, color => '#ffffff', labels => ['x'])));
    is($res->code, 201, 'the form is taken') or diag $res->body;
    my (undef, $iban, $plan, $colour, $iso, $rent) = @{ $res->json->{submitters}[0]{fields} };
    is_deeply([@$iban{qw(maxLength comb color size align)}], [8, 10, '#0080ff', 10, 'right'],
        'a text has cells, a colour, a size and a side');
    is_deeply([@$plan{qw(options labels value align)}], [['m', 'y'], ['Monthly', 'Yearly'], 'm', 'center'],
        'a combo box has labels');
    is_deeply([@$colour{qw(labels value align size)}], [['Red', 'Blue'], 'r', 'center', 20],
        'what is sent has precedence');
    is_deeply([@$iso{qw(maxLength comb)}], [10, undef], 'the form alone limits a date');
    is_deeply([@$rent{qw(comb color labels size)}], [undef, undef, undef, 9], 'and has what only a form has');
    my ($ann) = Sigreq::Signer::signers_of($res->json);
    $ann->{document} = $ann->state->{documents}[0]{uuid};
    like((texts($ann))[1], qr/Monthly/, 'the label is in the document before anybody signs');
    is_deeply($ann->state->{fields}[2]{labels}, ['Monthly', 'Yearly'], 'the signer sees the labels');
    is(faults(sign($ann, { 2 => 'NO123', 3 => 'Yearly', 6 => '1' })), '3 option', 'a label is no value');
    is(faults(sign($ann, { 2 => 'NO123456789' })), '2 length', 'there is a cell for each character');
    is(sign($ann, { 2 => 'NO123', 3 => 'y', 4 => 'b', 6 => '1' })->code, 200, 'Ann signs');
    my ($file, $text) = texts($ann);
    my $today = sprintf '%04d-%02d-%02d', (gmtime)[5] + 1900, (gmtime)[4] + 1, (gmtime)[3];
    like($text, qr/\b$_\b/, "the document shows $_") for qw(NO123 Yearly Blue), $today;
    unlike($text, qr/Monthly|Red/, 'it shows no other label');
    my $values = listed($file->slurp);
    is_deeply([@$values{qw(iban plan colour iso)}], ['NO123', 'y', 'b', $today], 'the fields have export values');
};

subtest 'radio buttons' => sub {
    my @people = (person(Ann => signature(), field(choice => 'pay')),
        person(Bob => signature(600), field(choice => 'home', required => $no)));
    my %preview = (files => [['a.pdf', groups()]], signers => \@people, headers => { Accept => 'application/pdf' });
    my $file    = tempfile->spurt($client->request(
        POST => '/signatures/preview', $client->creation_options(%preview))->body);
    my $drawn   = decode_utf8(`pdftotext -raw -enc UTF-8 $file -`);
    is(scalar(() = $drawn =~ /Ann Lee · pay · choice/g), 2, 'a preview shows where each button is');
    my $res = creation(groups(), @people);
    is($res->code, 201, 'two groups are taken') or diag $res->body;
    my ($pay, $home) = map { $_->{fields}[1] } @{ $res->json->{submitters} };
    is_deeply([@$pay{qw(options value rect)}], [['month', "1 year\x{e4}"], 'month', [100, 700, 200, 720]],
        'a group has the values of its buttons as options, and the place of the first one');
    is_deeply([map { [@$_{qw(option state page)}, $_->{rect}[1], $_->{percent}{y}] } @{ $pay->{buttons} }],
        [['month', undef, 0, 700, 9.0909], ["1 year\x{e4}", '1#20year#e4', 0, 660, 14.1414]], 'and all places');
    is_deeply([map { [@$_{qw(option state)}] } @{ $home->{buttons} }], [['Flat', '0'], ['House', '1']],
        'values that the form lists');
    my ($ann, $bob) = Sigreq::Signer::signers_of($res->json);
    $_->{document} = $ann->state->{documents}[0]{uuid} for $ann, $bob;
    is_deeply($ann->state->{fields}[1]{buttons}, $pay->{buttons}, 'the signer sees the places');
    is(listed((texts($ann))[0]->slurp)->{pay}, 'month', 'the value is there before anybody signs');
    is(faults(sign($ann, { 2 => 'year' })), '2 option', 'another value is refused');
    my $shown = $ann->request(POST => '/preview', json => { values => { 2 => 'month' } })->json;
    is_deeply($shown, { values => [], fields => [] }, 'nothing has to be drawn');
    is(sign($ann, { 2 => "1 year\x{e4}" })->code, 200, 'Ann signs');
    is(sign($bob, { 2 => 'House' })->code, 200, 'Bob signs');
    my ($both) = texts($bob);
    my $sealed = $both->slurp;
    is_deeply(listed($sealed), { pay => "1 year\x{e4}", home => 'House', plan => 'open m' },
        'the groups have the values, and are read-only');
    like($sealed, qr{/V/1#20year#e4>>}, 'the value is the state of a button');
    is(`qpdf --check $both >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');
    is(scalar(() = `pdfsig -nocert $both` =~ /Signature is Valid/g), 2, 'pdfsig: all signatures are valid');
    is(conclusion($sealed), 'signed home ', 'it is signed, and Bob has filled in a group');
};

subtest 'what other programs say of a form that two people fill in' => sub {
    my $res = creation(groups(), person(Ann => signature(), field(choice => 'pay'), field(text => 'iban')),
        person(Bob => signature(600), field(choice => 'plan'), field(choice => 'colour')));
    is($res->code, 201, 'it is created') or diag $res->body;
    my ($ann, $bob) = Sigreq::Signer::signers_of($res->json);
    $_->{document} = $ann->state->{documents}[0]{uuid} for $ann, $bob;
    is(sign($ann, { 2 => "1 year\x{e4}", 3 => 'NO123' })->code, 200, 'Ann signs');
    is(sign($bob, { 2 => 'y', 3 => 'b' })->code, 200, 'Bob signs');
    my ($both, $text) = texts($bob);
    like($text, qr/NO123.*Yearly.*Blue/s, 'they fill in a group, a text in cells, a combo box and a list');
    is(`qpdf --check $both >/dev/null 2>&1; echo \$?`, "0\n", 'qpdf finds no fault');
    is(scalar(() = `pdfsig -nocert $both` =~ /Signature is Valid/g), 2, 'pdfsig: all signatures are valid');
    my $mutool = `mutool sign -v $both 2>&1`;
    like($mutool, qr/unchanged since signing/, 'mutool: nothing was changed after the last signature');
    unlike($mutool, qr/invalid/i, 'mutool: no signature is invalid');
    is(conclusion($both->slurp), 'signed plan colour ', 'it is signed, and Bob has filled in two fields');
SKIP: {
        my ($root) = glob suite()->{dir} . '/seal-test/*.crt';
        my $said = pyhanko_judge($root, "$both") or skip 'without SIGREQ_JUDGE', 1;
        is(join(' ', map { "$_->{modification} $_->{bottom_line}" } @{ $said->{"$both"}{signatures} }),
            'FORM_FILLING 1 NONE 1', 'pyHanko: Bob has filled in fields after Ann');
    }
};

subtest 'a field that is apart from its widget' => sub {
    my (undef, $ann, $bob) = whole(apart => form(), signature(), field(text => 'apart'), signature(500));
    is(sign($ann, {})->code, 200, 'Ann signs');
    my ($file) = texts($ann);
    is(listed($file->slurp)->{apart}, 'before', 'the field has its value');
};
done_testing;
