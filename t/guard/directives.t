# SPDX-License-Identifier: Apache-2.0
# conf/sigreq.conf has every directive of src/settings/directives.def with its default, and no others.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(slurp code);
use Test::More;

my $table = code('src/settings/directives.def') =~ s/\\\n|"\s+"//gr;
my %default;
while ($table =~ /SR_DIRECTIVE\(\s*\w+,\s*\w+,\s*(\w+),\s*\w+,\s*("[^"]*"|\w+)/g) { $default{$1} = unquoted($2) }
cmp_ok(scalar keys %default, '>', 8, 'the table of directives was found');

my %documented;
for my $line (split /\n/, slurp('conf/sigreq.conf')) {
    push @{ $documented{$1} }, unquoted($2) if $line =~ /^\s*#?\s*(Sigreq\w*)\s+(\S+(?: [\w-]+=\S+| \d\w+)*)\s*$/;
}
is(join(' ', grep { !$default{$_} && !exists $default{$_} } sort keys %documented), '',
    'the reference has no directive that is not there');
for my $name (sort keys %default) {
    ok($documented{$name}, "$name is in the reference") or next;
    next if $name eq 'Sigreq' || !length $default{$name} || $default{$name} =~ /^[A-Z_]+$/;
    ok((grep { $_ eq $default{$name} } @{ $documented{$name} }),
        "$name is in the reference with its default, $default{$name}")
        or diag "@{ $documented{$name} }";
}
done_testing;

sub unquoted { my $text = shift; $text =~ s/^"|"$//g; return $text }
