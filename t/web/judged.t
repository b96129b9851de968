# SPDX-License-Identifier: Apache-2.0
# What pyHanko, where it is at hand, says of sealed documents and of certificates of completion: of plain and tagged
# documents, of PDF/A, of encrypted ones, and of those that are signed again. Two signers sign in two places each.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Form   qw(judged);
use Sigreq::Here   qw(organisation suite);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of qpdf_check);
use Test::More;

my $client = organisation()->{test};
my $seal   = path(suite->{dir}, 'seal-test', 'seal.crt');

# A PNG of 2 x 2 pixels, some of them transparent.
my $png = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAE0lEQVR4nGNgYGD4D0QNDAxQFgAi9AR9pK1QpwAAAABJRU5ErkJggg==';
my @ways = ({ type => 'typed', text => 'Ann Lee' }, { type => 'uploaded', image => "data:image/png;base64,$png" });

# A tagged document, whose only element is a paragraph.
sub tagged {
    return pdf(
        nonce   => "judged tagged $$ @_",
        pages   => [{ content => '/P<</MCID 0>>BDC BT /F 9 Tf 72 72 Td (Text) Tj ET EMC', more => '/StructParents 0' }],
        catalog => '/MarkInfo<</Marked true>>/Lang(en)/StructTreeRoot 6 0 R',
        objects => [
            '<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[8 0 R]]>>/ParentTreeNextKey 1>>',
            '<</Type/StructElem/S/Document/P 6 0 R/K 8 0 R>>', '<</Type/StructElem/S/P/P 7 0 R/Pg 5 0 R/K 0>>',
        ]);
}

sub archival {
    my $xmp = '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        . 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
        . 'xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" pdfaid:part="2" pdfaid:conformance="B"/></rdf:RDF>'
        . '</x:xmpmeta><?xpacket end="w"?>';
    return pdf(
        nonce   => "judged archival $$ @_",
        catalog => '/Metadata 6 0 R/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)>>]',
        objects => ['<</Type/Metadata/Subtype/XML/Length ' . length($xmp) . ">>\nstream\n$xmp\nendstream"]);
}

sub encrypted {
    my ($from, $to) = map { path(suite->{dir}, "judged-$$-$_.pdf") } 'from', 'to';
    $from->spurt(pdf(nonce => "judged encrypted $$ @_"));
    system('qpdf', '--encrypt', '', 'owner', 256, '--', $from, $to) == 0 or die "qpdf\n";
    my $bytes = $to->slurp;
    unlink $from, $to;
    return $bytes;
}

# (the signed document, its certificate of completion)
sub signed {
    my ($bytes, $y) = @_;
    my @people = map {
        my $x = 50 + 200 * $_;
        my @areas = map { { x => $x, y => $y + 100 * $_, w => 150, h => 50, page => 0 } } 0, 1;
        { firstname => ('Ann', 'Bob')[$_], lastname => 'Lee',
            fields => [map { { type => 'signature', name => 'Sign', document => 'a.pdf', area => $_ } } @areas] }
    } 0, 1;
    my $made = $client->create(files => [['a.pdf', $bytes]], signers => \@people)->json;
    my @signers = signers_of($made);
    is($signers[$_]->post(json => { action => 'sign', consent => \1, signature => $ways[$_] })->code, 200, 'signed')
        for 0, 1;
    my $path = "/signatures/$made->{uuid}";
    return map { $client->get($_)->body } "$path/documents/$made->{documents}[0]{uuid}", "$path/certificate";
}

sub is_trusted {
    my ($bytes, $fields, $what) = @_;
    is(qpdf_check($bytes), '', "$what: qpdf has nothing to say");
SKIP: {
        skip 'pyHanko asks for a password of encrypted documents', 1 if $bytes =~ m{/Encrypt \d+ 0 R};
        my $judged = judged($bytes, $seal) or skip 'pyHanko, a judge of signatures, is missing ($SIGREQ_JUDGE)', 1;
        skip 'pyHanko cannot read metadata without python3-lxml', 1
            if grep { ($_->{suspicious} // '') =~ /No module named/ } @$judged;
        is_deeply([map { $_->{bottom_line} ? 1 : 0 } @$judged], [(1) x $fields], "$what: pyHanko trusts all signatures")
            or diag explain $judged;
    }
}

my %makes = (plain => sub { pdf(nonce => "judged plain $$") }, tagged => \&tagged, archival => \&archival,
    encrypted => \&encrypted);
for my $kind (sort keys %makes) {
    subtest $kind => sub {
        my ($document, $certificate) = signed($makes{$kind}->(), 100);
        is_trusted($document,    4, "a document, $kind");
        is_trusted($certificate, 1, "its certificate, $kind");
        ($document, $certificate) = signed($document, 400);
        is_trusted($document,    8, "signed again, $kind");
        is_trusted($certificate, 1, "its certificate, $kind, again");
    };
}
done_testing;
