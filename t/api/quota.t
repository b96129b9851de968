# SPDX-License-Identifier: Apache-2.0
# The quota under load: of 500 creations at the same time with a quota of 100, exactly 100 succeed.
use strict;
use warnings;
use Sigreq::Here qw(organisation suite used documents ctl temporary_files is_error at_once);
use Sigreq::PDF 'pdf';
use Test::More;

my $org     = organisation(quota => 100);
my $crowd   = $org->{live}->crowd;
my $stored  = documents();
my @answers = $crowd->parallel(500, at_once(50), sub { my $i = shift; $crowd->create_p(name => "No $i") });
my %codes;
$codes{ $_->code }++ for @answers;
is_deeply(\%codes, { 201 => 100, 403 => 400 }, 'exactly 100 of 500 creations succeed');
is(used($org), 100, 'used');
my ($listed, $after) = (0, undef);
do {
    my $page =
        $org->{live}->get('/signatures', query => { limit => 100, defined $after ? (after => $after) : () })->json;
    $listed += @{ $page->{data} };
    $after = $page->{pagination}{next};
} while defined $after;
is($listed,                      100, 'listed');
is($org->{test}->create()->code, 201, 'test submissions are accepted');
is(used($org),                   100, 'test submissions do not count against the quota');

my $before = documents();
is_error($org->{live}->create(files => [['a.pdf', pdf(nonce => "over $$")]]), 403,
    "You've reached the API limit for this plan");
is(Sigreq::Here::collect('--dry-run')->{deleted}, 1,
    'gc --dry-run lists the document of a refused creation');
is(scalar documents(), $before, 'gc removes it');

ctl('org', 'quota', $org->{uuid}, '101');
is($org->{live}->create()->code, 201, 'a raised quota allows more creations');
is_error($org->{live}->create(), 403, "You've reached the API limit for this plan", 'the raised quota is used up');
ctl('org', 'quota', $org->{uuid}, 'unlimited');
is($org->{live}->create()->code, 201, 'without a quota creations are accepted');
is(used($org),                   102, 'they are still counted');
ok(!temporary_files(), 'no temporary file is left');
done_testing;
