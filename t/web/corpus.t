# SPDX-License-Identifier: Apache-2.0
# Some public PDF files are uploaded, signed by two signers, and checked by validators. Some public images, also broken
# ones, are used as signatures. `make corpus-sign` tries all of them.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Here qw(organisation suite children);
use Sigreq::SignedCorpus;
use Test::More;

use constant { PDFS => 30, IMAGES => 20 };

my $corpus = $ENV{SIGREQ_CORPUS} or plan skip_all => 'SIGREQ_CORPUS names no folder of public files';
plan skip_all => 'once is enough: SQLite on event' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
my @children = children();
my $trial    = Sigreq::SignedCorpus->new(client => organisation()->{test});

sub sample {    # so many of the files, from all over the folder
    my ($most, $pattern) = @_;
    my @files = grep {-f} glob "$corpus/$pattern";
    die "$corpus/$pattern: no files\n" unless @files;
    my $step = @files > $most ? @files / $most : 1;
    return map { $files[$_ * $step] } 0 .. ($#files < $most ? $#files : $most - 1);
}

sub wrong { return map { my $row = $_; map {"$row->{file}: $_"} @{ $row->{wrong} } } @_ }

my (@images, @rows);
for my $file (sample(IMAGES, 'png/pngsuite/*.png'), glob "$corpus/png/pngsuite/x[cdhl]*.png") {
    my $bytes = path($file)->slurp;
    push @rows, $trial->try_image($file =~ s{.*/}{}r, $bytes);
    push @images, $bytes if $rows[-1]{outcome} eq 'accepted';
    is($rows[-1]{outcome}, 'refused', "$rows[-1]{file} is broken") if $rows[-1]{file} =~ /^x/;
}
is(join("\n", wrong(@rows)), '', scalar(@rows) . ' images, ' . @images . ' of them accepted');
cmp_ok(scalar @images, '>', IMAGES / 2, 'most of them are accepted');

$trial->{images} = \@images;
my $turn = 0;
@rows = map { $trial->try_pdf($_ =~ s{^\Q$corpus/}{}r, path($_)->slurp, $turn++) } sample(PDFS, 'pdf/*/*');
my @accepted = grep { $_->{outcome} eq 'accepted' } @rows;
is(join("\n", wrong(@rows)), '', scalar(@rows) . ' PDFs, ' . @accepted . ' of them accepted');
cmp_ok(scalar @accepted, '>', @rows / 2, 'most of them are accepted');
for my $row (@accepted) {
    my @by = Sigreq::SignedCorpus::failures($row);
    is("@by", '', "$row->{file} passes all validators")
        or diag map {"$row->{said}{$_}\n"} grep { $row->{said}{$_} } @by;
}
is(join(' ', children()), join(' ', @children), 'no child exited');
done_testing;
