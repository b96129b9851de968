# SPDX-License-Identifier: Apache-2.0
# A clean build of a release archive of `make dist`, outside of its tree, without esbuild, with warnings as errors and
# the caller's flags, and what is built again when flags change. If clang is installed, it builds the archive without
# optimisation, which its warnings do not need. .ci/run builds the tree with gcc, with optimisation and WERROR=1.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use lib 't/lib';
use Sigreq::Make qw(make make_ok files_below write_file);
use Test::More;

my $dir    = tempdir(CLEANUP => 1);
my $source = unpacked_release();
my $out    = "$dir/out";
my ($clang) = grep { system("command -v $_ >/dev/null") == 0 } 'clang', 'clang-14';
my @compilers = $clang ? ("CC=$clang", 'CXX=' . $clang =~ s/clang/clang++/r) : ('CC=gcc', 'CXX=g++');
note "built by @compilers";
my @release = ($source, "O=$out", @compilers, 'WERROR=1', 'CFLAGS=-O0 -Wdate-time', 'LDFLAGS=-Wl,-z,noexecstack',
    'CPPFLAGS=-DOF_THE_CALLER');

{
    mkdir "$dir/bin" or die "$dir/bin: $!\n";
    for my $program (map {"$dir/bin/$_"} qw(esbuild brotli cmark node npm)) {
        write_file($program, "#!/bin/sh\necho $program was called\nexit 1\n");
        chmod 0755, $program;
    }
    local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
    my $before = files_below($source);
    my $said   = make_ok('a release is built without esbuild and without a warning, with flags of the caller',
        @release, '-j2', 'V=1', 'all', "$out/t/base_id");
    is(files_below($source), $before, 'O=FOLDER: nothing is written into the tree');
    my @compiled = compilations($said);
    cmp_ok(scalar @compiled, '>', 200, 'objects were compiled');
    my @without = grep { !/-DOF_THE_CALLER/ || !/-Wdate-time/ || !/ -Isrc / } @compiled;
    is("@without", '', 'each object was compiled with the flags of the caller and its own');
    my @linked = grep { / -o \S+ / && !/ -c -o / } split /\n/, $said;
    is((scalar grep { !/-z,noexecstack/ } @linked), 0, 'programs were linked with LDFLAGS') or diag @linked;
}

# Objects are made again if flags change, and only then.
is((make(@release, '-q', 'all'))[0], 0, 'nothing is to be made again');
for my $changed ('CFLAGS=-O1', 'CPPFLAGS=-DOTHER', 'CC=cc', 'WERROR=') {
    cmp_ok(scalar compilations(would_run($changed)), '>', 200, "with $changed everything is");
}
my @linked = grep {/ -o \S+ /} split /\n/, would_run('LDFLAGS=-Wl,-O1');
is(scalar(grep { !/ -c -o / } @linked), 4, 'with other LDFLAGS every program is');
my @levels = map { scalar grep {/_FORTIFY_SOURCE=2/} compilations(would_run('CFLAGS=-O2', $_)) }
    'CPPFLAGS=', 'CPPFLAGS=-D_FORTIFY_SOURCE=1';
my @root = ($source, "O=$out", "DESTDIR=$dir/root", '-n', 'V=1');
is(scalar compilations((make(@root, 'install'))[1]), 0, 'make install, which root calls without flags, builds nothing');
cmp_ok(scalar compilations((make(@root, 'all', 'install'))[1]), '>', 200, 'make all install builds');
cmp_ok($levels[0], '>', 200, 'with optimization functions of libc check sizes');
is($levels[1], 0, 'the functions of libc check sizes at the level of the caller');

{
    local $ENV{O} = $out;
    local @ENV{qw(SIGREQ_MORE SIGREQ_STAGE)};
    delete @ENV{qw(SIGREQ_MORE SIGREQ_STAGE)};
    my $said = `cd '$source' && t/run '^build/t/base_id\$' 2>&1`;
    like($said, qr/^[1-9]\d* passed, 0 failed/m, 't/run tests the programs in O');
}

write_file("$out/notes", "of somebody\n");
make_ok('make clean', @release, 'clean');
is(files_below($out), "./notes\n", 'it removes what make has put into O');
done_testing;

sub compilations { return grep {/ -c -o /} split /\n/, $_[0] }

sub would_run { return (make(@release, @_, '-n', 'V=1', 'all'))[1] }

# What `make dist` makes of a commit of this tree, in a repository of its own.
sub unpacked_release {
    local @ENV{qw(GIT_DIR GIT_WORK_TREE)} = ("$dir/git", abs_path('.'));
    my $commit = 'git init -q && echo /build >>"$GIT_DIR/info/exclude" && git -c core.compression=0 add -A'
        . ' && git -c user.name=t -c user.email=t@example.org commit -q -m t';
    system('sh', '-c', $commit) == 0 or die "no commit\n";
    make_ok('make dist', '.', "O=$dir/release", 'dist');
    my ($archive) = glob "$dir/release/mod_sigreq-*.tar.gz" or BAIL_OUT('no archive');
    make_ok('make dist again', '.', "O=$dir/again", 'dist');
    my @digests = map {`sha256sum <'$_'`} $archive, glob "$dir/again/mod_sigreq-*.tar.gz";
    is($digests[1], $digests[0], 'make dist makes the same bytes again');
    system('tar', '-C', $dir, '-xf', $archive) == 0 or die "tar failed\n";
    my ($unpacked) = glob "$dir/mod_sigreq-*";
    return $unpacked;
}
