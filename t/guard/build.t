# SPDX-License-Identifier: Apache-2.0
# What is built: one exported symbol, and a clean build of a release by gcc (of the tree by clang: build_clang.t), with
# warnings as errors, outside of the tree; what is made again when flags change; what is installed and removed.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Test::More;

my $module = 'build/mod_sigreq.so';
ok(-e $module, 'the module is built') or BAIL_OUT('no module');
my @exported = map { (split)[-1] } grep { / [A-TV-Z] / } `nm -D --defined-only $module`;
is("@exported", 'sigreq_module', 'it exports its record alone');
unlike(`nm -D --undefined-only $module`, qr/ U sr_/, 'nothing of ours is missing in it');
unlike(`ldd $module build/sigreqctl`, qr/libqpdf|libpoppler/, 'neither it nor sigreqctl is linked with a PDF library');

# The packages of the npm registry are there. What is looked at is a clean build of ours.
my $npm    = abs_path('build/npm');
my $dir    = tempdir(CLEANUP => 1);
my $tree   = "$dir/tree";
my $source = unpacked_release();

sub make { # a target of the tree in a folder; its output if it fails
    my ($folder, @words) = @_;
    my $pid = open my $from, '-|';
    die "fork: $!\n" if !defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        exec 'make', '-C', $folder, '--no-print-directory', @words or die "make: $!\n";
    }
    my $said = do { local $/; <$from> } // '';
    close $from;
    return ($? >> 8, $said);
}

sub make_ok {
    my ($title, @words) = @_;
    my ($status, $said) = make(@words);
    is($status, 0, $title) or diag substr $said, -3000;
    return $said;
}

sub files_below { return join '', sort `cd '$_[0]' && find . -type f` }

# What `make dist` makes of a commit of this tree.
sub unpacked_release {
    my $commit = 'git init -q && git add -A && git -c user.name=t -c user.email=t@example.org commit -q -m t';
    mkdir $tree or die "$tree: $!\n";
    system('sh', '-c', "tar -cf - --exclude=./build . | tar -C \$1 -xf - && cd \$1 && $commit", 'sh', $tree) == 0
        or die "copy failed\n";
    make_ok('make dist', $tree, "O=$dir/release", "NPM=$npm", 'dist');
    my ($archive) = glob "$dir/release/mod_sigreq-*.tar.gz" or BAIL_OUT('no archive');
    system('tar', '-C', $dir, '-xf', $archive) == 0 or die "tar failed\n";
    my ($unpacked) = glob "$dir/mod_sigreq-*";
    return $unpacked;
}

# With gcc: from the release, without npm, in a folder outside of it.
my $out    = "$dir/out";
my @caller =
    ('CPPFLAGS=-DOF_THE_CALLER -D_FORTIFY_SOURCE=1', 'CFLAGS=-O2 -g -Wdate-time', 'LDFLAGS=-Wl,-z,noexecstack');
my @gcc    = ($source, "O=$out", 'CC=gcc', 'CXX=g++', 'WERROR=1', @caller);
{
    mkdir "$dir/bin" or die "$dir/bin: $!\n";
    open my $stub, '>', "$dir/bin/npm" or die "$dir/bin/npm: $!\n";
    print $stub "#!/bin/sh\necho npm was called\nexit 1\n";
    close $stub;
    chmod 0755, "$dir/bin/npm";
    local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
    my $before = files_below($source);
    my $said   = make_ok('gcc builds a release without npm and without a warning, with flags of the caller',
        @gcc, '-j2', 'V=1', 'all', "$out/t/base_id");
    is(files_below($source), $before, 'O=FOLDER: nothing is written into the tree');
    my @compiled = grep {/ -c -o /} split /\n/, $said;
    cmp_ok(scalar @compiled, '>', 200, 'objects were compiled');
    my @without = grep { !/-DOF_THE_CALLER/ || !/-Wdate-time/ || !/ -Isrc / } @compiled;
    is("@without", '', '… each with the flags of the caller and its own');
    is((() = $said =~ /-D_FORTIFY_SOURCE=2/g), 0, '… and with the level of _FORTIFY_SOURCE of the caller');
    my @linked = grep { / -o \S+ / && !/ -c -o / } split /\n/, $said;
    is((scalar grep { !/-z,noexecstack/ } @linked), 0, '… LDFLAGS too') or diag @linked;
}

# Objects are made again if flags change, and only then.
is((make(@gcc, '-q', 'all'))[0], 0, 'nothing is to be made again');
for my $changed ('CFLAGS=-O1', 'CPPFLAGS=-DOTHER', 'CC=cc', 'WERROR=') {
    my @again = grep {/ -c -o /} split /\n/, (make(@gcc, $changed, '-n', 'V=1', 'all'))[1];
    cmp_ok(scalar @again, '>', 200, "with $changed everything is");
}
my @linked = grep {/ -o \S+ /} split /\n/, (make(@gcc, 'LDFLAGS=-Wl,-O1', '-n', 'V=1', 'all'))[1];
is(scalar(grep { !/ -c -o / } @linked), 3, 'with other LDFLAGS every program is');

{
    local $ENV{O} = $out;
    local $ENV{SIGREQ_STAGE};
    delete $ENV{SIGREQ_STAGE};
    my $said = `cd '$source' && t/run '^build/t/base_id\$' 2>&1`;
    like($said, qr/^[1-9]\d* passed, 0 failed/m, 't/run tests the programs in O');
}
like((make($source, 'O=src/out', 'clean'))[1], qr/is a folder of the sources/, 'O is no folder of the sources');

# DESTDIR is respected, httpd's own folders are apxs's, and an edited configuration is never overwritten. What others
# have put into our folders stays.
my $root = "$dir/root";
my ($modules, $sysconf) = map { chomp(my $path = `apxs -q $_`); $path } 'LIBEXECDIR', 'SYSCONFDIR';
my $conf    = "$root$sysconf/mods-available/sigreq.conf";
my @install = (@gcc, "DESTDIR=$root");
sub write_file { open my $file, '>', $_[0] or die "$_[0]: $!\n"; print $file $_[1]; close $file }

make_ok('make install', @install, 'install');
ok(-e "$root$_", "it installs $_")
    for "$modules/mod_sigreq.so", "$sysconf/mods-available/sigreq.load", '/usr/lib/sigreq/sigreq-pdfd',
    '/usr/sbin/sigreqctl', '/usr/share/doc/mod_sigreq/api.md', '/usr/share/doc/mod_sigreq/decisions/README.md',
    '/usr/share/doc/mod_sigreq/signing-page/done.png', '/usr/share/sigreq/mail/invitation.txt';
is((stat $conf)[2] & 0777, 0600, 'only its owner can read sigreq.conf');
make_ok('make uninstall', @install, 'uninstall');
is(files_below($root), '', 'it removes everything');
is(`find '$root' -type d -name '*sigreq*'`, '', '… and folders that are only ours');

make(@install, 'install');
write_file($conf, "edited\n");
write_file("$root/usr/share/sigreq/mail/own.txt", "of the administrator\n");
make(@install, 'install');
is(-s $conf, 7, 'an edited sigreq.conf stays');
ok(-s "$conf.new", 'the new one lies beside it');
make(@install, 'uninstall');
is(files_below($root), ".$sysconf/mods-available/sigreq.conf\n./usr/share/sigreq/mail/own.txt\n",
    'make uninstall leaves files of others and an edited configuration');

write_file("$out/notes", "of somebody\n");
make_ok('make clean', @gcc, 'clean');
is(files_below($out), "./notes\n", 'it removes what make has put into O');

# `make help` has every target that is no file.
open my $makefile, '<', 'Makefile' or die "Makefile: $!\n";
my @targets = map {split} join('', <$makefile>) =~ s/\\\n//gr =~ /^\.PHONY: (.*)/mg;
my $help    = `make help`;
cmp_ok(scalar @targets, '>', 15, 'targets were found');
is(join(' ', grep { $_ ne 'FORCE' && $help !~ /^make (?:\[\Q$_\E\]|\Q$_\E) /m } @targets), '', 'make help lists them');
done_testing;
