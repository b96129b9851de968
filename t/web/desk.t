# SPDX-License-Identifier: Apache-2.0
# The desk: who enters, in which scope, the forms and the list. httpd's own login protects it, here by passwords.
use strict;
use warnings;
use utf8;
use File::Temp 'tempdir';
use Mojo::UserAgent;
use Sigreq::Desk qw(basic browser);
use Sigreq::Here qw(ctl organisation suite user);
use Sigreq::Httpd;
use Test::More;

my $dir = tempdir('desk.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $own = organisation();
my ($ann, $eve) = ($own->{email}, user({ uuid => $own->{uuid}, name => $own->{name} })->{email});
my $login  = basic("$dir/passwords", $ann => 'a', $eve => 'e', 'nobody@example.org' => 'n');
my $httpd  = Sigreq::Httpd->new(
    modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
    server  => qq{<Location "/desk">\nSigreqDesk On\n$login</Location>\n}
)->start;
my $desk   = $httpd->base . '/desk';
my %scope  = map { ($_ => "$desk/$own->{uuid}.$_/") } qw(test production);
my $as_ann = browser("$ann:a");

subtest 'who enters' => sub {
    is(browser()->get("$desk/")->result->code, 401, 'nobody without a password');
    is(browser("$ann:b")->get("$desk/")->result->code, 401, 'nor with a wrong one');
    my $res = browser("$ann:a", max_redirects => 0)->get($desk)->result;
    is($res->code, 303, 'a user gets in');
    is($res->headers->location, $scope{production}, 'in the first of their scopes');
    $res = $as_ann->get("$desk/")->result;
    is($res->code, 200, 'which is a page') or diag $res->body;
    is($res->dom->at('h1')->text, 'Requests', 'the list of requests');
    like($res->dom->at('.empty')->all_text, qr{There are no requests yet}, 'which is empty');
    $res = browser('nobody@example.org:n')->get("$desk/")->result;
    is($res->code, 403, 'another person whom httpd knows is no user');
    like($res->body, qr/nobody\@example\.org/, 'and sees the name that was tried');
};
done_testing;
