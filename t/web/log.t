# SPDX-License-Identifier: Apache-2.0
# Links of signers, of viewers and for placing in the log: if httpd's own access control refuses a request, neither its
# messages nor an access log shows the link. Nor does anything of httpd show a session of a signer, or the code that was
# entered.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::UserAgent;
use Sigreq::Client;
use Sigreq::Here qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::Multipart 'part';
use Test::More;

my $secret = organisation()->{test}->create->json('/submitters/0/uuid');
my $lea    = part('viewers', '[{"firstname":"Lea","lastname":"Holm"}]');
my $viewer = organisation()->{test}->create(more => [$lea])->json('/viewers/0/uuid');
my $draft  = organisation()->{test}->create(more => [part('draft', 'true')])->json;
my ($placement) = $draft->{placementLink} =~ m{([^/]+)$};
my $session = 'ab12' x 8;
my $ua     = Mojo::UserAgent->new(max_connections => 0);
my $access = <<'CONF';
LogFormat "[%U|%f|%r]" shown
CustomLog "access_log" shown
LoadModule rewrite_module MODULES/mod_rewrite.so
RewriteEngine On
RewriteRule ^/short/(.*) /sign/$1 [PT]
<LocationMatch "^/(sign|view|place)">
REQUIRE
</LocationMatch>
CONF
my ($modules) = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_};
my %require = (
    'Require all denied' => [403, qr/AH01630: client denied by server configuration: sigreq:/],
    qq{AuthType Basic\nAuthName x\nAuthBasicProvider file\nAuthUserFile "/dev/null"\nRequire valid-user} =>
        [401, qr/AH01618: user ann not found: /]);

for my $require (sort keys %require) {
    my ($status, $message) = @{ $require{$require} };
    my $httpd = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authn_file auth_basic authz_user',
        server  => $access =~ s/MODULES/$modules/r =~ s/REQUIRE/$require/r)->start;
    my $base = $httpd->base =~ s{//}{//ann:x@}r;
    my ($name) = $require =~ /^(\w+ \w+)/;
    my $encoded = sprintf('%%%02x', ord $secret) . substr $secret, 1;
    my %paths = (
        plain => "/sign/$secret", page => "/sign/$secret/documents/x/pages/0.png?width=800",
        encoded => "/sign/$encoded", rewritten => "/short/$secret", slash => "/sign/$secret/a%2Fb",
        viewer => "/view/$viewer/certificate", placement => "/place/$placement/forms",
        session => "/sign/$secret~$session",
        tilde => "/sign/$secret%7E$session/documents/x");
    is($ua->get($base . $paths{$_})->res->code, $status, "$name: $_") for sort keys %paths;
    my $log = '';
    wait_for(sub { ($log = path("$httpd->{dir}/access_log")->slurp) =~ tr/[// >= 9 });
    like($httpd->log, $message, 'httpd has logged a message');
    for my $rest (map { substr $_, 9 } $secret, $viewer, $placement) {
        unlike($httpd->log, qr/\Q$rest\E/, 'the message of httpd does not have the link');
        unlike($log,        qr/\Q$rest\E/, 'the access log does not have the link');
    }
    unlike($httpd->log . $log, qr/ab12/, 'no log has the secret of a session');
    my $short = substr($secret, 0, 8) . '...';
    like($httpd->log, qr/\Q$short\E/, 'the log has the beginning of the link');
    like($log, qr{^\[/sign/\Q$short\E/documents/x/pages/0\.png\|sigreq:/sign/\Q$short\E/documents}m,
        'the access log has the beginning of the link in the path and in the file name');
    unlike($httpd->log, qr/AH01797|AH01631/, 'no other refusal');
}

# --- a signer whose identity is checked

my $httpd = Sigreq::Httpd->new(modules => 'authz_core dbd status', server => <<"CONF")->start;
LogLevel debug
LogFormat "%r|%U%q|%f|%{Referer}i" shown
CustomLog "access_log" shown
ExtendedStatus On
<Location "/server-status">
SetHandler server-status
</Location>
CONF
my $check = { method => 'code', code => 'Periwinkle-4711' };
my $made  = organisation()->{test}->create(signers => Sigreq::Client::signers({ authentication => $check }));
my $link  = $httpd->base . '/sign/' . $made->json('/submitters/0/uuid');
is($ua->post("$link/check", form => { code => 'Marigold-1234' })->res->code, 403, 'a wrong code');
my $url = $ua->post("$link/check", json => { code => 'periwinkle4711' })->res->json->{url};
my ($secret_session) = $url =~ /~(\w{32})$/;
ok($secret_session, 'the right code gives a session');
is($ua->get("$url$_")->res->code, 200, "in the session: $_") for '', '/qr.svg';
is($ua->get("$url~")->res->code, 404, 'with something behind the session');
my $status = $ua->get($httpd->base . '/server-status')->res->body;
like($status, qr{GET /sign/}, 'mod_status shows requests');
wait_for(sub { path("$httpd->{dir}/access_log")->slurp =~ /server-status/ });
my %shown = (
    'mod_status' => $status, 'the access log' => path("$httpd->{dir}/access_log")->slurp,
    'the error log' => $httpd->log, 'the metrics' => $ua->get($httpd->base . '/metrics')->res->body);
my $end = substr $made->json('/submitters/0/uuid'), 9;
for my $place (sort keys %shown) {
    unlike($shown{$place}, qr/\Q$secret_session\E/,         "$place: no session");
    unlike($shown{$place}, qr/periwinkle|marigold/i, "$place: no code");
    unlike($shown{$place}, qr/\Q$end\E/,             "$place: no link");
}
done_testing;
