# SPDX-License-Identifier: Apache-2.0
# Sigreq::Running: a server in its own folder, started like `make run`, for the tools that send it public files: its
# output, its one child, its log.
package Sigreq::Running;
use strict;
use warnings;
use File::Temp 'tempdir';
use Sigreq::Processes;
use Sigreq::Suite;
use Time::HiRes 'sleep';

# new(source => the tree with tools/ and build/). $DB: sqlite3 or pgsql. `state` is its folder, there from now on.
sub new {
    my ($class, %o) = @_;
    my $self = bless { db => $ENV{DB} // 'sqlite3', owner => $$, %o }, $class;
    $self->{state} = tempdir('sigreq-corpus.XXXXXX', DIR => '/tmp');
    chmod 0711, $self->{state};
    return $self;
}

sub start { # and puts BASE_URL, TEST_TOKEN and LIVE_TOKEN into the object
    my $self = shift;
    my $state = $self->{state};
    $self->{port} = Sigreq::Suite::free_port();
    $self->{pid} = fork // die "fork: $!\n";
    if (!$self->{pid}) {
        open STDOUT, '>', "$state/said" or die "$state/said: $!\n";
        open STDERR, '>&', \*STDOUT;
        exec "$self->{source}/tools/run", '--port', $self->{port}, '--state', $state, '--db', $self->{db};
        die "tools/run: $!\n";
    }
    for (1 .. 600) {
        last if -s "$state/env";
        if (waitpid($self->{pid}, 1) == $self->{pid}) {
            delete $self->{pid};
            die "the server did not start:\n", slurp("$state/said");
        }
        sleep 0.1;
    }
    my %told = slurp("$state/env") =~ /^(\w+)=(.*)$/mg;
    @{$self}{ keys %told } = values %told;
    return $self;
}

sub stop {
    my $self = shift;
    return if $self->{owner} != $$;
    if (my $pid = delete $self->{pid}) {
        kill TERM => $pid;
        waitpid $pid, 0;
    }
    system 'rm', '-rf', $self->{state} unless $ENV{SIGREQ_KEEP};
}

sub slurp {
    open my $file, '<:raw', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar(<$file>) // '';
}

sub data { my ($self, $name) = @_; return "$self->{state}/data/$self->{db}/$name" }
sub log  { my $self = shift; return slurp($self->data('logs/error_log')) }

sub child { my $self = shift; return Sigreq::Processes::child(slurp($self->data('logs/httpd.pid')) + 0) }

sub crashes { return Sigreq::Suite::crashes_in($_[0]->log) }

1;
