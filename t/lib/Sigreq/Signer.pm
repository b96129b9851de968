# SPDX-License-Identifier: Apache-2.0
# Sigreq::Signer: one signer with a link, as a program or as a browser without scripts. What validators say of what
# comes out is Sigreq::Validator's, whose functions are handed on.
package Sigreq::Signer;
use strict;
use warnings;
use Exporter 'import';
use Digest::SHA 'sha256_hex';
use JSON::PP ();
use Mojo::JSON qw(encode_json);
use Sigreq::Agent;
use Sigreq::Validator qw(pdfsig qpdf_check is_unchanged);

our @EXPORT_OK = qw(signers_of typed chain_fault pdfsig qpdf_check is_unchanged);

# new(link => URL): of `signatureLink`
sub new {
    my ($class, %o) = @_;
    return bless { %o, link => $o{link} =~ s/\?.*//sr, ua => Sigreq::Agent->new(%o) }, $class;
}

# Many who sign at once have no connection that is kept alive (connections => 0): see Sigreq::Client, crowd.
sub signers_of {
    my ($made, %o) = @_;
    return map { __PACKAGE__->new(%o, link => $_->{signatureLink}) } @{ $made->{submitters} };
}

sub transaction {
    my ($self, $method, $path, %o) = @_;
    my %headers = (Accept => 'application/json', %{ $o{headers} // {} });
    my $body = $o{body};
    if ($o{json}) { $body = encode_json($o{json}); $headers{'Content-Type'} //= 'application/json' }
    my @content = $o{form} ? (form => $o{form}) : defined $body ? $body : ();
    delete $headers{Accept} if exists $headers{Accept} && !defined $headers{Accept};
    return $self->{ua}->build_tx($method => $self->{link} . ($path // '') => \%headers => @content);
}

sub request {
    my $self = shift;
    my $tx = $self->{ua}->start($self->transaction(@_));
    my $error = $tx->error;
    die "@_[0, 1]: $error->{message}\n" if $error && !$error->{code};
    return $tx->res;
}
sub request_p { my $self = shift; return $self->{ua}->start_p($self->transaction(@_))->then(sub { $_[0]->res }) }

sub get    { my ($self, $path, %o) = @_; return $self->request(GET => $path, %o) }
sub post   { my ($self, %o) = @_; return $self->request(POST => '', %o) }
sub state  { my $self = shift; return $self->get('')->json }

sub typed {
    my $text = shift // 'Ann Lee';
    return { action => 'sign', consent => \1, signature => { type => 'typed', text => $text } };
}
sub sign   { my ($self, $text) = @_; return $self->post(json => typed($text)) }
sub refuse { my ($self, $reason) = @_; return $self->post(json => { action => 'refuse', reason => $reason }) }

# What is wrong with an audit trail (the decoded answer), or undef: each event is to have its number, the hash of the
# one before it, and its own hash right.
sub chain_fault {
    my $audit = shift;
    my ($number, $previous) = (0);
    for my $event (@{ $audit->{events} }) {
        my %rest = %$event;
        my $hash = delete $rest{hash};
        return "number $event->{number} is in the place of another" if $event->{number} != ++$number;
        return "event $number does not have the hash before it" if ($rest{previousHash} // '') ne ($previous // '');
        return "the hash of event $number is wrong"
            if $hash ne ($previous = sha256_hex(JSON::PP->new->canonical->utf8->encode(\%rest)));
    }
    return $number ? undef : 'no events';
}

sub sign_p { my ($self, $text) = @_; return $self->request_p(POST => '', json => typed($text)) }

1;
