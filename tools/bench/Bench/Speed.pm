# SPDX-License-Identifier: Apache-2.0
# Bench::Speed: what the PDF helper takes for its work, beside what that work is at least. Measured by the programs of
# t/speed (build/speed), which print a line for each row.
package Bench::Speed;
use strict;
use warnings;
use JSON::PP;

sub run {
    my ($server, $report) = @_;
    for my $program (sort glob "$server->{source}/build/speed/*") {
        next unless -x $program && -f _;
        print STDERR "bench: $program            \r" if -t STDERR;
        my @lines = run_program($server, $program);
        my @rows = map { /^# row (\{.*\})$/ ? JSON::PP->new->utf8(0)->decode($1) : () } @lines;
        die "$program measured nothing:\n", map {"$_\n"} @lines unless @rows && grep {/^1\.\.\d+$/} @lines;
        for my $row (@rows) {
            $report->row(
                what => $row->{what}, beside => $row->{beside}, a => [$row->{a}], b => [$row->{b}],
                ratio => $row->{ratio}, unit => $row->{unit}, target => $row->{at_most} ? ['≤', $row->{at_most}] : undef,
                format => sub { sprintf $_[0] < 100 ? '%.2f ms' : '%.0f ms', $_[0] });
        }
    }
}

# Its exit status says whether its own bounds hold; here the table says what was met.
sub run_program {
    my ($server, $program) = @_;
    open my $pipe, '-|', 'sh', '-c', 'cd "$1" && exec "$2" 2>&1 </dev/null', 'sh', $server->{source}, $program
        or die "$program: $!\n";
    chomp(my @lines = <$pipe>);
    close $pipe;
    return @lines;
}

1;
