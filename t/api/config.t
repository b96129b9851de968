# SPDX-License-Identifier: Apache-2.0
# Directives: `httpd -t` reports a mistake in one clear line that names the directive. If the text of the configuration
# is wrong, httpd does not start. If a file or a program cannot be used, other sites start.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Here qw(suite place);
use Sigreq::Httpd;
use Sigreq::Suite;
use Test::More;

my ($status, $said) = Sigreq::Httpd->new->test;
is($status, 0, 'a correct configuration is accepted') or diag $said;
my $on    = "Sigreq On\n";
my @wrong = (
    # directive, value, where, what is said
    map({ ['Sigreq',            $_, 'place', qr/Sigreq must be On or Off, not '\Q$_\E'/] } 'Yes', '1', 'Onn'),
    map({ ['SigreqMaxFileSize', $_, 'place', qr/SigreqMaxFileSize must be a size/] } 'big', '-1', '10X', '1.5M',
        '10MB', '0x10'),
    ['SigreqMaxFileSize',    '1',                    'place', qr/SigreqMaxFileSize must be at least 1024/],
    ['SigreqMaxFileSize',    '99999999999999999999', 'place', qr/SigreqMaxFileSize/],
    ['SigreqMaxFileSize',    '9999999999G',          'place', qr/SigreqMaxFileSize is too large/],
    ['SigreqMaxRequestSize', 'x',                    'place', qr/SigreqMaxRequestSize must be a size/],
    map({
            my $name = $_;
            (map { [$name, $_, 'place', qr/$name must be/] } '0', '-1', 'x', '1.5', '5x', '999999999')
        } 'SigreqMaxFiles',
        'SigreqMaxSigners',
        'SigreqMaxFields'),
    map({ ['SigreqHelperWorkers', $_, 'server', qr/SigreqHelperWorkers must be/] } '0', 'x',   '100000'),
    map({ ['SigreqMaxTokenAge', $_, 'place', qr/SigreqMaxTokenAge must be/] } 'x', '-1d', '0d',
        '500ms', '5w', '1.5d', '9999999999d', '90'),
    ['SigreqSignerUser', '%{REMOTE_USER', 'place', qr/SigreqSignerUser must be an expression of httpd \(.+\), not/],
    ['SigreqExpiry', '30', 'place', qr/SigreqExpiry must be a time of at least 1s, such as 90d/],
    ['SigreqDatabaseTimeout', '1', 'server', qr/SigreqDatabaseTimeout must be 3s to 3600s/],
    map({ ['SigreqHelperTimeout', $_, 'server', qr/SigreqHelperTimeout must be/] } 'x', '-1s', '1ms', '5h'),
    map({ ['SigreqBaseURL', $_, 'place', qr/SigreqBaseURL must be an http:\/\/ or https:\/\/ URL/] } 'sign.example.org',
        'ftp://x.org', 'http://', 'http://u:p@x.org', 'http://x.org?q', 'http://x.org/#f', '/sign', 'http://x.org/"x"'),
    map({ ['SigreqAreaOrigin', $_, 'place', qr/SigreqAreaOrigin must be user-space or top-left/] } 'bottom', 'topleft'),
    map({ ['SigreqRateLimit', $_, 'place', qr/SigreqRateLimit must be token=, .*verify= or preview=/] } '100/s',
        'token', 'token=', 'token=100', 'token=0/s', 'token=5/week', 'token=-1/s', 'user=5/s', 'failures=x'),
    ['SigreqRateLimit', 'failures=none',        'place',  qr/SigreqRateLimit must limit failures/],
    map({ ['SigreqMailLimit', $_, 'place', qr/SigreqMailLimit must be organization=, recipient=, test-/] } '20/h',
        'recipient', 'recipient=0/h', 'signer=5/h', 'test-recipient=5/week'),
    map({ ['SigreqFrameAncestors', $_, 'place', qr/SigreqFrameAncestors must be 'self' or origins/] } '*',
        'https://', 'https://a.org;script-src', "https://a.org\thttps://b.org", 'a.org,b.org', 'https://a.org/x',
        "'unsafe-inline'"),
    ['SigreqHelperKeep', 'maybe', 'server', qr/SigreqHelperKeep must be On or Off/],
    ['SigreqHelperKeep', 'Off',   'place',  qr/SigreqHelperKeep/],
    ['SigreqHelper',    '/bin/true',            'place',  qr/SigreqHelper/],
    ['Sigreq',          'On',                   'server', qr/Sigreq must be in a <Location/],
    ['SigreqNonsense',  'x',                    'place',  qr/Invalid command 'SigreqNonsense'/],
);
for my $row (@wrong) {
    my ($name, $value, $where, $expected) = @$row;
    my $directive = $value =~ /"/ ? "$name '$value'" : qq{$name "$value"};
    ($status, $said) = Sigreq::Httpd->new(extra($name, $value, $where))->test;
    isnt($status, 0, "$directive ($where) is rejected");
    my @lines = grep { !/^(?:AH00526|Syntax error|Configuration Failed|AH00014)/ && /\S/ } split /\n/, $said;
    like($said, $expected, "the message about $directive gives the reason") or diag $said;
    is(scalar @lines, 1, "the message about $directive is one line")        or diag $said;
}

my $base = 'http://127.0.0.1/esign';
for my $row (    # the same; what is said: the other sites start
    ['SigreqDocuments', '/nowhere/at/all', 'place', qr/SR0711: SigreqDocuments \/nowhere\/at\/all is not a folder/],
    ['SigreqDocuments', '/etc/passwd', 'place', qr/SR0711: SigreqDocuments \/etc\/passwd is not a folder: .*503/],
    ['SigreqCache', '/etc/passwd', 'place', qr/SR0004: \S+:\d+: SigreqCache \/etc\/passwd is not a folder/],
    ['SigreqCache', '/nowhere/yet/there', 'place', qr/SR0004: .*SigreqCache \S+ does not exist, .* cannot create it/],
    ['SigreqTheme', '/nowhere/at/all', 'place', qr/SR0004: .*SigreqTheme \/nowhere\/at\/all is not a folder/],
    ['SigreqHelper', '/nowhere/sigreq-pdfd', 'server', qr/SR0003: SigreqHelper \/nowhere\/sigreq-pdfd is not a pro/],
    ['SigreqHelper', '/etc/passwd', 'server', qr/SR0003: SigreqHelper \/etc\/passwd is not a program.*503/],
    ['SigreqHelper', '/bin/true', 'server', qr/SR0302: SigreqHelper \/bin\/true does not work: .*503/],
    ['SigreqSealProgram', '/nowhere/signd', 'server', qr/SR0003: SigreqSealProgram \/nowhere\/signd is not a program/],
    ['SigreqMailTemplates', '/nowhere/at/all', 'server', qr/SR0003: SigreqMailTemplates \S+ is not a folder/],
    ['SigreqTrust', '/nowhere/at/all', 'server', qr/SR0430: SigreqTrust: .*No such file.*answers 503 until/],
    ['SigreqCACertificateFile', '/etc/passwd', 'server', qr/SR0403: SigreqCACertificateFile: .*answers 503 until/],
    ['SigreqBaseURL', $base, 'place', qr/SR0004: .*SigreqBaseURL \Q$base\E does not end with the path .*, "\/": links/],
    ['DBDMax', '3', 'server', qr/SR0713: DBDMax 3 is less than ThreadsPerChild \+ 2: .* Set DBDMax 10/],
    )
{
    my ($name, $value, $where, $expected) = @$row;
    next if $name eq 'DBDMax' && suite->{mpm} eq 'prefork';    # a child has one thread there
    ($status, $said) = Sigreq::Httpd->new(extra($name, $value, $where))->test;
    is($status, 0, "httpd -t accepts $name $value") or diag $said;
    my @lines = grep { !/Syntax OK/ && /\S/ } split /\n/, $said;
    like($said, $expected, "the message about $name $value gives the reason");
    is(scalar @lines, 1, "the message about $name $value is one line") or diag $said;
}

sub extra {
    my ($name, $value, $where) = @_;
    return (helper    => $value) if $name eq 'SigreqHelper' && $where eq 'server';
    return (documents => $value) if $name eq 'SigreqDocuments';
    return (signd     => $value) if $name eq 'SigreqSealProgram';
    my $directive = $value =~ /"/ ? "$name '$value'" : qq{$name "$value"};
    return ($where => ($where eq 'place' ? $on : '') . $directive);
}

subtest 'probable mistakes are warnings' => sub {
    my $httpd = Sigreq::Httpd->new;
    my ($cache, $key) = ("$httpd->{dir}/cache", suite->{dir} . '/readable.key');
    ($status, $said) =
        Sigreq::Httpd->new(place => $on . qq{SigreqCache "$cache"\nSigreqBaseURL "https://sign.example.org"})->test;
    is($said =~ s/Syntax OK\s*//r, '',
        'a SigreqCache that can be made and a URL with the path of the location are no mistakes');
    Sigreq::Suite::write_file($key, path(suite->{dir} . '/seal/seal.key')->slurp);
    chmod 0644, $key;
    my $seal = 'SigreqSealCertificate "' . suite->{dir} . qq{/seal/seal.crt"\nSigreqSealKey "$key"};
    ($status, $said) = Sigreq::Httpd->new(seal => $seal)->test;
    is($status, 0, 'httpd -t accepts a key that everybody can read') or diag $said;
    like($said, qr/SR0409: SigreqSealKey \Q$key\E can be read by every user of this host: run: chmod 600/,
        'httpd -t warns about a key that everybody can read');
    chmod 0640, $key;
    unlike((Sigreq::Httpd->new(seal => $seal)->test)[1], qr/SR0409/,
        'there is no warning about a key that its group can read');
    $httpd = Sigreq::Httpd->new;
    Sigreq::Suite::write_file("$httpd->{dir}/httpd.conf", $httpd->conf =~ s/^DBD(?:Driver|Params).*//mgr);
    ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t accepts a configuration without a database') or diag $said;
    like($said, qr/SR0703: .* DBDriver or DBDParams is missing/, 'httpd -t warns about a missing database');
};

for my $directive ('SigreqVerifyPage On', 'SigreqHelperKeep Off') {
    ($status, $said) = Sigreq::Httpd->new(place => 'Sigreq On', server => $directive)->test;
    is($status, 0, "$directive is accepted outside of <Location>") or diag $said;
}

for my $empty ('Sigreq', 'SigreqDocuments', 'SigreqBaseURL', 'SigreqMaxFiles') {
    ($status, $said) = Sigreq::Httpd->new(place => qq{$on$empty ""})->test;
    isnt($status, 0, qq{$empty "" is rejected});
    like($said, qr/$empty (?:must|takes one argument)/, qq{the message about $empty "" gives the reason});
}
for my $section ('<LocationMatch "^/x">', '<Location ~ "^/x">', '<Location "/x*">', '<Directory "/tmp">') {
    my $end = $section =~ /^<(\w+)/ ? "</$1>" : '';
    ($status, $said) = Sigreq::Httpd->new(place => $on, server => "$section\nSigreq On\n$end")->test;
    isnt($status, 0, "Sigreq in $section is rejected");
    like($said, qr/Sigreq (?:must be in|needs) a <Location/,
        "the message about $section gives the reason") or diag $said;
}
($status, $said) = Sigreq::Httpd->new(modules => 'authz_core', driver => "sqlite3")->test;
isnt($status, 0, 'a configuration without mod_dbd is rejected');
($status, $said) = Sigreq::Httpd->new(place => 'Sigreq Off', documents => '/tmp', helper => '/bin/true')->test;
is($status, 0, 'Sigreq Off needs nothing else') or diag $said;

subtest 'documents that httpd\'s user cannot write' => sub {
    my $httpd  = Sigreq::Httpd->new(place => $on . "</Location>\n<Location /again>\nSigreq On");
    my $folder = "$httpd->{dir}/documents";
    my @said   = grep {/SR0712/} split /\n/, ($httpd->test)[1];
    is(scalar @said, 0, 'there is no warning about a folder that httpd can write');
    chmod 0500, $folder;
    ($status, $said) = $httpd->test;
    chmod 0700, $folder;
    is($status, 0, 'httpd -t accepts a folder that httpd cannot write') or diag $said;
    @said = grep {/SR0712/} split /\n/, $said;
    is(scalar @said, 1, 'there is one warning about a folder of two locations');
    like($said[0], qr/user cannot write to SigreqDocuments \Q$folder\E: uploads get 503/,
        'the warning gives the reason');
};
subtest 'a database without tables' => sub {
    plan skip_all => 'an empty SQLite file, on SQLite alone' if suite->{db} ne 'sqlite3';
    my $httpd  = Sigreq::Httpd->new(params => suite->{dir} . "/db/empty-$$.sqlite3")->start;
    my $client = Sigreq::Here::client(base => $httpd->base);
    my $health = $client->get('/health');
    is($health->code,              503,           'health is 503');
    is($health->json('/database'), 'unavailable', 'health says that the database does not work');
    like($httpd->log, qr/sigreqctl db (?:init|upgrade)/, 'the log says what to do');
};
subtest 'a helper that does not work' => sub {
    my $httpd  = Sigreq::Httpd->new(helper => '/bin/true')->start;
    my $org    = Sigreq::Here::organisation(client => { base => $httpd->base });
    my $health = $org->{test}->get('/health');
    is($health->code, 503, 'health is 503');
    is_deeply($health->json, { status => 'unavailable', database => 'ok', helper => 'unavailable' },
        'health says that the helper does not work');
    my $res = $org->{test}->create(files => [['a.pdf', Sigreq::PDF::pdf(nonce => "no helper $$")]]);
    is($res->code, 503, 'a creation gets 503');
    ok($res->headers->header('Retry-After'), 'the response contains Retry-After');
    is($org->{test}->get('/signatures')->code, 200, 'reading works');
};
subtest 'the worker MPM' => sub { # event and prefork have suites of their own
    my $httpd  = Sigreq::Httpd->new(mpm => 'worker')->start;
    my $client = Sigreq::Here::organisation(client => { base => $httpd->base })->{test};
    my $made   = $client->create(files => [['a.pdf', Sigreq::PDF::pdf(nonce => "worker $$")]]);
    is($made->code, 201, 'the worker MPM accepts a creation');
    is($client->get('/signatures/' . $made->json('/uuid'))->body, $made->body, 'the submission can be read');
    is($client->get('/health')->code, 200, 'health is 200');
};
done_testing;
