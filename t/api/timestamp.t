# SPDX-License-Identifier: Apache-2.0
# Timestamps: every signature gets one of an authority that is trusted, all documents in one round trip. What an
# authority can do wrong, what the two modes do then, and that nothing is stored for a signature that is refused.
use strict;
use warnings;
use File::Find 'find';
use File::Temp;
use JSON::PP 'decode_json';
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for);
use Sigreq::Judge 'pyhanko_judge';
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Signer qw(signers_of chain_fault pdfsig qpdf_check is_unchanged);
use Sigreq::TSA;
use Sigreq::Validator;
use Test::More;

my $apart = Sigreq::Apart->new;
my $pki   = Sigreq::PKI->new("$apart->{dir}/pki");
my @tsa   = map { Sigreq::TSA->new($pki, "tsa$_") } 1, 2;
my $client;

sub file { qq{"@{[$pki->file($_[0])]}"} }
my $seal = "SigreqTestSealCertificate @{[file('seal-chain.crt')]}\nSigreqTestSealKey @{[file('seal.key')]}";

sub serve {    # mode, authorities, more directives
    my ($mode, $authorities, @more) = @_;
    my @urls = map { ref ? $_->url : $_ } @$authorities;
    $client = $apart->serve(
        server => join "\n", $seal, "SigreqTimestamp @urls",
        'SigreqTimestampAuthorities ' . file('authorities.crt'),
        "SigreqTimestampMode $mode", @more);
}

sub create {    # a submission of so many signers
    my $count = shift;
    my @areas = map { { area => { y => 60 * $_ } } } 1 .. $count;
    return $client->create(files => [['a.pdf', pdf(nonce => rand)]], signers => Sigreq::Client::signers(@areas))->json;
}

sub audit     { $client->get("/signatures/$_[0]{uuid}/audit")->json }
sub signed    { my $made = shift; return grep { $_->{event} eq 'signed' } @{ audit($made)->{events} } }
sub completed { my $made = shift; return (grep { $_->{event} eq 'completed' } @{ audit($made)->{events} })[-1] }

sub download {
    my ($made, $i) = @_;
    return $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[$i]{uuid}")->body;
}
sub certificate { $client->get("/signatures/$_[0]{uuid}/certificate")->body }

sub stored {    # all files of contents
    my @found;
    find(sub { push @found, $_ if -f && /^[0-9a-f]{64}[.]/ && !/[.]json$/ }, "$apart->{httpd}{dir}/documents");
    return join ' ', sort @found;
}

# --- the CMS of signatures, taken apart with openssl

sub asn1 {
    my $der = shift;
    my $file = File::Temp->new;
    binmode $file;
    print {$file} $der;
    close $file;
    my @lines = qx(openssl asn1parse -inform DER -in $file);
    return @lines;
}

sub length_of {    # of a DER element with its header
    my ($der, $at) = @_;
    my $length = unpack 'C', substr $der, $at + 1, 1;
    return 2 + $length if $length < 128;
    my $size = $length & 127;
    return 2 + $size + unpack 'N', substr "\0\0\0\0" . substr($der, $at + 2, $size), -4;
}

sub signatures_in {    # of a PDF: [DER of the CMS, signature value in hexadecimal, DER of the token or undef], …
    my $pdf = shift;
    my @found;
    while ($pdf =~ m{/Contents<([0-9a-f]+)>}g) {
        my $cms = pack 'H*', $1;
        $cms = substr $cms, 0, length_of($cms, 0);
        my (@values, $token);
        for (asn1($cms)) {
            last if /d=5 .*cont \[ 1 \]/;
            push @values, $1 if /OCTET STRING\s+\[HEX DUMP\]:([0-9A-F]+)/;
        }
        my $at = index $cms, pack 'H*', '060b2a864886f70d010910020e';
        if ($at > 0) {
            my $set = $at + 13;
            $token = substr $cms, $set + 2 + (length_of($cms, $set) > 129 ? ord(substr $cms, $set + 1, 1) & 127 : 0);
            $token = substr $token, 0, length_of($token, 0);
        }
        push @found, [$cms, $values[-1], $token];
    }
    return @found;
}

sub is_stamped {    # all signatures of a PDF have good tokens
    my ($name, $pdf, $count) = @_;
    my @signatures = signatures_in($pdf);
    is(scalar @signatures, $count, "$name: $count signatures");
    for my $signature (@signatures) {
        my (undef, $value, $token) = @$signature;
        next if !ok($token, 'the signature has a token');
        my ($in, $data) = map { my $file = File::Temp->new; binmode $file; print {$file} $_; close $file; $file }
            $token, pack 'H*', $value;
        my $roots = $pki->file('authorities.crt');
        my $said  = qx(openssl ts -verify -token_in -in $in -data $data -CAfile '$roots' 2>&1);
        like($said, qr/Verification: OK/, 'openssl verifies the token') or diag $said;
    }
    is(Sigreq::Validator::openssl($pdf, $pki->file('root.crt'))->{valid}, $count, 'the signatures are valid CAdES');
    return;
}

subtest 'each signature has a timestamp' => sub {
    serve('require', [$tsa[0]]);
    my $made    = create(2);
    my @signers = signers_of($made);
    $tsa[0]->forget;
    my $before = time;
    is($_->sign->code, 200, 'a signer signs') for @signers;
    is($tsa[0]->counts->{tokens}, 3, 'two signatures and the certificate of completion are stamped');
    my @events = signed($made);
    for my $event (@events, completed($made)) {
        my $said = $event->{detail}{documents} ? $event->{detail}{documents}[0] : $event->{detail};
        like($said->{timestamp}{authority}, qr/CN=Test tsa1/, "$event->{event}: the event names the authority");
        like($said->{timestamp}{time}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.]000)?Z$/,
            "$event->{event}: the event has the time");
        ok(!exists $said->{timestampFault}, "$event->{event}: the event has no fault");
    }
    is(chain_fault(audit($made)), undef, 'the audit trail is a chain');
    my $pdf = download($made, 0);
    is_stamped('the document', $pdf, 2);
    is_stamped('the certificate of completion', certificate($made), 1);
    my $pdfsig = pdfsig($pdf);
    is($pdfsig->{valid}, 2, 'pdfsig: both signatures are valid');
    is($pdfsig->{total}, 1, 'pdfsig: the last signature covers the whole document');
    is_unchanged($pdf, 2);
    qpdf_check($pdf);
    is($client->post('/verify', body => $pdf, headers => { 'Content-Type' => 'application/pdf' })->json->{conclusion},
        'signed', 'POST /verify says the same');
    my $saved = File::Temp->new(SUFFIX => '.pdf');
    binmode $saved;
    print {$saved} $pdf;
    close $saved;
    my $judged = pyhanko_judge($pki->file('roots.crt'), "$saved");
SKIP: {
        skip('pyHanko is not here', 2) if !$judged;
        my @found = @{ $judged->{"$saved"}{signatures} };
        is(scalar @found, 2, 'pyHanko finds both signatures');
        is(scalar(grep { $_->{intact} && $_->{valid} && $_->{trusted} } @found), 2,
            'pyHanko calls both signatures good')
            or diag explain \@found;
    }
};

subtest 'without SigreqTimestamp nothing is different' => sub {
    $client = $apart->serve(server => $seal);
    my $made = create(1);
    is((signers_of($made))[0]->sign->code, 200, 'a signer signs');
    my ($event) = signed($made);
    is(join(' ', sort keys %{ $event->{detail}{documents}[0] }), 'after before uuid', 'the event has no new member');
    is(join(' ', sort keys %{ completed($made)->{detail} }), 'certificate',
        'the event of the certificate has no new member');
    my ($signature) = signatures_in(download($made, 0));
    is($signature->[2], undef, 'the signature has no token');
};

subtest 'twenty documents are stamped in one round trip' => sub {
    serve('require', [$tsa[0]], 'SigreqTimestampTimeout 60s 60s');
    my @files  = map { ["d$_.pdf", pdf(nonce => rand)] } 1 .. 20;
    my $fields = sub {    # in all documents, at this height
        my $y = shift;
        return [map { { type => 'signature', name => "S $_->[0]", document => $_->[0],
                    area => { x => 72, y => $y, w => 180, h => 50, page => 0 } } } @files];
    };
    my @signers = map { { firstname => $_->[0], lastname => 'Lee', fields => $fields->($_->[1]) } } ['Ann', 72],
        ['Bea', 272];
    my $made = $client->create(files => \@files, signers => \@signers)->json;
    my ($ann, $bea) = signers_of($made);
    $tsa[0]->forget;
    $tsa[0]->gather(20);    # no query is answered before all are there
    is($ann->sign->code, 200, 'the first signer signs');
    my $counts = $tsa[0]->counts;
    is($counts->{most},   20, 'all queries were under way at the same time');
    is($counts->{tokens}, 20, 'each signature has a token of its own');
    $tsa[0]->gather(0);
    is($bea->sign->code, 200, 'the second signer signs');
    my ($event) = signed($made);
    is(scalar(grep { $_->{timestamp}{time} } @{ $event->{detail}{documents} }), 20, 'the event has 20 times');
    is_stamped('the last document', download($made, 19), 2);
};

my @faults = qw(refuse close slow html type big tail status2 nonce nonceless imprint skew 401 500);
subtest 'what authorities do wrong' => sub {
    plan skip_all => 'once is enough: it takes 40 s' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
    my %why = (
        refuse => 'unreachable', close => 'closed', slow => 'late', html => 'type', type => 'type', big => 'large',
        tail => 'malformed', status2 => 'rejected', nonce => 'nonce', nonceless => 'nonce', imprint => 'imprint',
        skew => 'clock', 401 => 'status', 500 => 'status');
    for my $mode ('require', 'prefer') {
        for my $count (1, 2) {
            serve($mode, [@tsa[0 .. $count - 1]], 'SigreqTimestampTimeout 3s 40s');
            for my $fault (@faults) {
                my $name = "$fault, $mode, $count";
                my $made = create(2);
                my ($first, $second) = signers_of($made);
                $first->state;
                $second->state;
                my ($before, $files) = (audit($made), stored());
                $tsa[0]->mode($fault);
                my $res = $first->sign;
                if ($mode eq 'require' && $count == 1) {
                    is($res->code, 503, "$name: refused");
                    cmp_ok($res->headers->header('Retry-After') // 0, '>', 0, "$name: the refusal has Retry-After");
                    is_deeply(audit($made), $before, "$name: the audit trail is as before");
                    is(stored(), $files, "$name: no file was added");
                    $tsa[0]->mode('ok');
                    is($first->sign->code, 200, "$name: the signer can sign again");
                }
                is($res->code, 200, "$name: signed") if $mode eq 'prefer' || $count == 2;
                $tsa[0]->mode('ok');
                my ($event) = signed($made);
                my $said = $event->{detail}{documents}[0];
                if ($mode eq 'prefer' && $count == 1) {
                    ok(exists $said->{timestamp} && !defined $said->{timestamp},
                        "$name: the event says that there is no timestamp");
                    is($said->{timestampFault}, $why{$fault}, "$name: the event says why there is no timestamp");
                }
                else {
                    like($said->{timestamp}{authority}, $count == 2 ? qr/tsa2/ : qr/tsa1/,
                        "$name: the event has a timestamp");
                }
                is($second->sign->code, 200, "$name: the other signer signs, so the authority is trusted again");
            }
            my $log = $apart->{httpd}->log;
            like($log, qr/SR0411: timestamp authority 1 \(http:\S+\): its clock differs from ours by (?:59|60)\d s/,
                'the log has the reason');
        }
    }
};

subtest 'certificates of authorities' => sub {
    my $stranger = Sigreq::PKI->new("$apart->{dir}/stranger");
    my $loose    = Sigreq::TSA->new($pki, 'notsa');
    my $other    = Sigreq::TSA->new($stranger, 'tsa2');
    for my $row (['an extended key usage that is not critical', $loose, qr/unsuitable certificate purpose/],
        ['an authority that is not trusted', $other, qr/unable to get local issuer certificate/])
    {
        serve('require', [$row->[1]]);
        my $made = create(1);
        is((signers_of($made))[0]->sign->code, 503, "$row->[0]: refused");
        like($apart->{httpd}->log, qr/SR0411: .*$row->[2]/, "$row->[0]: the log has the reason");
        serve('require', [$row->[1], $tsa[1]]);
        $made = create(1);
        is((signers_of($made))[0]->sign->code, 200, "$row->[0]: the next authority stamps");
    }
};

# The pauses that can have ended since then: 1, 2, 4, 8, 16, 30, 30, … seconds.
sub pauses_since {
    my ($begun) = @_;
    my ($left, $pause, $count) = (time - $begun + 1, 1, 0);
    while ($left >= $pause) {
        $left -= $pause;
        $pause = $pause * 2 > 30 ? 30 : $pause * 2;
        $count++;
    }
    return $count;
}

subtest 'an authority that fails is skipped' => sub {
    serve('prefer', [$tsa[0]]);
    $tsa[0]->mode('500');
    $tsa[0]->forget;
    my $sign = sub { (signers_of(create(2)))[0]->sign };
    my $begun = time;
    my $asks  = sub {
        my ($queries, $most) = ($tsa[0]->counts->{queries}, 3 + pauses_since($begun));
        return $queries >= 3 && $queries <= $most || (diag("$queries questions, at most $most"), 0)[1];
    };
    my @made = map { create(2) } 1 .. 16;
    is((signers_of($_))[0]->sign->code, 200, 'it is signed') for @made;
    ok($asks->(), 'sixteen signers: three questions, and one after each pause');
    my %faults;
    $faults{$_}++ for map { $_->{detail}{documents}[0]{timestampFault} } map { signed($_) } @made;
    ok($faults{skipped}, 'the events of the others say that nobody was asked') or diag explain \%faults;
    kill KILL => children($apart->{httpd}->pid);
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'all children are replaced');
    $sign->();
    ok($asks->(), 'the new children know it');
    $tsa[0]->mode('ok');
    ok(wait_for(sub {
            sleep 1;
            my $one = create(2);
            (signers_of($one))[0]->sign;
            my ($said) = signed($one);
            return $said->{detail}{documents}[0]{timestamp};
        }), 'after a pause it is asked again');
    $tsa[0]->forget;
    $sign->() for 1 .. 4;
    is($tsa[0]->counts->{queries}, 4, 'all signatures ask an authority that is well');
};

subtest 'an outage under load' => sub {
    my $people = 6;
    serve('prefer', [$tsa[0]], 'SigreqTimestampTimeout 2s 2s');
    my @made = map { create(6) } 1 .. $people;
    $tsa[0]->mode('slow');
    $tsa[0]->forget;
    my $begun = time;
    my @pids  = map {
        my $made = $_;
        my $pid  = fork // die "fork: $!\n";
        if (!$pid) {
            my $failed = grep { eval { $_->sign->code } != 200 } signers_of($made);
            require POSIX;
            POSIX::_exit($failed);
        }
        $pid;
    } @made;
    my $failed = 0;
    for (@pids) { waitpid $_, 0; $failed += $? >> 8 }
    is($failed, 0, 'everybody can sign, six at a time, while the authority does not answer');
    my $queries = $tsa[0]->counts->{queries};
    cmp_ok($queries, '<=', 2 + $people + pauses_since($begun),
        'after three failures nobody else waits for the authority');
    my %faults;
    for my $event (map { (signed($_), completed($_)) } @made) {
        $faults{ $_->{timestampFault} // 'none' }++
            for grep { exists $_->{timestamp} } @{ $event->{detail}{documents} // [] }, $event->{detail};
    }
    is($faults{late}, $queries, 'the events of those who waited say so') or diag explain \%faults;
    cmp_ok($faults{skipped}, '>', 20, 'the others were not held up');
    ok(!$faults{none}, 'no time is made up');
    $tsa[0]->mode('ok');
};

subtest 'a child that is killed while it waits' => sub {
    serve('require', [$tsa[0]], 'SigreqTimestampTimeout 60s 60s');
    my $made = create(2);
    my ($first) = signers_of($made);
    $first->state;
    my $before = audit($made);
    $tsa[0]->mode('slow');
    $tsa[0]->forget;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) { eval { $first->sign }; require POSIX; POSIX::_exit(0) }
    ok(wait_for(sub { $tsa[0]->counts->{queries} == 1 }), 'the query is under way');
    kill KILL => children($apart->{httpd}->pid);
    waitpid $pid, 0;
    $tsa[0]->mode('ok');
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'there is a new child');
    is_deeply(audit($made), $before, 'nothing has happened');
    is($first->sign->code, 200, 'the signer presses again');
    is(scalar signed($made), 1, 'it is signed once');
};

subtest 'a login, and a proxy' => sub {
    my $locked = Sigreq::TSA->new($pki, 'tsa2', login => 'ann:sesame');
    my $logins = "$apart->{dir}/logins";
    Sigreq::Suite::write_file($logins, "# logins\n\n@{[$locked->url]} ann:sesame\n");
    serve('require', [$locked]);
    is((signers_of(create(1)))[0]->sign->code, 503, 'without a login the authority refuses');
    serve('require', [$locked], qq{SigreqTimestampLogin "$logins"});
    is((signers_of(create(1)))[0]->sign->code, 200, 'with a login it stamps');
    $tsa[0]->forget;
    serve('require', ['http://no-such-host.invalid/tsa'], 'SigreqProxy ' . $tsa[0]->url);
    is((signers_of(create(1)))[0]->sign->code, 200, 'through a proxy');
    is($tsa[0]->counts->{tokens}, 2, 'the proxy was asked');
};

subtest 'httpd -t' => sub {
    my $url     = 'SigreqTimestamp http://127.0.0.1:1/';
    my $anchors = 'SigreqTimestampAuthorities ' . file('authorities.crt');
    my $logins  = "$apart->{dir}/wrong-logins";
    Sigreq::Suite::write_file($logins, "http://127.0.0.1:2/ ann:sesame\n");
    my @rows = (
        ['authorities are missing', $url, qr/SigreqTimestamp needs SigreqTimestampAuthorities/],
        ['a missing file', "$url\nSigreqTimestampAuthorities /no/such", qr{/no/such: No such file}],
        ['a file without certificates', "$url\nSigreqTimestampAuthorities " . file('seal.key'),
            qr/holds no certificate/],
        ['no URL', 'SigreqTimestamp ftp://x/', qr{SigreqTimestamp must be http:// or https:// URLs}],
        ['a URL with a password', 'SigreqTimestamp http://a:b@x/', qr/without user/],
        ['too many', 'SigreqTimestamp' . ' http://x/' x 9, qr/at most 8 URLs/],
        ['one time', "$url\n$anchors\nSigreqTimestampTimeout 3s", qr/must be two times/],
        ['times in the wrong order', "$url\n$anchors\nSigreqTimestampTimeout 6s 3s", qr/must be two times/],
        ['another mode', 'SigreqTimestampMode perhaps', qr/must be require or prefer/],
        ['a proxy that is none', 'SigreqProxy proxy:3128', qr/must be http:/],
        ['a login for another authority', "$url\n$anchors\nSigreqTimestampLogin \"$logins\"",
            qr/line 1 is not a URL of SigreqTimestamp/],
    );
    for my $row (@rows) {
        my ($name, $server, $expected) = @$row;
        my (undef, $status, $said) = (undef, Sigreq::Httpd->new(server => $server)->test);
        my $later = $name =~ /^a (?:missing file|file without|login)/; # other sites start
        $later ? is($status, 0, "$name: reported") : isnt($status, 0, "$name: refused");
        like($said, $expected, "$name: the message has the reason");
        unlike($said, qr/sesame/, "$name: the message has no password");
    }
    my ($status, $said) = Sigreq::Httpd->new(server => "$url\n$anchors")->test;
    is($status, 0, 'nobody has to listen on the URL') or diag $said;
};

done_testing;
