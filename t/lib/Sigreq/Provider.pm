# SPDX-License-Identifier: Apache-2.0
# Sigreq::Provider: an OpenID provider on the loopback in a process of its own: discovery, authorization code flow with
# PKCE, ID tokens signed with RS256. It asks nobody for a password: the test says whom it signs in. It ends with the
# object.
package Sigreq::Provider;
use strict;
use warnings;
use Digest::SHA qw(sha256 sha256_hex);
use File::Temp 'tempdir';
use MIME::Base64 'encode_base64url';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Mojo::Server::Daemon;
use Mojo::Util qw(url_unescape);
use Mojolicious;
use POSIX ();
use Sigreq::Suite;

use constant { CLIENT => 'sigreq', SECRET => 'a secret of the client' };

sub new {    # new(redirect => the redirect_uri of the client)
    my ($class, %o) = @_;
    my $dir  = tempdir('provider.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { %o, dir => $dir, owner => $$, codes => {} }, $class;
    $self->{url} = 'http://127.0.0.1:' . Sigreq::Suite::free_port();
    system('openssl', 'genrsa', '-out', "$self->{dir}/key", '2048') == 0 or die "openssl failed\n";
    $self->{pid} = fork // die "fork: $!\n";
    return $self if $self->{pid};
    $SIG{TERM} = sub { POSIX::_exit(0) };
    open STDERR, '>', "$self->{dir}/log" or POSIX::_exit(1);
    Mojo::IOLoop->reset;
    eval { Mojo::Server::Daemon->new(listen => [$self->{url}], app => $self->app, silent => 1)->run };
    POSIX::_exit(1);
}

sub metadata { "$_[0]{url}/.well-known/openid-configuration" }

# These are the claims about the person whom it signs in from now on.
sub sign_in { my ($self, %claims) = @_; Sigreq::Suite::write_file("$self->{dir}/claims", encode_json(\%claims)) }

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$;
    local $?;
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

# --- the other process

sub app {
    my $self   = shift;
    my $app    = Mojolicious->new;
    my $routes = $app->log(Mojo::Log->new(level => 'fatal'))->routes;
    my $url    = $self->{url};
    $routes->get('/.well-known/openid-configuration' => sub {
        shift->render(json => {
            issuer => $url, authorization_endpoint => "$url/authorize", token_endpoint => "$url/token",
            jwks_uri => "$url/jwks", response_types_supported => ['code'], subject_types_supported => ['public'],
            id_token_signing_alg_values_supported => ['RS256'], code_challenge_methods_supported => ['S256'] });
    });
    $routes->get('/jwks' => sub { shift->render(json => { keys => [$self->jwk] }) });
    $routes->get('/authorize' => sub { $self->authorize(shift) });
    $routes->post('/token' => sub { $self->token(shift) });
    return $app;
}

sub jwk {
    my $self = shift;
    my ($modulus) = qx(openssl rsa -in '$self->{dir}/key' -noout -modulus 2>/dev/null) =~ /=(\w+)/;
    my $n = encode_base64url(pack 'H*', $modulus);
    return { kty => 'RSA', kid => '1', use => 'sig', alg => 'RS256', n => $n, e => 'AQAB' };
}

sub authorize {
    my ($self, $c) = @_;
    my %asked = %{ $c->req->query_params->to_hash };
    my %wanted = (response_type => 'code', client_id => CLIENT, redirect_uri => $self->{redirect},
        code_challenge_method => 'S256');
    my $good = $asked{scope} =~ /\bopenid\b/ && !grep { ($asked{$_} // '') ne $wanted{$_} } keys %wanted;
    return $c->render(text => 'bad request', status => 400) if !$good;
    my $code = sha256_hex(rand . $$ . time);
    $self->{codes}{$code} = \%asked;
    return $c->redirect_to(Mojo::URL->new($self->{redirect})->query(code => $code, state => $asked{state}));
}

sub token {
    my ($self, $c) = @_;
    my %given = %{ $c->req->body_params->to_hash };
    my $asked = delete $self->{codes}{ $given{code} // '' };
    my $who   = url_unescape(($c->req->url->to_abs->userinfo // '') =~ tr/+/ /r);
    my $good  = $asked && $who eq CLIENT . ':' . SECRET && $given{redirect_uri} eq $self->{redirect}
        && encode_base64url(sha256($given{code_verifier} // '')) eq $asked->{code_challenge};
    return $c->render(json => { error => 'invalid_grant' }, status => 400) if !$good;
    my $claims = decode_json(path("$self->{dir}/claims")->slurp);
    my %token  = (
        iss => $self->{url}, aud => CLIENT, sub => sha256_hex($claims->{email}), iat => time, exp => time + 60,
        nonce => $asked->{nonce}, %$claims);
    my $body = join '.', map { encode_base64url(encode_json($_)) } { alg => 'RS256', kid => '1' }, \%token;
    Sigreq::Suite::write_file("$self->{dir}/body", $body);
    my $signature = qx(openssl dgst -sha256 -sign '$self->{dir}/key' '$self->{dir}/body');
    my $id_token = "$body." . encode_base64url($signature);
    return $c->render(
        json => { token_type => 'Bearer', access_token => 'none', expires_in => 60, id_token => $id_token });
}

1;
