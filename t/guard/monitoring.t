# SPDX-License-Identifier: Apache-2.0
# docs/metrics.md has every metric of src/metrics/metrics.def, and no others. One file uses a tag of the error log. Each
# alarm of conf/prometheus has a severity, a summary, a description and a section in docs/monitoring.md. The metrics
# that it uses exist.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp code);
use Test::More;

my $page = slurp('docs/monitoring.md');
my (%defined, %tags);

my $table = code('src/metrics/metrics.def');
while ($table =~ /SR_METRIC\(\w+,\s*(\w+),\s*\w+,\s*"(\w+)",\s*(\w+),\s*(\w+)/g) {
    my ($type, $name, @labels) = ($1, $2, map {lc} $3, $4);
    $defined{$name} = ($type =~ /^(?:SECONDS|LIVE)$/ ? 'gauge' : lc $type);
}
cmp_ok(scalar keys %defined, '>', 10, 'the table of metrics was found');
my %documented = slurp('docs/metrics.md') =~ /^- `(sigreq_\w+)` \((\w+)/mg;
is_deeply(\%documented, \%defined, 'docs/metrics.md has every metric with its type, and no other');
is(slurp('docs/metrics.md'), `tools/manual metrics`,
    'docs/metrics.md is up to date (tools/manual metrics >docs/metrics.md)');

my ($room) = slurp('src/metrics/metrics.c') =~ /ROOM_ROUTE = (\d+)/;
my @routes = map { slurp($_) =~ /\{M_\w+, "/g } files('src/*/routes.c');
cmp_ok(@routes + 1, '<', $room, 'there is room for the metrics of ' . @routes . ' routes, and of other paths');

for my $file (files('src/**/*.c'), 'mod_sigreq.c') {
    my $text = slurp($file);
    $tags{$1}{$file}++ while $text =~ /"(SR\d{4}):/g;
}
cmp_ok(scalar keys %tags, '>', 10, 'the tags were found');
is_deeply([grep { keys %{ $tags{$_} } > 1 } sort keys %tags], [], 'no tag stands in two files');

my $rules = slurp('conf/prometheus/sigreq.rules.yml');
my @alarms = $rules =~ /^      (- alert: .*?)(?=^      - |\z)/msg;
cmp_ok(scalar @alarms, '>', 20, 'the alarms were found');
for my $alarm (@alarms) {
    my ($name) = $alarm =~ /alert: (\w+)/;
    like($alarm, qr/severity: (?:critical|warning)\}/, "$name has a severity");
    like($alarm, qr/^          summary: "./m, "$name has a summary");
    like($alarm, qr/^          description: "./m, "$name has a description");
    my ($anchor) = $alarm =~ /runbook_url: monitoring\.md#(\w+)$/m;
    is($anchor, lc $name, "$name has a runbook of its name");
    like($page, qr/^### $name$/m, "docs/monitoring.md has a section $name");
}
# the command by which administrators make these addresses absolute
my ($command) = $page =~ m{^(sed '.*') /usr/share/sigreq/prometheus/sigreq\.rules\.yml >}m;
my ($base)    = ($command // '') =~ m{&(https://[^|]+/)\|};
my @absolute  = grep {/^ *runbook_url/} `$command conf/prometheus/sigreq.rules.yml`;
is(scalar @absolute, scalar @alarms, 'the command of the page prints all runbooks');
is(join('', grep { !m{^          runbook_url: \Q$base\Emonitoring\.md#\w+$} } @absolute),
    '', 'the addresses of the runbooks are absolute');
for my $file ('conf/prometheus/sigreq.rules.yml', files('conf/grafana/*.json')) {
    my %used = map { s/_(?:bucket|sum|count)$//r => 1 } slurp($file) =~ /\b(sigreq_\w+)/g;
    is(join(' ', sort grep { !$defined{$_} } keys %used), '', "$file uses metrics that exist");
}
done_testing;
