# SPDX-License-Identifier: Apache-2.0
# Two organisations, two users in one of them, two environments: a request for an object of others gets the same bytes
# as one for an object that does not exist, at every endpoint that takes an id. No list shows it.
use strict;
use warnings;
use Sigreq::Here qw(organisation used);
use Sigreq::Signer;
use Test::More;

my $one       = organisation();
my $two       = organisation();
my $colleague = Sigreq::Here::user($one);
my %who       = (
    'one test' => $one->{test}, 'one live' => $one->{live}, 'two test' => $two->{test}, 'two live' => $two->{live},
    'colleague test' => $colleague->{test}, 'colleague live' => $colleague->{live});

my (%made, %token);
for my $name (sort keys %who) {
    $made{$name}  = $who{$name}->create(name => "of $name")->json;
    $_->sign for Sigreq::Signer::signers_of($made{$name});
    $token{$name} = $who{$name}->get('/tokens/current')->json;
}
my $nothing = '00000000-0000-4000-8000-000000000000';

sub paths {    # what has an id of somebody's in its path
    my ($submission, $document, $token, $template) = @_;
    return (
        ['GET',    "/signatures/$submission"], ['HEAD', "/signatures/$submission"],
        ['GET',    "/signatures/$submission/documents/$document"],
        ['GET',    "/signatures/$submission/documents/$document?version=original"],
        ['GET',    "/signatures/$submission/certificate"], ['GET', "/signatures/$submission/audit"],
        ['GET',    "/templates/$template"], ['DELETE', "/templates/$template"],
        ['GET',    "/tokens/$token"],
        ['DELETE', "/tokens/$token"]);
}
my %absent = map { ("@$_[0] " . ($_->[1] =~ s/[0-9a-f]{8}-[0-9a-f-]+/UUID/gr) => $_) } paths(($nothing) x 4);

for my $asks (sort keys %who) {
    for my $owner (sort keys %who) {
        my @paths = paths($made{$owner}{uuid}, $made{$owner}{documents}[0]{uuid}, $token{$owner}{uuid},
            $made{$owner}{template}{uuid});
        for my $path (@paths) {
            next if $asks eq $owner && $path->[0] eq 'DELETE';
            my $res = $who{$asks}->request(@$path);
            if ($asks eq $owner) {
                is($res->code, 200, "$asks: own @$path[0] " . $path->[1] =~ s/[0-9a-f]{8}-[0-9a-f-]+/UUID/gr);
                next;
            }
            my $key  = "$path->[0] " . $path->[1] =~ s/[0-9a-f]{8}-[0-9a-f-]+/UUID/gr;
            my $none = $who{$asks}->request(@{ $absent{$key} });
            is(bytes($res), bytes($none), "$asks asks for $owner: $key");
        }
        # a document of another caller, requested by a submission of one's own
        next if $asks eq $owner;
        my $res = $who{$asks}->get("/signatures/$made{$asks}{uuid}/documents/$made{$owner}{documents}[0]{uuid}");
        is($res->code, 404, "$asks cannot reach $owner\'s document through an own submission");
    }
    is_deeply([map { $_->{uuid} } @{ $who{$asks}->get('/signatures')->json->{data} }], [$made{$asks}{uuid}],
        "$asks lists only its own submissions");
    is_deeply(
        [   map { $_->{uuid} }
                @{ $who{$asks}->get('/signatures', query => { q => 'of', status => 'completed' })->json->{data} }],
        [$made{$asks}{uuid}],
        "$asks finds only its own submissions");
    is_deeply([map { $_->{uuid} } @{ $who{$asks}->get('/templates')->json->{data} }],
        [$made{$asks}{template}{uuid}], "$asks lists only its own templates");
    is_deeply([map { $_->{uuid} } @{ $who{$asks}->get('/tokens')->json->{data} }], [$token{$asks}{uuid}],
        "$asks lists only its own tokens");
}

sub bytes {    # all that could tell; an X-Request-Id is random, whoever asks
    my $res     = shift;
    my $headers = $res->headers;
    return join "\n", $res->code,
        map({ "$_: " . ($headers->header($_) // '') }
        sort grep { !/^(?:date|keep-alive|connection|x-request-id)$/i } @{ $headers->names }), $res->body;
}

subtest 'cursors of other callers' => sub {
    $who{$_}->create() for (sort keys %who) x 2;
    my $cursor = $who{'one test'}->get('/signatures', query => { limit => 1 })->json('/pagination/next');
    for my $asks (grep { $_ ne 'one test' } sort keys %who) {
        my %mine = map { $_->{uuid} => 1 } @{ $who{$asks}->get('/signatures')->json->{data} };
        my $page = $who{$asks}->get('/signatures', query => { after => $cursor })->json;
        ok(!(grep { !$mine{ $_->{uuid} } } @{ $page->{data} }), "$asks sees nothing else by a cursor of another");
    }
};

subtest 'webhooks' => sub {
    $who{'one test'}->post("/webhooks/$_-webhook-url", json => { url => "http://x.org/$_" })
        for qw(sent signed completed);
    for my $asks (grep { $_ ne 'one test' } sort keys %who) {
        my $shown = $who{$asks}->get('/tokens/current')->json;
        ok(!(grep { defined $shown->{"${_}WebhookUrl"} } qw(sent signed completed)),
            "$asks has no webhook of another token");
        $who{$asks}->delete("/webhooks/$_-webhook-url") for qw(sent signed completed);
    }
    is($who{'one test'}->get('/tokens/current')->json('/sentWebhookUrl'), 'http://x.org/sent',
        'a token cannot remove them');
};

subtest 'the same Idempotency-Key' => sub {
    my %uuids;
    $uuids{ $who{$_}->create(headers => { 'Idempotency-Key' => "shared-$$" })->json('/uuid') }++ for sort keys %who;
    is(scalar keys %uuids, scalar keys %who, 'is each one\'s own');
};
is(used($two), 4, 'the quota is each organisation\'s own');
done_testing;
