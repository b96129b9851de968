# SPDX-License-Identifier: Apache-2.0
# Words that these files do not use, and what they say instead: a signer is "they", and what is no person is named.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my %instead = (
    he => 'they', his => 'their', him => 'them', himself => 'themselves', anew => 'again', whoever => 'a caller who',
    vouch => 'verify', vouches => 'verifies');
my $words = join '|', sort keys %instead;
# Hebrew, Spanish
my %other = map { ("src/model/$_" => 'he') } qw(languages.def dates.def plurals.def language.c consent.c);
my @files = (qw(README CHANGES src/README.md mod_sigreq.c conf/sigreq.conf), files('*.md', 'docs/*.md', 'docs/*/*.md'),
    (map { files("src/**/*.$_") } qw(c cc h def)),
    files('src/store/*/*.sql', 'src/web/assets/js/*.js', 'src/web/assets/js/*/*.js', 'src/web/assets/css/*.css'));
cmp_ok(scalar @files, '>', 60, 'there are files');
for my $file (@files) {
    my @lines = split /\n/, slurp($file);
    my $other = $other{$file} // '';
    my @found;
    for my $at (0 .. $#lines) {
        my @here = grep { lc ne $other } $lines[$at] =~ /\b($words)\b/gi;
        push @found, map { 'line ' . ($at + 1) . ": $_ ($instead{lc $_})" } @here;
    }
    is("@found", '', "$file: words");
}
done_testing;
