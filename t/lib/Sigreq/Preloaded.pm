# SPDX-License-Identifier: Apache-2.0
# Sigreq::Preloaded: a process that has loaded the modules of the tests, and forks for each test file. Loading takes as
# long as half of the files do. Otherwise a file has a process of its own as if perl had been started for it: nothing
# of a file reaches another one.
package Sigreq::Preloaded;
use strict;
use warnings;
use IO::Socket::UNIX;
use Module::Load ();
use POSIX ();
use Socket;

# new: starts the process with the present environment.
sub new {
    my $class = shift;
    socketpair my $ours, my $its, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die "socketpair: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<&', $its or POSIX::_exit(1);
        open STDOUT, '>&', $its or POSIX::_exit(1);
        exec $^X, "-M$class", '-e', "${class}::serve()" or POSIX::_exit(1);
    }
    return bless { to => $ours, pid => $pid }, $class;
}

# run(test file, file for its output, file for its errors, seconds that it may take): its status, as of waitpid; undef
# if the process has ended.
sub run {
    my ($self, @what) = @_;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $self->{to}, join("\0", @what) . "\n";
    my $said = '';
    while ($said !~ /\n\z/) {
        my $got = sysread $self->{to}, $said, 100, length $said;
        next if !defined $got && $!{EINTR};
        return if !$got;
    }
    return $said + 0;
}

sub stop {
    my $self = shift;
    close delete $self->{to};
    waitpid $self->{pid}, 0;
    return;
}

# --- in the process

sub serve {
    require Test2::API;
    Test2::API::test2_start_preload();    # what comes next gives the process no test of its own
    require Test::More;
    Module::Load::load("Sigreq::$_") for qw(Here Client Signer PDF Multipart Httpd Apart Receiver Raw Pages Validator);
    Test2::API::test2_stop_preload();
    while (defined(my $line = <STDIN>)) {
        chomp $line;
        syswrite STDOUT, forked(split /\0/, $line) . "\n";
    }
    return;
}

sub forked {
    my ($file, $output, $errors, $seconds) = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        POSIX::setpgid(0, 0);
        open STDIN, '<', '/dev/null' or POSIX::_exit(255);
        close STDOUT;                     # the socket
        open STDOUT, '>>', $output or POSIX::_exit(255);
        open STDERR, '>>', $errors or POSIX::_exit(255);
        Test2::API::test2_post_preload_reset();
        srand;
        run_here($file);
    }
    my @signals = qw(TERM KILL);
    ## no critic (RequireLocalizedPunctuationVars)
    local $SIG{ALRM} = sub { kill shift(@signals) // 'KILL', -$pid; alarm 5 };
    alarm $seconds;
    1 while waitpid($pid, 0) < 0 && $!{EINTR};
    my $status = $?;
    alarm 0;
    return $status;
}

# As perl runs a program: nothing of this file is seen there.
sub run_here {
    ($0) = @_;                            ## no critic (RequireLocalizedPunctuationVars)
    @ARGV = ();                           ## no critic (RequireLocalizedPunctuationVars)
    -r $0 or die "$0: $!\n";
    package main;                         ## no critic (ProhibitMultiplePackages)
    do "./$0";
    die $@ if $@;
    exit 0;
}

1;
