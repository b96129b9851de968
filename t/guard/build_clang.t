# SPDX-License-Identifier: Apache-2.0
# clang compiles the programs of the tests without a warning (build.t does this for those of the release). Its warnings
# need neither optimisation nor objects.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use lib 't/lib';
use Sigreq::Make qw(make_ok);
use Test::More;

my ($clang) = grep { system("command -v $_ >/dev/null") == 0 } 'clang', 'clang-14';
plan skip_all => 'clang is not installed' if !$clang;
my $out     = tempdir(CLEANUP => 1);
my @objects = map { "$out/obj/" . s/\.c$/.o/r } glob 't/{unit,tool,fuzz,speed}/*.c';
cmp_ok(scalar @objects, '>', 100, 'there are tests');
make_ok('clang compiles them without a warning', '.', '-j2', "O=$out", 'NPM=' . abs_path('build/npm'), 'WERROR=1',
    "CC=$clang", 'CFLAGS=-O0 -fsyntax-only', @objects);
done_testing;
