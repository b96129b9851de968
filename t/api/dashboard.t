# SPDX-License-Identifier: Apache-2.0
# The dashboard of conf/grafana: a real Prometheus scrapes an httpd with traffic, and each query of each panel returns
# series with values.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Pages 'page_url';
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'SQLite is enough' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
plan skip_all => 'no prometheus here (Debian package prometheus)' if system('command -v prometheus >/dev/null') != 0;

my $apart = Sigreq::Apart->new;
my $httpd = $apart->httpd(children => 1,
    server => "SigreqWebhookAllow 127.0.0.1\n<Location /metrics>\nSetHandler sigreq-metrics\n</Location>");
my $client   = $apart->client($httpd);
my $receiver = Sigreq::Receiver->new;
my $ua       = Mojo::UserAgent->new(max_connections => 0);

# Prometheus, as an ordinary user on a free port
my $port = Sigreq::Suite::free_port();
my $dir  = path("$apart->{dir}/prometheus")->make_path;
my ($target) = $httpd->base =~ m{//([^/]+)};
open my $conf, '>', "$dir/conf.yml" or die "$dir: $!";
print $conf <<"YAML";
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["${\path('conf/prometheus/sigreq.rules.yml')->to_abs}"]
scrape_configs:
  - job_name: sigreq
    static_configs: [{targets: ["$target"]}]
YAML
close $conf;
my $pid = fork // die "fork: $!";
if (!$pid) {
    open STDOUT, '>',  "$dir/log";
    open STDERR, '>&', \*STDOUT;
    exec 'prometheus', "--config.file=$dir/conf.yml", "--storage.tsdb.path=$dir/data",
        "--web.listen-address=127.0.0.1:$port", '--log.level=warn';
}
my $owner = $$;
END { local $?; if ($pid && $owner && $$ == $owner) { kill TERM => $pid; waitpid $pid, 0 } }

sub asked {    # what Prometheus says to a query
    my $path = shift;
    my $res = eval { $ua->get("http://127.0.0.1:$port/api/v1/$path" => form => {@_})->result } or return;
    return $res->code == 200 ? $res->json->{data} : undef;
}
ok(wait_for(sub { my $up = asked(query => query => 'up'); $up && @{ $up->{result} } && $up->{result}[0]{value}[1] }),
    'Prometheus scrapes httpd')
    or diag path("$dir/log")->slurp;
my @rules = map { @{ $_->{rules} } } @{ asked('rules')->{groups} };
cmp_ok(scalar @rules, '>', 20, 'it has the alarms');

$client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });

sub traffic {    # of all kinds
    my ($signs, $refuses) = map { signers_of($client->create->json) } 1 .. 2;
    $signs->sign;
    $refuses->refuse('no');
    my $state = $signs->state;
    for my $document (@{ $state->{documents} }) {
        $signs->get(page_url($document, 0, 'png', version => $document->{sha256})) for 1 .. 2;
    }
    $client->create(files => [['a.pdf', 'no PDF']]);
    $client->with(token => 'no')->get('/signatures');
    $client->get('/health');
}

my @panels = @{ decode_json(path('conf/grafana/sigreq.json')->slurp)->{panels} };
cmp_ok(scalar @panels, '>', 10, 'panels');

sub query_of {    # as Grafana would send it
    my $query = shift;
    s/\$__rate_interval/1m/g, s/\$instance/.*/g for $query;
    return $query;
}
sub has_data {
    my $data = asked(query => query => query_of(shift) =~ s/ > 0$//r) or return;
    return grep { $_->{value}[1] =~ /^-?[0-9]/ } @{ $data->{result} };
}
my %left = map { my $panel = $_; map { ($_->{expr} => $panel->{title}) } @{ $panel->{targets} } } @panels;
my $asked = keys %left;
wait_for(sub { traffic(); delete @left{ grep { has_data($_) } keys %left }; !%left });
is(join("\n", map {"$left{$_}: $_"} sort keys %left), '', "each of $asked queries returns data");

done_testing;
