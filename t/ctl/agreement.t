# SPDX-License-Identifier: Apache-2.0
# What sigreqctl verify --trust says of documents that pyHanko has signed (t/tool/pyhanko_sign.py), and of the signed
# ones of $SIGREQ_CORPUS, is what pyHanko says of them, and PDFBox with Bouncy Castle: that a signature is intact, that
# it is trusted, its level, and whether something unexplained was added later. Each known difference is in a table here,
# and explained in docs/signed-pdf.md.
use strict;
use warnings;
use lib 't/lib';
use File::Basename qw(basename dirname);
use File::Temp 'tempdir';
use JSON::PP 'decode_json';
use Sigreq::Judge qw(java_judge pyhanko_judge pyhanko_lta);
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::TSA;
use Test::More;

plan skip_all => 'pyHanko is not here ($SIGREQ_JUDGE)' if !$ENV{SIGREQ_JUDGE};

# Documents of which we say something else, and what
my %unchecked = (ed448 => 'its hash function is not checked here');
my %level     = (stamped_then_b_t => 'PADES_LT NO, PADES_LTA NO');
my %added     = (entitled => 'something was added');
my %uncovered = map { $_ => 'the form field "Text"' } qw(form_filled certified_2_filled);

my $folder = tempdir('sigreq-agreement.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $pki    = Sigreq::PKI->new("$folder/pki");
my $tsa    = Sigreq::TSA->new($pki, 'tsa1');
my $roots  = $pki->file('roots.crt');

sub make_seals {
    my %curve = (p384 => [ec => 'P-384'], p521 => [ec => 'P-521'], rsa => [rsa => 2048]);
    $pki->issue($_, 'ca', 'seal', key => $curve{$_}) for sort keys %curve;
    for my $name (qw(ed25519 ed448)) {
        $pki->run('ca', qw(openssl genpkey -algorithm), $name,      '-out',  "$name.key");
        $pki->run('ca', qw(openssl req -new -key),      "$name.key", '-subj', "/CN=Test $name", '-out', "$name.csr");
        $pki->certify($name, 'ca', 'seal');
    }
    $pki->issue('other',    'other', 'root');
    $pki->issue('stranger', 'other', 'seal');
    $pki->issue('expired',  'ca',    'seal', from => time - 30 * 86_400, until => time - 86_400);
    $pki->crl($_) for qw(root ca tsaroot1);
    return;
}

sub form {    # a document with a text field
    my $field = '<</Type/Annot/Subtype/Widget/FT/Tx/T(Text)/Rect[10 10 110 30]/F 4/P 5 0 R/DA(/Helv 0 Tf 0 g)>>';
    return pdf(
        nonce   => 'form', catalog => '/AcroForm<</Fields[6 0 R]/DA(/Helv 0 Tf 0 g)>>',
        pages   => [{ content => 'q Q', more => '/Annots[6 0 R]' }],
        objects => [$field]);
}

sub make_documents {    # their paths
    $pki->write('form.pdf', form());
    mkdir "$folder/made";
    my @command = (dirname($ENV{SIGREQ_JUDGE}) . '/pyhanko', $pki->file(''), $tsa->url, 't/data/sample.pdf',
        $pki->file('form.pdf'), "$folder/made");
    my $status = system '/usr/bin/python3', 't/tool/pyhanko_sign.py', @command;
    plan skip_all => 'pyHanko lacks packages' if $status >> 8 == 77;
    die "pyhanko_sign.py failed\n" if $status;
    return glob "$folder/made/*.pdf";
}

sub foreign {           # the signed documents of the corpus
    my $corpus = $ENV{SIGREQ_CORPUS} or return;
    open my $list, '-|', 'grep', '-rlaE', '--include=*.pdf', '/ByteRange *\[', $corpus or die "grep: $!\n";
    chomp(my @files = <$list>);
    close $list;
    return sort @files;
}

sub verified {
    my ($file) = @_;
    my @words = ('verify', $file, '--helper', 'build/sigreq-pdfd', '--trust', $roots, '--json');
    open my $pipe, '-|', 'build/sigreqctl', @words or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return decode_json($said);
}

sub yes { return $_[0] ? 'yes' : 'no' }

# What we must conclude from what pyHanko says of the signatures, the oldest one first.
sub conclusion {
    my @all  = @_;
    my $last = $all[-1];
    return 'broken' if grep { !$_->{intact} } @all;
    return (grep { $_->{modification} eq 'OTHER' } @all) ? 'changed' : 'signed' if $last->{coverage} eq 'ENTIRE_FILE';
    return $last->{modification} eq 'LTA_UPDATES' && $last->{docmdp_ok} ? 'validation data' : 'extended';
}

sub concluded {    # in the same words
    my ($said) = @_;
    return $said->{conclusion} ne 'extended' || $said->{reason} !~ /data for their validation/
        ? $said->{conclusion} : 'validation data';
}

sub agree {        # on each signature that pyHanko has read: their number
    my ($name, $said, $other) = @_;
    my %his = map { $_->{field} => $_ } grep { !$_->{error} } @{ $other->{signatures} };
    my @ours = grep { $_->{kind} eq 'signature' && $his{ $_->{field} } } @{ $said->{signatures} };
    for my $one (@ours) {
        my $his = $his{ $one->{field} };
        if (my $fault = $unchecked{$name}) {
            is("$one->{state}: $one->{fault}", "unchecked: $fault", "$one->{field} of $name cannot be checked here");
            next;
        }
        is(yes($one->{state} eq 'intact'),  yes($his->{intact} && $his->{valid}),
            "we and pyHanko agree whether $one->{field} of $name is intact");
        is(yes($one->{trust} eq 'trusted'), yes($his->{trusted}),
            "we and pyHanko agree whether $one->{field} of $name is trusted");
        next if !defined $his->{modification} || !$his->{intact};
        my $explained = $his->{modification} ne 'OTHER' && $his->{docmdp_ok};
        my $changes   = "@{ $one->{changes} }";
        is(yes($changes eq ($uncovered{$name} // '')), yes($explained),
            "we and pyHanko agree whether the changes after $one->{field} of $name are explained")
            or diag "$changes; $his->{modification}";
    }
    return scalar @ours;
}

sub agree_with_java {
    my ($name, $said, $java) = @_;
    my %other = map { $_->{field} => $_ } @{ $java->{signatures} };
    for my $one (grep { $_->{state} ne 'unchecked' } @{ $said->{signatures} }) {
        my $other = $other{ $one->{field} };
        is(yes($one->{state} eq 'intact'), yes($other->{intact}),
            "PDFBox agrees whether $one->{field} of $name is intact");
    }
    return;
}

make_seals();
my @made    = make_documents();
my @foreign = foreign();
my $pyhanko = pyhanko_judge($roots, @made, @foreign) // plan skip_all => 'pyHanko lacks packages';
my $java    = java_judge({ roots => $roots }, @made);
cmp_ok(scalar @made, '>', 45, 'pyHanko has signed more than 45 documents');

my @levels;    # file, what pyHanko must say of its long-term validation, name of the check
for my $file (@made) {
    my $name  = basename($file, '.pdf');
    my $said  = verified($file);
    my @his   = grep { !$_->{error} } @{ $pyhanko->{$file}{signatures} };
    my @ours  = grep { $_->{kind} eq 'signature' } @{ $said->{signatures} };
    my $whole = grep { $_->{kind} eq 'timestamp' && $_->{whole} } @{ $said->{signatures} };
    is(agree($name, $said, $pyhanko->{$file}), scalar @his, "all signatures of $name are compared");
    agree_with_java($name, $said, $java->{$file});
    next if !@his;
    my $concluded = concluded($said);
    if ($unchecked{$name}) {
        is($concluded, 'unchecked', "the conclusion about $name is unchecked");
    } elsif ($added{$name}) {
        like($said->{reason}, qr/\Q$added{$name}/, "the conclusion about $name gives the known difference");
    } elsif ($whole) {    # a document timestamp covers what follows the last signature
        is("$concluded, " . conclusion(@his), 'signed, validation data',
            "a document timestamp covers the validation data of $name");
    } else {
        is($concluded, conclusion(@his), "we and pyHanko agree on the conclusion about $name");
    }
    next if $concluded =~ /^(?:broken|changed|extended)$/ || ($ours[0]{level} // '') !~ /^B-[LT]/;
    my $level = $ours[0]{level};
    my ($lt, $lta) = map { $_ ? 'ok' : 'NO' } scalar $level =~ /^B-L/, $level eq 'B-LTA';
    my $expected = $level{$name} // "PADES_LT $lt, PADES_LTA $lta";
    push @levels, [$file, $expected, "pyHanko agrees that $name has the level $level"];
}
my @said = pyhanko_lta($roots, $pki->file(''), map { $_->[0] } @levels);
is($said[$_], $levels[$_][1], $levels[$_][2]) for 0 .. $#levels;
cmp_ok(scalar @levels, '>=', 10, 'at least 10 levels were compared');

SKIP: {
    skip 'there is no corpus ($SIGREQ_CORPUS)', 1 if !@foreign;
    my $compared = 0;
    $compared += agree(basename($_, '.pdf'), verified($_), $pyhanko->{$_}) for @foreign;
    cmp_ok($compared, '>=', 1, 'documents of the corpus were compared');
}
done_testing;
