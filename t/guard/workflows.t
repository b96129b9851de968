# SPDX-License-Identifier: Apache-2.0
# The workflows of the forge are YAML with the keys that a forge reads, run only commands that the tree has, and pin
# actions by their major version. They do not run here.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;
use YAML::XS ();

my %target = map { $_ => 1 } map {split} slurp('Makefile') =~ /^([a-z][\w -]*):(?!=)/mg;
my %purpose = map { $_ => 1 } slurp('tools/deps') =~ /^ +'?([a-z-]+)\*?(?: \w+)?'?\) +echo/mg;
my %key = (
    workflow => 'name on permissions defaults env jobs',
    job      => 'strategy runs-on container steps',
    step     => 'uses with run',
);
my $install = 'apt-get update && apt-get install -y --no-install-recommends ca-certificates git make';
my $trust   = 'git config --global --add safe.directory "$GITHUB_WORKSPACE"';

sub unknown {
    my ($kind, $node) = @_;
    my %known = map { $_ => 1 } split / /, $key{$kind};
    return join ' ', grep { !$known{$_} } sort keys %$node;
}

# All commands of a step, one for each row of the job's matrix.
sub commands {
    my ($run, $matrix) = @_;
    my @rows = $matrix ? @{ $matrix->{include} // [] } : {};
    for my $name (grep { $_ ne 'include' } keys %{ $matrix // {} }) {
        push @rows, map { { $name => $_ } } @{ $matrix->{$name} };
    }
    return map { my $row = $_; $run =~ s/\$\{\{ matrix\.(\w+) \}\}/$row->{$1} \/\/ die "no $1\n"/ger } @rows;
}

sub fault {
    my $command = shift;
    return if $command eq $install || $command eq $trust;
    if ($command =~ /^tools\/deps ([\w-]+)$/) { return $purpose{$1} ? () : "tools/deps has no $1" }
    my ($words) = $command =~ /^make (.*)$/ or return "not a command of the tree: $command";
    my @targets = grep { !/^-|=/ } split / /, $words;
    return 'make without a target' if !@targets;
    return map {"make has no $_"} grep { !$target{$_} } @targets;
}

for my $file (files('.github/workflows/*.yml')) {
    my $flow = eval { YAML::XS::LoadFile($file) };
    ok($flow, "$file is YAML") or diag($@), next;
    is(unknown(workflow => $flow), '', "$file has only known keys");
    is($flow->{permissions}{contents}, 'read', "$file cannot write to the repository");
    for my $name (sort keys %{ $flow->{jobs} }) {
        my $job = $flow->{jobs}{$name};
        is(unknown(job => $job), '', "$file, $name: known keys");
        my @faults;
        for my $step (@{ $job->{steps} }) {
            push @faults, grep {length} unknown(step => $step);
            push @faults, 'one of uses and run' if defined $step->{uses} == defined $step->{run};
            push @faults, "not pinned: $step->{uses}" if ($step->{uses} // '@v1') !~ /\@v\d+$/;
            push @faults, map { fault($_) } commands($step->{run}, $job->{strategy}{matrix}) if defined $step->{run};
        }
        is(join("\n", @faults), '', "$file: the steps are right");
        cmp_ok(scalar @{ $job->{steps} }, '>', 2, "$file: there are steps");
    }
}
done_testing;
