# SPDX-License-Identifier: Apache-2.0
# Sigreq::Desk: a login by passwords, and browsers of people who use the desk.
package Sigreq::Desk;
use strict;
use warnings;
use Exporter 'import';
use MIME::Base64 'encode_base64';
use Mojo::UserAgent;
use Sigreq::Suite;

our @EXPORT_OK = qw(basic browser);

sub basic {    # FILE, name => password …: the directives that protect a location
    my ($file, %password) = @_;
    my @lines = map {"$_:" . crypt($password{$_}, '$6$salt') . "\n"} sort keys %password;
    Sigreq::Suite::write_file($file, join '', @lines);
    return qq{AuthType Basic\nAuthName x\nAuthBasicProvider file\nAuthUserFile "$file"\nRequire valid-user\n};
}

sub browser {    # NAME:PASSWORD: one without scripts
    my ($login, %o) = @_;
    my $ua = Mojo::UserAgent->new(max_connections => 0, max_redirects => 10, request_timeout => 60, %o)->insecure(1);
    $ua->on(
        start => sub {
            my $headers = $_[1]->req->headers;
            $headers->accept('text/html') unless $headers->accept && $headers->accept ne '*/*';
            $headers->authorization('Basic ' . encode_base64($login, '')) if $login && !$headers->authorization;
        });
    return $ua;
}

1;
