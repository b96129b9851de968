# SPDX-License-Identifier: Apache-2.0
# What sigreqctl verify says of documents that other programs have signed, in the folder $SIGREQ_SIGNED. The page
# README in it has a table: the names of files (without .pdf), and what is right. The pages of a document without
# changes look as each signature has covered them, outside of the widgets that are named (t/lib/Sigreq/Drawn.pm).
use strict;
use warnings;
use JSON::PP 'decode_json';
use lib 't/lib';
use Sigreq::Drawn 'same_pictures';
use Test::More;

# Documents of which we say something else. An update adds a signature whose /Type is /DocTimeStamp, and again /Sig.
# Readers take the first or the last value (docs/signed-pdf.md).
my %changes = ('dss-818-sk-1' => ['object 125']);

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

my ($page) = glob "$folder/README*";
open my $in, '<', $page // $folder or die "$folder: no README: $!\n";
my @rows = map { /^\| (\S[^|]*?) \| ([^|]+?) \|/ ? [$1, $2] : () } grep { !/^\| (?:file|-)/ } <$in>;
close $in;
cmp_ok(scalar @rows, '>', 0, 'the table has rows');
for my $row (@rows) {
    my ($names, $right) = @$row;
    my %may = map { $_ => 1 } states_of($right);
    for my $name (split /, /, $names) {
        my $said = verified("$folder/$name.pdf");
        my @all  = map { $_->{state} } @{ $said->{signatures} };
        if ($may{broken}) {
            is($said->{conclusion}, 'broken', "$name is broken");
            next;
        }
        is_deeply([grep { !$may{$_} } @all], [], "each signature of $name is: $right") or diag join ' ', @all;
        my %found   = map { $_ => 1 } map { @{ $_->{changes} // ['unknown'] } } @{ $said->{signatures} };
        my @changes = sort keys %found;
        is_deeply(\@changes, $changes{$name} // [], "the changes of $name are found");
        same_pictures("$folder/$name.pdf", $said) if !@changes;
    }
}
done_testing;
