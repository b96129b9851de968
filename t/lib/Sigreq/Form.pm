# SPDX-License-Identifier: Apache-2.0
# Sigreq::Form: makes PDFs with empty signature fields, and with a signature that certifies them and permits signing.
# Checks the signed ones with pyHanko.
package Sigreq::Form;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Judge 'pyhanko_judge';
use Sigreq::PDF 'pdf';
our @EXPORT_OK = qw(form certified judged field_named);

use constant ROOM => 4096; # bytes of a signature

my $folder; # has the key of who certifies, once that is needed

# form(fields => [[NAME, RECT, MORE], …], level => N, page => {…}, more of pdf()): a page with these fields; certified
# at a level, by a field that nobody sees.
sub form {
    my %o = (fields => [['Tenant', '50 50 150 90'], ['Landlord', '50 150 150 190']], @_);
    my ($fields, $level, $page) = delete @o{qw(fields level page)};
    my $widget = '<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T(%s)/Rect[%s]%s>>';
    my @objects = map { sprintf $widget, @$_[0, 1], $_->[2] // '' } @$fields;
    my $certificate = 6 + @objects + 1; # after the field that has it
    if ($level) {
        push @objects, "<</Type/Annot/Subtype/Widget/FT/Sig/F 132/T(Author)/Rect[0 0 0 0]/V $certificate 0 R>>";
        push @objects, '<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/M(D:20261120180923Z)'
            . '/Reference[<</Type/SigRef/TransformMethod/DocMDP/TransformParams'
            . "<</Type/TransformParams/P $level/V/1.2>>>>]"
            . '/ByteRange' . ' ' x 40 . '/Contents<' . '0' x (2 * ROOM) . '>>>';
    }
    my @references = map { 6 + $_ . ' 0 R' } 0 .. $#$fields + ($level ? 1 : 0);
    my $bytes = pdf(
        %o,
        pages   => [{ %{ $page // {} }, more => "/Annots[@references]" }],
        objects => \@objects,
        catalog => "/AcroForm<</SigFlags 3/Fields[@references]>>"
            . ($level ? "/Perms<</DocMDP $certificate 0 R>>" : ''));
    return $level ? certify($bytes) : $bytes;
}

sub run {
    system('sh', '-c', 'cd "$1" && shift && exec "$@" >said 2>&1', 'sh', $folder, @_) == 0 or die "@_ failed\n";
}

sub put {
    my ($name, $bytes) = @_;
    open my $file, '>:raw', "$folder/$name" or die "$folder/$name: $!\n";
    print {$file} $bytes;
    close $file or die "$folder/$name: $!\n";
}

sub key {
    return if $folder;
    $folder = tempdir('sigreq-form.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    run(qw(openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 30 -subj /CN=Author),
        qw(-keyout author.key -out author.crt));
}

# Signs what is around its /Contents.
sub certify {
    my $bytes = shift;
    key();
    my $gap  = index($bytes, '/Contents<') + 9;
    my $to   = $gap + 2 * ROOM + 2;
    my $range = sprintf '[0 %d %d %d]', $gap, $to, length($bytes) - $to;
    substr $bytes, $gap - 9 - 40, length $range, $range;
    put('covered', substr($bytes, 0, $gap) . substr $bytes, $to);
    run(qw(openssl cms -sign -cades -binary -md sha256 -in covered -signer author.crt -inkey author.key),
        qw(-outform DER -out signature));
    my $hex = unpack 'H*', path($folder, 'signature')->slurp;
    substr $bytes, $gap + 1, length $hex, $hex;
    return $bytes;
}

# What pyHanko says of each signature, {field, bottom_line, …}, trusting the author and a certificate (a file); or undef
# where it is not at hand.
sub judged {
    my ($bytes, $certificate) = @_;
    key();
    put('judged.pdf', $bytes);
    put('roots.pem', join '', map { path($_)->slurp } "$folder/author.crt", $certificate);
    my $said = pyhanko_judge("$folder/roots.pem", "$folder/judged.pdf") // return undef;
    return $said->{"$folder/judged.pdf"}{signatures};
}

# A signer's field by its name
sub field_named {
    my ($name, %o) = @_;
    return { type => 'signature', name => 'Sign', document => 'a.pdf', area => { field => $name }, %o };
}

1;
