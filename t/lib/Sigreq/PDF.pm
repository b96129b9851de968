# SPDX-License-Identifier: Apache-2.0
# Sigreq::PDF: a small writer of PDF files for the tests. Boxes, rotation, size and damage are exactly what a test
# requests. Classic cross-reference table, no compression.
package Sigreq::PDF;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(pdf pdf_of_size slow_pdf repairable without_end turned with_value);

# A nonce; in a recording (Sigreq::Agent) without the process id, so that two recordings have the same documents.
sub nonce {
    my $text = shift;
    $text =~ s/\b$$\b/PID/g if $ENV{SIGREQ_RECORD};
    return $text;
}

# pdf(pages => N or [{mediabox, cropbox, rotate, text, more, content, resources}, …], pad => BYTES,
#     inherit => {mediabox, rotate}, objects => [TEXT, …], nonce => TEXT, catalog => TEXT, trailer => TEXT)
# A number of pages gives so many of 612 × 792 points. `pad` adds a stream of so many bytes, `objects` more objects, the
# first of which is number 4 + 2 × pages; `nonce` makes the file unlike every other.
sub pdf {
    my %o       = @_;
    my @pages   = ref $o{pages} ? @{ $o{pages} } : map { +{} } 1 .. ($o{pages} // 1);
    my %inherit = %{ $o{inherit} // { mediabox => [0, 0, 612, 792] } };
    my @objects = (undef, undef, '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>');    # catalog, page tree, font
    my @kids;
    for my $page (@pages) {
        my $text    = ($page->{text} // 'Page ' . (@kids + 1)) =~ s/([()\\])/\\$1/gr;
        my $content = "BT /F 18 Tf 72 72 Td ($text) Tj ET";
        push @objects, stream_of($page->{content} // $content);
        push @objects,
              '<</Type/Page/Parent 2 0 R/Resources<</Font<</F 3 0 R>>' . ($page->{resources} // '') . '>>/Contents '
            . @objects . ' 0 R'
            . attributes($page) . '>>';
        push @kids, @objects . ' 0 R';
    }
    push @objects, @{ $o{objects} // [] };
    push @objects, stream_of('x' x $o{pad}) if $o{pad};
    $objects[0] = '<</Type/Catalog/Pages 2 0 R' . ($o{catalog} // '') . '>>';
    $objects[1] = "<</Type/Pages/Kids[@kids]/Count " . @kids . attributes(\%inherit) . '>>';

    my $out = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n" . (defined $o{nonce} ? '% ' . nonce($o{nonce}) . "\n" : '');
    my @offsets;
    for my $i (0 .. $#objects) {
        push @offsets, length $out;
        $out .= $i + 1 . " 0 obj\n$objects[$i]\nendobj\n";
    }
    my $xref = length $out;
    $out .= "xref\n0 " . (@objects + 1) . "\n0000000000 65535 f \n" . join '',
        map { sprintf "%010d 00000 n \n", $_ } @offsets;
    return
          $out
        . "trailer\n<</Size "
        . (@objects + 1)
        . "/Root 1 0 R"
        . ($o{trailer} // '')
        . ">>\nstartxref\n$xref\n%%EOF\n";
}

# Pages that no machine draws in time: forms within forms, each of which draws the next one ten times. With fewer levels
# (default 10) they are only slow.
sub slow_pdf {
    my %o     = @_;
    my $pages = delete $o{pages} // 1;
    my $last  = delete $o{levels} // 10;
    my $first = 4 + 2 * $pages;
    my @forms = map {
        my ($head, $body) = ('/Type/XObject/Subtype/Form/BBox[0 0 200 100]', '0 0 9 9 re f');
        my $next = $first + $_;
        ($head, $body) = ("$head/Resources<</XObject<</X $next 0 R>>>>", join ' ', ('/X Do') x 10) if $_ < $last;
        "<<$head/Length " . length($body) . ">>\nstream\n$body\nendstream";
    } 1 .. $last;
    my %page = (content => '/X Do', resources => "/XObject<</X $first 0 R>>");
    return pdf(%o, pages => [({%page}) x $pages], objects => \@forms);
}

# A file of exactly so many bytes.
sub pdf_of_size {
    my ($size, %o) = @_;
    my $pad = 2 * $size - length(pdf(%o, pad => $size));
    $pad += $size - length(pdf(%o, pad => $pad)) for 1 .. 3;    # the number of digits may change once
    my $bytes = pdf(%o, pad => $pad);
    die "no PDF of $size bytes\n" unless length $bytes == $size;
    return $bytes;
}

sub without_end { my $bytes = shift; return substr $bytes, 0, index $bytes, 'startxref' }

# What cannot be continued as it is: kind → CODE of a text that makes it unlike others also when it is written anew, and
# options of pdf(), which has one page then.
sub repairable {
    my $field = '<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(Written)/DA(/F 12 Tf 0 g)/Rect[10 10 200 40]/P 5 0 R>>';
    my $form  = '/AcroForm<</Fields[6 0 R]/NeedAppearances true/DR<</Font<</F 3 0 R>>>>/DA(/F 12 Tf 0 g)>>';
    return (
        'no end'                 => sub { my $text = shift; without_end(pdf(pages => [{ text => $text }], @_)) },
        'text before the header' => sub { my $text = shift; "hello\n" . pdf(pages => [{ text => $text }], @_) },
        'a form to be drawn'     => sub {
            my $text = shift;
            pdf(pages => [{ text => $text, more => '/Annots[6 0 R]' }], catalog => $form, objects => [$field], @_);
        },
    );
}

# A document with an update that writes a field again, with another value.
sub with_value {
    my ($bytes, $from, $to) = @_;
    my ($number, $field) = $bytes =~ /.*\n(\d+) 0 obj\s(.*?\Q$from\E.*?)endobj/s or die "no such value\n";
    my ($before) = $bytes =~ /.*startxref\s+(\d+)/s;
    my ($root)   = $bytes =~ m{.*/Root (\d+ 0 R)}s;
    my ($size)   = $bytes =~ m{.*/Size (\d+)}s;
    my $update   = "$number 0 obj\n" . $field =~ s/\Q$from\E/$to/r . "endobj\n";
    my $at       = length $bytes;
    my $table    = sprintf "xref\n%d 1\n%010d 00000 n \ntrailer\n<</Size %d/Root %s/Prev %d>>\n",
        $number, $at, $size, $root, $before;
    return join '', $bytes, $update, $table, "startxref\n", $at + length $update, "\n%%EOF\n";
}

sub stream_of { my $bytes = shift; '<</Length ' . length($bytes) . ">>\nstream\n$bytes\nendstream" }

sub attributes {
    my $page = shift;
    my $out  = '';
    for my $box (['mediabox', 'MediaBox'], ['cropbox', 'CropBox']) {
        $out .= "/$box->[1]\[@{ $page->{$box->[0]} }]" if $page->{ $box->[0] };
    }
    $out .= "/Rotate $page->{rotate}" if defined $page->{rotate};
    return $out . ($page->{more} // '');
}

# The document with an update that turns its last page, whatever has signed it before.
sub turned {
    my $pdf    = shift;
    my $start  = $pdf =~ /.*startxref\n(\d+)/s ? $1 : die;
    my ($page) = $pdf =~ m{.*\n((\d+) 0 obj\n<<[^>]*/Type */Page\b.*?)\nendobj}s ? ($2) : die;
    my $text   = $pdf =~ m{.*\n\Q$page\E 0 obj\n(.*?)\nendobj}s ? $1 : die;
    $text =~ s/>>\s*\z/\/Rotate 90>>/;
    my $xref   = length($pdf) + length(my $object = "$page 0 obj\n$text\nendobj\n");
    my $root   = $pdf =~ m{.*/Root (\d+ 0 R)}s ? $1 : die;
    return $pdf . $object . sprintf "xref\n$page 1\n%010d 00000 n \ntrailer\n<</Size 10000/Root $root/Prev $start>>\n"
        . "startxref\n$xref\n%%%%EOF\n", length $pdf;
}

1;
