# SPDX-License-Identifier: Apache-2.0
# A clean build of the tree by clang, with warnings as errors (by gcc: build.t). clang does not optimise: its warnings
# do not need it.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Test::More;

plan skip_all => 'clang is not installed' if system('command -v clang >/dev/null') != 0;
my $npm = abs_path('build/npm');    # the packages are there: a clean build of ours is what is looked at
my $dir = tempdir(CLEANUP => 1);
system('sh', '-c', 'tar -cf - --exclude=./build . | tar -C "$1" -xf -', 'sh', $dir) == 0 or die "copy failed\n";
my $said = `make -C '$dir' -j2 CC=clang CXX=clang++ CFLAGS=-O0 WERROR=1 NPM='$npm' all units 2>&1`;
is($?, 0, 'clang builds everything without a warning') or diag substr $said, -3000;
done_testing;
