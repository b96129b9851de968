# SPDX-License-Identifier: Apache-2.0
# The three webhook URLs of a token: each is set, shown, changed and removed separately. Invalid URLs are refused.
use strict;
use warnings;
use Sigreq::Here qw(organisation is_error);
use Test::More;

my $org = organisation();
my ($client, $live) = @{$org}{qw(test live)};
my @kinds = qw(sent signed completed);

sub shown {
    my $current = shift->get('/tokens/current')->json;
    join ' ', map { $current->{"${_}WebhookUrl"} // '-' } @kinds;
}

is(shown($client), '- - -', 'at first there are no URLs');
for my $kind (@kinds) {
    my $res = $client->post("/webhooks/$kind-webhook-url", json => { url => "https://hooks.example.org/$kind?x=1" });
    is($res->code, 200, "$kind: set");
    is_deeply($res->json, { "${kind}WebhookUrl" => "https://hooks.example.org/$kind?x=1" },
        "$kind: the answer has the stored URL");
}
is(shown($client), join(' ', map {"https://hooks.example.org/$_?x=1"} @kinds), 'each URL is set separately');
is(shown($live),   '- - -',                                                    'the other token has no URL');
is($client->post('/webhooks/signed-webhook-url', json => { url => 'http://127.0.0.1:8080/x' })->code, 200, 'changed');
is((split / /, shown($client))[1], 'http://127.0.0.1:8080/x',
    'the changed URL is shown');
is_deeply($client->post('/webhooks/sent-webhook-url', json => { url => undef })->json, { sentWebhookUrl => undef },
    'null removes the URL');
is_deeply($client->delete('/webhooks/signed-webhook-url')->json, { signedWebhookUrl => undef },
    'DELETE removes the URL');
is($client->delete('/webhooks/signed-webhook-url')->code, 200,    'a second DELETE succeeds');
is(shown($client), '- - https://hooks.example.org/completed?x=1', 'the third URL is still set');

my @fine = (
    'http://a', 'HTTPS://Example.ORG', 'http://[::1]:8080/', 'https://x.org:65535/a?b=c#d', 'http://x.org/%20',
    'http://x.org/' . 'a' x (255 - 13), 'http://x.org/' . 'a' x (255 - 13));
for my $url (@fine) {
    is($client->post('/webhooks/sent-webhook-url', json => { url => $url })->code, 200, 'fine: ' . substr $url, 0, 40);
    is($client->get('/tokens/current')->json('/sentWebhookUrl'), $url, 'the URL is stored unchanged');
}
my $kept = shown($client);
my @bad  = (
    'ftp://x.org/', 'x.org', '/path', 'javascript:alert(1)', 'http://', 'http:///path', 'http://user@x.org/',
    'http://user:pw@x.org/',
    'http://x.org/a b',    "http://x.org/\n", "http://x.org/\r\nHost: y", "http://x.org/\x7f",
    "http://x.org/\x{e9}", ' http://x.org/',
    'http://x.org/' . 'a' x (256 - 13), 'http://x.org:99999/', 'http://x.org:port/', 'http://@x.org/',
    'file:///etc/passwd',               'http:x.org',          'http://?q');
is_error(
    $client->post('/webhooks/sent-webhook-url', json => { url => $_ }), 400, qr/^url is invalid: ./,
    'bad: ' . substr($_, 0, 40) =~ s/[^ -~]/?/gr) for @bad;
is_error($client->post('/webhooks/sent-webhook-url', json => { url => $_ }), 400, qr/^url is /, 'no text')
    for 5, Mojo::JSON::true(), [], {}, ['http://x.org/'];
my $nul = $client->post('/webhooks/sent-webhook-url', json => { url => "http://x.org/\0" });
is_error($nul, 400, qr/not allowed/, 'bad: NUL');
is(shown($client), $kept, 'refused URLs are not stored');

# --- of another token of the same user and environment

my $thief = $client->post('/tokens', json => { name => 'stolen' })->json;
my $at    = "/tokens/$thief->{uuid}/webhooks";
$client->with(token => $thief->{token})->post("/webhooks/$_-webhook-url", json => { url => "https://thief.org/$_" })
    for @kinds;
$client->delete("/tokens/$thief->{uuid}");
my $urls = sub {
    my $token = $client->get("/tokens/$thief->{uuid}")->json;
    join ' ', map { $token->{"${_}WebhookUrl"} // '-' } @kinds;
};
is($urls->(), join(' ', map {"https://thief.org/$_"} @kinds), 'the URLs of a revoked token can be read');
is_deeply($client->post("$at/signed-webhook-url", json => { url => 'https://ours.org/' })->json,
    { signedWebhookUrl => 'https://ours.org/' }, 'the URLs of a revoked token can be changed');
is_deeply($client->delete("$at/sent-webhook-url")->json, { sentWebhookUrl => undef },
    'the URLs of a revoked token can be removed');
is($urls->(), '- https://ours.org/ https://thief.org/completed', 'one URL of a revoked token is changed at a time');
is(shown($client), $kept, 'the URLs of the own token have not changed');
is_error($client->post("$at/sent-webhook-url", json => {}), 400, 'url is required', 'a body without a URL is refused');
is_error($client->post("$at/sent-webhook-url", json => { url => 'x.org/' }), 400, qr/^url is invalid: ./,
    'an invalid URL is refused');
my $others = organisation();
for my $asks ($live, @{$others}{qw(test live)}) {
    is_error($asks->post("$at/sent-webhook-url", json => { url => 'https://x.org/' }), 404, 'Not found',
        'a token of another user is not found');
    is_error($asks->delete("$at/signed-webhook-url"), 404, 'Not found',
        'a URL of another user\'s token cannot be removed');
    is_error($asks->delete($at),                      404, 'Not found',
        'the URLs of another user\'s token cannot all be removed');
}
is_error($client->with(token => $thief->{token})->delete($at), 401, qr/./, 'a revoked token cannot be used');
is_error($client->delete('/tokens/no-uuid/webhooks'), 404, 'Not found', 'an invalid uuid is not found');
is($urls->(), '- https://ours.org/ https://thief.org/completed', 'these requests have changed nothing');
is_deeply($client->delete($at)->json, { map { ("${_}WebhookUrl" => undef) } @kinds }, 'all URLs are removed at once');
is($urls->(), '- - -', 'the token has no URL');
done_testing;
