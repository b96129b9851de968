# SPDX-License-Identifier: Apache-2.0
# The next certificate of the seal takes over while documents are signed, without a restart: no request fails, and each
# signature has a certificate that is valid at its time. One that cannot be used never stops the present one.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use POSIX 'strftime';
use Sigreq::Here qw(suite children signers wait_for organisation);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Signer 'signers_of';
use Test::More;
use Time::HiRes 'sleep';

my $folder = tempdir('rotate.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $ctl    = suite->{source} . '/build/sigreqctl';

sub run { system(@_) == 0 or die "@_\n" }
sub openssl { system("openssl $_[0] >'$folder/said' 2>&1") == 0 or die "openssl $_[0]: " . path("$folder/said")->slurp }

openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Authority -days 99 "
        . "-keyout $folder/ca.key -out $folder/ca.crt");

sub issue {    # signs a request, valid from and until so many seconds from now
    my ($request, $out, $from, $until) = @_;
    Sigreq::PKI::sign_request($folder, $request, $out, issuer => 'ca', from => $from, until => $until);
}

sub pair {    # a folder with a seal: its directives, with those of the next one
    my ($name, @options) = @_;
    my $dir = "$folder/$name";
    run("$ctl seal create $dir --name '$name' @options >'$folder/said'");
    return ($dir, Sigreq::Httpd::seal(SigreqSeal => $dir)
            . qq{\nSigreqSealNextCertificate "$dir/next.crt"\nSigreqSealNextKey "$dir/next.key"});
}

sub prepare {    # the next certificate, by the commands for it
    my ($dir, $name, $from, $until) = @_;
    run("$ctl seal request $dir --name '$name' >'$folder/said'");
    issue("$dir/next.csr", "$folder/sent.crt", $from, $until);
    run("$ctl seal import $dir $folder/sent.crt >'$folder/said'");
}

sub health { return Sigreq::Here::client(base => $_[0]->base)->get('/health?verbose')->json->{seal} }
sub metric {
    my ($httpd, $name) = @_;
    return Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body =~ /^\Q$name\E ([\d.]+)/m ? $1 : undef;
}
my @metrics = (server => "<Location /metrics>\nSetHandler sigreq-metrics\n</Location>");
my $live    = 'sigreq_seal_certificate_expiry_timestamp_seconds{environment="production"}';
my $coming  = 'sigreq_seal_next_certificate_expiry_timestamp_seconds';

# The name and the dates of the certificate of each signature, and the time in the signature.
sub signatures {
    my $bytes = shift;
    my $file  = "$folder/signed.pdf";
    path($file)->spurt($bytes);
    my $said  = qx(TZ=UTC pdfsig -nocert '$file' 2>&1);
    my @names = $said =~ /Signer Certificate Common Name: (.+)/g;
    my @valid = $said =~ /Signature Validation: (.+)/g;
    my @times = $bytes =~ m{/M\s*\(D:(\d{14})}g;
    return map { { name => $names[$_], valid => $valid[$_], time => $times[$_] } } 0 .. $#names;
}

subtest 'the takeover while documents are signed' => sub {
    my ($dir, $httpd, $begin);
    for my $from (20, 60, 180) {    # seconds to the takeover: more if the machine is slow
        ($dir, my $seal) = pair("present-$from");
        $begin = time + $from;
        prepare($dir, 'Next', $from, 90 * 86400);
        $httpd = Sigreq::Httpd->new(seal => $seal, children => 2, @metrics)->start;
        last if time < $begin - $from / 2;
    }
    like($httpd->log, qr/:notice\].* SR0407: the next certificate of the seal, "Next" [0-9a-f]{64}, seals from \d{4}-/,
        'the log says from when on it seals');
    is(health($httpd)->{next}{status}, 'waiting', 'so does the health check');
    my ($present, $next) = (metric($httpd, $live), metric($httpd, $coming));
    cmp_ok($next, '<', $present, 'there are metrics of both certificates');
    my @processes = (sort { $a <=> $b } children($httpd->pid), signers($httpd->pid));
    my $client    = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    my (@made, %codes);
    my $rounds = 0;
    while ($rounds < 3) {    # until three rounds have begun after the takeover
        $rounds++ if time > $begin + 1;
        my @new = map {
            my @file = ('a.pdf', pdf(nonce => rand));
            $client->create(files => [\@file])->json
        } 1 .. 8;
        my @signers = map { (signers_of($_, connections => 0))[0] } @new;
        my $at      = 0;
        $codes{ $_->code }++ for $client->parallel(scalar @signers, 4, sub { $signers[$at++]->sign_p });
        push @made, @new;
        sleep 0.5 if time < $begin - 2;    # the processors are for others until then
    }
    is_deeply([keys %codes], [200], scalar(@made) . ' documents are signed, no request fails') or diag explain \%codes;
    my %seen;
    my $wrong = 0;
    my $limit = join '', qx(openssl x509 -in '$dir/next.crt' -noout -startdate -dateopt iso_8601) =~ /\d+/g;
    for my $made (@made) {
        my $bytes = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
        for my $one (signatures($bytes)) {
            $seen{ $one->{name} }++;
            $wrong++ if $one->{valid} ne 'Signature is Valid.';
            $wrong++ if ($one->{name} eq 'Next') != ($one->{time} ge $limit);    # by its time
        }
    }
    is($wrong, 0, 'pdfsig: all are valid, by the certificate that is valid at their time');
    my ($present_name) = grep { $_ ne 'Next' } sort keys %seen;
    is_deeply([sort keys %seen], ['Next', $present_name], "by both certificates: $seen{$present_name}, $seen{Next}");
    my $last  = $client->get("/signatures/$made[-1]{uuid}/documents/$made[-1]{documents}[0]{uuid}")->body;
    my $first = $client->get("/signatures/$made[0]{uuid}/documents/$made[0]{documents}[0]{uuid}")->body;
    for my $bytes ($first, $last) {
        my $found = $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' })->json;
        is($found->{signatures}[0]{ours}, Mojo::JSON->true, 'the service recognises it');
    }
    is_deeply([sort { $a <=> $b } children($httpd->pid), signers($httpd->pid)], \@processes, 'no process was started');
    ok(wait_for(sub { $httpd->log =~ /SR0407: the next certificate of the seal, "Next" \S+, seals from now on/ }),
        'the log says when it has taken over');
    is(metric($httpd, $live), $next, 'the metric is that of the new certificate');
    is(health($httpd)->{next}{status}, 'sealing', 'so is the health check');

    is(system("$ctl seal rotate $dir >'$folder/said'"), 0, 'seal rotate, while httpd runs');
    kill KILL => signers($httpd->pid);    # another one reads the files
    my $sign = sub { (signers_of($client->create(files => [['a.pdf', pdf(nonce => rand)]])->json))[0]->sign->code };
    is($sign->(), 200, '… another signer process has the key of that certificate');
    ok($httpd->graceful, '… a graceful restart');
    is($sign->(), 200, '… it seals');
    is(health($httpd)->{next}, undef, '… no other certificate waits');

    my $ours = sub {    # whether the service, and sigreqctl verify, recognise a document
        path("$folder/verified.pdf")->spurt($_[0]);
        my $helper = suite->{source} . '/build/sigreq-pdfd';
        my $found  = $client->post('/verify', body => $_[0], headers => { 'Content-Type' => 'application/pdf' })->json;
        my @words  = ("$folder/verified.pdf", '--certificate', "$dir/seal.crt", '--helper', $helper);
        my $said   = qx($ctl --json verify @words 2>/dev/null);
        return join ' ', map { $_->{signatures}[0]{ours} ? 'ours' : 'foreign' } $found, Mojo::JSON::decode_json($said);
    };
    is($ours->($first), 'ours ours', 'what the former certificate has sealed is still recognised');
    is($ours->($last),  'ours ours', '… and what the present one has');
    path("$dir/former/bad.crt")->spurt('no certificate');
    unlike($httpd->log, qr/SR0408/, 'no warning so far');
    ok($httpd->graceful, 'with a file in the folder former that is no certificate, a graceful restart');
    like($httpd->log, qr{:warn\].* SR0408: .*former/bad\.crt: it holds no certificate}, '… warns');
    is($ours->($first), 'ours ours', '… and the others are read');
    unlink glob "$dir/former/*";
    ok($httpd->graceful, 'when the certificate is removed, after a graceful restart');
    is($ours->($first), 'foreign foreign', '… it is not recognised any more');
};

subtest 'it is added while httpd runs' => sub {
    my ($dir, $seal) = pair('First');
    my $httpd  = Sigreq::Httpd->new(seal => $seal, @metrics)->start;
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    is(health($httpd)->{next}, undef, 'there is none');
    prepare($dir, 'Second', -60, 90 * 86400);
    my @new     = map { $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json } 1 .. 16;
    my @signers = map { (signers_of($_, connections => 0))[0] } @new;
    my $at      = 0;
    kill USR1 => $httpd->pid;
    my %codes;
    $codes{ $_->code }++ for $client->parallel(scalar @signers, 4, sub { $signers[$at++]->sign_p });
    is_deeply(\%codes, { 200 => 16 }, 'a graceful restart while documents are signed: no request fails');
    ok(wait_for(sub { (eval { health($httpd)->{next}{status} } // '') eq 'sealing' }), 'it seals at once');
};

subtest 'a time of the administrator' => sub {
    my ($dir, $seal) = pair('Early');
    prepare($dir, 'Late', -60, 90 * 86400);
    my $until = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 86400));
    my $httpd = Sigreq::Httpd->new(seal => "$seal\nSigreqSealNextFrom $until")->start;
    is_deeply([@{ health($httpd)->{next} }{qw(status sealsFrom)}], ['waiting', $until =~ s/Z/.000Z/r],
        'it is valid, and waits for that time');
    my ($status, $said) = Sigreq::Httpd->new(seal => "$seal\nSigreqSealNextFrom soon")->test;
    like($said, qr/SigreqSealNextFrom must be a date and time, such as .*, not 'soon'/, 'another word is refused');
};

subtest 'one that cannot be used' => sub {
    my ($dir, $seal) = pair('Alone');
    path("$dir/next.crt")->spurt('no certificate');
    my $httpd = Sigreq::Httpd->new(seal => $seal);
    my ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t');
    like($said, qr{SR0406: the next certificate .*: SigreqSealNextCertificate .*next\.crt: it holds no certificate},
        '… warns');
    $httpd->start;
    like($httpd->log, qr/:warn\].* SR0406: .*The current one continues to seal/, 'so does the start');
    is_deeply(health($httpd)->{next}, { status => 'unusable', sealsFrom => undef, certificateExpires => undef },
        'the health check says it');
    ($status, $said) = Sigreq::Httpd->new(seal => $seal =~ s/^SigreqSealNextKey.*//mr)->test;
    isnt($status, 0, 'one directive without the other is refused');
    like($said, qr/SigreqSealNextCertificate and SigreqSealNextKey must be set together/, '… with the reason');
};

subtest 'the present one ends first' => sub {
    my ($dir, $seal) = pair('Old');
    path("$dir/seal.crt")->remove;
    openssl("req -new -key $dir/seal.key -subj /CN=Old -out $folder/old.csr");
    issue("$folder/old.csr", "$dir/seal.crt", -86400, -60);
    my $httpd = Sigreq::Httpd->new(seal => $seal);
    like(($httpd->test)[1], qr/SR0400: .*expired at .*cannot be signed/, 'an expired certificate alone: httpd -t');
    prepare($dir, 'New', -60, 90 * 86400);
    unlike(($httpd->test)[1], qr/SR0400/, 'with a next one that is valid: nothing');
    $httpd->start;
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    my $made   = $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
    is((signers_of($made))[0]->sign->code, 200, 'a document is signed');
    my ($one) = signatures($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    is_deeply([@$one{qw(name valid)}], ['New', 'Signature is Valid.'], '… by the next one');
    is_deeply([@{ health($httpd) }{qw(status)}, health($httpd)->{next}{status}], ['ok', 'sealing'], 'the health check');
    unlike($httpd->log, qr/SR0402/, 'nothing ends soon');
};
done_testing;
