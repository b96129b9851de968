# SPDX-License-Identifier: Apache-2.0
# Each source file names its licence in line 1, or in line 2 after a #! line.
use strict;
use warnings;
use File::Find 'find';
use lib 't/lib';
use Sigreq::Source qw(slurp);
use Test::More;

my $licence = qr{^(?:/\* SPDX-License-Identifier: Apache-2\.0 \*/|(?://|--|#) SPDX-License-Identifier: Apache-2\.0)$};
my (@files, @without);
find({ no_chdir => 1, wanted => \&look }, qw(.ci Makefile apxs.mk conf debian include mod_sigreq.c src t tools));
cmp_ok(scalar @files, '>', 500, 'source files were found');
is(join("\n", sort @without), '', 'each begins with "SPDX-License-Identifier: Apache-2.0" in a comment');
like(slurp('LICENSE'), qr/Apache License\s+Version 2\.0/, 'which is the licence of LICENSE');
done_testing;

sub look {
    my $file = $_;
    return $File::Find::prune = 1 if $file =~ m{^t/(?:data|fuzz/corpus)$};
    return unless -f $file && -T _;
    my @top = (split /\n/, slurp($file))[0, 1];
    my $script = ($top[0] // '') =~ /^#!/;
    push @without, "$file: the line has more" if grep {/SPDX/ && !/$licence/} map { $_ // '' } @top;
    return unless $script || $file =~ /\.(?:c|h|cc|def|sql|t|pm|PL|js|mjs|css|py|lua|mk)$/ || $file eq 'Makefile';
    push @files, $file;
    push @without, $file unless ($top[$script] // '') =~ $licence;
}
