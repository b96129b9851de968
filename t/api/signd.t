# SPDX-License-Identifier: Apache-2.0
# The signer process has the keys of the seals, and no other process has them. httpd's parent starts it again when it
# dies. A graceful restart starts another one, and the old one goes on for old children. t/unit/pdf_signd.c has the
# protocol.
use strict;
use warnings;
use File::Copy 'copy';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Here qw(suite children signers workers wait_for organisation);
use Sigreq::Httpd;
use Sigreq::Keys qw(parts_of_key memory_has);
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of typed pdfsig);
use Test::More;
use Time::HiRes 'sleep';

my $folder = tempdir('signd.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $METRICS = "<Location /metrics>\nSetHandler sigreq-metrics\n</Location>";
my $httpd = Sigreq::Httpd->new(children => 2, server => $METRICS);
my ($status, $said) = $httpd->test;
is($status, 0, 'httpd -t') or diag $said;
unlike($httpd->log, qr/SR0401/, 'httpd -t starts no signer process');
$httpd->start;
my $client = organisation(client => { base => $httpd->base, connections => 0 })->{test};
my $secret = path(suite->{dir} . '/seal/seal.key')->slurp;

sub fresh    { my @file = ('a.pdf', pdf(nonce => $_[0])); return $client->create(files => [\@file])->json }
sub sign_one { return (signers_of(fresh(rand)))[0]->sign }
sub metric { Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body =~ /^$_[0] (\d+)/m ? $1 : undef }

subtest 'who has the key' => sub {
    plan skip_all => 'a sanitizer maps terabytes of memory' if $ENV{SIGREQ_SANITIZE};
    is(sign_one()->code, 200, 'a document is signed');
    my @signers = signers($httpd->pid);
    is(scalar @signers, 1, 'there is one signer process');
    my $title = path("/proc/$signers[0]/cmdline")->slurp;
    is($title, 'sigreq-signd: holds the keys of the seals for httpd ' . $httpd->pid . "\0", 'ps shows what it is');
    my %parts = parts_of_key($secret);
    my @others = ($httpd->pid, children($httpd->pid), workers(children($httpd->pid)));
    cmp_ok(scalar @others, '>=', 4, 'parent, children and helpers: ' . @others);
    my %has = map { $_ => scalar memory_has($_, %parts) } @others;
    is($has{$_} // '', '', "process $_ does not have it in its memory") for @others;
    cmp_ok(scalar(grep {defined} values %has), '>=', 3, 'their memory can be read');
SKIP: {
        my $found = memory_has($signers[0], %parts);
        is($found, undef, 'the memory of the signer process cannot be read by its user') if $>;
        skip 'only root may read its memory', 1 if !defined $found;
        like($found, qr/scalar/, 'the signer process has it');
    }
    my $here = memory_has($$, %parts);
    like($here, qr/DER.*scalar/, 'the search finds it in this process');
    my $limits = path("/proc/$signers[0]/limits")->slurp;
    my ($core) = $limits =~ /^Max core file size +(\S+)/m;
    is($core, 0, 'there is no core file of it');
};

subtest 'it is killed while documents are signed' => sub {
    my $rounds = 6;
    my @made = map { fresh("kill $_") } 1 .. 16 * $rounds;
    my $before = metric('sigreq_signer_restarts_total');
    my $pid    = fork // die "fork: $!";
    if (!$pid) {
        for (1 .. 4) { sleep 0.3; kill KILL => signers($httpd->pid) }
        require POSIX;
        POSIX::_exit(0);
    }
    my @signers = map { (signers_of($_, connections => 0))[0] } @made;
    my $at      = 0;
    my @codes   = map { $_->code } $client->parallel(scalar @signers, 16, sub { $signers[$at++]->sign_p });
    waitpid $pid, 0;
    my %codes;
    $codes{$_}++ for @codes;
    my $shown = join ', ', map {"$codes{$_} of $_"} sort keys %codes;
    is(join(' ', grep { !/^(?:200|503)$/ } keys %codes), '', "each response is 200 or 503: $shown");
    ok(wait_for(sub { metric('sigreq_signer_restarts_total') > $before }), 'the process was started again');
    like($httpd->log, qr/:error\].* SR0404: the signer process \d+ died \(signal 9, Killed\): process \d+ replaces it/,
        'the log says so');
    my ($open, $broken) = (0, 0);
    for my $i (0 .. $#signers) {    # who was refused signs again
        my $state = $client->get("/signatures/$made[$i]{uuid}")->json->{submitters}[0]{status};
        $open++   if ($state eq 'completed') != ($codes[$i] == 200);
        next      if $state eq 'completed';
        $broken++ if !wait_for(sub { $signers[$i]->sign->code == 200 });
    }
    is($open,   0, 'a document is completed if and only if its signer was told so');
    is($broken, 0, 'a signer who was refused can sign later');
    my $wrong = 0;
    for my $made (@made) {
        my $res = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}");
        my $found = $client->post('/verify', body => $res->body, headers => { 'Content-Type' => 'application/pdf' });
        $wrong++ if $res->code != 200 || $found->json->{conclusion} ne 'signed';
    }
    is($wrong, 0, 'all of ' . @made . ' sealed documents are intact');
};

subtest 'a graceful restart' => sub {
    my ($old) = signers($httpd->pid);
    my ($child) = children($httpd->pid);
    my $made = fresh('restart');
    my ($signer) = signers_of($made);
    ok($httpd->graceful, 'httpd restarts');
    ok((grep { $_ != $old } signers($httpd->pid)), 'there is a new signer process');
    is($signer->sign->code, 200, 'it seals');
    ok(wait_for(sub { signers($httpd->pid) == 1 && !grep { $_ == $old } signers($httpd->pid) }),
        'the old one ends when the old children have ended');
    unlike($httpd->log, qr/long lost child|AH00488/, 'httpd knows it');
    my @now = (signers($httpd->pid));
    $httpd->stop;
    ok(wait_for(sub { !kill 0, @now }), 'httpd stops: it ends, too');
};

subtest 'it dies while it cannot be started' => sub {
    my $program = "$folder/sigreq-signd";    # signers() finds it by its name
    copy(suite->{source} . '/build/sigreq-signd', $program) or die "$program: $!";
    chmod 0755, $program;
    $httpd = Sigreq::Httpd->new(signd => $program, server => $METRICS)->start;
    $client = organisation(client => { base => $httpd->base, connections => 0 })->{test};
    my ($signer) = signers_of(fresh('missing'));
    rename $program, "$program.away" or die "$program: $!";
    kill KILL => signers($httpd->pid);
    ok(wait_for(sub { $client->get('/health')->code == 503 }), 'the health check fails');
    is($client->get('/health')->json('/sealing'), 'unavailable', 'the health check says that nothing can be sealed');
    is(metric('sigreq_seal_unusable\{environment="production"\}'), 1, 'the metric says that nothing can be sealed');
    like($httpd->log, qr/:crit\].* SR0405: the signer process \d+ died \(signal 9, Killed\), and \Q$program\E cannot/,
        'the log says that the process cannot be restarted');
    my $tries = sub { scalar(() = $httpd->log =~ /SR0405/g) };
    ok(wait_for(sub { $tries->() > 1 }), 'the attempt is repeated');
    is($signer->sign->code, 503, 'nothing is signed');
    rename "$program.away", $program or die "$program: $!";
    ok(wait_for(sub { $client->get('/health')->code == 200 }), 'the health check succeeds when it can be started');
    ok(wait_for(sub { $signer->sign->code == 200 }), 'the document is signed when the process is started');
    is(metric('sigreq_seal_unusable\{environment="production"\}'), 0, 'the metric says that the seal can be used');
    is(scalar signers($httpd->pid), 1, 'there is one signer process');
    $httpd->stop;
};

sub client_of { return organisation(client => { base => $_[0]->base, connections => 0 })->{test} }
subtest 'a program that does not work' => sub {
    for my $program ('/bin/false', '/nowhere/signd') {
        my $wrong = Sigreq::Httpd->new(signd => $program)->start;
        like($wrong->log, qr{:crit\].* SR0400: $program (?:does not answer|cannot be started).* No document can be},
            "$program: httpd starts, and says why");
        is_deeply([signers($wrong->pid)], [], "$program: httpd does not try again and again");
        unlike($wrong->log, qr/SR0404/, "$program: the log does not say that a process died");
        my $own    = client_of($wrong);
        my $health = $own->get('/health');
        is($health->code,          503,           "$program: the health check fails");
        is($health->json('/sealing'), 'unavailable', "$program: the health check says which part it is");
        my $made = $own->create(files => [['a.pdf', pdf(nonce => rand)]]);
        is($made->code, 201, "$program: a submission is created");
        is((signers_of($made->json))[0]->sign->code, 503, "$program: documents are not signed");
        $wrong->stop;
    }
};
done_testing;
