# SPDX-License-Identifier: Apache-2.0
# Every row of the contract's error tables is tested in t/api/errors.t, and docs/api.md has all rows. If the project's
# copy of the contract is beside the checkout, docs/api.md is compared with it, too.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

sub rows { # first columns of the tables below a heading
    my ($file, $heading) = @_;
    my ($part) = slurp($file) =~ /^$heading\n(.*?)(?=^## |\z)/ms or die "$file: no $heading\n";
    return map { [map { s/^\s+|\s+$//gr } split /\|/, $_] } $part =~ /^\|(.+)\|$/mg;
}
sub message { my @row = @{ $_[0] }; return $row[0] =~ /^(?:\d{3}|Status)$/ ? $row[1] : $row[0] }

my $tests = slurp('t/api/errors.t');
my %documented = map { message($_) => 1 } rows('docs/api.md', '## Errors');
my @validation = grep { /^(?:At least|Only|A |Signer|Document|Index)/ } sort keys %documented;
is(scalar @validation, 18, 'the validation messages of docs/api.md');
ok($tests =~ /'\Q$_\E'\s+=>/, "tested: $_") for @validation;
ok($tests =~ /\Q$_\E/, "tested: $_")
    for 'User not founded for this API Token', "You've reached the API limit for this plan", 'url is required';

SKIP: {
    skip 'SIGREQ_SHARED names no folder with the contract itself', 1 unless $ENV{SIGREQ_SHARED};
    my $contract = "$ENV{SIGREQ_SHARED}/spec/signature-request-api-v3.md";
    my @messages = grep { !/^(?:Message|-+)$/ } map { message($_) } rows($contract, '## Errors');
    cmp_ok(scalar @messages, '>=', 21, 'rows of the contract');
    ok($documented{$_}, "docs/api.md has: $_") for @messages;
}
done_testing;
