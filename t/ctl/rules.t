# SPDX-License-Identifier: Apache-2.0
# The alarms of conf/prometheus/sigreq.rules.yml: promtool accepts the file. Each alarm fires with the series that it is
# for, and not with those of a service that works.
use strict;
use warnings;
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;

my $file = 'conf/prometheus/sigreq.rules.yml';
plan skip_all => 'no promtool here (Debian package prometheus)' if system('command -v promtool >/dev/null') != 0;
like(scalar `promtool check rules $file 2>&1`, qr/SUCCESS: \d+ rules found/, 'promtool accepts the rules');

my $day  = 86400;
my $here = 'job="sigreq",instance="a:443"';
my $health = 'route="/api/v3/health",method="GET"';
my $create = 'route="/api/v3/signatures",method="POST"';
my $failed = 'sigreq_authentication_failures_total';

# Series of one minute each, in promtool's notation: 0+6x60 grows by 6 in each minute. Times begin at 1970.
sub slow {    # durations of requests: most of them are within the first bucket, or beyond the last one
    my $most = shift;
    my %bucket = ('0.1' => $most eq 'quick' ? '0+10x180' : '0+1x180', 10 => '0+10x180', '+Inf' => '0+10x180');
    return (qq(sigreq_request_duration_seconds_count{$create}) => '0+10x180',
        map { ("sigreq_request_duration_seconds_bucket{$create,le=\"$_\"}" => $bucket{$_}) } keys %bucket);
}
sub waits {
    my $most = shift;
    my %bucket = ('0.1' => $most eq 'short' ? '0+10x180' : '0+5x180', '5' => '0+10x180', '+Inf' => '0+10x180');
    return map { ("sigreq_helper_wait_duration_seconds_bucket{class=\"work\",le=\"$_\"}" => $bucket{$_}) } keys %bucket;
}
my @expiry = map {qq(sigreq_seal_certificate_expiry_timestamp_seconds{environment="$_"})} qw(production test);
my $sealed = 'sigreq_seals_total{environment="production",result=';
my $timestamps = 'sigreq_timestamp_duration_seconds_count{authority="1"}';
my $refused    = 'sigreq_timestamp_failures_total{authority="1",reason="late"}';
my $call       = 'sigreq_deliveries_total{kind="webhook",outcome=';
my $used       = 'sigreq_database_connections_';
my $helped     = 'sigreq_helper_question_duration_seconds_count{operation="probe"}';

# alarm => [series with which it fires], [series with which it does not], …
my %alarms = (
    SigreqDown => [[up => '0x180'], [up => '1x180']],
    SigreqUnhealthy => [
        [qq(sigreq_requests_total{$health,code="503"}) => '0+6x180',
        qq(sigreq_requests_total{$health,code="200"}) => '0+1x180'],
        [qq(sigreq_requests_total{$health,code="503"}) => '0+1x180',
        qq(sigreq_requests_total{$health,code="200"}) => '0+6x180']],
    SigreqFailing => [
        [qq(sigreq_requests_total{$create,code="503"}) => '0+5x180',
        qq(sigreq_requests_total{$create,code="201"}) => '0+95x180'],
        [qq(sigreq_requests_total{$create,code="503"}) => '0+1x180',
        qq(sigreq_requests_total{$create,code="201"}) => '0+99x180'],
        [qq(sigreq_requests_total{$create,code="503"}) => '0x100 1x80',
        qq(sigreq_requests_total{$create,code="201"}) => '0+99x180']],
    SigreqSlow => [[slow('slow')], [slow('quick')]],
    SigreqDisabled => [[sigreq_disabled => '1x180'], [sigreq_disabled => '0x180']],
    SigreqSealUnusable => [['sigreq_seal_unusable{environment="test"}' => '1x180'],
        ['sigreq_seal_unusable{environment="test"}' => '0x180']],
    SigreqSealsFail => [["$sealed\"failed\"}" => '0+1x180', "$sealed\"sealed\"}" => '0+9x180'],
        ["$sealed\"failed\"}" => '0x180', "$sealed\"sealed\"}" => '0+9x180']],
    SigreqSealExpires => [
        [$expiry[0] => 20 * $day . 'x180', $expiry[1] => 40 * $day . 'x180'],
        [$expiry[0] => 40 * $day . 'x180', $expiry[1] => 40 * $day . 'x180']],
    SigreqSealRevoked => [['sigreq_seal_revoked{environment="production"}' => '1x180'], []],
    SigreqOwnSealsUnusable => [[sigreq_organization_seals_unusable => '1x180'],
        [sigreq_organization_seals => '3x180']],
    SigreqOwnSealExpires => [[sigreq_organization_seal_expiry_timestamp_seconds => 20 * $day . 'x180'],
        [sigreq_organization_seal_expiry_timestamp_seconds => 40 * $day . 'x180']],
    SigreqSignerDies => [[sigreq_signer_restarts_total => '0+1x180'], [sigreq_signer_restarts_total => '0x100 1x80']],
    SigreqTimestampsFail => [[$timestamps => '0+9x180', $refused => '0+6x180'], [$timestamps => '0+9x180',
        $refused => '0+1x180']],
    SigreqProofsEnd => [['sigreq_proof_expiry_timestamp_seconds{environment="production"}' => '600x180'],
        ['sigreq_proof_expiry_timestamp_seconds{environment="production"}' => "${day}x180"]],
    SigreqArchivingStuck => [['sigreq_archive_due{server="main"}' => '3x180'],
        ['sigreq_archive_due{server="main"}' => '3x90 0x90']],
    SigreqDatabaseAway => [
        ['sigreq_delivery_queue_seen_timestamp_seconds{server="main"}' => '600x180',
        sigreq_start_timestamp_seconds => '0x180'],
        ['sigreq_delivery_queue_seen_timestamp_seconds{server="main"}' => '0+60x180',
        sigreq_start_timestamp_seconds => '0x180']],
    SigreqDatabaseHangs => [['sigreq_database_stopped{server="main",use="write"}' => '1x180'],
        ['sigreq_database_stopped{server="main",use="write"}' => '0x180']],
    SigreqDatabaseErrors => [
        ['sigreq_database_errors_total{reason="lost"}' => '0+2x180',
        sigreq_database_duration_seconds_count => '0+99x180'],
        ['sigreq_database_errors_total{reason="lost"}' => '0x90 1x90',
        sigreq_database_duration_seconds_count => '0+99x180']],
    SigreqConnectionsUsedUp => [
        [
            map({ ("$used$_\{server=\"main\"}" => '10x180') } qw(used limit)),
            qq(${used}waiting{server="main"}) => '3x180'],
        [
            map({ ("$used$_\{server=\"main\"}" => '10x180') } qw(used limit)),
            qq(${used}waiting{server="main"}) => '0x180']],
    SigreqStoreAway => [[sigreq_store_stopped => '1x180'],
        [sigreq_store_stopped => '0x180', sigreq_store_failures_total => '0x90 1x90']],
    SigreqHelpersBusy => [[waits('long')], [waits('short')]],
    SigreqHelpersDie => [['sigreq_helper_restarts_total{reason="died"}' => '0+1x180', $helped => '0+9x180'],
        ['sigreq_helper_restarts_total{reason="died"}' => '0x90 1x90', $helped => '0+9x180']],
    SigreqDeliveriesFail => [["$call\"rejected\"}" => '0+4x180', "$call\"success\"}" => '0+6x180'],
        ["$call\"rejected\"}" => '0+1x180', "$call\"success\"}" => '0+19x180']],
    SigreqDeliveriesLate => [['sigreq_delivery_queue_oldest_seconds{server="main"}' => '400x180'],
        ['sigreq_delivery_queue_oldest_seconds{server="main"}' => '4x180']],
    SigreqDeliveriesLost => [[sigreq_deliveries_lost_total => '0x160 1x20'],
        [sigreq_deliveries_lost_total => '1x180']],
    SigreqGuessing => [["$failed\{reason=\"token\"}" => '0+90x180'],
        ["$failed\{reason=\"token\"}" => '0+9x180', "$failed\{reason=\"missing\"}" => '0+900x180']],
    SigreqQuotaNear => [['sigreq_organizations{server="main",quota="near"}' => '1x180',
        'sigreq_organizations{server="main",quota="reached"}' => '0x180'],
        ['sigreq_organizations{server="main",quota="near"}' => '0x180',
        'sigreq_organizations{server="main",quota="below"}' => '5x180']],
);

open my $in, '<', $file or die "$file: $!";
my $rules = do { local $/; <$in> };
my %rules = reverse $rules =~ /^(      - alert: (\w+)\n.*?)(?=^      - alert|\z)/msg;
my @names = keys %rules;
is(join(' ', sort keys %alarms), join(' ', sort @names), 'each alarm of the rules is tested');

sub series {
    my ($name, $values) = @_;
    my ($metric, $labels) = $name =~ /^(\w+)(?:\{(.*)\})?$/;
    return { series => "$metric\{$here" . ($labels ? ",$labels" : '') . '}', values => $values };
}

sub checked {    # one test of promtool
    my ($name, $fires, %series) = @_;
    my ($most) = sort { $b <=> $a } map { my $sum = 0; $sum += $_ for /x(\d+)/g; $sum } values %series, '0x180';
    $series{up} //= "1x$most";
    my $expr = qq[count(ALERTS{alertname="$name",alertstate="firing"})];
    my $minutes = $name eq 'SigreqArchivingStuck' ? 10 : 1;    # between two values
    return { interval => "${minutes}m", input_series => [map { series($_, $series{$_}) } sort keys %series],
        promql_expr_test => [{ expr => $expr, eval_time => $minutes * ($most - 5) . 'm',
            exp_samples => [$fires ? { labels => '{}', value => 1 } : ()] }] };
}

# promtool reads YAML, of which JSON is a part. Each alarm has a file of its own, without the others, which would be
# evaluated in vain.
my $folder = tempdir(CLEANUP => 1);
for my $name (sort keys %alarms) {
    my ($fires, @quiet) = @{ $alarms{$name} };
    my @tests = (checked($name, 1, @$fires), map { checked($name, 0, @$_) } @quiet);
    my $interval = $tests[0]{interval};
    written("$name.rules", "groups:\n  - name: sigreq\n    rules:\n$rules{$name}");
    written("$name.yml", JSON::PP->new->canonical->encode(
            { rule_files => ["$name.rules"], evaluation_interval => $interval, tests => \@tests }));
}

sub written {
    my ($name, $text) = @_;
    open my $out, '>', "$folder/$name" or die "$folder: $!";
    print $out $text;
    close $out or die "$folder: $!";
}

my $said = `promtool test rules $folder/*.yml 2>&1`;
my %said = $said =~ m{^Unit Testing:\s+\S+/(\w+)\.yml\n(.*?)(?=^Unit Testing|\z)}msg;
like($said{$_} // '', qr/^\s*SUCCESS\s*\z/,
    "$_ fires only with the series that it is for") or diag $said for sort keys %alarms;
done_testing;
