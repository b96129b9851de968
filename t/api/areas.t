# SPDX-License-Identifier: Apache-2.0
# The place of a field: percentages of the displayed page and the rectangle in the PDF, for all kinds of MediaBox,
# CropBox, /Rotate and origin. The expected rectangles are computed here by the rules of docs/decisions/0002-areas.md,
# not by the module.
use strict;
use warnings;
use Sigreq::Here qw(organisation place is_text);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $org = organisation();

sub signer_with {
    [   {   firstname => 'A', lastname => 'B',
            fields    => [map { +{ type => 'signature', name => 'f', document => 'a.pdf', area => $_ } } @_] }]
}

# shape of the page → the box that counts and the turn
my @shapes = (
    ['A4',                    { mediabox => [0,    0,   595.28, 841.89] }, [0,    0,  595.28, 841.89],             0],
    ['an origin elsewhere',   { mediabox => [-100, 50,  500,    850] },    [-100, 50, 500,    850],                0],
    ['corners the other way', { mediabox => [612,  792, 0,      0] },      [0,    0,  612,    792],                0],
    ['a CropBox',             { mediabox => [0, 0, 612, 792], cropbox => [36, 72, 576, 720] }, [36, 72, 576, 720], 0],
    [   'a CropBox beyond the MediaBox', { mediabox => [0, 0, 612, 792], cropbox => [-50, 100, 700, 2000] },
        [0, 100, 612, 792], 0],
    map({
            my $turn = $_;
            ["turned by $turn", { mediabox => [10, 20, 410, 620], rotate => $turn }, [10, 20, 410, 620], $turn % 360]
        } 90,
        180, 270, -90,
        450),
    [   'turned and cropped', { mediabox => [0, 0, 600, 800], cropbox => [100, 100, 500, 700], rotate => 90 },
        [100, 100, 500, 700], 90],
);

sub rect_of_displayed {    # displayed top-left x y w h → rectangle in user space
    my ($box, $turn, $x, $y, $w, $h) = @_;
    my ($x0, $y0, $x1, $y1) = @$box;
    return
          $turn == 0   ? [$x0 + $x, $y1 - $y - $h, $x0 + $x + $w, $y1 - $y]
        : $turn == 90  ? [$x0 + $y, $y0 + $x, $x0 + $y + $h, $y0 + $x + $w]
        : $turn == 180 ? [$x1 - $x - $w, $y0 + $y, $x1 - $x, $y0 + $y + $h]
        :                [$x1 - $y - $h, $y1 - $x - $w, $x1 - $y, $y1 - $x];
}

sub displayed_of_rect {    # the other way: to percent
    my ($box, $turn, $rect) = @_;
    my ($x0, $y0, $x1, $y1) = @$box;
    my ($a, $b, $c, $d)     = @$rect;
    my ($W, $H)             = $turn % 180 ? ($y1 - $y0, $x1 - $x0) : ($x1 - $x0, $y1 - $y0);
    my ($x, $y, $w, $h) =
          $turn == 0   ? ($a - $x0, $y1 - $d, $c - $a, $d - $b)
        : $turn == 90  ? ($b - $y0, $a - $x0, $d - $b, $c - $a)
        : $turn == 180 ? ($x1 - $c, $b - $y0, $c - $a, $d - $b)
        :                ($y1 - $d, $x1 - $c, $d - $b, $c - $a);
    return [100 * $x / $W, 100 * $y / $H, 100 * $w / $W, 100 * $h / $H];
}

sub near {
    my ($got, $expected, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $off = grep { abs($got->[$_] - $expected->[$_]) > 0.0011 } 0 .. 3;
    ok(!$off && @$got == 4, $name) or diag "got @$got, expected @$expected";
}
sub look { my $field = shift; return ([@{ $field->{percent} }{qw(x y w h)}], $field->{rect}) }

for my $shape (@shapes) {
    my ($name, $page, $box, $turn) = @$shape;
    my @given = ({ x => 20, y => 30, w => 100, h => 40 }, { x => -10.5, y => 500.25, w => 900, h => 33.125 });
    my $res   = $org->{test}->create(
        files   => [['a.pdf', pdf(pages => [{}, $page])]],
        signers => signer_with(map { ({ %$_, page => 1 }, { %$_, page => 1, origin => 'top-left' }) } @given));
    is($res->code, 201, $name) or do { diag $res->body; next };
    my @fields = @{ $res->json('/submitters/0/fields') };
    for my $area (@given) {
        my ($percent, $rect) = look(shift @fields);
        my $expected = [$box->[0] + $area->{x}, $box->[1] + $area->{y}, $box->[0] + $area->{x} + $area->{w},
            $box->[1] + $area->{y} + $area->{h}];
        near($rect,    $expected,                                 "$name: user space: rect");
        near($percent, displayed_of_rect($box, $turn, $expected), "$name: user space: percent");
        ($percent, $rect) = look(shift @fields);
        $expected = rect_of_displayed($box, $turn, @{$area}{qw(x y w h)});
        near($rect,    $expected,                                 "$name: top-left: rect");
        near($percent, displayed_of_rect($box, $turn, $expected), "$name: top-left: percent");
    }
}

my $inherited = $org->{test}->create(
    files =>
        [['a.pdf', pdf(pages => [{}, { rotate => 0 }], inherit => { mediabox => [0, 0, 200, 400], rotate => 90 })]],
    signers => signer_with(map { +{ x => 0, y => 0, w => 20, h => 40, page => $_ } } 0, 1))->json;
near((look($inherited->{submitters}[0]{fields}[0]))[0], [0, 0,  10, 10], 'an inherited box and rotation');
near((look($inherited->{submitters}[0]{fields}[1]))[0], [0, 90, 10, 10], 'the rotation of the page has precedence');

# --- percent of the displayed page, and pages from the end

my %part = (x => 12.5, y => 30, w => 25, h => 6.25, page => 1, unit => 'percent');
for my $shape (@shapes) {
    my ($name, $page, $box, $turn) = @$shape;
    my ($W, $H) = ($box->[2] - $box->[0], $box->[3] - $box->[1]);
    ($W, $H) = ($H, $W) if $turn % 180;
    my @points = ($W * 0.125, $H * 0.3, $W * 0.25, $H * 0.0625);
    my $first  = { %part, page => 0, pageFrom => 'end' };
    my $res    = $org->{test}
        ->create(files => [['a.pdf', pdf(pages => [{}, $page])]], signers => signer_with(\%part, $first));
    is($res->code, 201, "$name: percent") or do { diag $res->body; next };
    my ($field, $last) = @{ $res->json('/submitters/0/fields') };
    near($field->{rect}, rect_of_displayed($box, $turn, @points), "$name: percent: rect");
    is_deeply($field->{percent}, { map { $_ => $part{$_} } qw(x y w h) }, "$name: percent: as it was sent");
    is_deeply([$field->{area}, $last->{area}], [\%part, $first], "$name: areas as they were sent");
    is_deeply([@$last{qw(page rect percent)}], [1, @$field{qw(rect percent)}], "$name: the last page");
    my $again = $org->{test}->create(
        files   => [['a.pdf', pdf(pages => [{}, $page])]],
        signers => signer_with($field->{area}, $last->{area}))->json('/submitters/0/fields');
    is_deeply($again, [$field, $last], "$name: areas that are sent again give the same places");
    is($org->{test}->get('/signatures/' . $res->json('/uuid'))->body, $res->body, "$name: GET shows the same");
}

my $three = [['a.pdf', pdf(pages => [{}, {}, {}])]];
my $found = $org->{test}
    ->create(files => $three, signers => signer_with(map { +{ %part, page => $_, pageFrom => 'end' } } 0 .. 2));
is_deeply([map { $_->{page} } @{ $found->json('/submitters/0/fields') }], [2, 1, 0], 'pages from the end');
my $listed = $org->{test}->get('/signatures')->body;
my $beyond = $org->{test}->create(files => $three, signers => signer_with({ %part, page => 3, pageFrom => 'end' }));
is_text($beyond, 400, 'Index page unknown', 'the page before the first');
is($beyond->headers->header('X-Hint'), 'page 3 from the end of a.pdf: it has 3, counted from 0', 'with a hint');
is_text($org->{test}->create(files => $three, signers => signer_with({ %part, %{ $_->[0] } })),
    400, "Signer 1, Field 1: $_->[1]")
    for [{ unit => 'pt' }, 'Area unit must be percent or absent'],
    [{ origin => 'top-left' }, 'Area in percent must not have an origin'],
    [{ pageFrom => 'start' }, 'Area pageFrom must be end or absent'],
    [{ page => -1, pageFrom => 'end' }, 'Area page must be a non-negative integer'],
    [{ pages => 'all' }, 'Area must have either a page or pages, not both'];
is($org->{test}->get('/signatures')->body, $listed, 'nothing is stored');

my $area      = { x => 0, y => 0, w => 61.2, h => 79.2, page => 0 };
my $elsewhere = $org->{test}->with(base => place('/topleft'));
near((look($elsewhere->create(signers => signer_with($area))->json('/submitters/0/fields/0')))[0], [0, 0, 10, 10],
    'SigreqAreaOrigin top-left');
near((look($elsewhere->create(signers => signer_with({ %part, page => 0 }))->json('/submitters/0/fields/0')))[0],
    [@part{qw(x y w h)}], 'percentages do not depend on SigreqAreaOrigin');
near(
    (   look(
            $elsewhere->create(signers => signer_with({ %$area, origin => 'user-space' }))
                ->json('/submitters/0/fields/0')))[0],
    [0, 90, 10, 10],
    'an area can have its own origin');
near(
    (   look(
            $org->{test}->create(signers => signer_with({ %$area, origin => 'user-space' }))
                ->json('/submitters/0/fields/0')))[0],
    [0, 90, 10, 10],
    'the default is user-space');
done_testing;
