# SPDX-License-Identifier: Apache-2.0
# docs/behind-a-proxy.md, with its blocks of configuration: behind haproxy (PROXY protocol) and behind another httpd,
# the evidence and the rate limits have the address of the client, and links have the public URL. HTTP/2,
# mod_reqtimeout and mod_evasive.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Guide 'blocks';
use Sigreq::Here qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::Multipart 'BOUNDARY';
use Sigreq::PDF       qw(pdf pdf_of_size);
use Sigreq::Raw;
use Sigreq::Signer qw(signers_of typed);
use Sigreq::Suite;
use Test::More;

my $guide  = suite->{source} . '/docs/behind-a-proxy.md';
my $public = 'https://sign.example.org';
my $dir    = tempdir('proxies.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my ($modules) = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_};

sub has_module { return -e "$modules/mod_$_[0].so" }

# The httpd of the service. The block has its own Listen, so the port of Sigreq::Httpd is another one.
sub service {
    my ($block, $port) = @_;
    $block =~ s{(SigreqBaseURL .*)}{$1\nSigreqRateLimit failures=3/h} or die "no SigreqBaseURL\n";
    my $httpd = Sigreq::Httpd->new(modules => 'authz_core dbd remoteip', place => 'Sigreq Off', server => $block);
    $httpd->start;
    wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) });
    return $httpd;
}

# Asks the proxy as a client with this address.
sub from {
    my ($address, $port, $client) = @_;
    my $ua = $client->{ua};
    $ua->socket_options({ LocalAddr => $address })->max_connections(0);
    return sub {
        my ($method, $path, %o) = @_;
        my %headers = (Host => 'sign.example.org', Accept => 'application/json', %{ $o{headers} // {} });
        my $tx = $ua->build_tx($method => "http://127.0.0.1:$port$path", \%headers, @{ $o{body} // [] });
        return $ua->start($tx)->res;
    };
}

sub sees_clients {    # what holds behind any proxy
    my $port   = shift;
    my $org    = organisation(client => { base => "http://127.0.0.1:$port" });
    my $sender = $org->{test};
    $sender->{host} = 'sign.example.org';
    my $made = $sender->create->json;
    my ($link) = map { $_->{signatureLink} } @{ $made->{submitters} };
    like($link, qr{^\Q$public\E/sign/}, 'a signing link has the public URL');
    my ($path) = $link =~ m{^\Q$public\E([^?]+)};
    my %client = map { $_ => from("127.0.0.$_", $port, $sender->with) } 5, 6;
    my $spoof  = { 'X-Forwarded-For' => '192.0.2.99' };
    my $signed = $client{5}->(POST => $path, headers => $spoof, body => [json => typed()]);
    is($signed->code, 200, 'a signer signs');
    my $evidence = $sender->get("/signatures/$made->{uuid}/audit")->body;
    like($evidence, qr/"ip":"127\.0\.0\.5"/, 'the evidence has the address of the signer');
    unlike($evidence, qr/192\.0\.2\.99/, 'and not one that the client has written itself');
    my $wrong = '/sign/00000000-0000-4000-8000-000000000000';
    my @codes = map { $client{5}->(GET => $wrong)->code } 1 .. 4;
    is("@codes", '404 404 404 429', 'failures of one address are limited');
    is($client{6}->(GET => $wrong)->code, 404, 'those of another address are not');
}

subtest 'haproxy' => sub {
    plan skip_all => 'haproxy is not installed' unless -x '/usr/sbin/haproxy';
    my ($front, $back) = map { Sigreq::Suite::free_port() } 1, 2;
    my %with = (':443 ssl crt /etc/haproxy/sign.example.org.pem alpn h2,http/1.1' => "127.0.0.1:$front",
        '10.0.0.11:8080' => "127.0.0.1:$back");
    my ($haproxy, $httpd) = blocks($guide, 'haproxy', %with);
    my $service = service($httpd, $back);
    Sigreq::Suite::write_file("$dir/haproxy.cfg", $haproxy);
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$dir/haproxy.log";
        open STDERR, '>&', \*STDOUT;
        exec '/usr/sbin/haproxy', '-db', '-f', "$dir/haproxy.cfg" or POSIX::_exit(1);
    }
    wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $front) });
    eval { sees_clients($front); 1 } or fail("haproxy: $@" . path("$dir/haproxy.log")->slurp);
    kill KILL => $pid;
    waitpid $pid, 0;
};

subtest 'another httpd' => sub {
    plan skip_all => 'mod_proxy_http is not installed' unless has_module('proxy_http');
    my ($front, $back) = map { Sigreq::Suite::free_port() } 1, 2;
    my %with = ('*:443' => "127.0.0.1:$front", '10.0.0.11:8080' => "127.0.0.1:$back",
        "10.0.0.1\n" => "127.0.0.1\n",
        "    SSLEngine On\n" => '', "    SSLCertificateFile /etc/ssl/certs/sign.example.org.pem\n" => '',
        "    SSLCertificateKeyFile /etc/ssl/private/sign.example.org.key\n" => '');
    my ($proxy, $httpd) = blocks($guide, 'Another httpd', %with);
    my $service = service($httpd, $back);
    my $before  = Sigreq::Httpd->new(modules => 'authz_core dbd proxy proxy_http', place => 'Sigreq Off',
        server => "Listen 127.0.0.1:$front\n$proxy")->start;
    sees_clients($front);
};

sub curl {    # (exit code, what it printed)
    open my $pipe, '-|', 'curl', '-sS', '--max-time', 120, '--insecure', '--http2', @_ or die "curl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? >> 8, $said);
}

subtest 'HTTP/2' => sub {
    plan skip_all => 'mod_http2 is not installed' unless has_module('http2');
    plan skip_all => 'prefork has no HTTP/2' if suite->{mpm} eq 'prefork';
    my ($protocols) = blocks($guide, 'HTTP/2');
    my $seal  = suite->{dir} . '/seal/seal';
    my $tls   = qq{SSLEngine On\nSSLCertificateFile "$seal.crt"\nSSLCertificateKeyFile "$seal.key"\n};
    my $httpd = Sigreq::Httpd->new(modules => 'authz_core dbd ssl http2', server => "$tls$protocols")->start;
    my $base  = $httpd->base =~ s/^http:/https:/r;
    my $client = organisation()->{test};
    my @bearer = ('-H', "Authorization: Bearer $client->{token}");
    Sigreq::Suite::write_file("$dir/body", $client->creation(files => [['a.pdf', my $pdf = pdf_of_size(5 << 20)]]));
    my $type = 'Content-Type: multipart/form-data; boundary=' . BOUNDARY;
    my @upload = ('-w', '%{http_version}', '-H', $type, '--data-binary', "\@$dir/body", "$base/api/v3/signatures");
    my (undef, $made) = curl(@bearer, @upload);
    is($made =~ s/\}\K([\d.]+)\z// && $1, 2, 'an upload by HTTP/2');
    $made = decode_json($made);
    my $link = $made->{submitters}[0]{signatureLink} =~ s/\?.*//sr;
    my $file = "$link/documents/$made->{documents}[0]{uuid}";
    my @slow = ('--limit-rate', '1M', '-o', "$dir/slow.pdf", $file);
    my @quick = ('-o', "$dir/page.html", $link, '-o', "$dir/quick.pdf", $file);
    my @all   = ('--no-progress-meter', '-Z', '-w', '%{http_code} ', @quick);
    my ($code, $said) = curl('-H', 'Accept: text/html,application/pdf', @all, @slow);
    is($code, 0, 'a page and two downloads at once') or diag $said;
    my @got = map { -s "$dir/$_.pdf" } qw(slow quick);
    is("@got", join(' ', (length $pdf) x 2), 'the downloads are complete, also the slow one');
    like(path("$dir/page.html")->slurp, qr/<html/, 'the page is complete');
    my ($ended, $answer) = curl('-H', 'Content-Type: application/json', '-H', 'Accept: application/json',
        '-w', ' %{http_code}', '--data-binary', encode_json(typed()), $link);
    like($answer, qr/ 200\z/, 'signing');
};

subtest 'mod_reqtimeout' => sub {
    plan skip_all => 'mod_reqtimeout is not installed' unless has_module('reqtimeout');
    my ($block)   = blocks($guide, 'mod_reqtimeout');
    my ($shipped) = path(suite->{source} . '/conf/sigreq.conf')->slurp =~ /^# *(RequestReadTimeout .*\n)/m;
    is($shipped, $block, 'conf/sigreq.conf has the same') if $shipped;
    my $httpd  = Sigreq::Httpd->new(modules => 'authz_core dbd reqtimeout', server => "Timeout 100\n$block")->start;
    my $client = organisation(client => { base => $httpd->base })->{test};
    my @slow   = map { Sigreq::Raw->new($httpd->{port}) } 1, 2;
    $slow[0]->send("GET /api/v3/health HTTP/1.1\r\nHost: a\r\n");
    my $type = 'Content-Type: multipart/form-data; boundary=' . BOUNDARY;
    $slow[1]->send("POST /api/v3/signatures HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $client->{token}\r\n"
            . "$type\r\nContent-Length: 100000\r\n\r\n--" . BOUNDARY . "\r\n");
    is($client->create->code, 201, 'an upload meanwhile');
    ok($_->closes, 'a connection that sends no more is closed') for @slow;
    is($client->get('/signatures')->json('/data/1'), undef, 'nothing was created of the slow one');
};

subtest 'mod_evasive' => sub {
    plan skip_all => 'libapache2-mod-evasive is not installed' unless has_module('evasive20');
    my ($block) = blocks($guide, 'mod_evasive');
    my %codes;
    for my $with ('', $block) {
        my $log    = "DOSLogDir $dir\n";
        my $httpd  = Sigreq::Httpd->new(modules => 'authz_core dbd evasive20', server => "$log$with")->start;
        my $client = organisation(client => { base => $httpd->base })->{test};
        my $uuid   = $client->create->json('/uuid');
        my $count  = $with ? 40 : 400;
        my %seen;
        for (1 .. $count) {
            $seen{ $client->request(GET => "/signatures/$uuid", unjudged => 1)->code }++;
            last if $seen{403};
        }
        $codes{ $with ? 'block' : 'default' } = join ' ', sort keys %seen;
    }
    is($codes{default}, '200 403', 'the defaults lock an integrator out');
    is($codes{block},   '200',     'the settings do not');
};
done_testing;
