# SPDX-License-Identifier: Apache-2.0
# Bench::Report: what is printed: the machine, then a table in Markdown with the ratios and targets of all rows.
package Bench::Report;
use strict;
use warnings;
use Bench::Measure qw(connections median rounds);
use POSIX 'strftime';

my @arguments = qw(BENCH BENCH_ROWS BENCH_ROUNDS BENCH_SECONDS BENCH_CONNECTIONS);

sub new { return bless { missed => 0, targets => 0, started => time }, shift }

sub first_line { my $said = `$_[0] 2>&1` // ''; return $said =~ /([^\n]*\S)/ ? $1 : 'unknown' }

sub slurp { open my $file, '<', $_[0] or return ''; local $/; return <$file> // '' }

sub print_machine {
    my $self = shift;
    local $| = 1;
    my $cpus = () = slurp('/proc/cpuinfo') =~ /^processor/mg;
    my ($cpu) = slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)/m;
    my ($memory) = slurp('/proc/meminfo') =~ /^MemTotal:\s+(\d+)/m;
    my ($os) = slurp('/etc/os-release') =~ /^PRETTY_NAME="(.*)"/m;
    my ($bin) = reverse sort glob '/usr/lib/postgresql/*/bin';
    my $load = join ' ', (split ' ', slurp('/proc/loadavg'))[0 .. 2];
    my $httpd = first_line('$(apxs -q SBINDIR)/$(apxs -q PROGNAME) -v') =~ s/^Server version: //r;
    my @facts = (
        ['date', strftime('%Y-%m-%d %H:%M UTC', gmtime)],
        ['commit', $ENV{BENCH_COMMIT}],
        ['machine', sprintf '%d × %s, %.0f GB, %s', $cpus, $cpu // 'unknown CPU', ($memory // 0) / 1e6,
            first_line("findmnt -no FSTYPE -T $ENV{BENCH_STAGE}")],
        ['load before', $load],
        ['system', ($os // 'unknown') . ', kernel ' . (uname())[2]],
        ['versions', join ', ', $httpd, first_line("$bin/postgres --version"),
            'SQLite ' . first_line('sqlite3 --version') =~ s/ .*//r, first_line('wrk -v') =~ s/ Copyright.*//r],
        ['command', join ' ', 'make bench', map {"$_='$ENV{$_}'"} grep { defined $ENV{$_} } @arguments],
        ['load', connections() . ' connections, keep-alive, ' . rounds() . ' rounds in turns'],
    );
    print map {"- $_->[0]: $_->[1]\n"} @facts;
}

sub uname { return POSIX::uname() }

sub print_head {
    local $| = 1;
    print "\n| measured | beside | measured | beside | ratio: median (least–greatest) | target | |\n",
        "|---|---|---:|---:|---:|---:|---|\n";
}

sub number { # 12,345
    my $text = sprintf $_[0] < 100 ? '%.1f' : '%.0f', $_[0];
    1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
    return $text;
}

# A row: what and beside (names), rates of each ([…], or undef), ratio [median, least, greatest] or undef,
# target ['≥'|'≤', number] or undef. format: how a figure is written (default: per second), unit of the ratio.
sub row {
    my ($self, %row) = @_;
    local $| = 1;
    my $format = $row{format} // sub { number($_[0]) . '/s' };
    my @cells = ($row{what}, $row{beside} // '', map { $row{$_} ? $format->(median(@{ $row{$_} })) : '' } qw(a b));
    my ($unit, $places) = ($row{unit} // '', $row{places} // 2);
    push @cells, $row{ratio} ? sprintf("%.${places}f (%.${places}f–%.${places}f)", @{ $row{ratio} }) . $unit : '';
    push @cells, $row{target} ? "$row{target}[0] $row{target}[1]$unit" : '', $self->verdict(\%row);
    print '| ', join(' | ', @cells), " |\n";
}

sub verdict {
    my ($self, $row) = @_;
    return '' unless $row->{target};
    my ($sign, $bound) = @{ $row->{target} };
    my $met = $sign eq '≥' ? $row->{ratio}[0] >= $bound : $row->{ratio}[0] <= $bound;
    $self->{targets}++;
    $self->{missed}++ unless $met;
    return $met ? 'met' : '**missed**';
}

sub print_end {
    my $self = shift;
    my $seconds = time - $self->{started};
    my $met = $self->{targets} - $self->{missed};
    printf "\n%d of %d targets met, in %d min %02d s\n", $met, $self->{targets}, $seconds / 60, $seconds % 60;
}

1;
