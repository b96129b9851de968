# SPDX-License-Identifier: Apache-2.0
# POST /documents/inspect: pages, form fields, signatures and warnings of a PDF, before any request. Nothing is stored.
use strict;
use warnings;
use Mojo::JSON;
use Sigreq::Here      qw(suite organisation is_error stored signed);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF 'pdf';
use Digest::SHA 'sha256_hex';
use Test::More;

my $org = organisation();
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);

sub inspect {
    my ($bytes, $who) = @_;
    return ($who // $org->{test})
        ->post('/documents/inspect', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
}

# A PDF with these fields: [text of the dictionary, annotation on the page?]. They are the objects from number 6.
sub form {
    my ($page, @fields) = @_;
    my @numbers = map { 6 + $_ } 0 .. $#fields;
    my $annotations = join ' ', map { $fields[$_][1] ? "$numbers[$_] 0 R" : () } 0 .. $#fields;
    my $roots       = join ' ', map { $fields[$_][2] ? () : "$numbers[$_] 0 R" } 0 .. $#fields;
    return pdf(
        pages   => [{ %$page, more => "/Annots[$annotations]" }],
        objects => [map {"<<$_->[0]>>"} @fields],
        catalog => "/AcroForm<</Fields[$roots]>>");
}

sub widget { my ($y, $more) = @_; return "/Type/Annot/Subtype/Widget/Rect[100 $y 200 @{[$y + 20]}]$more" }

subtest 'each type of field' => sub {
    my $state = '/AP<</N<</Yes 3 0 R/Off 3 0 R>>>>';
    my $radio = sub { widget($_[0], "/Parent 10 0 R/AS/$_[2]/AP<</N<</$_[1] 3 0 R/Off 3 0 R>>>>") };
    my $bytes = form(
        {},
        [widget(700, '/FT/Tx/T(rent)/MaxLen 10/Ff 2/V(950,00)'),  1],
        [widget(670, '/FT/Tx/T(notes)/Ff 4097'),                  1],
        [widget(640, "/FT/Btn/T(pets)/V/Yes/AS/Yes$state"),       1],
        [widget(610, '/FT/Ch/T(term)/Opt[(a)[(b)(Beta)]]/V(b)/Q 1/DA(/F 7 Tf 0 1 0 0 k)'), 1],
        ['/FT/Btn/Ff 49152/T(pay)/V/year/Kids[11 0 R 12 0 R]',    0],
        [$radio->(580, 'month', 'Off'),                           1, 1],
        [$radio->(550, 'year',  'year'),                          1, 1],
        [widget(520, '/FT/Ch/Ff 2097152/T(many)/Opt[(a)(b)]'),    1],
        [widget(490, '/FT/Sig/T(tenant)'),                        1],
        [widget(460, '/FT/Btn/Ff 65536/T(push)'),                 1],
        [widget(430, '/FT/Tx/T(hidden)/F 2'),                     1],
        [widget(380, '/FT/Tx/T(cells)/Ff 16777216/MaxLen 4/Q 2/DA(1 0 0 rg /F 0 Tf)'), 1],
        [widget(400, '/FT/Tx/T(nowhere)'),                        0]);
    my $res = inspect($bytes);
    is($res->code, 200, 'the document is described') or diag $res->body;
    my $said = $res->json;
    is_deeply($said->{pages}, [{ page => 0, width => 612, height => 792, rotate => 0 }], 'it has one page');
    my %fields = map { $_->{field} => $_ } @{ $said->{fields} };
    is(join(' ', map { $_->{field} } @{ $said->{fields} }), 'rent notes pets term pay many tenant cells',
        'visible fields are listed');
    is_deeply(
        $fields{rent},
        {   field => 'rent', type => 'text', page => 0, rect => [100, 700, 200, 720], required => $yes, readOnly => $no,
            percent => { x => 16.3399, y => 9.0909, w => 16.3399, h => 2.5253 },
            multiline => $no, maxLength => 10, value => '950,00' },
        'a text with a value');
    is_deeply([@{ $fields{notes} }{qw(multiline readOnly value)}], [$yes, $yes, undef], 'a text of several lines');
    is_deeply([@{ $fields{pets} }{qw(type value)}], ['checkbox', $yes], 'a ticked check box');
    is_deeply([@{ $fields{term} }{qw(type options labels value)}], ['choice', ['a', 'b'], ['a', 'Beta'], 'b'],
        'a choice has export values and labels');
    is_deeply([@{ $fields{term} }{qw(align size color)}], ['center', 7, '#ff00ff'], 'and letters');
    is_deeply([@{ $fields{cells} }{qw(comb align size color)}], [4, 'right', undef, '#ff0000'], 'a text in cells');
    is_deeply([@{ $fields{pay} }{qw(type options value)}], ['choice', ['month', 'year'], 'year'], 'radio buttons');
    is_deeply([map { [@$_{qw(page option)}, $_->{rect}[1]] } @{ $fields{pay}{places} }],
        [[0, 'month', 580], [0, 'year', 550]], 'each radio button has its place');
    is_deeply([@{ $fields{many} }{qw(multiple value)}], [$yes, undef], 'a list of which several can be chosen');
    is_deeply([@{ $fields{tenant} }{qw(type signed)}], ['signature', undef], 'an empty signature field');
};

subtest 'a turned page with a crop box' => sub {
    my $field = [widget(100, '/FT/Tx/T(x)'), 1];
    my $said  = inspect(form({ rotate => 90, cropbox => [100, 100, 300, 500] }, $field))->json;
    is_deeply($said->{pages}, [{ page => 0, width => 400, height => 200, rotate => 90 }],
        'sizes are as displayed');
    is_deeply($said->{fields}[0]{percent}, { x => 0, y => 0, w => 5, h => 50 },
        'percentages are of the displayed page');
};

subtest 'a signed document' => sub {
    my $said = inspect(signed(pdf(nonce => "inspect $$"), suite->{dir} . '/seal-test', 'Ann'))->json;
    is($said->{signatures}, 1, 'its signature is counted');
    is_deeply([map { $_->{signed} } @{ $said->{fields} }], [$yes], 'its field is signed');
};

subtest 'warnings' => sub {
    my $said = inspect(pdf(catalog => '/OpenAction<</S/JavaScript/JS(1)>>'))->json;
    like($said->{warnings}[0], qr/JavaScript/, 'scripts are named');
};

subtest 'what cannot be described' => sub {
    is_error(inspect('x'), 400, 'The document cannot be signed: it is not a PDF');
    is_error(inspect(''),  400, 'Exactly 1 file must be provided');
    is_error(inspect(pdf(), $org->{test}->with(token => 'sigreq_test_x')), 401, 'User not founded for this API Token');
    my $json = { 'Content-Type' => 'application/json' };
    my $res  = $org->{test}->post('/documents/inspect', body => '{}', headers => $json);
    is($res->code, 415, 'another type of content is rejected');
    is($org->{test}->get('/documents/inspect')->code, 405, 'GET is not allowed');
};

subtest 'nothing is stored' => sub {
    my $bytes = pdf(nonce => "inspected $$");
    my $form  = multipart(part('file', $bytes, filename => 'a.pdf', type => 'application/pdf'));
    my $res   = $org->{live}->post('/documents/inspect',
        body => $form, headers => { 'Content-Type' => 'multipart/form-data; boundary=' . BOUNDARY });
    is($res->code, 200, 'a form is accepted') or diag $res->body;
    is_deeply([stored(sha256_hex($bytes))], [], 'the document is not stored');
};

subtest 'many fields and long texts' => sub {
    my $long  = 'x' x 5000;
    my $bytes = form({}, map { [widget(10, "/FT/Tx/T(f$_)/V($long)"), 1] } 1 .. 600);
    my $said  = inspect($bytes)->json;
    is(scalar @{ $said->{fields} }, 600, 'all fields are listed');
    is(length $said->{fields}[0]{value}, 4000, 'a long value is cut');
    is($said->{fields}[-1]{value},       undef, 'later values are left out');
};

done_testing;
