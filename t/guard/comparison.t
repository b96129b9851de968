# SPDX-License-Identifier: Apache-2.0
# docs/comparison.md: each guarantee names a test that exists.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

my ($section) = slurp('docs/comparison.md') =~ /^## What is guaranteed here\n(.*?)(?=^## |\z)/ms
    or BAIL_OUT('docs/comparison.md has no section "What is guaranteed here"');
my @guarantees = $section =~ /^- (.*?\n)(?=\S|\n|\z)/msg;
cmp_ok(scalar @guarantees, '>', 10, 'the section lists guarantees');
for my $guarantee (@guarantees) {
    my @tests = $guarantee =~ m{`(t/[^`]+)`}g;
    ok(scalar @tests, 'a test is named: ' . $guarantee =~ s/\s+/ /gr);
    ok(-f $_,         "$_ exists") for @tests;
}
done_testing;
