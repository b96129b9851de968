# SPDX-License-Identifier: Apache-2.0
# docs/security.md: each promise names a test that exists.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

my ($table) = slurp('docs/security.md') =~ /^## What is promised\n(.*?)(?=^## |\z)/ms
    or BAIL_OUT('docs/security.md has no section "What is promised"');
my @rows = grep {/^\| (?!Promise|\*\*)/ && !/^\|-/} split /\n/, $table;
cmp_ok(scalar @rows, '>', 20, 'promises are there');
for my $row (@rows) {
    my ($promise, $tests) = $row =~ /^\| (.+?) \| (.+?) \|$/ or fail("a row of two columns: $row"), next;
    my @tests = $tests =~ /`([^`]+)`/g;
    ok(scalar @tests, "a test is named: $promise");
    ok(-f $_,         "$_ is there") for @tests;
}
done_testing;
