# SPDX-License-Identifier: Apache-2.0
# POST /signatures/preview as PDF and PNG: the documents joined, with a box for each field where the creation places it,
# the names of signers and fields, and a grid.
use strict;
use warnings;
use utf8;
use Mojo::File 'tempfile';
use Mojo::JSON 'decode_json';
use Mojo::Util qw(decode encode);
use Sigreq::Client;
use Sigreq::Here  qw(suite organisation is_text documents temporary_files wait_for reports);
use Sigreq::Multipart 'part';
use Sigreq::PDF   'pdf';
use Sigreq::Pages qw(png_size png_ink);
use Digest::SHA 'sha256_hex';
use Test::More;

my $client = organisation()->{test};

# The preview of a creation in a form: pdf, png or json
sub preview {
    my ($form, $query, %o) = @_;
    my %types = (pdf => 'application/pdf', png => 'image/png', json => 'application/json');
    return $client->request(
        POST => '/signatures/preview',
        $client->creation_options(headers => { Accept => $types{$form} }, query => $query, %o));
}

sub signed_by { return Sigreq::Client::signers({ fields => \@_ }) }

sub run {    # a program with a PDF as its file
    my ($bytes, @command) = @_;
    my $file = tempfile->spurt($bytes);
    my $said = do {
        open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', map { $_ eq 'PDF' ? "$file" : $_ } @command
            or die "$command[0]: $!\n";
        local $/;
        <$pipe>;
    };
    return decode('UTF-8', $said) // $said;
}

sub text { return run(shift, qw(pdftotext -raw PDF -)) =~ s/\s+/ /gr }

sub field { my ($name, $page, %area) = @_;
    return { type => 'signature', name => $name, document => 'a.pdf',
        area => { x => 72, y => 72, w => 180, h => 50, page => $page, %area } };
}

my @pages = ({ text => ' ' }, { text => ' ', rotate => 90, cropbox => [50, 60, 500, 700] },
    { text => ' ', rotate => 180 }, { text => ' ', rotate => 270, mediabox => [-100, -50, 500, 350] });

# Checks the four sides of a box in an image, and that nothing is drawn in its lower part or around it.
sub is_boxed {
    my ($png, $percent, $name) = @_;
    my ($x, $y, $w, $h) = @{$percent}{qw(x y w h)};
    my %sides = (
        left  => [$x - 0.4, $y + $h / 2, 0.9, $h / 4],
        right => [$x + $w - 0.6, $y + $h / 2, 0.9, $h / 4],
        above => [$x + $w / 2, $y - 0.4, $w / 4, 0.9],
        below => [$x + $w / 2, $y + $h - 0.6, $w / 4, 0.9]);
    cmp_ok(png_ink($png, @{ $sides{$_} }), '>', 3, "$name: its $_ side is at its place") for sort keys %sides;
    is(png_ink($png, $x + 0.7, $y + 0.75 * $h, $w - 1.4, 0.15 * $h), 0, "$name: it is empty");
    is(png_ink($png, $x - 2, $y + $h + 0.7, $w + 4, 2), 0, "$name: nothing is below it");
}

subtest 'boxes are where the creation places the fields' => sub {
    my @fields = map { (field('User', $_), field('Displayed', $_, origin => 'top-left', x => 200, y => 150)) } 0 .. 3;
    my %o    = (files => [['a.pdf', pdf(pages => \@pages)]], signers => signed_by(@fields));
    my $made = $client->create(%o)->json->{submitters}[0]{fields};
    for my $page (0 .. 3) {
        my $res = preview(png => { page => $page, width => 800 }, %o);
        is($res->code, 200, "page $page is shown") or diag $res->body;
        is($res->headers->content_type, 'image/png', 'as PNG');
        is((png_size($res->body))[0], 800, 'in the width that was asked for');
        is_boxed($res->body, $_->{percent}, "$_->{name} on page $page") for grep { $_->{page} == $page } @$made;
    }
    is((png_size(preview('png', {}, %o)->body))[0], 1200, 'by default 1200 pixels of the first page');
};

subtest 'a PDF has all documents, whichever the query names' => sub {
    for my $files ([['a.pdf', pdf()]], [['a.pdf', pdf()], ['b.pdf', pdf(pages => 2)]]) {
        my @pages = map { preview(pdf => $_, files => $files) } {}, { document => 1 }, { document => 99999, page => 7 };
        is_deeply([map { $_->code } @pages], [200, 200, 200], @$files . ' documents are drawn');
        is_deeply([map { run($_->body, qw(pdfinfo PDF)) =~ /^Pages: +(\d+)/m } @pages], [(@$files == 1 ? 1 : 3) x 3],
            'with all their pages');
    }
};

subtest 'documents are joined, and say who signs where' => sub {
    my @signers = Sigreq::Client::signers(
        { lastname => 'Lee', fields => [field('Tenant', 1), field('rent 1', 0, unit => 'percent', y => 10)] },
        { firstname => '太郎', lastname => '山田', fields => [field('Ωμέγα', 3, x => 10.5)] },
        { firstname => 'Олег', lastname => 'Ким', fields => [{ %{ field('Vermieter', 0) }, document => 'b.pdf' }] });
    my %o   = (files => [['a.pdf', pdf(pages => \@pages)], ['b.pdf', pdf()]], signers => @signers);
    my $res = preview(pdf => {}, %o);
    is($res->code, 200, 'the documents are drawn') or diag $res->body;
    is($res->headers->content_type,             'application/pdf',                   'as PDF');
    is($res->headers->content_disposition,      'inline; filename="preview.pdf"',    'which browsers show');
    is($res->headers->cache_control,            'no-store',                          'and do not store');
    is($res->headers->header('X-Content-Type-Options'), 'nosniff', 'and whose type they do not guess');
    like(run($res->body, qw(qpdf --check PDF)), qr/No syntax or stream encoding errors/, 'qpdf finds no error in it');
    my $info = run($res->body, qw(pdfinfo -l 9 PDF));
    is(join('; ', $info =~ /^Page +\d+ (?:size|rot): +(\d+(?: x \d+)?)/mg),
        '612 x 792; 0; 450 x 640; 90; 612 x 792; 180; 600 x 400; 270; 612 x 792; 0',
        'all pages keep their sizes and rotations');
    my $text = text($res->body);
    like($text, qr/\Q$_\E/, encode('UTF-8', "it says: $_"))
        for '1 Ann Lee · Tenant · signature', 'x 72 · y 72 · w 180 · h 50', 'x 72 % · y 10 % · w 180 % · h 50 %',
        '2 太郎 山田 · Ωμέγα · signature', 'x 10.5 · y 72', '3 Олег Ким · Vermieter · signature';
    my $second = preview(png => { document => 1 }, %o);
    is($second->code, 200, 'a page of the second document is shown');
};

subtest 'what pages have stays visible' => sub {
    my $look   = Sigreq::PDF::stream_of('0 0 0 rg 0 0 100 20 re f');
    $look =~ s{^<<}{<</Type/XObject/Subtype/Form/BBox[0 0 100 20]};
    my $widget = '<</Type/Annot/Subtype/Widget/FT/Tx/T(rent)/F 4/Rect[300 600 400 620]/AP<</N 9 0 R>>>>';
    my $bytes  = pdf(pages => [({ text => ' ', more => '/Annots 10 0 R' }) x 2],
        objects => [$widget, $look, '[8 0 R]'], catalog => '/AcroForm<</Fields[8 0 R]>>');
    for my $page (0, 1) {
        my $res = preview(png => { page => $page }, files => [['a.pdf', $bytes]],
            signers => signed_by(field('a', 0)));
        is($res->code, 200, "page $page is shown") or diag $res->body;
        cmp_ok(png_ink($res->body, 50, 22, 10, 1), '>', 50, "the field of the form on page $page is shown");
        my $box = png_ink($res->body, 11, 84, 35, 8);
        $page ? is($box, 0, 'the other page has no box') : cmp_ok($box, '>', 50, 'the box is on its page alone');
    }
};

subtest 'a grid' => sub {
    my $lines = sub {
        my ($grid, $fields, @more) = @_;
        return text(preview(pdf => { grid => $grid }, files => [['a.pdf', pdf(pages => \@pages)]], @more,
            signers => signed_by(@$fields))->body);
    };
    like($lines->(200, [field('a', 0)]), qr/\b200\b.*\b400\b.*\b600\b/, 'lines have numbers');
    my @percent = field('a', 0, unit => 'percent', x => 1, y => 1, w => 5, h => 5);
    like($lines->(50, \@percent), qr/\b50\b/, 'of percent, if all areas are');
    unlike($lines->(50, \@percent), qr/\b100\b/, 'there is no line at the end');
    my $row = sub { # the samples of a row that goes through the page, 1 point each
        my ($page, $fields, $x, $y, $w, $h) = @_;
        my $png = preview(png => { grid => 100, page => $page, width => 612 },
            files => [['a.pdf', pdf(pages => [{ text => ' ' }, { text => ' ', rotate => 180 }])]],
            signers => signed_by(@$fields))->body;
        return png_ink($png, $x, $y, $w, $h);
    };
    my @user = field('a', 0, x => 400, y => 30, w => 90, h => 40);
    my @down = field('a', 0, x => 400, y => 700, w => 90, h => 40, origin => 'top-left');
    cmp_ok($row->(0, \@user, 35, 100 * 691 / 792, 5, 0.3), '>', 0, 'y counts upwards in user space');
    is($row->(0, \@user, 35, 100 * 698 / 792, 5, 0.5), 0, 'and not from the upper edge');
    cmp_ok($row->(0, \@down, 35, 100 * 699 / 792, 5, 0.3), '>', 0, 'y counts downwards from the top left corner');
    cmp_ok($row->(1, \@user, 35, 100 * 99 / 792,  5, 0.3), '>', 0, 'user space is turned with its page');
};

subtest 'what is not drawn' => sub {
    my %o = (files => [['a.pdf', pdf()]]);
    my @wrong = (
        [{ grid => 9 }, 'grid must be 10 to 500'],   [{ grid => 501 }, 'grid must be 10 to 500'],
        [{ grid => 'x' }, 'grid must be 10 to 500'], [{ width => 15 }, 'width must be 16 to 4000'],
        [{ width => 4001 }, 'width must be 16 to 4000'], [{ page => 1 }, 'page must be 0 to 0'],
        [{ page => -1 }, 'page must be a number from 0'], [{ document => 1 }, 'document must be 0 to 0'],
        [{ document => 'a' }, 'document must be a number from 0'], [{ other => 1 }, 'Unknown query parameter other']);
    is_text(preview('png', $_->[0], %o), 400, $_->[1]) for @wrong;
    is_text(preview('pdf', {}, %o, name => ''), 400, 'A name must be provided');
    is(preview('json', { grid => 50 }, %o)->json->{name}, 'Lease', 'JSON has no grid');
    my $html = $client->request(POST => '/signatures/preview',
        $client->creation_options(%o, headers => { Accept => 'text/html, */*;q=0.1' }));
    is($html->headers->content_type, 'application/json', 'another type gets JSON, as everywhere in the API');
};

subtest 'nothing is stored' => sub {
    my $bytes = pdf(nonce => "drawn $$");
    is(preview($_, {}, files => [['a.pdf', $bytes], ['b.pdf', pdf()]])->code, 200, "as $_") for qw(pdf png);
    is_deeply([Sigreq::Here::stored(sha256_hex($bytes)), reports(sha256_hex($bytes))], [], 'no document and no report');
    ok(wait_for(sub { !temporary_files() }), 'no temporary file is left');
};

subtest 'documents that cannot be continued as they are' => sub {
    my %damaged = Sigreq::PDF::repairable();
    my %kinds   = map { $_ => $damaged{$_}->("drawn $$") } keys %damaged;
    my ($in, $out) = (tempfile->spurt(pdf()), tempfile);
    system('qpdf', '--encrypt', '', 'owner', '256', '--', "$in", "$out") == 0 or die "qpdf failed\n";
    $kinds{encrypted} = $out->slurp;
    for my $name (sort keys %kinds) {
        my $res = preview(pdf => { grid => 100 }, files => [['a.pdf', $kinds{$name}]]);
        is($res->code, 200, "$name: it is drawn") or diag $res->body;
        like(text($res->body), qr/1 Ann Lee · Signature/, "$name: it has its box");
        my $joined = preview(pdf => {}, files => [['a.pdf', $kinds{$name}], ['b.pdf', pdf()]]);
        like(text($joined->body), qr/1 Ann Lee · Signature/, "$name: it is joined with another one");
    }
};

subtest 'a template' => sub {
    my $made   = $client->create(files => [['a.pdf', pdf(nonce => "template $$")]])->json;
    my $signer = { firstname => 'Eva', lastname => 'Oz' };
    my $res    = preview(pdf => {}, files => undef, signers => [$signer],
        more => [part('template', $made->{template}{uuid})]);
    is($res->code, 200, 'its documents are drawn') or diag $res->body;
    like(text($res->body), qr/1 Eva Oz · Signature · signature x 72/, 'with the fields of the new signer');
};

done_testing;
