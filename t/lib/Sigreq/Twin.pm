# SPDX-License-Identifier: Apache-2.0
# Sigreq::Twin: two httpds that serve one organisation from one database and one folder of documents, as two hosts
# would. They share no memory. Also the seed and the length of the tests in t/torture.
package Sigreq::Twin;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use Mojo::IOLoop;
use Mojo::JSON qw(decode_json encode_json);
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::Signer;
use Test::More ();

our @EXPORT_OK = qw(times seed share);

# new(server => directives, children, threads => of each host; hosts => how many, 2 unless given)
sub new {
    my ($class, %o) = @_;
    my $self = bless { apart => Sigreq::Apart->new(organization => 'Twin') }, $class;
    my $folder = "$self->{apart}{dir}/documents";
    mkdir $folder or die "$folder: $!\n";
    $self->{hosts} = [map { $self->{apart}->httpd(%o, documents => $folder) } 1 .. delete $o{hosts} // 2];
    $self->{clients} = [map { $self->{apart}->client($_) } @{ $self->{hosts} }];
    return $self;
}

sub host   { return $_[0]{hosts}[$_[1]] }
sub client { return $_[0]{clients}[$_[1]] }              # of the first (0) or the second host
sub params { return $_[0]{apart}{params} }

sub errors { return join "\n", map { grep {/:(?:error|crit)\]/} split /\n/, $_->log } @{ $_[0]{hosts} } } # of both logs

# A new submission, made at one host: signers are overrides, other members are form parts.
sub create {
    my ($self, $host, $signers, %o) = @_;
    my %parts = %{ delete $o{parts} // {} };
    my $res = $self->client($host)->create(
        signers => Sigreq::Client::signers(@$signers),
        more => [map { part($_, $parts{$_}) } sort keys %parts], %o);
    die 'not created: ' . $res->body . "\n" if $res->code != 201;
    return $res->json;
}

# A signer (a uuid) at one host.
sub signer {
    my ($self, $host, $uuid) = @_;
    return Sigreq::Signer->new(link => $self->host($host)->base . "/sign/$uuid", connections => 0);
}

# Waits for such jobs. One that failed, which is tried again after a minute or more, is due at once.
sub jobs_are_done {
    my ($self, $which) = @_;
    my $again = "state = 'scheduled' AND attempts > 0 AND $which";
    my $left  = "SELECT count(*) FROM job WHERE state IN ('pending', 'claimed') AND $which OR $again";
    return wait_for(sub { sql("UPDATE job SET due_at = 0 WHERE $again; $left", $self->params) == 0 });
}

# How often: the first number in `make test-more`, the second one in `make torture`, or what the variable says.
sub times {
    my ($variable, $few, $many) = @_;
    return $ENV{$variable} // ($ENV{SIGREQ_TORTURE} ? $many : $few);
}

# Lets COUNT processes do the tasks: what CODE gives for each, as JSON can say it, in no order.
sub share {
    my ($count, $tasks, $code) = @_;
    my $dir  = tempdir(CLEANUP => 1);
    my $work = sub {
        my $worker = shift;
        Mojo::IOLoop->reset;
        srand $worker + rand 1_000_000;
        open my $out, '>', "$dir/$worker" or die "$dir/$worker: $!\n";
        print {$out} encode_json($code->($tasks->[$_])), "\n" for grep { $_ % $count == $worker } 0 .. $#$tasks;
        close $out or die "$dir/$worker: $!\n";
        POSIX::_exit(0);
    };
    my @workers = map { my $worker = $_; fork // die("fork: $!\n") || $work->($worker) } 0 .. $count - 1;
    waitpid $_, 0 for @workers;
    return map { open my $in, '<', "$dir/$_" or die "$dir/$_: $!\n"; map { decode_json($_) } <$in> } 0 .. $count - 1;
}

sub seed {    # of rand: the same with SIGREQ_SEED
    my $seed = $ENV{SIGREQ_SEED} // time % 1_000_000;
    srand $seed;
    Test::More::diag("SIGREQ_SEED=$seed");
    return $seed;
}

1;
