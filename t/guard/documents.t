# SPDX-License-Identifier: Apache-2.0
# Files, links and headings that documents and comments refer to exist. The glossary distinguishes all files of src/
# that share a name, and the index of decisions has every record. No file names a path beside the checkout.
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

my $cited = 0;
my @sources = (sources(), files('src/**/*.def', 'src/**/*.cc', 'src/store/*/*.sql', 'conf/sigreq.conf'),
    files('t/{api,page,ctl}/*.t', 't/unit/*.[ch]'));
for my $file (@documents, @sources) {
    my $text = slurp($file) =~ s/\[[^]]*\]\([^)]*\)//gr;    # but for links, see above
    my %said = map { $_ => 1 } $text =~ m{(?<![\w*/.-])((?:[\w.-]+/)*[\w-]+\.md)\b}g;
    $cited += keys %said;
    my @missing = grep { !-e $_ && !-e target(dirname($file), $_) } sort keys %said;
    is("@missing", '', "$file: the documents that it names") if @missing || %said;
}
cmp_ok($cited, '>', 30, 'names of documents were found');

my %files;
push @{ $files{ basename($_) } }, $_ for files('src/**/*.[ch]');
my ($table) = slurp('docs/glossary.md') =~ /^## Files that share a name\n(.*)/ms or BAIL_OUT('no table of files');
my %told;
for my $row (grep {/^\| `/} split /\n/, $table) {
    my ($names, $which) = (split /\|/, $row)[1, 2];
    $told{$_} = $which for $names =~ /`([^`]+)`/g;
}
my @shared = grep { @{ $files{$_} } > 1 } sort keys %files;
is_deeply([sort keys %told], \@shared, 'the glossary has the files that share a name, and no other');
for my $name (@shared) {
    my @folders = map { basename(dirname($_)) } @{ $files{$name} };
    my @untold  = grep { ($told{$name} // '') !~ /`$_`/ } @folders;
    is("@untold", '', "… and each $name");
}

my @records = map { basename($_) } files('docs/decisions/[0-9]*.md');
my %listed  = map { $_ => 1 } slurp('docs/decisions/README.md') =~ /\]\((\d{4}-[^)]+)\)/g;
is_deeply(\@records, [sort keys %listed], 'the index has every record of a decision');
my @numbers = map {/^(\d+)/} @records;
is_deeply(\@numbers, [map { sprintf '%04d', $_ } 1 .. @records], '… which are numbered without a gap');

# Variables of the environment name what is not in the checkout.
my @all = ('Makefile', @documents, sources(), files('t/run', 't/*/*.[tch]', 't/lib/*/*.pm', 'tools/*', '.ci/*'));
is_deeply([grep { slurp($_) =~ m{[.]{2}/shared\b} } @all], [], 'no file names a path beside the checkout');
done_testing;
