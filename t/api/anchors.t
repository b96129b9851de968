# SPDX-License-Identifier: Apache-2.0
# Areas at a text of the document (area.anchor): which text is found, where the area is, and what is refused. Places are
# compared with those of pdftotext.
use strict;
use warnings;
use utf8;
use Encode qw(encode);
use File::Temp ();
use Sigreq::Here qw(organisation is_text);
use Sigreq::Multipart qw(part);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $client = organisation()->{test};

# --- documents

# A document of one page with these lines: [x, y, GLYPH, …]. Each glyph shows a text of any length, which its font has
# in /ToUnicode; with `blind` the font does not have it. The lines are in a form that the page draws.
sub written {
    my ($lines, %page) = @_;
    my (%codes, @texts);
    my $content = '';
    for my $line (@$lines) {
        my ($x, $y, @glyphs) = @$line;
        my $shown = join '', map {
            if (!defined $codes{$_}) { push @texts, $_; $codes{$_} = @texts }
            sprintf '%04x', $codes{$_}
        } @glyphs;
        $content .= "BT /U 12 Tf 1 0 0 1 $x $y Tm <$shown> Tj ET\n";
    }
    my $map = "/CIDInit /ProcSet findresource begin begincmap\n"
        . "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        . @texts . " beginbfchar\n"
        . join('', map { sprintf "<%04x> <%s>\n", $_, unpack 'H*', encode('UTF-16BE', $texts[$_ - 1]) } 1 .. @texts)
        . "endbfchar\nendcmap end\n";
    my $unicode = delete $page{blind} ? '' : '/ToUnicode 9 0 R';
    my @objects = (
        '<</Type/XObject/Subtype/Form/BBox[0 0 9999 9999]/Resources<</Font<</U 7 0 R>>>>/Length '
            . length($content) . ">>\nstream\n$content\nendstream",
        "<</Type/Font/Subtype/Type0/BaseFont/U/Encoding/Identity-H/DescendantFonts[8 0 R]$unicode>>",
        '<</Type/Font/Subtype/CIDFontType2/BaseFont/U/DW 600/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)'
            . '/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/U/Flags 4/FontBBox[0 -200 600 800]'
            . '/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>',
        '<</Length ' . length($map) . ">>\nstream\n$map\nendstream");
    my $resources = '/XObject<</X 6 0 R>>';
    $resources = ">>/Resources<<$resources/Font<</U 7 0 R>>" if !$unicode;
    return pdf(pages => [{ content => '/X Do', resources => $resources, %page }], objects => \@objects);
}

sub line { my ($x, $y, $text) = @_; return [$x, $y, split //, $text] }

sub signers_at { # of one signer with an area after the other
    my $number = 0;
    return [{
        firstname => 'Ann', lastname => 'Lee',
        fields => [map { +{ type => 'signature', name => 'f' . ++$number, document => 'a.pdf', area => $_ } } @_]
    }];
}

sub create_at {
    my ($bytes, @areas) = @_;
    return $client->create(files => [['a.pdf', $bytes]], signers => signers_at(@areas));
}

sub anchor { my ($text, %more) = @_; return { anchor => { text => $text, %more } } }

sub fields_of { # of a creation that succeeds
    my ($res, $name) = @_;
    is($res->code, 201, $name) or diag $res->body;
    return @{ $res->json('/submitters/0/fields') // [] };
}

# --- places, on pages of all shapes

# The first word of the document that is so, in percent of the displayed page: x, y, w, h.
sub word_of {
    my ($bytes, $word, $turn) = @_;
    my $file = File::Temp->new(SUFFIX => '.pdf');
    binmode $file;
    print $file $bytes;
    close $file;
    open my $pipe, '-|:encoding(UTF-8)', 'pdftotext', '-cropbox', '-bbox', "$file", '-' or die "pdftotext: $!\n";
    my $html = do { local $/; <$pipe> };
    close $pipe or die "pdftotext failed\n";
    my ($W, $H) = $html =~ /<page width="([\d.]+)" height="([\d.]+)"/ or die "no page in $html\n";
    ($W, $H) = ($H, $W) if $turn % 180; # pdftotext has the size before that
    my @box = $html =~ /xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">\Q$word\E</
        or die "no $word in $html\n";
    return (100 * $box[0] / $W, 100 * $box[1] / $H, 100 * ($box[2] - $box[0]) / $W, 100 * ($box[3] - $box[1]) / $H);
}

my @shapes = (
    ['a page', {}],
    ['an origin elsewhere', { mediabox => [-100, 50, 500, 850] }],
    ['a cropped page', { cropbox => [36, 72, 576, 720] }],
    map({ ["turned by $_", { rotate => $_ }] } 90, 180, 270),
    ['turned and cropped', { cropbox => [50, 60, 500, 700], rotate => 90 }]);
for my $shape (@shapes) {
    my ($name, $page) = @$shape;
    my $bytes = written([line(150, 400, 'Tenant: sign here')], %$page);
    my @word = word_of($bytes, 'Tenant:', $page->{rotate} // 0);
    my ($own, $moved) = fields_of(create_at($bytes, anchor('Tenant:'),
        { %{ anchor('Tenant:') }, dx => 10, dy => -40, w => 180, h => 40 }), $name);
    my @found = @{ $own->{percent} }{qw(x y w)};
    ok(!(grep { abs($found[$_] - $word[$_]) > 0.01 } 0 .. 2), "$name: the place of pdftotext")
        or diag "@found instead of @word";
    my @box = @{ $page->{cropbox} // $page->{mediabox} // [0, 0, 612, 792] };
    my ($W, $H) = ($box[2] - $box[0], $box[3] - $box[1]);
    ($W, $H) = ($H, $W) if ($page->{rotate} // 0) % 180;
    my %at = (x => $found[0] + 1000 / $W, y => $word[1] - 4000 / $H, w => 18000 / $W, h => 4000 / $H);
    ok(!(grep { abs($moved->{percent}{$_} - $at{$_}) > 0.01 } keys %at), "$name: moved, with a size of its own")
        or diag explain $moved;
}
my $small = (fields_of(create_at(written([line(100, 100, 'x')]), anchor('x')), 'a small text'))[0];
is_deeply([map { sprintf '%.1f', $small->{rect}[$_ + 2] - $small->{rect}[$_] } 0, 1], ['7.2', '16.0'],
    'the area has the width of the text, and at least 16 points of height');

# --- which text is found

my @texts = (
    ['white space', line(50, 500, 'Sign here'), "Sign \t\n here"],
    ['a part of a word', line(50, 500, 'undersigned'), 'signed'],
    ['braces', line(50, 500, '{{tenant}}'), '{{tenant}}'],
    ['composed for decomposed', line(50, 500, "Mu\x{308}ller"), 'Müller'],
    ['decomposed for composed', line(50, 500, 'Müller'), "Mu\x{308}ller"],
    ['a ligature for letters', [50, 500, 'O', "\x{FB03}", 'c', 'e'], 'Office'],
    ['a ligature of several letters', [50, 500, 'O', 'ffi', 'c', 'e'], 'ffice'],
    ['letters for a ligature', line(50, 500, 'Office'), "O\x{FB03}ce"],
    ['a soft hyphen within', line(50, 500, "Unter\x{AD}schrift"), 'Unterschrift'],
    ['a soft hyphen as a hyphen', line(50, 500, "e\x{AD}mail"), 'e-mail'],
    ['a soft hyphen as the first hyphen', line(50, 500, "\x{AD}mail"), '-mail'],
    ['Greek', line(50, 500, 'Υπογραφή'), 'Υπογραφή'],
    ['Chinese', line(50, 500, '签字人'), '签字'],
    ['Hebrew', [50, 500, reverse split //, 'חתימה'], 'חתימה'],
    ['Arabic', [50, 500, reverse split //, 'توقيع'], 'توقيع'],
    ['Arabic presentation forms', [50, 500, "\x{FEFB}", "\x{FEB3}"], "\x{633}\x{644}\x{627}"]);
for (@texts) {
    my ($name, $line, $wanted) = @$_;
    my @fields = fields_of(create_at(written([$line]), anchor($wanted)), $name);
    is(scalar @fields, 1, "$name: one field");
}
# Text from right to left, as it is shown: each line begins at the left with its last letter.
sub backwards { return reverse split //, shift }
my $hebrew = written([
    [50, 500, backwards('אבג דהו זחט יכל')],
    [50, 486, backwards('מנס עפצ'), ' ', split(//, '2024'), ' ', backwards('קרש')],
    [50, 472, backwards('שם חתימה תתת')]]);
for (
    ['אבג', 136.4], ['בג', 136.4], ['אבג דהו', 107.6], ['יכל', 50], ['2024', 107.6], ['02', 114.8], ['שם', 122],
    ['שם חתימה', 78.8]) {
    my ($field) = fields_of(create_at($hebrew, anchor($_->[0])), 'a text from right to left');
    ok(abs($field->{rect}[0] - $_->[1]) < 0.01, 'is where it is shown') or diag explain $field;
}
my $parts = pdf(pages => [{ content => 'BT /F 12 Tf 50 500 Td (Sig) Tj (na) Tj [(tu) -10 (re)] TJ ET '
        . 'BT /F 12 Tf 3 Tr 300 500 Td (hidden) Tj ET BT 1 g /F 12 Tf 400 500 Td (white) Tj ET' }]);
fields_of(create_at($parts, map { anchor($_) } qw(Signature Sign hidden nature white)),
    'several operators, invisible and white text');

my $mixed = written([line(50, 500, 'cafe'), line(50, 400, 'Café'), line(50, 300, 'split'), line(50, 285, 'line')]);
for (['CAFE', 'other case'], ['Cafe', 'a letter without its accent'], ['split line', 'two lines'],
    ['caf e', 'a space']) {
    is_text(create_at($mixed, anchor($_->[0])), 400, "Document a.pdf does not have the text \"$_->[0]\"", $_->[1]);
}

# --- occurrences, pages, missing texts

my @pages = map { { text => $_ } } 'Date: Date:', 'nothing', 'Date: end';
my $dates = pdf(pages => \@pages);
my $listed = $client->get('/signatures')->body;
my $thrice = create_at($dates, anchor('Date:'));
is_text($thrice, 400, 'Document a.pdf has the text "Date:" 3 times', 'more than once');
is($thrice->headers->header('X-Hint'), 'anchor.occurrence says which of them, or all of them', 'with a hint');
is_text(create_at($dates, anchor('Date:', page => 0)), 400, 'Document a.pdf has the text "Date:" 2 times on page 0',
    'more than once on a page');
is_text(create_at($dates, anchor('Date:', occurrence => 4)), 400,
    'Document a.pdf has the text "Date:" 3 times, not 4 times', 'too few');
is_text(create_at($dates, anchor('Name:')), 400, 'Document a.pdf does not have the text "Name:"', 'a missing text');
is_text(create_at($dates, anchor('Date:', page => 1)), 400, 'Document a.pdf does not have the text "Date:" on page 1',
    'a text that another page has');
is_text(create_at($dates, anchor('Date:', page => 3)), 400, 'Index page unknown', 'a page that is not there');
is_text(create_at(pdf(pages => [{ content => '0 0 9 9 re f' }]), anchor('Date:')), 400,
    'Document a.pdf has no text: it consists of images', 'no text');
is_text(create_at(written([line(50, 500, 'Sign')], blind => 1), anchor('Sign')), 400,
    'Document a.pdf has no text: its fonts do not say which letters they show', 'a font without letters');
is_text(create_at(pdf(pages => 501), anchor('Page 7')), 400,
    'Document a.pdf has more than 500 pages: an anchor in it needs a page', 'many pages');
is_text(create_at($dates, anchor('Name:', ifMissing => 'skip')), 400,
    'Signer 1: Must have at least 1 field of type signature', 'the only signature is skipped');
is($client->get('/signatures')->body, $listed, 'nothing is stored');

is((fields_of(create_at(pdf(pages => 501), anchor('Page 501', page => 500)), 'many pages and a page'))[0]{page}, 500,
    'the field is there');
my @three = fields_of(my $all = create_at($dates, anchor('Date:', occurrence => 'all')), 'all occurrences');
is_deeply([map { $_->{page} } @three], [0, 0, 2], 'a field for each, in order');
ok($three[0]{rect}[0] < $three[1]{rect}[0], 'from the left to the right');
is_deeply($three[1]{area}, anchor('Date:', occurrence => 'all'), 'the area is shown as it was sent');
is($client->get('/signatures/' . $all->json('/uuid'))->body, $all->body, 'GET shows the same');
my $again = $client->create(
    files => [], signers => [{ firstname => 'Bob', lastname => 'Roe' }],
    more  => [part('template', $all->json('/template/uuid'))]);
is_deeply([map { $_->{percent} } fields_of($again, 'a submission from its template')], [map { $_->{percent} } @three],
    'has the fields at the same places');
my ($second, $last) =
    fields_of(create_at($dates, anchor('Date:', occurrence => 2), anchor('Date:', page => 2)), 'one of them');
is_deeply([map { @$_{qw(page rect percent)} } $second, $last], [map { @$_{qw(page rect percent)} } @three[1, 2]],
    'the second one, and the one on a page');
my $skipped = create_at($dates, anchor('Date:', occurrence => 1), anchor('Name:', ifMissing => 'skip'));
is(scalar(fields_of($skipped, 'a text that may be missing')), 1, 'the other field is left');
is_deeply($skipped->json('/warnings'), ['a.pdf does not have the text "Name:": the field f2 was left out'],
    'with a warning');

# --- what an anchor may have

my %box = (w => 90, h => 20);
is_text(create_at($dates, { %{ anchor('Date:') }, @{ $_->[0] } }), 400, "Signer 1, Field 1: Area $_->[1]")
    for (map { [[$_ => 1], "must not have both an anchor and $_"] } qw(x y unit page pageFrom pages origin field)),
    [[anchor => 'Date:'], 'anchor must be an object'], [[anchor => {}], 'anchor text must be provided'],
    [[anchor => { text => ' ' }], 'anchor text must be provided'],
    [[anchor => { text => 'x' x 501 }], 'anchor text must have at most 500 characters'],
    (map { [[anchor => { text => 'x', occurrence => $_ }],
            'anchor occurrence must be all or an integer from 1 to 1000'] } 0, 1001, 1.5, 'first', \1),
    (map { [[anchor => { text => 'x', page => $_ }], 'anchor page must be a non-negative integer'] } -1, '1', 1.5),
    [[anchor => { text => 'x', ifMissing => 'wait' }], 'anchor ifMissing must be refuse or skip'],
    [[dx => '1'], 'dx/dy must be a number'], [[w => 0], 'width/height must be a positive number'];
my $odd = create_at($dates, { anchor => { text => 'end', color => 1, page => undef }, %box, units => 'mm' });
is_deeply($odd->json('/warnings'), ['Signer 1, Field 1: unknown member units of its area',
    'Signer 1, Field 1: unknown member color of its anchor'], 'unknown members are warned of');
ok(!exists $odd->json('/submitters/0/fields/0/area')->{units}, 'and not shown');

# --- signed where the text is, also in a document that has to be written anew

my $damaged = Sigreq::PDF::without_end(pdf(pages => [{ text => 'Landlord' }]));
my $made = create_at($damaged, { %{ anchor('Landlord') }, dy => -30, %box });
my ($field) = fields_of($made, 'a damaged document');
is($field->{page}, 0, 'a text of a damaged document is found');
ok($client->sign($made->json('/submitters/0/signatureLink'))->is_success, 'it can be signed') if $client->can('sign');
done_testing;
