# Sigreq::Signer: one signer with a link, as a program or as a browser without scripts; and what validators say of what
# comes out.
package Sigreq::Signer;
use strict;
use warnings;
use Exporter 'import';
use File::Temp;
use Mojo::JSON qw(encode_json);
use Mojo::UserAgent;

our @EXPORT_OK = qw(signers_of pdfsig qpdf_check typed);

# new(link => URL): of `signatureLink`
sub new {
    my ($class, %o) = @_;
    my $ua = Mojo::UserAgent->new(max_redirects => 0, max_connections => $o{connections} // 4)
        ->connect_timeout(10)->inactivity_timeout(60)->request_timeout(120)->max_response_size(0);
    $ua->proxy->http('')->https('');
    return bless { %o, link => $o{link} =~ s/\?.*//sr, ua => $ua }, $class;
}

sub signers_of {
    my $made = shift;
    return map { __PACKAGE__->new(link => $_->{signatureLink}) } @{ $made->{submitters} };
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

sub sign_p { my ($self, $text) = @_; return $self->request_p(POST => '', json => typed($text)) }

sub saved {
    my $bytes = shift;
    my $file = File::Temp->new(SUFFIX => '.pdf');
    binmode $file;
    print $file $bytes;
    close $file;
    return $file;
}

# {signatures, valid, total}: how many there are, how many are intact, how many cover the whole document
sub pdfsig {
    my $file = saved(shift);
    my $said = qx(pdfsig '$file' 2>&1);
    my %count = (said => $said);
    my $fields   = () = $said =~ /^Signature #/mg;
    my $unsigned = () = $said =~ /form field is not signed/g;
    $count{signatures} = $fields - $unsigned;
    $count{valid}      = () = $said =~ /Signature is Valid/g;
    $count{total}      = () = $said =~ /Total document signed/g;
    return \%count;
}

sub text_of { my $file = saved(shift); return scalar qx(pdftotext -layout '$file' - 2>&1) }

sub qpdf_check { my $file = saved(shift); my $said = qx(qpdf --check '$file' 2>&1); return $? ? $said : '' }

1;
