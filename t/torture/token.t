# SPDX-License-Identifier: Apache-2.0
# The token of the seal (SoftHSM) is pulled and returned while eight signers sign at the same time. Each response is 200
# or 503. A signer who got 503 tries again, and would get neither if their signature had been stored. In the end each
# document has one valid signature. A request that begins 5 s after the return of the token, or later, is not refused.
# That bound is one of the product: a slow machine makes requests later, and does not make this test fail.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::Promise;
use Sigreq::Here qw(suite signers organisation at_once);
use Sigreq::Httpd;
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of pdfsig);
use Sigreq::SoftHSM;
use Sigreq::Twin 'times';
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant BOUND => 5;       # seconds until a token that has returned is used
use constant PAUSE => 0.05;    # of a signer who was refused
use constant WIDTH => 8;

my $count = times('SIGREQ_TIMES', 60, 1000);
my $pulls = $count > 100 ? 20 : 3;

my $folder  = tempdir('token.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $softhsm = Sigreq::SoftHSM->new($folder);
my $token   = $softhsm->token('seal');
my $key     = $softhsm->key('seal', 'key', 'EC', 'ec_paramgen_curve:P-256');
my $httpd = Sigreq::Httpd->new(children => 2, seal => <<"SEAL")->start;
SigreqSealCertificate "$key"
SigreqSealKey "pkcs11:token=seal;object=key;type=private"
SigreqPKCS11Module "@{[Sigreq::SoftHSM::MODULE]}"
SigreqSealPIN "file:$folder/pin"
SEAL
my ($process) = signers($httpd->pid);
my $client = organisation(client => { connections => 0 })->{live};
$client->{base} = $httpd->base;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my $width = at_once(WIDTH);
my $create = sub { $client->create_p(files => [['a.pdf', pdf(nonce => rand)]]) };
my @made    = map { $_->json } $client->parallel($count, $width, $create);
my @signers = map { (signers_of($_, connections => 0))[0] } @made;

# --- the token: in; out; back, but not yet used

my ($where, $since, $refused, $seen, $longest) = ('in', 0, 0, 0, 0);
my (@signed, @refusals, %other, @late, @without_time);
my @when = map { int $count * $_ / ($pulls + 1) } 1 .. $pulls;    # signatures that are made before it is pulled

sub move {
    my ($from, $to, $state) = @_;
    rename $from, $to or die "$from: $!\n";
    ($where, $since, $seen) = ($state, now(), 0);
}

# Every second time it is pulled it stays away until 20 signers were refused, and else only for one response.
sub next_state {
    my ($code, $began) = @_;
    if ($where eq 'in') {
        move($token, "$folder/pulled", 'out') if @when && @signed >= $when[0];
    } elsif ($where eq 'out') {
        $seen++ if $code == 503 || @when % 2;
        move("$folder/pulled", $token, 'back') if $seen >= (@when % 2 ? 1 : 20);
    } elsif ($code == 200 && $began > $since) {
        $longest = now() - $since if now() - $since > $longest;
        shift @when;
        $where = 'in';
    }
}

sub judge {    # a response to signer $i, whose request began then: whether they are done
    my ($i, $res, $began) = @_;
    my $code = $res->code;
    push @signed, $i if $code == 200;
    $refused++ if $code == 503;
    $refusals[$i]++ if $code == 503;
    $other{$code}++ if $code !~ /^(?:200|503)$/;
    push @without_time, $i if $code == 503 && !$res->headers->header('Retry-After');
    my $late = $code == 503 && $where eq 'back' && $began > $since + BOUND;
    push @late, sprintf '%.1f s', $began - $since if $late;
    next_state($code, $began);
    return $code != 503;
}

sub press {    # until the response is something else than 503
    my $i     = shift;
    my $began = now();
    return $signers[$i]->sign_p->then(
        sub { return judge($i, shift, $began) || Mojo::Promise->timer(PAUSE)->then(sub { press($i) }) });
}
my $fault;
Mojo::Promise->map({ concurrency => $width }, sub { press($_) }, 0 .. $#signers)->catch(sub { $fault = shift })->wait;

is($fault, undef, 'each request has a response');
is(join(' ', %other), '', 'each response is 200 or 503');
is("@without_time", '', 'each 503 says when to try again');
is(scalar @when,   0,      "the token was pulled and returned $pulls times");
is(scalar @signed, $count, "$count signers have signed");
cmp_ok($refused, '>=', 20, 'some signers were refused before');
is("@late", '', 'nobody was refused who began ' . BOUND . ' s after its return or later');
is_deeply([signers($httpd->pid)], [$process], 'the signer process is the same one');
diag(sprintf '%d signatures, %d refusals of %d signers, %d times pulled; used at most %.2f s after its return',
    scalar @signed, $refused, scalar(grep {$_} @refusals), $pulls, $longest);

# --- what is stored

my ($open, @wrong) = (0);
for my $i (0 .. $#made) {
    my $now = $client->get("/signatures/$made[$i]{uuid}")->json;
    $open++ if $now->{submitters}[0]{status} ne 'completed';
    my $said = pdfsig($client->get("/signatures/$made[$i]{uuid}/documents/$made[$i]{documents}[0]{uuid}")->body);
    push @wrong, "$i: $said->{said}" if "$said->{signatures} $said->{valid} $said->{total}" ne '1 1 1';
}
is($open,            0,  'each of them is stored as signed');
is(join("\n", @wrong), '', 'pdfsig: each document has one valid signature of the whole document');
like($httpd->log, qr/SR0415: \S+: the token is ready again/, 'the log says that the token is ready again');
$httpd->stop;
done_testing;
