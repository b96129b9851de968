# SPDX-License-Identifier: Apache-2.0
# Pages that take long, requested many times at the same time by somebody who has a signing link. Others must not be
# affected: other tenants can create, health is ok, and threads are left for everything that needs no helper. It uses
# its own httpd.
use strict;
use warnings;
use Mojo::UserAgent;
use Sigreq::Here   qw(organisation is_error suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF qw(pdf slow_pdf);
use Sigreq::Pages qw(page_url);
use Sigreq::Signer qw(signers_of);
use Sigreq::Source 'slurp';
use Test::More;
use Time::HiRes 'sleep';

my $prefork  = suite->{mpm} eq 'prefork';
my $metrics  = "<Location /metrics>\nSetHandler sigreq-metrics\n</Location>\n";
my $httpd    = Sigreq::Httpd->new(threads => 24, server => $metrics, $prefork ? (children => 24) : ())->start;
my $attacker = organisation()->{test}->with(base => $httpd->base);
my $tenant   = organisation()->{live}->with(base => $httpd->base);
my $count    = 0;

sub showing { # workers that show pages: they stand back (a nice value of 10)
    my @workers = Sigreq::Here::workers(Sigreq::Here::children($httpd->pid));
    return scalar grep { (slurp("/proc/$_/stat") =~ s/^.*\) //sr =~ /^(?:\S+ ){16}10 /) } @workers;
}

my $made = $attacker->create(files => [['a.pdf', slow_pdf(pages => 40, nonce => $$)]]);
is($made->code, 201, 'a slow document') or diag $made->body;
my ($signer) = signers_of($made->json);
my $document = $signer->state->{documents}[0];
my $path     = sub { page_url($document, $_[0], 'png', version => $document->{sha256}) };

# Requests 30 different pages at the same time, in another process. Returns the results in the order of the answers.
pipe my $out, my $in or die "pipe: $!";
my $pid = fork // die "fork: $!";
if (!$pid) {
    my $crowd = Sigreq::Signer->new(link => $signer->{link}, connections => 0);
    my $in_order = sub { print {$in} join(' ', $_[0]->code, $_[0]->headers->header('Retry-After') // '') . "\n" };
    $attacker->crowd->parallel(30, 30, sub { $crowd->request_p(GET => $path->($_[0]))->then($in_order) });
    close $in;
    require POSIX;
    POSIX::_exit(0);
}
close $in;
ok(wait_for(sub { showing() > 1 }), 'helpers make pages');
my (%codes, $rounds);
while (waitpid($pid, 1) == 0) {
    $rounds++;
    $codes{ 'health ' . $tenant->get('/health')->code }++;
    $codes{ 'openapi ' . $tenant->get('/openapi.json')->code }++;
    $codes{ 'create ' . $tenant->create(files => [['a.pdf', pdf(nonce => "crowd $$ " . ++$count)]])->code }++;
    sleep 0.05;
}
cmp_ok($rounds, '>=', 2, "meanwhile another tenant sends requests $rounds times");
is_deeply([sort keys %codes], ['create 201', 'health 200', 'openapi 200'], 'and is always served')
    or diag explain \%codes;
my @answers = map { [split / /, $_, 2] } <$out>;
is(scalar @answers, 30, 'all requests for pages are answered');
is(scalar(grep { $_->[0] != 503 && $_->[0] != 422 } @answers), 0, 'none of the pages is shown');
my ($given_up) = grep { $answers[$_][0] == 422 } 0 .. $#answers;
my @refused = grep { $_->[0] == 503 } @answers[0 .. ($given_up // @answers) - 1];
cmp_ok(scalar @refused, '>=', 15, scalar @refused . ' are refused before a page is given up');
is(scalar(grep { $_->[1] !~ /^[0-9]/ } @refused), 0, 'every refusal has Retry-After');
unlike($httpd->log, qr/SR0100: Too many/, 'no refusal has a message of the level error');
my $figures = Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body;
like($figures, qr/^sigreq_limited_total\{limit="pages"\} [1-9]/m, 'they are counted');

done_testing;
