# SPDX-License-Identifier: Apache-2.0
# docs/security.md: each promise names tests that exist.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

my ($section) = slurp('docs/security.md') =~ /^## What is promised\n(.*?)(?=^## |\z)/ms
    or BAIL_OUT('docs/security.md has no section "What is promised"');
my @promises = map {s/\s+/ /gr} $section =~ /^- (.*?)(?=^[-#]|^$|\z)/gms;
cmp_ok(scalar @promises, '>', 40, 'promises are there');
for my $item (@promises) {
    my ($promise, $tests) = $item =~ /^(.+) \((`[^()]+`)\)\. ?$/ or fail("tests end a promise: $item"), next;
    my @tests = $tests =~ /`([^`]+)`/g;
    ok(-f $_, "$_ is there: $promise") for @tests;
}
done_testing;
