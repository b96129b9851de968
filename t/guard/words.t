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
my @files = (qw(docs/security.md docs/signing-page.md docs/signed-pdf.md),
    files('src/service/*.[ch]', 'src/page/*.[ch]', 'src/page/assets/js/*.js', 'src/page/assets/css/*.css'));
cmp_ok(scalar @files, '>', 60, 'there are files');
for my $file (@files) {
    my @lines = split /\n/, slurp($file);
    my @found;
    for my $at (0 .. $#lines) {
        push @found, map { 'line ' . ($at + 1) . ": $_ ($instead{lc $_})" } $lines[$at] =~ /\b($words)\b/gi;
    }
    is("@found", '', "$file: words");
}
done_testing;
