# SPDX-License-Identifier: Apache-2.0
# What sigreqctl verify says of documents that other programs have signed, in the folder $SIGREQ_SIGNED. The page
# README in it has a table: the names of files (without .pdf), and what is right. The pages of a document that is called
# signed look as each signature has covered them, outside of the widgets that are named.
use strict;
use warnings;
use File::Temp;
use JSON::PP 'decode_json';
use Test::More;

my $folder = $ENV{SIGREQ_SIGNED};
plan skip_all => 'no documents that other programs have signed ($SIGREQ_SIGNED)' if !$folder;

sub verified {
    my ($file) = @_;
    open my $pipe, '-|', qw(build/sigreqctl verify --helper build/sigreq-pdfd --json), $file or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return decode_json($said);
}

# The states that a row permits. An intact document has no changes, too.
sub states_of {
    my ($right) = @_;
    return map { $right =~ /\b$_\b/ ? $_ : () } qw(intact broken unchecked);
}

sub pages_of {    # width, height and gray pixels of each page, at half a pixel for each point
    my ($file) = @_;
    open my $pipe, '-|', qw(pdftoppm -r 36 -gray -cropbox), $file or die "pdftoppm: $!\n";
    binmode $pipe;
    my $all = do { local $/; <$pipe> };
    close $pipe;
    my @pages;
    while ($all =~ /\GP5\s(\d+)\s(\d+)\s255\s/gc) {
        push @pages, [$1, $2, substr $all, pos $all, $1 * $2];
        pos($all) += $1 * $2;
    }
    return @pages;
}

sub without {     # a picture of a page without the widgets on it
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

sub differs {     # the number of pixels that do
    my ($one, $other) = @_;
    return length $one if length $one != length $other;
    return scalar grep { abs($_) > 64 } map { vec($one, $_, 8) - vec($other, $_, 8) } 0 .. length($one) - 1;
}

sub same_pictures {
    my ($file, $said) = @_;
    my @after = pages_of($file);
    for my $one (@{ $said->{signatures} }) {
        next if $one->{whole} || !$one->{covers};
        my $before = File::Temp->new(SUFFIX => '.pdf');
        open my $in, '<:raw', $file or die "$file: $!\n";
        read $in, my $bytes, $one->{covers};
        close $in;
        print {$before} $bytes;
        close $before;
        my @before = pages_of("$before");
        is(scalar @before, scalar @after, "$file: the pages that $one->{field} covers");
        my %widgets;
        /^page (\d+): .* at (\S+) (\S+) (\S+) (\S+)$/ and push @{ $widgets{ $1 - 1 } }, [$2, $3, $4, $5]
            for @{ $one->{drawn} };
        my @different = grep {
            my @named = @{ $widgets{$_} // [] };
            differs(without($before[$_], @named), without($after[$_], @named)) > 3
        } 0 .. $#before;
        is_deeply(\@different, [], "$file: the pages as $one->{field} covers them");
    }
    return;
}

my ($page) = glob "$folder/README*";
open my $in, '<', $page // $folder or die "$folder: no README: $!\n";
my @rows = map { /^\| (\S[^|]*?) \| ([^|]+?) \|/ ? [$1, $2] : () } grep { !/^\| (?:file|-)/ } <$in>;
close $in;
cmp_ok(scalar @rows, '>', 0, 'rows of the table');
for my $row (@rows) {
    my ($names, $right) = @$row;
    my %may = map { $_ => 1 } states_of($right);
    for my $name (split /, /, $names) {
        my $said = verified("$folder/$name.pdf");
        my @all  = map { $_->{state} } @{ $said->{signatures} };
        if ($may{broken}) {
            is($said->{conclusion}, 'broken', "$name: $right");
            next;
        }
        is_deeply([grep { !$may{$_} } @all], [], "$name: $right") or diag join ' ', @all;
        my @changes = map { @{ $_->{changes} // ['unknown'] } } @{ $said->{signatures} };
        is_deeply(\@changes, [], "$name: no changes");
        same_pictures("$folder/$name.pdf", $said) if $said->{conclusion} eq 'signed';
    }
}
done_testing;
