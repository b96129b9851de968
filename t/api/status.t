# SPDX-License-Identifier: Apache-2.0
# Metrics: the handler sigreq-metrics and the page of mod_status. They count over all children, kills and restarts, and
# need no database. Neither page nor an access log shows signing links.
use strict;
use warnings;
use IO::Socket::IP;
use Mojo::File 'path';
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for children workers);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Socket qw(SOL_SOCKET SO_LINGER SO_RCVBUF);
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'the other two suites are enough: it takes 20 s' if suite->{db} ne 'pgsql' && suite->{mpm} eq 'event';
my $apart = Sigreq::Apart->new;    # nobody else makes its calls

my $watched = <<'CONF';
ExtendedStatus On
KeepAlive On
RewriteEngine On
RewriteRule "^/short/(.+)" "/sign/$1" [PT]
LogFormat "%r" line
CustomLog "access_log" line
<Location "/metrics">
    SetHandler sigreq-metrics
</Location>
<Location "/server-status">
    SetHandler server-status
</Location>
<Location "/api/v3/denied">
    Require all denied
</Location>
CONF
my %settings = (
    modules => 'authz_core dbd status rewrite', children => 2,
    place => "Sigreq On\nSigreqMaxFileSize 64K");
my $port  = Sigreq::Suite::free_port();
my $httpd  = $apart->httpd(%settings, port => $port,
    server => "SigreqBaseURL http://127.0.0.1:$port\nSigreqWebhookAllow 127.0.0.1\nSigreqSMTP smtp://127.0.0.1:1\n"
        . "SigreqMailFrom s\@x.org\n$watched");
my $client = $apart->client($httpd);
my $ua = Mojo::UserAgent->new(max_connections => 0);

sub fetch {
    my ($method, $path, $from) = @_;
    return $ua->start($ua->build_tx($method => ($from // $httpd)->base . $path))->res;
}

sub figures {    # every series
    my $text = fetch(GET => '/metrics', @_)->body;
    my %value;
    for my $line (grep { !/^#/ } split /\n/, $text) {
        $line =~ /^(\w+(?:\{[^{}]*(?:\{\w+\}[^{}]*)*\})?) ([0-9.]+)$/ or fail("a series: $line");
        fail("twice: $1") if exists $value{$1};
        $value{$1} = $2;
    }
    return \%value;
}

my ($before, $now) = ({}, {});
sub grown { my $name = shift; return ($now->{$name} // 0) - ($before->{$name} // 0) }
sub begin { $before = figures() }

sub seen {    # when all is counted: that comes after an answer is sent
    wait_for(
        sub {
            my $last = $now;
            sleep 0.1;
            $now = figures();
            return !grep { ($last->{$_} // 0) != $now->{$_} } grep {/^sigreq_requests_total/} keys %$now;
        });
    return $now;
}
sub requests {
    my ($method, $route, $code) = @_;
    return grown(qq(sigreq_requests_total{method="$method",route="$route",code="$code"}));
}

subtest 'the page of metrics' => sub {
    my $res = fetch(GET => '/metrics');
    is($res->code, 200, 'the page of metrics is there');
    is($res->headers->content_type, 'text/plain; version=0.0.4; charset=utf-8', 'its type is that of Prometheus');
    is($res->headers->cache_control, 'no-store', 'it must not be cached');
    my %kind = $res->body =~ /^# TYPE (\w+) (\w+)$/mg;
    my %help = $res->body =~ /^# HELP (\w+) (.+)$/mg;
    is_deeply([sort keys %help], [sort keys %kind], 'each metric has a description');
    for my $name (map { s/\{.*//r } keys %{ figures() }) {
        my $of = $name =~ s/_(?:bucket|sum|count)$//r;
        $kind{$name} // $kind{$of} or fail("$name has a type");
    }
    is($res->body =~ /sigreq_build_info\{version="(\S+)"\} 1$/m ? $1 : '', '0.1.0', 'the version is a metric');
    is(fetch(HEAD => '/metrics')->headers->content_length > 1000, 1, 'HEAD');
    $res = fetch(POST => '/metrics');
    is($res->code, 405, 'POST is refused');
    like($res->headers->header('Allow'), qr/\bGET\b/, 'GET is allowed');
    unlike($res->headers->header('Allow'), qr/POST/, 'POST is not allowed');
};

subtest 'requests' => sub {
    begin();
    my $begun = time;
    is($client->create->code, 201, 'a submission');
    $client->create(files => [['big.pdf', pdf(pages => 1) . ' ' x 70000]]);
    $client->with(token => 'no')->get('/signatures');
    $client->get('/signatures') for 1 .. 3;
    $client->request('HEAD', '/signatures');
    fetch($_->[0] => $_->[1]) for [GET => '/api/v3/nix'], [PUT => '/api/v3/signatures'], [GET => '/sign/nobody'];
    fetch(GET => '/elsewhere');
    seen();
    is(requests(POST => '/api/v3/signatures', 201), 1, 'one creation succeeded');
    is(requests(POST => '/api/v3/signatures', 413), 1, 'one creation was too large');
    is(requests(GET => '/api/v3/signatures', 401), 1, 'a request without a token');
    is(requests(GET => '/api/v3/signatures', 200), 4, '200, HEAD with GET');
    is(requests(GET => '/sign/{uuid}', 404), 1, 'an unknown link');
    is(requests(other => 'other', 404), 1, 'an unknown path');
    is(requests(other => 'other', 405), 1, 'an unknown method');
    my $of = '{method="GET",route="/api/v3/signatures"}';
    is(grown("sigreq_request_duration_seconds_count$of"), 5, 'the number of durations is that of the requests');
    my $sum = grown("sigreq_request_duration_seconds_sum$of");
    ok($sum > 0 && $sum < time - $begun, 'which together are no longer than all of this');
    is((grep {/route="\/elsewhere/} keys %$now), 0, 'requests outside of the service are not counted');
    ok(grown('sigreq_database_duration_seconds_count') >= 6, 'transactions');
    cmp_ok($now->{sigreq_helper_starts_total}, '>=', 1, 'helpers');
    begin();
    is(fetch(GET => '/api/v3/denied')->code, 403, 'httpd refuses a request');
    seen();
    is(requests(other => 'other', 403), 1, 'the refusal of httpd is counted');
    is((grep { grown($_) && /^sigreq_request_duration_seconds/ } keys %$now), 0,
        'the refusal of httpd has no duration');
};

subtest 'what the service does, and what it has left' => sub {
    begin();
    $client->with(token => 'no')->get('/signatures');
    fetch(GET => '/api/v3/signatures');
    fetch(GET => '/sign/' . 'x' x 43);
    $client->create(files => [['a.pdf', 'no PDF']]);
    my ($signs, $refuses) = map { signers_of($client->create->json) } 1 .. 2;
    is($signs->sign->code,   200, 'signed');
    is($refuses->refuse('no')->code, 200, 'refused');
    seen();
    my $events = sub { grown(qq(sigreq_submission_events_total{environment="test",event="$_[0]"})) };
    is($events->('created'), 2, 'events: submissions created');
    is($events->($_), 1, "events: $_") for qw(signed completed refused);
    is(grown('sigreq_submission_events_total{environment="production",event="created"}'), 0, 'none in production');
    my $failed = sub { grown(qq(sigreq_authentication_failures_total{reason="$_[0]"})) };
    is($failed->($_), 1, "authentication failures: $_") for qw(token missing link);
    is(grown('sigreq_documents_refused_total{reason="not-pdf"}'), 1, 'a document was refused');
    ok(wait_for(sub { seen(); $now->{sigreq_processes} == children($httpd->pid) }), 'children')
        or diag "$now->{sigreq_processes}, " . children($httpd->pid);
    is($now->{'sigreq_helpers_limit{class="work"}'}, 2 * $now->{sigreq_processes}, 'helpers that may work');
    is($now->{'sigreq_helpers_busy{class="work"}'}, 0, 'none is busy');
    cmp_ok(grown('sigreq_helper_wait_duration_seconds_count{class="work"}'), '>=', 2, 'waits for helpers');
    is($now->{'sigreq_database_connections_limit{server="main"}'} % $now->{sigreq_processes}, 0,
        'DBDMax of each child');
    cmp_ok($now->{'sigreq_database_connections_used{server="main"}'}, '<=',
        $now->{'sigreq_database_connections_limit{server="main"}'}, 'connections in use');
    my $organizations = sub { my $sum = 0; $sum += $now->{$_} for grep {/^sigreq_organizations/} keys %$now; $sum };
    ok(wait_for(sub { seen(); $organizations->() >= 1 }), 'organizations by quota');
    cmp_ok($now->{sigreq_start_timestamp_seconds}, '<=', time, 'when counting began');
};

subtest 'counts of all children, also of those that ended' => sub {
    begin();
    my $crowd = $client->crowd;
    $crowd->parallel(60, 12, sub { $crowd->request_p('GET', '/tokens/current') });
    seen();
    is(requests(GET => '/api/v3/tokens/current', 200), 60, 'each request is counted');
    kill KILL => $_ for children($httpd->pid);
    ok(wait_for(sub { eval { (fetch(GET => "/metrics")->code // 0) == 200 } }), 'the children are killed');
    is(figures()->{'sigreq_requests_total{method="GET",route="/api/v3/tokens/current",code="200"}'},
        $now->{'sigreq_requests_total{method="GET",route="/api/v3/tokens/current",code="200"}'}, 'no count is lost');
    ok($httpd->graceful, 'a graceful restart');
    ok(wait_for(sub { eval { (fetch(GET => "/metrics")->code // 0) == 200 } }),
        'metrics are answered after the graceful restart');
    seen();
    is(requests(GET => '/api/v3/tokens/current', 200), 60, 'a graceful restart loses no count');
    $client->get('/tokens/current');
    seen();
    is(requests(GET => '/api/v3/tokens/current', 200), 61, 'counting continues');
};

my $receiver = Sigreq::Receiver->new;
my $made;
subtest 'seals and deliveries' => sub {
    begin();
    $client->post('/webhooks/signed-webhook-url', json => { url => $receiver->url('/status/500') });
    $client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    $client->post('/webhooks/completed-webhook-url', json => { url => $receiver->url('/reset') });
    my $res = $client->create(sendEmail => "true", signers => Sigreq::Client::signers({ email => "p\@x.org" }));
    is($res->code, 201, "a submission") or diag $res->body;
    $made = $res->json;
    my ($ann) = signers_of($made);
    is($ann->sign->code, 200, 'signed');
    my %wanted = (
        '{kind="webhook",outcome="success"}'       => 1,    # sent
        '{kind="webhook",outcome="rejected"}'      => 1,    # signed
        '{kind="webhook",outcome="unanswered"}'    => 1,    # completed
        '{kind="webhook",outcome="interrupted"}'   => 0,
        '{kind="invitation",outcome="unanswered"}' => 1,    # there is no mail server
    );
    wait_for(sub { seen(); !grep { grown("sigreq_deliveries_total$_") < $wanted{$_} } keys %wanted });
    is(grown("sigreq_deliveries_total$_"), $wanted{$_}, $_) for sort keys %wanted;
    is(grown('sigreq_delivery_duration_seconds_count{kind="webhook"}'), 3, 'durations of calls');
    is(grown('sigreq_delivery_delay_seconds_count{kind="webhook"}'), 3, 'delays of calls');
    is(grown('sigreq_seals_total{environment="test",result="sealed"}'), 2, 'the document and its certificate');
    is(grown('sigreq_seal_duration_seconds_count'), 2, 'the document and its certificate have durations');
    cmp_ok($now->{'sigreq_seal_certificate_expiry_timestamp_seconds{environment="production"}'}, '>', time + 86400,
        'the metric of the seal has its time of expiry');
    is(grown('sigreq_seals_total{environment="production",result="sealed"}'), 0, 'the test seal has no such metric');
};

subtest 'the queue' => sub {
    my $hung = Sigreq::Receiver->new;    # of which nobody knows yet that it is quick
    $client->post('/webhooks/sent-webhook-url', json => { url => $hung->url('/slow/600') });
    my ($many, $begun) = (160, time);    # more than all children together call at a time
    seen();
    begin();
    my $crowd = $client->crowd;
    $crowd->parallel($many, 8, sub { $crowd->create_p });
    my $of = 'sigreq_delivery_queue{server="main",state=';
    # of a receiver that has not answered yet each child calls one at a time; the queue is looked at every 5 s
    my $queue = sub { my $state = shift; $now->{qq{$of"$state"\}}} };
    # on a busy machine the first calls have been given up when the last event is there
    my $ended = sub { my $sum = 0; $sum += grown($_) for grep {/^sigreq_deliveries_total/} keys %$now; return $sum };
    ok(wait_for(sub { seen(); $queue->('waiting') + $queue->('under-way') + $ended->() == $many }),
        'all jobs are counted') or diag explain { map { $_ => $now->{$_} } grep {/queue/} keys %$now };
    ok(wait_for(sub { seen(); $queue->('under-way') >= 1 }),
        'some calls are under way, and the others wait');
    cmp_ok($now->{'sigreq_delivery_queue_seen_timestamp_seconds{server="main"}'}, '>=', int $begun,
        'which was seen after that');
    ok(wait_for(sub { seen()->{'sigreq_delivery_queue_oldest_seconds{server="main"}'} > 1 }),
        'the age of the oldest job grows');
    kill KILL => $hung->{pid};
    ok(wait_for(sub { seen(); !$queue->('under-way') && !$queue->('waiting') }),
        'when the receiver ends, no job waits');
    is($now->{'sigreq_delivery_queue_oldest_seconds{server="main"}'} + 0, 0, 'the age of the oldest job is 0');
};

subtest 'helpers' => sub {
    begin();
    my $fresh = sub { $client->create_p(files => [['a.pdf', pdf(nonce => rand)]]) };
    $client->parallel(40, 16, $fresh);    # by all children
    kill STOP => workers(children($httpd->pid));
    $client->parallel(16, 16, $fresh);
    seen();
    cmp_ok(grown('sigreq_helper_restarts_total{reason="late"}'), '>=', 1, 'a helper that hangs is replaced');
    cmp_ok(grown('sigreq_helper_starts_total'), '>=', 1, 'a new helper was started');
    cmp_ok(grown('sigreq_helper_question_duration_seconds_count{operation="probe"}'), '>=', 5, 'questions');
    kill CONT => workers(children($httpd->pid));
};

subtest 'mod_status' => sub {
    my $res = fetch(GET => '/server-status?auto');
    my %said = $res->body =~ /^(Sigreq\w+): (\d+)$/mg;
    cmp_ok(scalar keys %said, '>', 10, 'lines for programs');
    seen();
    my $of = 'sigreq_deliveries_total{kind="webhook",outcome="rejected"}';
    is($said{SigreqDeliveriesRejected}, $now->{$of}, 'the values are the same');
    my $all = 0;
    $all += $now->{$_} for grep {/^sigreq_requests_total/} keys %$now;
    is($said{SigreqRequests}, $all, 'the number of requests is the sum of the metrics');
    my $page = fetch(GET => '/server-status')->body;
    ok($page =~ m{<h2>mod_sigreq</h2>}, 'a section for people');
    ok($page =~ m{<td>POST /api/v3/signatures</td>}, 'the section for people has routes');
    ok($page =~ m{GET /server-status HTTP}, 'requests are listed there');
};

subtest 'a client that disconnects' => sub {
    my $raw = IO::Socket::IP->new(
        PeerHost => '127.0.0.1', PeerPort => $httpd->{port}, Sockopts => [[SOL_SOCKET, SO_RCVBUF, 4096]]);
    setsockopt $raw, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;    # close is a reset
    print $raw "GET /api/v3/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" x 100;    # more than the buffers hold
    is(sysread($raw, my $some, 1000), 1000, 'a part of the first response');
    seen();    # the server waits for this client
    close $raw;
    my $counted = sub {
        return figures()->{qq(sigreq_requests_total{method="GET",route="/api/v3/openapi.json",code="$_[0]"})} // 0;
    };
    ok(wait_for(sub { $counted->('aborted') }), 'a response that was cut is counted');
    cmp_ok($counted->('aborted') + $counted->(200), '<', 100, 'responses that were not begun are not counted');
};

subtest 'signing links are not shown' => sub {
    my $logged = length path("$httpd->{dir}/access_log")->slurp;    # before this subtest
    my $secret = $made->{submitters}[0]{signatureLink} =~ m{/sign/([^/?]+)} ? $1 : die;
    my $short = substr($secret, 0, 8) . '...';
    my $encoded = sprintf('%%%02x', ord $secret) . substr $secret, 1;
    my @paths = ("/sign/$secret", "/short/$secret", "/sign/$encoded", "/sign/$secret/certificate?x");
    is(fetch(GET => $_)->code, 200, $_ =~ s/\Q$secret\E/…/r =~ s/%.*/%…/r =~ s/[^ -~]+/*/gr) for @paths;
    my $raw = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $httpd->{port});
    print $raw "GET /sign/$secret HTTP/1.1\r\n\r\n";    # without a Host
    like(scalar <$raw>, qr/ 400 /, 'a request that httpd refuses itself');
    close $raw;
    my ($log, @shown);    # a request is logged after its response
    wait_for(sub {
        $log   = substr path("$httpd->{dir}/access_log")->slurp, $logged;
        @shown = $log =~ /\Q$short\E/g;
        return @shown >= 5;
    });
    my $status = fetch(GET => '/server-status')->body;
    my $rest = substr $secret, 9;
    my $figures = fetch(GET => '/metrics')->body;
    my %text    = ('access log' => $log, mod_status => $status, 'error log' => $httpd->log, figures => $figures);
    is(index($text{$_}, $rest), -1, "not in $_") for sort keys %text;
    cmp_ok(scalar @shown, '>=', 5, 'that it was used is there') or diag $log;
    like($status, qr/\Q$short\E/, 'the page of mod_status shows that the link was used');
    like($log, qr{^GET /sign/\Q$short\E/certificate\?x HTTP/1\.1$}m,
        'the log has the request as it was, but for the secret');
    like($log, qr{^GET /sign/\Q$short\E HTTP/1\.1$}m, 'the log has requests that were written in another way');
};

subtest 'without a database' => sub {
    my $other = Sigreq::Httpd->new(%settings, children => 1, driver => 'pgsql',
        params => 'host=127.0.0.1 port=1 connect_timeout=1', server => $watched);
    $other->start;
    is(fetch(GET => '/api/v3/signatures', $other)->code, 401, 'a request');
    is($client->with(base => $other->base)->get('/signatures')->code, 503, 'one that needs it');
    my $answered = 'sigreq_requests_total{method="GET",route="/api/v3/signatures",code="503"}';
    my $figures;
    wait_for(sub { $figures = figures($other); $figures->{$answered} });    # counted when the answer is sent
    cmp_ok($figures->{'sigreq_database_errors_total{reason="no-connection"}'}, '>=', 1, 'an error is counted');
    is($figures->{$answered}, 1, 'the answer to the error is counted');
    is($figures->{'sigreq_delivery_queue_seen_timestamp_seconds{server="main"}'} + 0, 0,
        'the queue has no metrics yet');
};

subtest 'without a service' => sub {
    my $other = Sigreq::Httpd->new(%settings, place => 'Sigreq Off', server => $watched, seal => '');
    $other->start;
    is(fetch(GET => '/metrics', $other)->code, 200, 'the metrics are there');
    unlike(fetch(GET => '/server-status', $other)->body, qr/mod_sigreq</, 'mod_status does not show them');
};
done_testing;
