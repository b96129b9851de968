# SPDX-License-Identifier: Apache-2.0
# Sigreq::Client: the HTTP client of the tests. It compares every answer with the API's description, and a difference
# fails the running test.
package Sigreq::Client;
use strict;
use warnings;
use Mojo::JSON 'encode_json';
use Mojo::Promise;
use Mojo::Util qw(encode url_escape);
use Test::More ();
use Sigreq::Agent;
use Sigreq::Here ();
use Sigreq::Multipart qw(multipart part BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Preview ();
use Sigreq::Spec;

# new(base => URL of the location, spec => FILE, token => SECRET, host => NAME)
sub new {
    my ($class, %o) = @_;
    return bless { %o, ua => Sigreq::Agent->new(%o), judge => Sigreq::Spec->of($o{spec}) }, $class;
}

# The same client with something else: with(token => …)
sub with { my ($self, %o) = @_; return ref($self)->new(%{$self}{qw(base spec token host connections)}, %o) }

# The same client for many requests at once, each on a connection of its own: a kept-alive one may be closed by httpd
# just when the next request is sent on it, which is no fault of either.
sub crowd { return $_[0]->with(connections => 0) }

sub transaction {
    my ($self, $method, $path, %o) = @_;
    my %headers = (($self->{host} ? (Host => $self->{host}) : ()),
        (defined $self->{token} ? (Authorization => "Bearer $self->{token}") : ()), %{ $o{headers} // {} });
    my $body = $o{body};
    if (exists $o{json}) { $body = encode_json($o{json}); $headers{'Content-Type'} //= 'application/json' }
    my %query = %{ $o{query} // {} };
    my $query = join '&', map { "$_=" . url_escape(encode('UTF-8', $query{$_})) } sort keys %query;
    $query = "?$query" if length $query;
    my $tx = $self->{ua}->build_tx($method => "$self->{base}/api/v3$path$query" => \%headers => $body // ());
    $tx->req->headers->content_length(0) if !defined $body && $method eq 'POST';
    return $tx;
}

sub judge {
    my ($self, $method, $path, $res) = @_;
    $path =~ s/\?.*//s;
    return $res if Sigreq::Here::by_firewall($res);
    my @wrong = $self->{judge}->check($method, $path, $res);
    local $Test::Builder::Level = $Test::Builder::Level + 2;
    Test::More::fail("$method $path answers as described")
        || Test::More::diag(join "\n", @wrong, $res->code . ' ' . substr $res->body, 0, 500) if @wrong;
    return $res;
}

sub request { # METHOD, path below /api/v3, headers/query/json/body/unjudged → Mojo::Message::Response
    my ($self, $method, $path, %o) = @_;
    my $preview = Sigreq::Preview::before(\&request, @_);
    my $tx      = $self->{ua}->start($self->transaction($method, $path, %o));
    my $error = $tx->error;
    die "$method $path: $error->{message}\n" if $error && !$error->{code};
    Sigreq::Preview::compare($preview, $tx->res);
    return $o{unjudged} ? $tx->res : $self->judge($method, $path, $tx->res);
}

sub request_p { # the same as a promise
    my ($self, $method, $path, %o) = @_;
    my $preview = Sigreq::Preview::before(\&request_p, @_);
    return $preview->then(sub {
        my $previewed = shift;
        return $self->request_p($method, $path, %o, previewed => 1)
            ->then(sub { Sigreq::Preview::compare($previewed, $_[0]); $_[0] });
    }) if $preview;
    return $self->{ua}->start_p($self->transaction($method, $path, %o))
        ->then(sub { $o{unjudged} ? $_[0]->res : $self->judge($method, $path, $_[0]->res) });
}

sub get    { my $self = shift; $self->request(GET    => @_) }
sub head   { my $self = shift; $self->request(HEAD   => @_) }
sub post   { my $self = shift; $self->request(POST   => @_) }
sub delete { my $self = shift; $self->request(DELETE => @_) }

# What a valid signers array is; each hash given is laid over a signer, with `area` laid over its field's area.
sub signers {
    my @overs = @_ ? @_ : {};
    return [map {
        my %over = %$_;
        my %area = (x => 72, y => 72, w => 180, h => 50, page => 0, %{ delete $over{area} // {} });
        +{  firstname => 'Ann', lastname => 'Lee',
            fields => [{ type => 'signature', name => 'Signature', document => 'a.pdf', area => \%area }], %over }
    } @overs];
}

# The body of POST /signatures. Left out, a part is a valid one; undef leaves it away.
#   files => [[name, bytes, type], …]   signers => structure or text   name, skipIntro, sendEmail => text
sub creation {
    my ($self, %o) = @_;
    my $files = exists $o{files} ? $o{files} // [] : [['a.pdf', pdf()]];
    my $signers = exists $o{signers} ? $o{signers} : signers();
    my %text = (name => 'Lease', %o, signers => ref $signers ? encode_json($signers) : $signers);
    my @parts = map { part('file', $_->[1], filename => $_->[0], type => $_->[2] // 'application/pdf') } @$files;
    push @parts, map { part($_, $text{$_}) } grep { defined $text{$_} } qw(name signers skipIntro sendEmail);
    return multipart(@parts, @{ $o{more} // [] });
}

sub creation_options {
    my ($self, %o) = @_;
    return (body => $o{body} // $self->creation(%o), query => $o{query},
        headers => { 'Content-Type' => 'multipart/form-data; boundary=' . BOUNDARY, %{ $o{headers} // {} } });
}

sub create   { my ($self, %o) = @_; return $self->request(POST => '/signatures', $self->creation_options(%o)) }
sub create_p { my ($self, %o) = @_; return $self->request_p(POST => '/signatures', $self->creation_options(%o)) }

# Runs COUNT requests made by CODE (index → promise), at most WIDTH at a time; gives the answers in order.
sub parallel {
    my ($self, $count, $width, $code) = @_;
    my @answers;
    my $error;
    Mojo::Promise->map({ concurrency => $width },
        sub { my $i = $_; $code->($i)->then(sub { $answers[$i] = shift }) }, 0 .. $count - 1)
        ->catch(sub { $error = shift })->wait;
    die "parallel requests: $error\n" if $error;
    return @answers;
}

1;
