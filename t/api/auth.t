# SPDX-License-Identifier: Apache-2.0
# Authentication: a request without a valid token always gets the same 401. A token is valid only for its environment,
# until it is revoked or expires, and it is never logged.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::PDF 'pdf_of_size';
use Sigreq::Here qw(organisation suite ctl is_error sql temporary_files wait_for not_behind_firewall);
use Sigreq::Multipart 'BOUNDARY';
use Sigreq::Raw;
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $token  = $client->{token};
like($token,              qr/^sigreq_test_[0-9A-Za-z]{36}$/, 'a token of the test environment is accepted');
like($org->{live}{token}, qr/^sigreq_live_[0-9A-Za-z]{36}$/, 'a token of production is accepted');
my $uuid = $client->create()->json('/uuid');

my $other_checksum = substr($token, 0, -1) . (substr($token, -1) eq 'a' ? 'b' : 'a');
my $unknown        = do {    # well-formed, but nobody's: made and revoked
    my $made = ctl('token', 'create', '--organization', $org->{uuid}, '--user', $org->{email}, '--environment', 'test',
        '--name', 'x');
    ctl('token', 'revoke', $made->{uuid});
    $made->{token};
};
my %bad = (
    'no header'          => undef, 'empty' => '', 'no scheme' => $token, 'Basic' => 'Basic dXNlcjpwYXNz',
    'Bearer alone'       => 'Bearer',
    'Bearer and a space' => 'Bearer ', 'a wrong checksum' => "Bearer $other_checksum",
    'too short'          => 'Bearer ' . substr($token, 0, -1),
    'too long'           => "Bearer ${token}x", 'two tokens' => "Bearer $token $token",
    'the other prefix'   => 'Bearer ' . $token =~ s/test/live/r,
    'quotes'    => qq{Bearer "$token"},    'SQL' => "Bearer ' OR 1=1 --", 'revoked by sigreqctl' => "Bearer $unknown",
    'very long' => 'Bearer ' . 'x' x 5000, 'not ASCII' => "Bearer \xC3\xA4", 'in capitals' => 'Bearer ' . uc $token,
);
my @endpoints = (
    ['GET', '/signatures'], ['POST', '/signatures'], ['GET', "/signatures/$uuid"],
    ['GET', "/signatures/$uuid/documents/$uuid"],
    (map { (['POST', "/webhooks/$_-webhook-url"], ['DELETE', "/webhooks/$_-webhook-url"]) } qw(sent signed completed)),
    ['POST',   '/tokens'], ['GET', '/tokens'], ['GET', '/tokens/current'], ['GET', "/tokens/$org->{test_token}{uuid}"],
    ['DELETE', "/tokens/$org->{test_token}{uuid}"]);
my $nobody = $client->with(token => undef);
my (%bodies, %says);
for my $endpoint (@endpoints) {
    my ($method, $path) = @$endpoint;
    for my $kind (sort keys %bad) {
        my $res =
            $nobody->request($method, $path, headers => defined $bad{$kind} ? { Authorization => $bad{$kind} } : {});
        is_error($res, 401, 'User not founded for this API Token', "$method $path: $kind");
        $bodies{ $res->body }++;
        $says{$kind} = $res->headers->header('WWW-Authenticate');
    }
}
is(scalar keys %bodies, 1, 'all refusals have the same bytes');
for my $kind (sort keys %bad) {
    my $has_token = ($bad{$kind} // '') =~ /^Bearer \S/;
    is($says{$kind} =~ /error="invalid_request"/ ? 'no' : $says{$kind}, $has_token ? 'Bearer' : 'no',
        "WWW-Authenticate tells a request without a token from one with a wrong token: $kind");
}

is($nobody->get('/signatures', headers => { Authorization => "bEARER   $token" })->code, 200,
    'the scheme is accepted in any case and with more spaces');
is_error($nobody->get('/signatures', query => { token => 'sigreq_test_x' }), 401, 'User not founded for this API Token',
    'a token in the query is ignored');

subtest 'expiry' => sub {
    my $soon  = time + 3600;
    my @t     = gmtime $soon;
    my $text  = sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0];
    my $made  = $client->post('/tokens', json => { name => 'short', expiresAt => $text })->json;
    my $short = $client->with(token => $made->{token});
    is($made->{expiresAt},                   $text =~ s/Z/.000Z/r, 'expiresAt is shown');
    is($short->get('/tokens/current')->code, 200,                  'the token is valid before it expires');
    sql("UPDATE token SET expires_at = expires_at - 3601000000 WHERE uuid = '$made->{uuid}'");
    is_error($short->get('/tokens/current'), 401, 'User not founded for this API Token',
        'the token is refused after it has expired');
    is_error($short->create(),               401, 'User not founded for this API Token',
        'a creation with the expired token is refused');
};

subtest 'revoked in the middle of an upload' => sub {
    not_behind_firewall('it keeps a body until it is complete');
    my $made = $client->post('/tokens', json => { name => 'middle' })->json;
    my $body = $client->creation(files => [['a.pdf', pdf_of_size(3_000_000)]]);
    my $raw  = Sigreq::Raw->new(suite->{port});
    $raw->send("POST /api/v3/signatures HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $made->{token}\r\n"
            . 'Content-Type: multipart/form-data; boundary='
            . BOUNDARY
            . "\r\nContent-Length: "
            . length($body)
            . "\r\n\r\n"
            . substr $body, 0, 1_500_000);
    ok(wait_for(sub { temporary_files() }), 'the upload has begun');
    is($client->delete("/tokens/$made->{uuid}")->code, 204, 'revoked');
    $raw->send(substr $body, 1_500_000);
    is($raw->answer->code, 401, 'nothing is created with a token that was revoked during the upload');
};

my $log = join '', map { path(suite->{dir}, "t/logs/$_")->slurp } qw(error_log access_log);
for my $secret ($token, $org->{live}{token}, $unknown) {
    ok(index($log, $secret) < 0, 'the logs do not have the token');
    ok(index($log, substr $secret, 12, 30) < 0, 'the logs do not have the secret part of the token');
}
ok(index($log, $org->{email}) < 0, 'the logs have no email address');
done_testing;
