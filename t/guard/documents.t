# SPDX-License-Identifier: Apache-2.0
# Files, links and headings that documents and comments refer to exist. No two files of src/ share a name by chance, and
# the index of decisions has every record. No file names a path beside the checkout.
use strict;
use warnings;
use lib 't/lib';
use File::Basename qw(basename dirname);
use File::Spec ();
use Sigreq::Source qw(files slurp sources);
use Test::More;

my @documents = ('README', 'CHANGES', files('*.md', 'docs/*.md', 'docs/*/*.md', 'src/README.md'));

# How a heading is linked to, as GitHub does it.
sub anchor { return lc($_[0]) =~ s/[^\w\s-]//gr =~ s/\s/-/gr }

sub target {    # a file, without . and ..
    my @parts;
    for my $part (File::Spec->splitdir(File::Spec->catfile(@_))) {
        if   ($part eq '..') { pop @parts }
        else                 { push @parts, $part if $part ne '.' }
    }
    return join '/', @parts;
}

my $links = 0;
for my $file (@documents) {
    my @broken;
    for my $link (slurp($file) =~ /\]\(([^)\s]+)\)/g) {
        next if $link =~ /^https?:/;
        my ($path, $heading) = $link =~ /^([^#]*)(?:#(.*))?$/;
        my $target = length $path ? target(dirname($file), $path) : $file;
        $links++;
        push @broken, $link and next unless -e $target;
        next unless defined $heading;
        push @broken, $link unless grep { anchor($_) eq $heading } slurp($target) =~ /^#+ (.*)$/mg;
    }
    is("@broken", '', "$file: links");
}
cmp_ok($links, '>', 40, 'links were found');
my %indexed = map { $_ => 1 } slurp('docs/README.md') =~ /\]\(([^)]+)\)/g;
my @pages = grep { $_ ne 'README.md' } map { basename($_) } files('docs/*.md');
is_deeply([grep { !$indexed{$_} } @pages, 'decisions/README.md'], [], 'docs/README.md links all documents');

my $cited = 0;
my @sources = (sources(), files('src/**/*.def', 'src/store/*/*.sql', 'conf/sigreq.conf'),
    files('t/{api,page,ctl}/*.t', 't/unit/*.[ch]'));
for my $file (@documents, @sources) {
    my $text = slurp($file) =~ s/\[[^]]*\]\([^)]*\)//gr;    # but for links, see above
    my %said = map { $_ => 1 } $text =~ m{(?<![\w*/.-])((?:[\w.-]+/)*[\w-]+\.md)\b}g;
    $cited += keys %said;
    my @missing = grep { !-e $_ && !-e target(dirname($file), $_) } sort keys %said;
    is("@missing", '', "$file: the documents that it names") if @missing || %said;
}
cmp_ok($cited, '>', 30, 'names of documents were found');

# Files share a name only if they do the same job: for two layers, or on both sides of a protocol.
my %same = map { $_ => 1 } qw(archive.c compose.c confirm.c dss.c entry.c erase.c existing.c feed.c feed.h
    field_values.c fill.c fork_server.c gc.c health.c history.c ink.c list.c listing.c mail.c main.c metrics.c
    own_seals.c preview.c private.h protocol.h rate.c routes.c seals.c storage.c templates.c tokens.c update.c
    verify.c webhooks.c);
my %files;
push @{ $files{ basename($_) } }, $_ for files('src/**/*.[ch]', 'src/**/*.cc');
is_deeply([grep { @{ $files{$_} } > 1 && !$same{$_} } sort keys %files], [], 'no two files share a name by chance');
is_deeply([grep { @{ $files{$_} // [] } < 2 } sort keys %same], [],
    'each file of the list has the name of another one');

my @records = map { basename($_) } files('docs/decisions/[0-9]*.md');
my %listed  = map { $_ => 1 } slurp('docs/decisions/README.md') =~ /\]\((\d{4}-[^)]+)\)/g;
is_deeply(\@records, [sort keys %listed], 'the index has every record of a decision');
my @numbers = map {/^(\d+)/} @records;
is_deeply(\@numbers, [map { sprintf '%04d', $_ } 1 .. @records], 'the records of decisions are numbered without a gap');

# Variables of the environment name what is not in the checkout.
my @all = ('Makefile', @documents, sources(), files('t/run', 't/*/*.[tch]', 't/lib/*/*.pm', 'tools/*', '.ci/*'));
is_deeply([grep { slurp($_) =~ m{[.]{2}/shared\b} } @all], [], 'no file names a path beside the checkout');
done_testing;
