# SPDX-License-Identifier: Apache-2.0
# Sigreq::Cluster: a throw-away PostgreSQL (tools/cluster) for a suite or for the unit tests. Its messages are
# German, as far as translations are installed, because nothing may depend on their words.
package Sigreq::Cluster;
use strict;
use warnings;

# new(source => the tree with tools/cluster, dir => a folder of its own)
sub new { my ($class, %o) = @_; return bless {%o}, $class }

sub call {
    my ($self, $what) = @_;
    my @command = ("$self->{source}/tools/cluster", $what, $self->{dir});
    local $ENV{LANGUAGE} = 'de';
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', @command or die "cluster: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe or die "cluster $what failed:\n$said\n";
    return $said;
}

sub start { my $self = shift; $self->call('start'); return $self->call('dsn') =~ s/\s+$//r }    # the connection string
sub stop  { $_[0]->call('stop') }

1;
