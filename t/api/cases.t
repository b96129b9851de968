# SPDX-License-Identifier: Apache-2.0
# Small PDFs of kinds that were once judged wrong. Those of a folder (SIGREQ_CASES) are judged by what its README calls
# right, and others are made here.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Here   qw(organisation suite);
use Sigreq::PDF    'pdf';
use Sigreq::Preview;
use Sigreq::Signer 'signers_of';
use Test::More;

my $client = organisation()->{test};

sub create {    # a document for some signers, each with an area
    my ($bytes, @areas) = @_;
    my @signers = map {
        +{  firstname => 'Ann', lastname => "Lee $_",
            fields => [{ type => 'signature', name => "f$_", document => 'a.pdf', area => $areas[$_] }] }
    } 0 .. $#areas;
    return $client->create(files => [['a.pdf', $bytes]], signers => \@signers);
}

sub verify {
    my ($bytes) = @_;
    return $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' })->json;
}

sub changes { return join '; ', map { @{ $_->{changes} // ['unknown'] } } @{ $_[0]{signatures} } }

sub is_signed_by_two {    # two signers sign, and nothing is a change
    my ($bytes, $name) = @_;
    my $res = create($bytes, map { { x => 50, y => $_, w => 90, h => 40, page => 0 } } 100, 200);
    is($res->code, 201, "$name: it is created") or return diag $res->body;
    $_->sign('Ann Lee') for signers_of($res->json);
    my $made  = $res->json;
    my $found = verify($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    is($found->{conclusion}, 'signed', "$name: it is signed by two") or diag changes($found);
}

my %tie = (origin => 'top-left', x => 10, y => 10, w => 50, page => 0);
subtest 'an edge in the middle between two numbers' => sub {
    for my $height (map { $_ / 1000 } 810_701 .. 810_720) {
        my $res = create(pdf(pages => [{ mediabox => [0, 0, 595.276, $height] }]), { %tie, h => $height * 0.15 });
        is($res->code, 201, "15 % of a page $height high") or diag $res->body;
    }
};
is_signed_by_two(
    pdf(objects => ['<</X 7 0 R/Y[8 0 R 12 0 R]>>'], catalog => '/Y 6 0 R', nonce => "cases $$"),
    'references to objects that do not exist');
is_signed_by_two(pdf(catalog => '/DSS<</Vendor 1>>', nonce => "cases $$"), 'validation data with an unknown key');

subtest 'a password that readers are to draw' => sub {
    my $field = '/Type/Annot/Subtype/Widget/FT/Tx/DA(/F 12 Tf 0 g)/F 4/P 5 0 R/MaxLen 20';
    my $bytes = pdf(
        pages   => [{ more => '/Annots[6 0 R 7 0 R 9 0 R 10 0 R 11 0 R 12 0 R]' }],
        objects => [
            "<<$field/V(Written)/T(a)/Rect[50 300 190 330]>>",
            "<<$field/V(Written)/T(b)/Ff 8192/Rect[50 400 190 430]>>",
            '<</T(p)/V(Written)/Kids[9 0 R 10 0 R 11 0 R]>>',    # they inherit one value
            "<<$field/T(c)/Parent 8 0 R/Ff 8192/Rect[50 500 190 530]>>",
            "<<$field/T(d)/Parent 8 0 R/Rect[50 600 190 630]>>",
            "<<$field/T(e)/Parent 8 0 R/Ff 8192/Rect[50 700 190 730]>>",
            "<<$field/V(Tall)/T(f)/Rect[250 300 450 360]>>" =~ s/12 Tf/0 Tf/r,
        ],
        catalog => '/AcroForm<</Fields[6 0 R 7 0 R 8 0 R 12 0 R]/NeedAppearances true/DR<</Font<</F 3 0 R>>>>>>',
        nonce   => "cases $$"
    );
    my $res  = create($bytes, { %tie, h => 20 });
    my $made = $res->json;
    is($res->code, 201, 'it is created') or return diag $res->body;
    my $file = path(tempdir(CLEANUP => 1))->child('a.pdf');
    $file->spurt($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    my $text  = qx(qpdf --qdf --object-streams=disable $file -);
    my $shown = () = $text =~ /[(]Written[)] Tj/g;
    is($shown, 2, 'texts are drawn, and passwords are not') or diag $text;
    is(scalar(() = $text =~ /[(][*]{7}[)] Tj/g),   3, 'passwords are drawn as asterisks');
    is(scalar(() = $text =~ m{/V [(]Written[)]}g), 3, 'the values stay as they are');
    unlike($text, qr{/V [(][*]}, 'no value is asterisks');
    like($text, qr{/F 40[.]2 Tf 0 g[^\[]*[(]Tall[)] Tj}, 'a size of 0 is as high as the field');
    like($text, qr{/DA [(]/F 0 Tf}, 'a size of 0 stays in the document');
};

sub words_of {    # word → left and top edge
    my ($bytes) = @_;
    my $file = path(tempdir(CLEANUP => 1))->child('a.pdf');
    $file->spurt($bytes);
    return map { /xMin="(\S+)" yMin="(\S+)".*>(.*)</ ? ($3 => [$1, $2]) : () } qx(pdftotext -bbox $file -);
}

subtest 'texts that readers are to draw' => sub {
    my $field = '/Type/Annot/Subtype/Widget/FT/Tx/DA(/H 12 Tf 0 g)/F 4/P 5 0 R';
    my $lines = 'Long texts of several words are broken\rat the edge, and where they say so: '
        . join ' ', map { "w$_" } 1 .. 30;
    my $helvetica = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding'
        . '<</Type/Encoding/Differences[252/udieresis]>>>>';
    my @texts = (
        "/V(left)/Rect[50 700 250 720]",           "/V(centre)/Q 1/Rect[50 660 250 680]",
        "/V(right)/Q 2/Rect[50 620 250 640]",      "/V(M\xfcller)/Q 2/Rect[50 580 250 600]",
        "/V($lines)/Ff 4096/Rect[50 400 250 560]", "/V(wide)/Q 1/DA(/H 0 Tf 0 g)/Rect[300 400 350 560]");
    my $bytes = pdf(
        pages   => [{ text => 'Page', more => '/Annots[' . join(' ', map { "$_ 0 R" } 7 .. 12) . ']' }],
        objects => [$helvetica, map {"<<$field/T(t$_)$texts[$_]>>" =~ s{/DA\(/H 12[^)]*\)(?=.*/DA)}{}r} 0 .. $#texts],
        catalog => '/AcroForm<</NeedAppearances true/DR<</Font<</H 6 0 R>>>>/Fields['
            . join(' ', map { "$_ 0 R" } 7 .. 12) . ']>>',
        nonce => "cases $$"
    );
    my $made  = create($bytes, { %tie, h => 20 })->json;
    my %after = words_of($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    my %upload = words_of($bytes);
    cmp_ok(scalar keys %upload, '>', 40, 'poppler draws words');
    is("@{[sort keys %after]}", "@{[sort keys %upload]}", 'the same words are drawn');
    my @moved = grep { abs($after{$_}[0] - $upload{$_}[0]) > 3 || abs($after{$_}[1] - $upload{$_}[1]) > 3 }
        qw(left centre right wide), "M\xc3\xbcller";
    is("@moved", '', 'each is drawn where it was');
    my @outside = grep { $after{"w$_"}[0] < 50 || $after{"w$_"}[0] > 235 || $after{"w$_"}[1] > 792 - 410 } 1 .. 30;
    is("@outside", '', 'lines are broken at the edge');
    cmp_ok($after{w30}[1] - $after{w1}[1], '>', 30, 'there are several lines');
};

sub with_stream {    # a cross-reference stream instead of the table
    my ($head, $table) = $_[0] =~ /^(.*\n)xref\n0 \d+\n(.*?)trailer/s;
    my @at   = (map({ substr $_, 0, 10 } split /\n/, $table), length $head);
    my $rows = join '', pack('CNC', 0, 0, 255), map { pack 'CNC', 1, $_, 0 } @at[1 .. $#at];
    return "$head$#at 0 obj\n<</Type/XRef/Size " . @at . '/Root 1 0 R/W[1 4 1]/Length ' . length($rows)
        . ">>\nstream\n$rows\nendstream\nendobj\nstartxref\n$at[-1]\n%%EOF\n";
}
my $group = '<</Type/Pages/Kids[]/Count 0/Rotate 90/MediaBox[0 0 612 792]>>';
my $stray = pdf(nonce => "cases $$", objects => ['null', $group]) =~ s{/Parent 2 0 R}{/Parent 7 0 R}r;
my $padded = with_stream(pdf(nonce => "cases $$")) . "\0" x 3000;
my $gapped = pdf(nonce => "cases $$", objects => ['null', 'null'])
    =~ s/^xref\n0 8\n((?:.{19}\n){6}).{19}\n/xref\n0 6\n${1}7 1\n/mr;
for (['NUL after its end', $padded], ['a page with another parent', $stray], ['a table with a gap', $gapped]) {
    my ($name, $bytes) = @$_;
    my $res = create($bytes, { %tie, h => 20 });
    is($res->code, 201, $name) or diag $res->body;
    my $made  = $res->json;
    my $shown = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    isnt(substr($shown, 0, length $bytes), $bytes, "$name: it is rewritten");
}

my $rights = pdf(nonce => "cases $$", catalog => '/Perms<</UR3<</Type/Sig/Filter/Adobe.PPKLite>>>>');
my $granted = create($rights, { %tie, h => 20 });
is($granted->code, 201, 'usage rights') or diag $granted->body;
like("@{ $granted->json->{warnings} // [] }", qr/usage rights/, 'usage rights: a warning');
{
    my $made = $granted->json;
    unlike($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body, qr/UR3/,
        'usage rights: they are removed');
}

sub sign_apart {    # the field "Sig", whose widget is an object of its own
    my ($bytes, $name) = @_;
    my $res = create($bytes, { field => 'Sig' });
    is($res->code, 201, "$name: it is created") or return diag $res->body;
    my $made = $res->json;
    $_->sign('Ann Lee') for signers_of($made);
    my $found = verify($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    is($found->{conclusion},           'signed', "$name: it is signed") or diag changes($found);
    is($found->{signatures}[0]{field}, 'Sig',    "$name: in the field");
    return;
}
sign_apart(
    pdf(pages   => [{ more => '/Annots[7 0 R]' }],
        objects => ['<</FT/Sig/T(Sig)/Kids[7 0 R]>>',
            '<</Type/Annot/Subtype/Widget/Parent 6 0 R/Rect[72 500 250 560]/F 4>>'],
        catalog => '/AcroForm<</Fields[6 0 R]>>', nonce => "cases $$"),
    'a field apart from its widget');

my $cases = $ENV{SIGREQ_CASES};
SKIP: {
    skip 'SIGREQ_CASES names no folder of cases', 1 unless $cases;
    my %verified = (    # file → conclusion and changes
        'v04-value-in-the-widget'                       => ['unchecked', qr/^/],
        'v08-widget-moved-after'                        => ['extended',  qr/Rect/],
        'v10-appearance-changed-and-signed-again'       => ['changed',   qr/\w/],
        'v17-fieldmdp-name-1-then-name-10-signed'       => ['signed',    qr/^$/],
        'x04-page-tree-replaced-by-object'              => ['extended',  qr/page tree/],
        'x07-page-tree-replaced-unseen'                 => ['extended',  qr/page tree/],
        'x09-signed-here-page-tree-replaced-unseen'     => ['changed',   qr/page tree/],
        'x24-fieldmdp-all-but-a-and-sig2-amount-filled' => ['changed',   qr/"Amount", which the signature locks/],
    );
    for my $name (sort keys %verified) {
        my $found = verify(path("$cases/$name.pdf")->slurp);
        is($found->{conclusion}, $verified{$name}[0], $name);
        like(changes($found), $verified{$name}[1], "$name: changes");
    }
    my $page = path("$cases/u60-page-of-595.276-by-810.709.pdf")->slurp;
    is(create($page, { %tie, h => 121.60634999999999 })->code, 201, 'u60: an area whose edge is a tie');
    sign_apart(path("$cases/u08-split-field-and-widget.pdf")->slurp, 'u08');
    is_signed_by_two(path($_)->slurp, path($_)->basename) for sort glob "$cases/u{04,15,18,28,50,61,63}-*.pdf";
}
done_testing;
