# SPDX-License-Identifier: Apache-2.0
# Sigreq::Signer: a link of one signer or viewer, or to place fields, as a program or a browser without scripts uses it.
# Answers to programs are compared with the API's description, and a difference fails the running test. It also exports
# the functions of Sigreq::Validator, which check the signed PDF, and one of Sigreq::Evidence.
package Sigreq::Signer;
use strict;
use warnings;
use Exporter 'import';
use Mojo::JSON qw(encode_json);
use Sigreq::Agent;
use Sigreq::Evidence qw(chain_fault);
use Sigreq::Spec;
use Test::More ();
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
    Test::More::fail("$_[0] of a link is answered with X-Request-Id") unless $tx->res->headers->header('X-Request-Id');
    my @wrong = $self->differences($tx->res, @_);
    Test::More::fail("$_[0] of a link is answered as described: @wrong") if @wrong;
    return $tx->res;
}

# What an answer has that the description does not allow. It describes what programs ask for, and not forms and pages.
my $judge;

sub differences {
    my ($self, $res, $method, $path, %o) = @_;
    my $way = ($path // '') =~ s/\?.*//sr;
    return if !$ENV{SIGREQ_SUITE} || $o{form} || exists $o{body} || $o{headers} || length $res->body > 1 << 16;
    return if $way !~ m{^(?:|/preview|/check|/code|/visit|/certificate|/archive|/documents/[^/.]+(?:/pages/\d+)?)$};
    return if $way && $self->{link} =~ m{/view/};    # as below a signing link
    return if $self->{link} =~ m{/place/};           # for the page alone
    $judge //= do {
        require Sigreq::Here;
        Sigreq::Spec->of(Sigreq::Here::suite()->{source} . '/src/api/openapi.json');
    };
    return $judge->check($method, ($self->{link} =~ s{.*(/(?:sign|view)/)}{$1}r) . $way, $res);
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

sub sign_p { my ($self, $text) = @_; return $self->request_p(POST => '', json => typed($text)) }

1;
