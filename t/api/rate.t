# SPDX-License-Identifier: Apache-2.0
# Rate limits of a token, of a link, of an address, and of failures, which are always limited. All children count
# together.
use strict;
use warnings;
use Mojo::UserAgent;
use Sigreq::Here qw(organisation place suite children wait_for is_error);
use Sigreq::Httpd;
use Sigreq::Signer;
use Test::More;

my $org     = organisation();
my $limited = $org->{test}->with(base => place('/limited'));

sub metric {
    my $text = Mojo::UserAgent->new->get(place('/metrics'))->res->body;
    return $text =~ /^sigreq_limited_total\{limit="$_[0]"\} (\d+)/m ? $1 : 0;
}

sub is_limited {
    my ($res, $policy, $name) = @_;
    is($res->code, 429, "$name: 429") or return diag $res->body;
    like($res->headers->header('Retry-After'), qr/^[1-9]\d*$/, "$name: the answer has Retry-After");
    like($res->headers->header('RateLimit-Policy'), qr/\Q$policy\E/, "$name: the answer has the policy, $policy");
    my ($kind) = $policy =~ /^("\w+")/;
    like($res->headers->header('RateLimit'), qr/\Q$kind\E;r=0;t=[1-9]\d*/, "$name: nothing is left of the limit");
    is($res->json->{statusCode}, 429, "$name: the answer is JSON") if ($res->headers->content_type // '') =~ /json/;
}

# a token: five per hour, whichever child answers
my $before = metric('token');
my @left;
for (1 .. 5) {
    my $res = $limited->get('/signatures');
    is($res->code, 200, "request $_ of five");
    push @left, $res->headers->header('RateLimit') =~ /"token";r=(\d+)/;
}
is("@left", '4 3 2 1 0', 'RateLimit counts down');
is_limited($limited->crowd->get('/signatures'), '"token";q=5;w=3600', 'the sixth request with one token is refused');
is_limited($limited->create,                    '"token";q=5;w=3600', 'a creation is refused, too');
is(metric('token') - $before, 2, 'both refusals are counted by the metrics');
my $bearer = sub { $limited->with(token => undef)->get('/signatures', headers => { Authorization => shift }) };
is_limited($bearer->("$_$limited->{token}"), '"token";q=5;w=3600', "'$_' makes no other token of it")
    for 'bearer ', 'BEARER  ';
is($org->{live}->with(base => place('/limited'))->get('/signatures')->code, 200, 'another token has its own count');
is($org->{test}->get('/signatures')->code,                                  200, 'another location has its own count');
is($org->{test}->get('/signatures')->headers->header('RateLimit'), undef,
    'without a limit there are no RateLimit headers');

# an inner section changes one limit, and the others hold
my $inner = $org->{test}->with(base => place('/limited'));
is($inner->get('/tokens')->code, 200, 'no limit of tokens there') for 1 .. 2;
is_limited($inner->get('/tokens'), '"address";q=2;w=3600', 'another limit is that of addresses');

# a link: four per hour, its pages included, in either case of its letters
my $made = $org->{test}->create->json;
my ($link) = map { $_->{signatureLink} =~ s{/sign/}{/limited/sign/}r } @{ $made->{submitters} };
my $signer = Sigreq::Signer->new(link => $link);
my ($uuid) = $link =~ m{/sign/([^?]+)};
is($signer->get('')->code, 200, "link: $_ of three") for 1 .. 3;
is(Sigreq::Signer->new(link => $link =~ s/\Q$uuid\E/\U$uuid/r)->get('')->code, 200,
    'the fourth request, with the link in capitals');
is_limited($signer->get(''),  '"link";q=4;w=3600', 'the fifth request of the link is refused');
is_limited($signer->refuse(''), '"link";q=4;w=3600', 'the signer cannot refuse now');
my $page = $signer->get('', headers => { Accept => 'text/html' });
is($page->code, 429, 'browsers get a page');
like($page->body, qr/<html/, 'the page for browsers is HTML');

# failures: three per hour of one address, tokens and links together
my $known = $org->{live}->with(base => place('/limited'));
my $wrong = $org->{test}->with(base => place('/limited'), token => 'sigreq_test_wrong');
my $guess = sub {
    Sigreq::Signer->new(link => sprintf '%s/sign/%08x-0000-4000-8000-000000000000', place('/limited'), shift)->get('');
};
my $failures = metric('failures');
is_error($wrong->get('/signatures'), 401, 'User not founded for this API Token', 'a wrong token is a failure');
is($guess->(1)->code, 404, 'a wrong link is a failure');
is_error($wrong->get('/signatures'), 401, 'User not founded for this API Token', 'the third failure');
is_limited($wrong->get('/signatures'),        '"failures";q=3;w=3600', 'the fourth failure is refused');
is_limited($guess->(2),                       '"failures";q=3;w=3600', 'another wrong token is refused');
is_limited($wrong->with(token => undef)->get('/signatures'), '"failures";q=3;w=3600',
    'a request without a token is refused');
is(metric('failures') - $failures, 3, 'the refusals are counted by the metrics');
is($known->get('/signatures')->code, 200, 'a token that was accepted before is accepted from the same address');
my $other = organisation()->{test}->with(base => place('/limited'));
is_limited($other->get('/signatures'), '"failures";q=3;w=3600', 'a valid token that was never used is refused');
is($other->with(token => undef)->get('/health')->code,       200, 'health is answered');
is($other->with(token => undef)->get('/openapi.json')->code, 200, 'the OpenAPI description is answered');

# a graceful restart: the new children go on counting
my $httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqRateLimit token=3/h")->start;
my $again = organisation()->{test}->with(base => $httpd->base, connections => 0);
is($again->get('/signatures')->code, 200, "before a graceful restart: $_ of three") for 1, 2;
my %old = map { $_ => 1 } children($httpd->pid);
$httpd->graceful;
my $is_new = sub { my @all = children($httpd->pid); @all && !grep { $old{$_} } @all };
ok(wait_for($is_new), 'new children answer');
is($again->get('/signatures')->code, 200, 'the third failure is counted by the new children');
is_limited($again->get('/signatures'), '"token";q=3;w=3600', 'the fourth failure is refused');

done_testing;
