# SPDX-License-Identifier: Apache-2.0
# The desk behind real modules for logins, with the blocks of docs/operations.md: client certificates, OpenID Connect,
# LDAP. Each lets a user in, and another person gets 403. desk.t has passwords.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Authority;
use Sigreq::Desk qw(basic browser);
use Sigreq::Directory;
use Sigreq::Guide 'blocks';
use Sigreq::Here qw(organisation suite);
use Sigreq::Httpd;
use Sigreq::Provider;
use Test::More;

my $dir       = tempdir('desk_login.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $guide     = suite->{source} . '/docs/operations.md';
my ($modules) = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_};
my $own       = organisation();
my ($ann, $bob) = ($own->{email}, 'bob@example.org');
my ($oidc, $certificates) = blocks($guide, 'Desk', '/esign/' => '/');

sub has_modules { return !grep { !-e "$modules/mod_$_.so" } @_ }

sub server {    # MODULES, what stands in the server
    my ($names, $server, %o) = @_;
    return Sigreq::Httpd->new(modules => "authz_core dbd authn_core authz_user $names", server => $server, %o)->start;
}

# RIGHT and WRONG are browsers: of the user, and of another person.
sub try_desk {
    my ($base, $right, $wrong) = @_;
    my $res = $right->get("$base/desk/")->result;
    is($res->code, 200, 'the user enters') or diag $res->body;
    is($res->dom->at('.scope .where')->text, $own->{name}, 'in their organisation');
    $res = $wrong->get("$base/desk/")->result;
    is($res->code, 403, 'another person is refused');
    like($res->body, qr/\Q$bob\E/, 'and sees the name that was tried');
    unlike($res->body, qr/\Q$own->{name}\E/, 'and nothing else');
    return;
}

sub never { my ($ua, $base, $name) = @_; isnt($ua->get("$base/desk/")->res->code // 0, 200, $name); return }

subtest 'client certificates' => sub {
    plan skip_all => 'mod_ssl is not installed' unless has_modules('ssl');
    my ($authority, $stranger) = map { Sigreq::Authority->new("$dir/$_") } 'authority', 'stranger';
    my ($certificate, $key) = @{ $authority->issue_server('server', 'IP:127.0.0.1') };
    my $issue = sub {    # with the address in the subject, too
        my ($from, $file, $mail) = @_;
        return $from->issue($file, "Somebody/emailAddress=$mail", "subjectAltName=email:$mail");
    };
    my ($hers, $his) = ($issue->($authority, 'ann', $ann), $issue->($authority, 'bob', $bob));
    my $forged = $issue->($stranger, 'forged', $ann);
    my $with = sub { my ($shown, $its_key) = @{ shift() }; return browser()->cert($shown)->key($its_key) };
    my $ssl = <<"CONF";
SSLEngine On
SSLCertificateFile $certificate
SSLCertificateKeyFile $key
SSLCACertificateFile @{[$authority->file('ca.crt')]}
CONF
    my $section = sub { my ($text) = @_; return "<Location \"/desk\">\nSigreqDesk On\n$text</Location>\n" };
    my $fake    = "AuthType Basic\nAuthName x\nAuthBasicProvider file\nAuthUserFile $dir/names\nRequire valid-user\n";
    my %way = (
        'the guide' => "${ssl}SSLVerifyClient optional\n$certificates",
        'SSLUserName' => "${ssl}SSLVerifyClient optional\nSSLUserName SSL_CLIENT_S_DN_Email\n"
            . $section->("Require ssl-verify-client\n"),
        'asked for by the location' => "${ssl}SSLProtocol TLSv1.2\n"
            . $section->("SSLVerifyClient require\nSigreqDeskUser \"%{SSL_CLIENT_S_DN_Email}\"\n"),
        'FakeBasicAuth' => "${ssl}SSLVerifyClient optional\n"
            . $section->("SSLOptions +FakeBasicAuth\nSigreqDeskUser \"%{SSL_CLIENT_S_DN_Email}\"\n$fake"),
    );
    my $name = sub { my ($of) = @_; chomp(my $dn = `openssl x509 -noout -subject -nameopt compat -in $of->[0]`); $dn };
    Sigreq::Suite::write_file("$dir/names",
        join '', map { ($name->($_) =~ s/^subject=\s*//r) . ':' . crypt('password', '$1$salt') . "\n" } $hers, $his);
    for my $way (sort keys %way) {
        my $httpd = server('ssl authn_file auth_basic', $way{$way});
        my $base = $httpd->base =~ s/^http/https/r;
        subtest $way => sub { try_desk($base, $with->($hers), $with->($his)) };
        never(browser(),        $base, "$way: nobody enters without a certificate");
        never($with->($forged), $base, "$way: nor with one of another authority");
    }
    my $httpd = server('ssl', "${ssl}SSLVerifyClient optional_no_ca\n"
            . $section->("SigreqDeskUser \"%{SSL_CLIENT_S_DN_Email}\"\n"));
    my $base = $httpd->base =~ s/^http/https/r;
    is($with->($forged)->get("$base/desk/")->res->code, 500, 'a certificate that nobody has verified makes no user');
    like($httpd->log, qr/SigreqDesk: httpd has authenticated nobody/, 'the log says it');
};

subtest 'OpenID Connect' => sub {
    plan skip_all => 'libapache2-mod-auth-openidc is not installed' unless has_modules('auth_openidc');
    my $port     = Sigreq::Suite::free_port();
    my $public   = "http://127.0.0.1:$port";
    my $provider = Sigreq::Provider->new(redirect => "$public/desk/callback");
    my ($login)  = blocks(
        $guide, 'Login of signers',
        'https://login.example.org/.well-known/openid-configuration' => $provider->metadata,
        'https://sign.example.org/esign/sign/login' => "$public/desk", '/esign/' => '/',
        'a secret of the provider' => Sigreq::Provider::SECRET);
    my $httpd = server('auth_openidc', $login . $oidc, port => $port);
    my $as = sub {
        my ($email, $verified) = @_;
        $provider->sign_in(email => $email, email_verified => $verified // \1);
        my $ua = browser();
        $ua->get("$public/desk/");
        return $ua;
    };
    my $wrong = $as->($bob);
    try_desk($public, $as->($ann), $wrong);
    never($as->($ann, \0), $public, 'an address that the provider has not verified is refused');
    my %spoofed = (OIDC_CLAIM_email => $ann, 'OIDC-CLAIM-email' => $ann, REMOTE_USER => $ann);
    is($wrong->get("$public/desk/", \%spoofed)->result->code, 403, 'headers of the client change nothing');
};

subtest 'LDAP' => sub {
    plan skip_all => 'slapd is not installed' unless has_modules(qw(ldap authnz_ldap)) && -x Sigreq::Directory::PROGRAM;
    my $directory = Sigreq::Directory->new($ann => 'a', $bob => 'b');
    my (undef, $block) = blocks($guide, 'Login of signers', '/esign/' => '/',
        'ldaps://ldap.example.org/dc=example,dc=org' => $directory->url);
    $block =~ s{/sign/login">\n}{/desk">\n    SigreqDesk On\n} or die "no section for the login\n";
    my $httpd = server('auth_basic ldap authnz_ldap', $block);
    try_desk($httpd->base, browser(uc($ann) . ':a'), browser("$bob:b"));
    is(browser("$ann:b")->get($httpd->base . '/desk/')->result->code, 401, 'a wrong password');
};
done_testing;
