# SPDX-License-Identifier: Apache-2.0
# Sigreq::Preview: a test file that uses it also sends the form of each creation to POST /signatures/preview, and
# compares status and text. A request with an Idempotency-Key can be a replay, and is not previewed.
package Sigreq::Preview;
use strict;
use warnings;
use Mojo::JSON qw(decode_json encode_json);
use Test::More ();

my $used;

sub import { $used = 1; return }
sub end    { $used = 0; return }    # before requests whose answers depend on others at the same time

# Sends the preview. Its answer comes through CODE, which is given all arguments of a request.
sub before {
    my ($code, $client, $method, $path, %o) = @_;
    return undef if !$used || $o{previewed} || "$method $path" ne 'POST /signatures' || $o{headers}{'Idempotency-Key'};
    return $code->($client, POST => '/signatures/preview', %o);
}

sub compare {
    my ($preview, $creation) = @_;
    return if !$preview || $preview->code == 503 && $preview->body =~ /Too many previews/;
    # Quota and mail limits are counted when something is stored.
    return if $creation->code =~ /^(?:403|429|503)$/ || $creation->body =~ /^Too many invitations /;
    local $Test::Builder::Level = $Test::Builder::Level + 2;
    Test::More::is(said($preview, $preview->code), said($creation, $creation->code == 201 ? 200 : $creation->code),
        'the preview says what the creation says');
    return;
}

sub said {
    my ($res, $code) = @_;
    my $body = $code == 200 ? encode_json(previewed(decode_json($res->body))) : $res->body;
    return join ' ', $code, $res->headers->header('X-Hint') // '', $body;
}

sub previewed { # without what the creation makes. By default the deadline counts from the request
    my $made = shift;
    @{$_}{qw(uuid createdAt updatedAt)} = () for $made, $made->{template};
    @{$_}{qw(uuid signatureLink)}       = () for @{ $made->{submitters} };
    $_->{uuid} = undef for @{ $made->{documents} };
    @{$_}{qw(uuid viewLink)} = () for @{ $made->{viewers} // [] }, @{ ($made->{copies} // {})->{links} // [] };
    $made->{expiresAt} &&= 'a time';
    $made->{warnings} //= [];
    return $made;
}

1;
