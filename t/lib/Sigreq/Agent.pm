# SPDX-License-Identifier: Apache-2.0
# Sigreq::Agent: the user agent of the HTTP tests. With SIGREQ_RECORD in the environment (t/run makes it a folder), each
# request and its answer are recorded as one line of JSON in a file for each test file, without values that differ from
# one run to the next. tools/contract compares two such folders.
package Sigreq::Agent;
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use JSON::PP ();
# Not libev, which Mojolicious prefers if it is installed: libev waits for processes for which a test waits itself.
BEGIN { $ENV{MOJO_REACTOR} = 'Mojo::Reactor::Poll' }    ## no critic (RequireLocalizedPunctuationVars)
use Mojo::UserAgent;

my $json = JSON::PP->new->canonical->utf8;

# new(connections => at most so many are kept alive). On prefork none is: an idle connection keeps a process, so httpd
# closes it after 5 s there, perhaps just when the next request is sent on it, which is no fault of either.
sub new {
    my ($class, %o) = @_;
    my $kept = is_prefork() ? 0 : $o{connections} // 4;
    my $longer = $ENV{SIGREQ_SANITIZE} ? 5 : 1;    # a list of large submissions takes a minute there
    my $ua = Mojo::UserAgent->new(max_redirects => 0, max_connections => $kept)
        ->connect_timeout(10)->inactivity_timeout(60 * $longer)->request_timeout(120 * $longer)->max_response_size(0);
    $ua->proxy->http('')->https('');
    my $folder = $ENV{SIGREQ_RECORD} or return $ua;
    $ua->on(start => sub { $_[1]->on(finish => sub { note($folder, shift) }) });
    return $ua;
}

sub is_prefork {
    return 0 if !$ENV{SIGREQ_SUITE};
    require Sigreq::Here;
    return Sigreq::Here::suite()->{mpm} eq 'prefork';
}

sub note {
    my ($folder, $tx) = @_;
    my ($req, $res) = ($tx->req, $tx->res);
    return if $tx->error && !$tx->error->{code};
    my $line = $json->encode({
        request => {
            method => $req->method, target => settled($req->url->path_query),
            type => ($req->headers->content_type // '') =~ s/;.*//sr, body => sent($req) },
        answer => { status => $res->code, headers => headers($res), body => got($req, $res) } });
    my ($name) = $0 =~ m{(\w+/\w+)\.t$} or return;
    my $suite = Sigreq::Here::suite();
    my $path  = "$folder/$suite->{db}-$suite->{mpm}-" . $name =~ tr{/}{-}r;
    open my $out, '>>', $path or die "$path: $!\n";
    print $out "$line\n";
    close $out or die "$path: $!\n";
}

# What differs from run to run: ids, times, digests, secrets, ports, process ids, cursors.
sub settled {
    my $text = shift // return undef;
    $text =~ s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UUID/gi;
    $text =~ s/\b[0-9a-f]{64}\b/SHA256/g;
    $text =~ s/\b(?:[0-9A-F]{2}[ :]){31}[0-9A-F]{2}\b/SHA256/g;
    $text =~ s/\b\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?(?:Z|(?:[+-]|%2B)\d\d(?::|%3A)\d\d)/TIME/g;
    $text =~ s/sigreq_(test|live)_\w+/TOKEN-$1/g;
    $text =~ s{(https?:\\?/\\?/[^/\\\s"']*?):\d{4,5}\b}{$1:PORT}g;
    $text =~ s/\b(port )\d{4,5}\b/$1PORT/g;
    $text =~ s/(127\.0\.0\.1|\.test|localhost):\d+/$1:PORT/g;
    $text =~ s{(assets/\w+)-[A-Z0-9]{8}\.}{$1-X.}g;             # of the tree's own files
    $text =~ s{(theme/[\w.]+\?)\d+}{$1TIME}g;
    $text =~ s/(boundary=)[0-9a-f]+/$1X/g;
    $text =~ s/(after=|"(?:next|prev)":")[bn][0-9A-Za-z_-]{10,}/$1CURSOR/g;
    $text =~ s/\b\d+-[0-9a-f]{8}\b/CURSOR/g;                    # of the event feed
    $text =~ s/\b$$\b/PID/g;
    $text =~ s/\bu\d+-PID/uN-PID/g;
    $text =~ s/\bNo \d+\b/No N/g;    # names of what was created side by side
    $text =~ s/("serial":")[0-9a-f]+/$1SERIAL/g;
    $text =~ s/Signature_[0-9a-f]{12}/Signature_ALIAS/g;
    $text =~ s{(/certificate","sha256":"SHA256","size":)\d+}{$1N}g;       # its dates are compressed
    $text =~ s/(Signature_certificate"[^}]*?"covers":)\d+/$1N/g;
    $text =~ s/("size":)\d+(,"known":true,"submission":"UUID","document":null)/$1N$2/g;
    return $text;
}

# Of a form, files are named and not shown.
sub sent {
    my $req  = shift;
    my $body = $req->body;
    return length($body) . ' bytes' if length $body > 1 << 16 && ($req->headers->content_type // '') !~ /^multipart/;
    $body =~ s/(filename="[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n).*?(?=\r\n--)/$1FILE/gs;
    return length $body > 1 << 16 ? length($body) . ' bytes' : settled(text($body));
}

sub text { my $bytes = shift; utf8::decode(my $text = $bytes) or return sha256_hex($bytes); return $text }

sub headers {
    my $res  = shift;
    my %all  = map { lc $_ => settled($res->headers->header($_)) } @{ $res->headers->names };
    delete @all{qw(date content-length last-modified server connection keep-alive)};
    $all{$_} =~ s/\d+/N/g for grep { exists $all{$_} } qw(retry-after ratelimit ratelimit-policy);
    $all{etag} = 'ETAG' if exists $all{etag};
    $all{'content-security-policy'} =~ s/(nonce|sha256)-[\w+\/=-]+/$1-X/g if exists $all{'content-security-policy'};
    return \%all;
}

sub got {
    my ($req, $res) = @_;
    my $type = $res->headers->content_type // '';
    return $type if $req->url->path =~ m{/certificate$} && $res->code < 300;    # its text has dates, compressed
    return sealed($res->body) if $type =~ m{^application/pdf};
    return $type if $type =~ m{^image/|gzip};
    return settled(text($res->body));
}

# The bytes of a PDF as lines of a digest each: dates, identifiers, signatures and places set aside.
sub sealed {
    my $bytes = shift;
    return 'PDF, encrypted' if $bytes =~ m{/Encrypt \d};
    $bytes =~ s/D:\d{14}[Z+'\d-]*/DATE/g;
    $bytes =~ s{(/Contents\s*<)[0-9A-Fa-f]+>}{$1X>}g;
    $bytes =~ s{(/ID\s*\[)[^\]]*\]}{$1X]}g;
    $bytes =~ s{(startxref\s+)\d+}{$1N}g;
    $bytes =~ s{(/Prev )\d+}{$1N}g;
    $bytes =~ s{(/ByteRange \[)[^\]]*}{$1X}g;
    $bytes =~ s{^\d{10} (\d{5} [fn])}{N $1}gm;
    return 'PDF ' . sha256_hex(settled($bytes));
}

1;
