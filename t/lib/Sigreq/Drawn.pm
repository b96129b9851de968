# SPDX-License-Identifier: Apache-2.0
# Sigreq::Drawn: whether the pages of a document look as each of its signatures has covered them, outside of the widgets
# that POST /verify and sigreqctl verify name. poppler, mupdf and PDFBox draw them, as far as they are installed.
package Sigreq::Drawn;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use MIME::Base64 'decode_base64';
use Sigreq::Judge 'java_pages';
use Test::More;

our @EXPORT_OK = qw(same_pictures drawers);

# A drawer returns width, height and gray pixels of each page, at half a pixel for each point.
my %drawers = (
    poppler => sub { return printed(qw(pdftoppm -r 36 -gray -cropbox), @_) },
    mupdf   => sub { return printed(qw(mutool draw -q -r 36 -c gray -F pgm -o -), @_) },
    PDFBox  => sub { return map { [$_->{width}, $_->{height}, decode_base64($_->{pixels})] } java_pages(@_) },
);
my %needs = (poppler => '/usr/bin/pdftoppm', mupdf => '/usr/bin/mutool', PDFBox => '/usr/share/java/pdfbox2.jar');

sub drawers { return sort grep { -e $needs{$_} } keys %drawers }

sub printed {
    my @command = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>/dev/null', 'sh', @command or die "$command[0]: $!\n";
    binmode $pipe;
    my $all = do { local $/; <$pipe> };
    close $pipe;
    my @pages;
    while ($all =~ /\GP5\s(?:#[^\n]*\n)?(\d+)\s(\d+)\s255\s/gc) {
        push @pages, [$1, $2, substr $all, pos $all, $1 * $2];
        pos($all) += $1 * $2;
    }
    return @pages;
}

sub without {    # a picture of a page without the widgets on it
    my ($page, @widgets) = @_;
    my ($width, $height, $pixels) = @$page;
    for (@widgets) {
        my ($left, $bottom, $right, $top) = map { $_ / 2 } @$_;
        my ($from, $to) = map { $_ < 0 ? 0 : $_ > $width ? $width : int } $left - 2, $right + 3;
        for my $row (0 .. $height - 1) {
            my $up = $height - $row;
            substr($pixels, $row * $width + $from, $to - $from) = "\0" x ($to - $from)
                if $up > $bottom - 3 && $up < $top + 3 && $to > $from;
        }
    }
    return $pixels;
}

sub differs {    # the number of pixels that do
    my ($one, $other) = @_;
    return length $one if length $one != length $other;
    return scalar grep { abs($_) > 64 } map { vec($one, $_, 8) - vec($other, $_, 8) } 0 .. length($one) - 1;
}

sub same_pictures {    # FILE, and what was said of it
    my ($file, $said) = @_;
    my $before = tempdir('sigreq-drawn.XXXXXX', TMPDIR => 1, CLEANUP => 1) . '/before.pdf';
    for my $by (sort keys %drawers) {
    SKIP: {
            skip "$by is missing ($needs{$by})", 1 if !-e $needs{$by};
            my @after = $drawers{$by}->($file);
            my @covering = grep { !$_->{whole} && $_->{covers} } @{ $said->{signatures} };
            same_pages($by, $file, $before, $_, @after) for @covering;
        }
    }
    return;
}

sub same_pages {
    my ($by, $file, $before, $one, @after) = @_;
    open my $in,  '<:raw', $file   or die "$file: $!\n";
    open my $out, '>:raw', $before or die "$before: $!\n";
    read $in, my $bytes, $one->{covers};
    print {$out} $bytes;
    close $out;
    my @before = $drawers{$by}->($before);
    my $what   = "$file: the pages as $one->{field} covers them, drawn by $by";
    is(scalar @before, scalar @after, "$what: their number");
    my %widgets;
    /^page (\d+): .* at (\S+) (\S+) (\S+) (\S+)$/ and push @{ $widgets{ $1 - 1 } }, [$2, $3, $4, $5]
        for @{ $one->{drawn} };
    my @different = grep {
        my @named = @{ $widgets{$_} // [] };
        !$after[$_] || differs(without($before[$_], @named), without($after[$_], @named)) > 3
    } 0 .. $#before;
    is_deeply(\@different, [], $what);
    return;
}

1;
