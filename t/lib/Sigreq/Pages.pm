# SPDX-License-Identifier: Apache-2.0
# Sigreq::Pages: requests pages of a document like a signer's browser, reads PNG images, finds ink in them, and finds
# their files in the cache.
package Sigreq::Pages;
use strict;
use warnings;
use Compress::Zlib 'uncompress';
use Exporter 'import';
use Sigreq::Here 'suite';

our @EXPORT_OK = qw(page_url png_size png_ink cached words);

# The path of a page below a signer's link: page_url(document row of the state, n, ending, query…)
sub page_url {
    my ($document, $n, $ending, @query) = @_;
    my $path = "/documents/$document->{uuid}/pages/$n.$ending";
    my @pairs;
    while (my ($name, $value) = splice @query, 0, 2) { push @pairs, "$name=$value" }
    return @pairs ? "$path?" . join '&', @pairs : $path;
}

sub png_size { # (width, height), or nothing when it is no PNG
    my $bytes = shift;
    return unless $bytes =~ /IEND.{4}\z/s && $bytes =~ /\A\x89PNG\r\n\x1a\n.{4}IHDR(.{8})/s;
    return unpack 'NN', $1;
}

# How many samples of an area (in percent of the page: x, y, w, h) are not white. Gray of 4 or 8 bits, RGB or a palette.
sub png_ink {
    my ($bytes, @area) = @_;
    my ($width, $height) = png_size($bytes) or die "no PNG\n";
    my ($bits, $type)    = unpack 'C2', substr $bytes, 24, 2;
    my ($at, $packed, $palette) = (8, '', '');
    while ($at < length $bytes) {
        my ($length, $name) = unpack 'N a4', substr $bytes, $at, 8;
        $packed .= substr $bytes, $at + 8, $length if $name eq 'IDAT';
        $palette = substr $bytes, $at + 8, $length if $name eq 'PLTE';
        $at += $length + 12;
    }
    my $depth = $type == 2 ? 3 : 1;
    my $rows  = rows(uncompress($packed), $height, int(($width * $depth * $bits + 7) / 8), $depth);
    my ($left, $top, $w, $h) = map { int } $area[0] * $width / 100, $area[1] * $height / 100, $area[2] * $width / 100,
        $area[3] * $height / 100;
    my $scale = $type == 3 ? 1 : 17;    # of four bits: an index of the palette, or a gray
    my $ink   = 0;
    for my $y ($top .. $top + $h - 1) {
        my $row = $rows->[$y];
        $row   = join '', map { chr($scale * hex) } split //, unpack 'H*', $row if $bits == 4;
        $row   = substr $row, $left * $depth, $w * $depth;
        $row   = join '', map { substr $palette, 3 * ord, 3 } split //, $row if $type == 3;
        $ink += () = $row =~ /[^\xff]/g;
    }
    return $ink;
}

# Undoes the filters of PNG (11.3 of its specification).
sub rows {
    my ($raw, $height, $stride, $depth) = @_;
    my @rows;
    my @above = (0) x $stride;
    for my $y (0 .. $height - 1) {
        my ($filter, @row) = unpack "C*", substr $raw, $y * ($stride + 1), $stride + 1;
        for my $i ($filter ? 0 .. $stride - 1 : ()) {
            my $a = $i < $depth ? 0 : $row[$i - $depth];
            my $b = $above[$i];
            my $c = $i < $depth ? 0 : $above[$i - $depth];
            my $guess = $filter == 1 ? $a : $filter == 2 ? $b : $filter == 3 ? int(($a + $b) / 2) : paeth($a, $b, $c);
            $row[$i] = ($row[$i] + $guess) & 255;
        }
        @above = @row;
        push @rows, pack 'C*', @row;
    }
    return \@rows;
}

sub paeth {
    my ($a, $b, $c) = @_;
    my ($pa, $pb, $pc) = (abs($b - $c), abs($a - $c), abs($a + $b - 2 * $c));
    return $pa <= $pb && $pa <= $pc ? $a : $pb <= $pc ? $b : $c;
}

# Files of the cache that were made of a document (of its digest), by their names.
sub cached {
    my ($sha256, $folder) = @_;
    $folder //= suite->{dir} . '/documents/cache';
    my @found = sort(glob sprintf '%s/%s/%s/%s.*', $folder, substr($sha256, 0, 2), substr($sha256, 2, 2), $sha256);
    return @found;
}

sub words { my $text = shift; return join ' ', map { map { $_->[0] } @$_ } @{ $text->{lines} } }

1;
