# SPDX-License-Identifier: Apache-2.0
# Sigreq::Desk: a login by passwords, browsers of people who use the desk, and the forms of its pages.
package Sigreq::Desk;
use strict;
use warnings;
use Exporter 'import';
use MIME::Base64 'encode_base64';
use Mojo::UserAgent;
use Mojo::Util 'html_unescape';
use Sigreq::Suite;

our @EXPORT_OK = qw(basic browser filled form said);

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

# The text of an element, with a space between those in it.
sub said {
    my $text = shift->to_string =~ s/<[^>]*>/ /gr;
    return join ' ', split ' ', html_unescape($text =~ s/[\x{2066}-\x{2069}]//gr);
}

# The form of an action of a page, and of which signer, viewer or event.
sub form {
    my ($dom, $action, $of) = @_;
    return $dom->find('form[method=post]')->first(sub {
        my $its = $_->at('input[name=of]');
        my $name = $_->at('input[name=action]');
        return $name && $name->attr('value') eq $action
            && (!defined $of || ($its && $its->attr('value') eq $of));
    });
}

sub filled {    # what a browser sends
    my ($form, %fields) = @_;
    my %all = map { ($_->attr('name') => $_->tag eq 'textarea' ? $_->text : $_->attr('value') // '') }
        $form->find('input[name], textarea[name]')->each;
    $form->find('select')->each(sub {
        my $chosen = $_->at('option[selected]');
        $all{ $_->attr('name') } = $chosen ? $chosen->attr('value') : '';
    });
    return { %all, %fields };
}

1;
