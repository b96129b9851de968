# SPDX-License-Identifier: Apache-2.0
# SigreqOrganizationSeals: the own seals of organisations. Each seals the production documents of its organisation, and
# the seal of the service those of the others. One that cannot be used stops its organisation alone, and no other seal
# takes its place. t/api/own_proofs.t has their revocation.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json true);
use POSIX 'strftime';
use Sigreq::Here qw(suite children signers workers wait_for organisation);
use Sigreq::Httpd;
use Sigreq::Keys qw(parts_of_key memory_has);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $folder = tempdir('own.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $ctl    = suite->{source} . '/build/sigreqctl';
my $seals  = "$folder/seals";
mkdir $seals or die "$seals: $!\n";

sub run { system(@_) == 0 or die "@_\n" }

sub org_seal {    # sigreqctl org seal: exit code, what it said
    my @command = ($ctl, '--driver', suite->{db}, '--params', suite->{params}, 'org', 'seal', '--seals', $seals, @_);
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? >> 8, $said);
}

my $made = 0;

sub pair {    # a folder with a new seal
    my ($name) = @_;
    my $dir = "$folder/pair" . ++$made;
    run("$ctl seal create $dir --name '$name' >'$folder/said'");
    return $dir;
}

sub install {
    my ($org, $name) = @_;
    my $dir = pair($name);
    return org_seal($org->{uuid}, '--certificate', "$dir/seal.crt", '--key', "$dir/seal.key");
}

sub server {qq{SigreqOrganizationSeals "$seals"\n<Location /metrics>\nSetHandler sigreq-metrics\n</Location>}}
sub at { my ($httpd, $client) = @_; return $client->with(base => $httpd->base, connections => 0) }
sub health { return Sigreq::Here::client(base => $_[0]->base)->get('/health?verbose')->json->{organizationSeals} }

sub metric {
    my ($httpd, $name) = @_;
    return Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body =~ /^\Q$name\E (\d+)/m ? $1 : undef;
}

sub fresh {    # a busy machine may refuse a creation (503)
    my ($client) = @_;
    my $made;
    wait_for(sub { $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]]); $made->code == 201 });
    return $made->json;
}


sub document {
    my ($client, $one) = @_;
    return $client->get("/signatures/$one->{uuid}/documents/$one->{documents}[0]{uuid}")->body;
}

sub sealed {    # a new submission that was signed: the names in the certificates of its document and its certificate
    my ($client) = @_;
    my $one = fresh($client);
    my ($signer) = signers_of($one, connections => 0);
    my $code = $signer->sign->code;
    return $code if $code != 200;
    return join ', ', map { signed_by($_) } document($client, $one),
        $client->get("/signatures/$one->{uuid}/certificate")->body;
}

sub signed_by {    # pdfsig: who has signed
    my $file = path("$folder/signed.pdf")->spurt($_[0]);
    my $said = qx(pdfsig -nocert '$file' 2>&1);
    my @valid = $said =~ /Signature Validation: (.+)/g;
    my @names = $said =~ /Signer Certificate Common Name: (.+)/g;
    return join '+', map { $valid[$_] eq 'Signature is Valid.' ? $names[$_] : $valid[$_] } 0 .. $#names;
}

sub verified {
    my ($client, $bytes) = @_;
    return $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' })->json;
}

my ($acme, $beta, $none) = map { organisation() } 1 .. 3;
my $service = pair('The service');
my $httpd   = Sigreq::Httpd->new(
    server => server(), children => 2, seal => Sigreq::Httpd::seal(SigreqSeal => $service),
    place  => "Sigreq On\nSigreqVerifyPage On");
my %of;

subtest 'two organisations with an own seal, and one without' => sub {
    is((install($acme, 'Acme'))[0], 0, 'the first is installed');
    is((install($beta, 'Beta'))[0], 0, 'the second one');
    my ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t');
    unlike($said, qr/SR04/, 'httpd -t has nothing to say') or diag $said;
    $httpd->start;
    is(sealed(at($httpd, $acme->{live})), 'Acme, Acme', 'the document and the certificate of the first');
    is(sealed(at($httpd, $beta->{live})), 'Beta, Beta', 'the document and the certificate of the second');
    is(sealed(at($httpd, $none->{live})), 'The service, The service',
        'the document and the certificate of the one without a seal');
    like(sealed(at($httpd, $acme->{test})), qr/^Sigreq TEST .*, Sigreq TEST /, 'its test documents have the test seal');
    is_deeply(health($httpd), { ok => 2, expiring => 0, revoked => 0, unusable => 0 }, 'the health check');
    is(metric($httpd, 'sigreq_organization_seals'), 2, 'the metric');
    is(metric($httpd, 'sigreq_organization_seals_unusable'), undef, 'no seal is unusable');
    cmp_ok(metric($httpd, 'sigreq_organization_seal_expiry_timestamp_seconds'), '>', time,
        'the metric says when the first seal ends');
    like($httpd->log, qr/SR0443: 2 organizations have their own seals/, 'the log');
};

subtest 'who recognises it' => sub {
    my $client = at($httpd, $acme->{live});
    my $one    = fresh($client);
    is((signers_of($one))[0]->sign->code, 200, 'signed');
    my $bytes = $of{acme} = document($client, $one);
    is(verified($client, $bytes)->{signatures}[0]{ours}, true, 'the organisation');
    is(verified(at($httpd, $none->{live}), $bytes)->{signatures}[0]{ours}, true, 'another one');
    my $test = verified(at($httpd, $acme->{test}), $bytes)->{signatures}[0]{ours};
    ok(!$test, 'in the test environment it is none of this service');
    my $body = multipart(part('file', $bytes, filename => 'a.pdf', type => 'application/pdf'));
    my $page = Mojo::UserAgent->new->post(
        $httpd->base . '/verify' => { 'Content-Type' => 'multipart/form-data; boundary=' . BOUNDARY } => $body)->res;
    like($page->dom->at('main')->all_text, qr/Certificate holder Acme\s+Made by this service\./,
        'the page for everybody');
    my $file = path("$folder/acme.pdf")->spurt($bytes);
    my @verify = ($ctl, '--json', 'verify', "$file", '--helper', suite->{source} . '/build/sigreq-pdfd');
    is(decode_json(scalar qx(@verify --seals '$seals'))->{signatures}[0]{ours}, true, 'sigreqctl verify');
    my $without = decode_json(scalar qx(@verify --certificate '$service/seal.crt'));
    ok(!$without->{signatures}[0]{ours}, 'sigreqctl verify needs the folder');
    like(qx(openssl x509 -noout -subject -in '$seals/$acme->{uuid}/seal.crt'), qr/Acme/, 'it has the certificate');
};

subtest 'no other process has its key' => sub {
    plan skip_all => 'a sanitizer maps terabytes of memory' if $ENV{SIGREQ_SANITIZE};
    my %parts = parts_of_key(path("$seals/$acme->{uuid}/seal.key")->slurp);
    my @others = ($httpd->pid, children($httpd->pid), workers(children($httpd->pid)));
    cmp_ok(scalar @others, '>=', 4, 'parent, children and helpers: ' . @others);
    my %has = map { $_ => scalar memory_has($_, %parts) } @others;
    is($has{$_} // '', '', "process $_ does not have it in its memory") for @others;
    cmp_ok(scalar(grep {defined} values %has), '>=', 3, 'their memory can be read');
    like(scalar memory_has($$, %parts), qr/DER.*scalar/, 'the search finds it in this process');
};

subtest 'a seal is added while documents are signed' => sub {
    my $new    = organisation();
    my %client = map { $_->[0] => at($httpd, $_->[1]{live}) } ['new', $new], ['acme', $acme], ['none', $none];
    my (%codes, %seen, @all);
    my $round = sub {
        my @new     = map { my $who = $_; map { [$who, fresh($client{$who})] } 1 .. 4 } sort keys %client;
        my @signers = map { (signers_of($_->[1], connections => 0))[0] } @new;
        my $at      = 0;
        $codes{ $_->code }++ for $client{acme}->parallel(scalar @signers, 4, sub { $signers[$at++]->sign_p });
        push @all, @new;
    };
    $round->();
    is((install($new, 'Newcomer'))[0], 0, 'sigreqctl installs it');
    $round->();
    my $resumed = sub { scalar(() = $httpd->log =~ /resuming normal operations/g) };
    my $before  = $resumed->();
    kill USR1 => $httpd->pid;
    for (1 .. 100) { $round->(); last if $_ > 1 && $resumed->() > $before }
    my %old = map { $_ => 1 } children($httpd->pid);
    ok(wait_for(sub { sealed($client{new}) eq 'Newcomer, Newcomer' }), 'it seals');
    $round->();
    is_deeply([keys %codes], [200], scalar(@all) . ' documents are signed, no request fails') or diag explain \%codes;
    $seen{ $_->[0] . ' by ' . signed_by(document($client{ $_->[0] }, $_->[1])) }++ for @all;
    is_deeply([sort keys %seen],
        ['acme by Acme', 'new by Newcomer', 'new by The service', 'none by The service'], 'each by one of its own')
        or diag explain \%seen;
};

subtest 'one that cannot be used' => sub {
    my %client = (acme => at($httpd, $acme->{live}), beta => at($httpd, $beta->{live}));
    my $waits  = fresh($client{acme});
    my $dir    = "$seals/$acme->{uuid}";
    my $other  = pair('Other');
    rename "$dir/seal.key", "$folder/kept.key" or die;
    my @faults = (
        ['the key of another certificate', sub { run("cp $other/seal.key $dir/seal.key") },
            qr/it is not the certificate of the key/],
        ['no key',                         sub { unlink "$dir/seal.key" }, qr/seal\.key: No such file/],
        ['no certificate', sub { run("cp $folder/kept.key $dir/seal.key"); rename "$dir/seal.crt", "$folder/kept.crt" },
            qr/seal\.crt: No such file/],
        ['no PEM', sub { path("$dir/seal.crt")->spurt('nothing') }, qr/it holds no certificate/],
    );
    for my $row (@faults) {
        my ($name, $break, $expected) = @$row;
        $break->();
        my ($status, $said) = $httpd->test;
        is($status, 0, "$name: httpd -t accepts the configuration");
        like($said, qr/SR0440: .* organization $acme->{uuid} cannot be used: .*$expected/,
            "$name: httpd -t says what is wrong");
    }
    ok($httpd->graceful, 'httpd restarts');
    like($httpd->log, qr/:error\].* SR0440: .*$acme->{uuid} cannot be used: .*Its production/, 'the log says it');
    is(sealed($client{acme}), 503, 'its documents are not sealed');
    my $answer = (signers_of($waits))[0]->sign;
    is($answer->code, 503, 'an older document is not sealed');
    ok($answer->headers->header('Retry-After'), 'the signer may try again');
    like($httpd->log, qr/:error\].* SR0100: .*$acme->{uuid} cannot be used/, 'the log has the reason');
    is(sealed($client{beta}),                     'Beta, Beta',               'those of the other organisation are');
    is(sealed(at($httpd, $none->{live})),         'The service, The service',
        'documents of an organisation without a seal are sealed');
    like(sealed(at($httpd, $acme->{test})),       qr/^Sigreq TEST/, 'its own test documents are sealed');
    is(Sigreq::Here::client(base => $httpd->base)->get('/health')->code, 200, 'health');
    is_deeply([@{ health($httpd) }{qw(ok unusable)}], [2, 1], 'health counts the unusable seal');
    is(metric($httpd, 'sigreq_organization_seals_unusable'), 1, 'the metric counts the unusable seal');
    rename "$folder/kept.crt", "$dir/seal.crt" or die;
    ok($httpd->graceful, 'repaired');
    is((signers_of($waits))[0]->sign->code, 200, 'what was refused is signed');
    is(signed_by(document($client{acme}, $waits)), 'Acme', 'the repaired seal signs what was refused');
};

subtest 'the signer process is started again' => sub {
    my $client = at($httpd, $acme->{live});
    kill KILL => signers($httpd->pid);
    is(sealed($client), 'Acme, Acme', 'it has the key again');
    my $next = pair('Acme two');
    is((org_seal($acme->{uuid}, '--certificate', "$next/seal.crt", '--key', "$next/seal.key"))[0], 0, 'a next pair');
    is((org_seal($acme->{uuid}, '--rotate'))[0], 0, 'the next pair replaces the present one');
    kill KILL => signers($httpd->pid);
    ok(wait_for(sub { sealed($client) eq 'Acme two, Acme two' }), 'another process has read it: children follow');
    is(verified($client, $of{acme})->{conclusion}, 'signed', 'a document that the old one has sealed stays as it is');
    my $ours = sub { return verified($client, $of{acme})->{signatures}[0]{ours} };
    path("$seals/$acme->{uuid}/former/bad.crt")->spurt('no certificate');
    ok($httpd->graceful, 'a graceful restart');
    is($ours->(), true, 'the restart reads the former certificate');
    like($httpd->log, qr{:warn\].* SR0408: .*former/bad\.crt: it holds no certificate},
        'the restart warns of another file');
    unlink "$seals/$acme->{uuid}/former/bad.crt";
    my @verify = ($ctl, '--json', 'verify', "$folder/acme.pdf", '--helper', suite->{source} . '/build/sigreq-pdfd');
    is(decode_json(scalar qx(@verify --seals '$seals'))->{signatures}[0]{ours}, true, 'so does sigreqctl verify');
    run("mv '$seals' '$seals.away'");
    kill KILL => signers($httpd->pid);
    ok(wait_for(sub { sealed($client) eq '503' }), 'a process that cannot read the folder: not sealed by another one');
    is(sealed(at($httpd, $none->{live})), 'The service, The service', 'the documents of others are sealed');
    run("mv '$seals.away' '$seals'");
    kill KILL => signers($httpd->pid);
    ok(wait_for(sub { sealed($client) eq 'Acme two, Acme two' }), 'it is back');
};

subtest 'the seal is rotated' => sub {
    my $dir = "$seals/$beta->{uuid}";
    my $next = pair('Beta two');
    is((org_seal($beta->{uuid}, '--certificate', "$next/seal.crt", '--key', "$next/seal.key"))[0], 0, 'installed');
    ok(-e "$dir/next.crt", 'the certificate is installed as the next one');
    ok($httpd->graceful, 'a graceful restart');
    is(sealed(at($httpd, $beta->{live})), 'Beta, Beta', 'the next certificate does not seal');
    is((org_seal($beta->{uuid}, '--rotate'))[0], 0, '--rotate');
    is(sealed(at($httpd, $beta->{live})), 'Beta, Beta', 'children have the old certificate');
    ok($httpd->graceful, 'the rotated certificate needs a graceful restart');
    is(sealed(at($httpd, $beta->{live})), 'Beta two, Beta two', 'the new one seals');
};

subtest 'an expired one' => sub {
    my $dir = "$seals/$beta->{uuid}";
    rename "$dir/seal.crt", "$folder/beta.crt" or die;
    run("openssl req -new -key $dir/seal.key -subj /CN=Beta -out $folder/beta.csr 2>'$folder/said'");
    my @now = map { strftime('%Y%m%d%H%M%SZ', gmtime(time - $_)) } 86400, 60;
    path("$folder/ca")->make_path;
    path("$folder/ca/index")->spurt('');
    path("$folder/ca.cnf")->spurt("[ca]\ndefault_ca = own\n[own]\ndatabase = $folder/ca/index\nnew_certs_dir = "
        . "$folder/ca\nrand_serial = yes\ndefault_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n");
    run("openssl ca -batch -notext -config $folder/ca.cnf -keyfile $service/seal.key -cert $service/seal.crt "
        . "-in $folder/beta.csr -out $dir/seal.crt -startdate $now[0] -enddate $now[1] >'$folder/said' 2>&1");
    like(($httpd->test)[1], qr/SR0440: .*$beta->{uuid} cannot be used: .*it expired at/, 'httpd -t says it');
    ok($httpd->graceful, 'httpd restarts');
    is(sealed(at($httpd, $beta->{live})), 503, 'nothing is sealed with it');
    is(sealed(at($httpd, $acme->{live})), 'Acme two, Acme two', 'other seals seal');
    rename "$folder/beta.crt", "$dir/seal.crt" or die;
};

subtest 'removed' => sub {
    is((org_seal($beta->{uuid}, '--remove'))[0], 0, 'sigreqctl');
    ok($httpd->graceful, 'a graceful restart');
    is(sealed(at($httpd, $beta->{live})), 'The service, The service', 'the seal of the service is used');
    mkdir "$seals/Acme" or die;
    like(($httpd->test)[1], qr/SR0442: .*: Acme is ignored/, 'a folder that is not named by a uuid: httpd -t says it');
};

subtest 'the folder cannot be read' => sub {
    my $wrong = Sigreq::Httpd->new(server => qq{SigreqOrganizationSeals "$folder/missing"});
    my ($status, $said) = $wrong->test;
    is($status, 0, 'httpd -t allows other sites to start');
    like($said, qr{SR0444: SigreqOrganizationSeals: \S+/missing: No such file.* Nothing is sealed},
        'httpd -t says which folder cannot be read');
    my $apart = organisation(client => { base => $wrong->start->base, connections => 0 });
    like($wrong->log, qr{:crit\].* SR0400: \S+/missing: No such file.* No document can be signed}, 'the start, too');
    for my $client (@$apart{qw(live test)}) {
        my $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
        is((signers_of($made))[0]->sign->code, 503, 'nothing is sealed, because others would be by the service');
    }
    is($apart->{live}->get('/health')->json('/sealing'), 'unavailable', 'the health check says it');
};
done_testing;
