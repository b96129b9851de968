# SPDX-License-Identifier: Apache-2.0
# Sigreq::Killer: kills a program immediately before its Nth change of a file, by a library that is loaded first.
package Sigreq::Killer;
use strict;
use warnings;

# The calls that change files: the type of the result, the parameters, and their names.
my %CALLS = (
    fchmod => ['int',     'int fd, mode_t mode',                     'fd, mode'],
    fdatasync => ['int',  'int fd',                                  'fd'],
    fsync  => ['int',     'int fd',                                  'fd'],
    link   => ['int',     'const char *from, const char *to',        'from, to'],
    linkat => ['int',     'int a, const char *from, int b, const char *to, int flags', 'a, from, b, to, flags'],
    mkdir  => ['int',     'const char *path, mode_t mode',           'path, mode'],
    rename => ['int',     'const char *from, const char *to',        'from, to'],
    rmdir  => ['int',     'const char *path',                        'path'],
    unlink => ['int',     'const char *path',                        'path'],
    write  => ['ssize_t', 'int fd, const void *data, size_t size',   'fd, data, size'],
);

sub why_not { return $ENV{SIGREQ_SANITIZE} || defined $ENV{ASAN_OPTIONS} ? 'a sanitizer must be loaded first' : undef }

# new(folder for the library, names of the calls that count)
sub new {
    my ($class, $folder, @names) = @_;
    my $self = bless { library => "$folder/killer.so" }, $class;
    my $code = join '', map {
        my ($type, $parameters, $arguments) = @{ $CALLS{$_} };
        "$type $_($parameters)\n{\n    count();\n"
            . "    return (($type(*)($parameters))dlsym(RTLD_NEXT, \"$_\"))($arguments);\n}\n"
    } @names;
    open my $file, '>', "$folder/killer.c" or die "killer.c: $!\n";
    print {$file} <<"C";
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static void count(void)
{
    static int calls;
    if (getenv("KILL_AT") && ++calls == atoi(getenv("KILL_AT"))) kill(getpid(), SIGKILL);
}
$code
C
    close $file or die "killer.c: $!\n";
    system('cc', '-shared', '-fPIC', '-o', $self->{library}, "$folder/killer.c", '-ldl') == 0 or die "no killer.so\n";
    return $self;
}

sub at {    # runs CODE whose programs are killed before their Nth change
    my ($self, $number, $code) = @_;
    local @ENV{qw(LD_PRELOAD KILL_AT)} = ($self->{library}, $number);
    return $code->();
}

1;
