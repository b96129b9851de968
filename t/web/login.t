# SPDX-License-Identifier: Apache-2.0
# Signers who sign in at this server, by real modules: passwords, client certificates, OpenID Connect with the blocks of
# docs/operations.md, LDAP. Each lets the right person sign and refuses another one, and no log has the signing link.
use strict;
use warnings;
use File::Temp 'tempdir';
use MIME::Base64 'encode_base64';
use Mojo::File 'path';
use Mojo::UserAgent;
use Sigreq::Authority;
use Sigreq::Directory;
use Sigreq::Guide 'blocks';
use Sigreq::Here qw(organisation suite sql wait_for);
use Sigreq::Httpd;
use Sigreq::Provider;
use Sigreq::Signer;
use Sigreq::Validator 'text_of';
use Test::More;

my $dir       = tempdir('login.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $guide     = suite->{source} . '/docs/operations.md';
my ($modules) = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_};
my $ann       = 'ann@example.org';
my $name      = 'Confidential lease';
# all that modules for logins say. The core at trace5, mod_http and mod_ssl log requests and answers as they are.
my $logs = <<'CONF';
LogLevel trace8 core:trace4 http:info sigreq:trace2
CustomLog access_log "[%r] [%U] [%f] [%{Referer}i]"
CONF

sub has_modules { return !grep { !-e "$modules/mod_$_.so" } @_ }
sub load { return join '', map {"LoadModule ${_}_module $modules/mod_$_.so\n"} @_ }

sub passwords {    # a file of names and passwords
    my %password = @_;
    my @lines = map {"$_:" . crypt($password{$_}, '$6$salt') . "\n"} keys %password;
    Sigreq::Suite::write_file("$dir/passwords", join '', @lines);
    return qq{AuthType Basic\nAuthName x\nAuthBasicProvider file\nAuthUserFile "$dir/passwords"\nRequire valid-user\n};
}

sub server {       # what protects the login, and other directives, modules
    my ($login, $other, @modules) = @_;
    return Sigreq::Httpd->new(
        modules => join(' ', qw(authz_core dbd authn_core authz_user), @modules),
        server  => "$logs$other<Location \"/sign/login\">\n$login</Location>\n")->start;
}

my %client;

sub signer {       # of a new submission: a link
    my ($httpd, $base, $authentication) = @_;
    my $of = $client{$base} //= organisation(client => { base => $base })->{test};
    $of->{ua}->insecure(1);
    my $made = $of->create(name => $name, signers => Sigreq::Client::signers({ authentication => $authentication }));
    is($made->code, 201, 'a submission with authentication is created') or diag $made->body;
    return ($made->json('/submitters/0/signatureLink'), $made->json('/uuid'), $of);
}

sub httpd_method { return { method => 'httpd', user => shift // $ann } }

sub agent {        # a browser without scripts, with a name and password
    my $login = shift;
    my $ua = Mojo::UserAgent->new(max_connections => 0, max_redirects => 10, request_timeout => 60)->insecure(1);
    $ua->on(
        start => sub {
            my $headers = $_[1]->req->headers->accept('text/html');
            $headers->authorization('Basic ' . encode_base64($login, '')) if $login;
        });
    return $ua;
}

# The login of a link, as its page has it: the URL of the login.
sub login_of {
    my ($link) = @_;
    my $page = agent()->get($link)->res;
    my ($uuid) = $link =~ m{/sign/([\w-]+)};
    unlike($page->body, qr/\Q$name\E/, 'the page shows nothing of the submission');
    my $button = $page->dom->at('main a.primary');
    is($button->attr('href'), "$uuid/login", 'the page leads to the login');
    is($button->attr('target'), '_top', 'which leaves a frame');
    my $begun = agent()->max_redirects(0)->get("$link/login")->res;
    is($begun->code, 303, 'the login begins');
    my $url = $begun->headers->location;
    like($url, qr{/sign/login/[0-9a-f]{32}$}, 'its URL does not have the link');
    return $url;
}

# RIGHT and WRONG get a user agent, and prepare it for a person.
sub try_login {
    my ($httpd, $base, $right, $wrong) = @_;
    my ($link, $submission, $of) = signer($httpd, $base, httpd_method());
    my ($uuid) = $link =~ m{/sign/([\w-]+)};
    my $url    = login_of($link);
    my $answer = $wrong->(agent(), $url);
    ok($answer->code == 403 || $answer->code == 401, 'another person is refused') or diag $answer->code;
    unlike($answer->body, qr/\Q$uuid\E|\Q$name\E/, 'and gets neither the link nor anything behind it');
    my $tx = $right->(agent(), $url, 1);
    is($tx->res->code, 200, 'the right person gets a page') or diag $tx->res->body;
    my $session = $tx->req->url->to_string;
    like($session, qr{/sign/\Q$uuid\E~[0-9a-f]{32}$}, 'in a session');
    like($tx->res->body, qr/\Q$name\E/, 'which shows the submission');
    my $signer = Sigreq::Signer->new(link => $session);
    $signer->{ua}->insecure(1);
    is($signer->sign->code, 200, 'they sign');
    my $audit = $of->get("/signatures/$submission/audit")->json('/events');
    my ($event) = grep { $_->{event} eq 'authenticated' } @$audit;
    is($event->{detail}{method}, 'httpd', 'the evidence has the method');
    ok($event->{commitments}{'detail.user'}, 'and a commitment to the user');
    is($event->{detail}{user}, $ann, 'whom it shows');
    no_secret($httpd, $uuid, $session);
    my $text = text_of($of->get("/signatures/$submission/certificate")->body) =~ s/\s+/ /gr;
    my $by = $event->{detail}{by};
    like($text, qr/Identity check Signed in at this server Signed in as \Q$ann ($by)\E/, 'the certificate says it');
    return $by;
}

sub no_secret {
    my ($httpd, $uuid, $session) = @_;
    my ($secret) = $session =~ /~(\w+)$/ or return fail('there is a session');
    wait_for(sub { path("$httpd->{dir}/access_log")->slurp =~ m{^\[POST /sign/}m });
    my $access = path("$httpd->{dir}/access_log")->slurp;
    my $error = $httpd->log;
    my $rest = substr $uuid, 9;
    for (split /\n/, $access . $error) {
        next if !/\Q$rest\E|\Q$secret\E/;
        fail('a log has the link or the session');
        diag($_);
    }
    return;
}

sub following { my ($ua, $url, $whole) = @_; my $tx = $ua->get($url); return $whole ? $tx : $tx->res }

subtest 'passwords' => sub {
    my $basic = passwords($ann => 'a', 'bob@example.org' => 'b', 'Ann@EXAMPLE.org' => 'c', "a\x{cc}\x{80}n" => 'd');
    my $httpd = server($basic, '', qw(authn_file auth_basic));
    my $base  = $httpd->base;
    my $as    = sub { my ($who, $password) = @_; sub { following(agent("$who:$password"), @_[1, 2]) } };
    is(try_login($httpd, $base, $as->($ann, 'a'), $as->('bob@example.org', 'b')), 'Basic', 'the evidence has the way');
    like($httpd->log, qr/SR0102: another user has signed in than signer \w{8}\.\.\./, 'the log says it without names');
    my ($link) = signer($httpd, $base, httpd_method());
    my ($uuid) = $link =~ m{/sign/([\w-]+)};
    my $url = login_of($link);
    is(login_of($link), $url, 'a name is used again');
    is($as->($ann, 'b')->(agent(), $url)->code, 401, 'a wrong password');
    is($as->('Ann@EXAMPLE.org', 'c')->(agent(), $url)->code, 403, 'the case of a name matters');
    my ($other) = signer($httpd, $base, httpd_method('Ann@example.ORG'));
    my $there = login_of($other);
    is($as->('Ann@EXAMPLE.org', 'c')->(agent(), $there)->code, 200, 'the case of its host does not');
    is($as->($ann, 'a')->(agent(), $there)->code, 403, 'nobody signs in for another signer');
    ($other) = signer($httpd, $base, httpd_method("\x{e0}n"));
    is($as->("a\x{cc}\x{80}n", 'd')->(agent(), login_of($other))->code,
        200, 'the normal form of a name does not matter');
    my ($code) = signer($httpd, $base, { method => 'code', code => '4711-KX' });
    is(agent()->get("$code/login")->res->code, 404, 'a signer with another method does not sign in');
    is($as->($ann, 'a')->(agent(), "$base/sign/login/$_")->code, 404, 'a name that there is not')
        for 'x', $uuid, 'f' x 32, 'login';
    my $page = $as->($ann, 'a')->(agent(), $link);
    unlike($page->body, qr/\Q$name\E/, 'a password at the link itself opens nothing');
    sql("UPDATE signer_login SET made_at = made_at - 3600000000 WHERE signer_uuid = '$uuid'");
    is($as->($ann, 'a')->(agent(), $url)->code, 404, 'a name ends after an hour');
    isnt(login_of($link), $url, 'and is followed by another one');

    my ($moved, $submission, $of) = signer($httpd, $base, httpd_method());
    my ($path) = map {"/signatures/$submission/signers/$_"} $moved =~ m{/sign/([\w-]+)};
    my $old = login_of($moved);
    my $change = sub { $of->request(PATCH => $path, json => { authentication => shift })->code };
    is($change->(httpd_method('bob@example.org')), 200, 'the caller names another user while a login is under way');
    is($as->($ann, 'a')->(agent(), $old)->code, 403, 'the former one is refused');
    is($change->({ method => 'code', code => '4711-KX' }), 200, 'the caller chooses another method');
    is($as->('bob@example.org', 'b')->(agent(), $old)->code, 403, 'nobody signs in');
    is($change->(httpd_method()), 200, 'the caller returns to the first user');
    my %new = (firstname => 'Eve', lastname => 'Roe', authentication => httpd_method('bob@example.org'));
    is($of->post("$path/replace", json => \%new)->code, 200, 'the signer is replaced');
    is($as->($_->[0], $_->[1])->(agent(), $old)->code, 410, "$_->[0] does not sign in for the former signer")
        for [$ann, 'a'], ['bob@example.org', 'b'];
    ($moved, $submission, $of) = signer($httpd, $base, httpd_method());
    $old = login_of($moved);
    is($of->post("/signatures/$submission/cancel")->code, 200, 'a request is cancelled');
    unlike($as->($ann, 'a')->(agent(), $old, 1)->req->url, qr/~/, 'nobody gets a session');
};

# httpd runs the handler of an ErrorDocument in a protected location without a login, with the user who was refused.
subtest 'a login as the page of an error' => sub {
    my $basic = passwords($ann => 'a');
    my $httpd = server($basic, '', qw(authn_file auth_basic));
    my ($link) = signer($httpd, $httpd->base, httpd_method());
    my ($name) = login_of($link) =~ m{(/sign/login/\w+)$} or return fail('there is a login');
    my $odd = server("${basic}ErrorDocument 401 $name\n", '', qw(authn_file auth_basic));
    my $get = sub { return agent("$ann:" . shift)->max_redirects(0)->get($odd->base . $name)->res };
    my $res = $get->('b');
    isnt($res->code, 303, 'a wrong password');
    unlike($res->to_string, qr/~/, 'opens no session');
    is($get->('a')->code, 303, 'the right one does');
};

subtest 'nothing protects the login' => sub {
    my $httpd = server('', '');
    my ($link) = signer($httpd, $httpd->base, httpd_method());
    is(agent()->get(login_of($link))->res->code, 500, 'nobody passes');
    like($httpd->log, qr{SR0100: .*protect <Location "/sign/login">}, 'the log says what to do');
};

subtest 'client certificates' => sub {
    plan skip_all => 'mod_ssl is not installed' unless has_modules('ssl');
    my $authority = Sigreq::Authority->new("$dir/authority");
    my $stranger  = Sigreq::Authority->new("$dir/stranger");
    my ($certificate, $key) = @{ $authority->issue_server('server', 'IP:127.0.0.1') };
    my $issue = sub { my ($from, $file, $mail) = @_; $from->issue($file, 'Somebody', "subjectAltName=email:$mail") };
    my ($hers, $his) = ($issue->($authority, 'ann', $ann), $issue->($authority, 'bob', 'bob@example.org'));
    my $forged = $issue->($stranger, 'forged', $ann);
    my $with = sub {
        my ($shown, $its_key) = @{ shift() };
        return sub { my ($ua, @rest) = @_; following($ua->cert($shown)->key($its_key), @rest) };
    };
    my $ssl = <<"CONF";
LogLevel ssl:info
SSLEngine On
SSLCertificateFile $certificate
SSLCertificateKeyFile $key
SSLCACertificateFile @{[$authority->file('ca.crt')]}
SigreqSignerUser %{SSL_CLIENT_SAN_Email_0}
CONF
    my %way = (
        'asked for by the server'   => ["Require ssl-verify-client\n", "${ssl}SSLVerifyClient optional\n"],
        'asked for by the location' => ["SSLVerifyClient require\n", "${ssl}SSLProtocol TLSv1.2\n"]);
    for my $way (sort keys %way) {
        my $httpd = server(@{ $way{$way} }, 'ssl');
        my $base  = $httpd->base =~ s/^http/https/r;
        is(try_login($httpd, $base, $with->($hers), $with->($his)), 'certificate', "$way: the evidence has the way");
        my ($link) = signer($httpd, $base, httpd_method());
        my $url = login_of($link);
        isnt(agent()->get($url)->res->code // 0, 200, 'nobody signs in without a certificate');
        isnt($with->($forged)->(agent(), $url)->code // 0, 200, 'nor with one of another authority');
    }
    my $httpd = server('', "${ssl}SSLVerifyClient optional_no_ca\n", 'ssl');
    my $base  = $httpd->base =~ s/^http/https/r;
    my ($link) = signer($httpd, $base, httpd_method());
    is($with->($forged)->(agent(), login_of($link))->code, 500, 'a certificate that nobody has verified gives no user');
};

subtest 'OpenID Connect' => sub {
    plan skip_all => 'libapache2-mod-auth-openidc is not installed' unless has_modules('auth_openidc');
    my $port     = Sigreq::Suite::free_port();
    my $public   = "http://127.0.0.1:$port";
    my $provider = Sigreq::Provider->new(redirect => "$public/sign/login/callback");
    my ($block)  = blocks(
        $guide, 'Login of signers',
        'https://login.example.org/.well-known/openid-configuration' => $provider->metadata,
        'https://sign.example.org/esign' => $public, '/esign/' => '/',
        'a secret of the provider' => Sigreq::Provider::SECRET);
    my $httpd = Sigreq::Httpd->new(
        port => $port, modules => 'authz_core dbd authn_core authz_user auth_openidc', server => "$logs$block")->start;
    my $as = sub {
        my ($email, $verified) = @_;
        return sub { $provider->sign_in(email => $email, email_verified => $verified); following(@_) };
    };
    is(try_login($httpd, $public, $as->($ann, \1), $as->('bob@example.org', \1)), 'openid-connect',
        'the evidence has the way');
    my ($link) = signer($httpd, $public, httpd_method());
    is($as->($ann, \0)->(agent(), login_of($link))->code, 401,
        'an address that the provider has not verified is refused');
    my ($browser, $url) = (agent(), login_of($link));
    is($as->('bob@example.org', \1)->($browser, $url)->code, 403, 'somebody is signed in as another user');
    is($as->($ann, \1)->($browser, $url)->code, 403, 'and stays it');
    $browser->max_redirects(0)->get("$public/sign/login/callback" => form => { logout => "$public/" });
    is($as->($ann, \1)->($browser->max_redirects(10), $url)->code, 200, 'until they sign out');
};

subtest 'LDAP' => sub {
    plan skip_all => 'slapd is not installed' unless has_modules(qw(ldap authnz_ldap)) && -x Sigreq::Directory::PROGRAM;
    my $directory = Sigreq::Directory->new($ann => 'a', 'bob@example.org' => 'b');
    my %with      = ('/esign/' => '/', 'ldaps://ldap.example.org/dc=example,dc=org' => $directory->url);
    my (undef, $block) = blocks($guide, 'Login of signers', %with);
    my $httpd = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user auth_basic ldap authnz_ldap', server => "$logs$block")->start;
    my $as = sub { my $login = shift; sub { following(agent($login), @_[1, 2]) } };
    is(try_login($httpd, $httpd->base, $as->('ANN@example.org:a'), $as->('bob@example.org:b')), 'Basic',
        'the evidence has the way');
};
done_testing;
