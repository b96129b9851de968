# SPDX-License-Identifier: Apache-2.0
# docs/comparison.md: each guarantee names a test that exists.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

my ($table) = slurp('docs/comparison.md') =~ /^## What is guaranteed here\n(.*?)(?=^## |\z)/ms
    or BAIL_OUT('docs/comparison.md has no section "What is guaranteed here"');
my @rows = grep { /^\| (?!Guarantee )/ && !/^\|-/ } split /\n/, $table;
cmp_ok(scalar @rows, '>', 10, 'guarantees are there');
for my $row (@rows) {
    my ($guarantee, $tests) = $row =~ /^\| (.+?) \| (`.+`) \|$/ or fail("a row of two columns: $row"), next;
    my @tests = $tests =~ /`([^`]+)`/g;
    ok(scalar @tests, "a test is named: $guarantee");
    ok(-f $_,         "$_ is there") for @tests;
}
done_testing;
