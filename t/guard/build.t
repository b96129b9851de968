# What is built: one exported symbol, and a clean build with warnings as errors by every compiler that is here.
use strict;
use warnings;
use File::Temp 'tempdir';
use Test::More;

my $module = 'build/mod_sigreq.so';
ok(-e $module, 'the module is built') or BAIL_OUT('no module');
my @exported = map { (split)[-1] } grep { / [A-TV-Z] / } `nm -D --defined-only $module`;
is("@exported", 'sigreq_module', 'it exports its record alone');
unlike(`nm -D --undefined-only $module`, qr/ U sr_/, 'nothing of ours is missing in it');
unlike(`ldd $module build/sigreqctl`, qr/libqpdf|libpoppler/, 'neither it nor sigreqctl is linked with a PDF library');

for my $compiler ('gcc', 'clang') {
    SKIP: {
        skip "$compiler is not installed", 1 if system("command -v $compiler >/dev/null") != 0;
        my $dir = tempdir(CLEANUP => 1);
        system('sh', '-c', 'tar -cf - --exclude=./build . | tar -C "$1" -xf -', 'sh', $dir) == 0 or die "copy failed\n";
        my $said = `make -C '$dir' -j2 CC=$compiler all units 2>&1`;
        is($?, 0, "$compiler builds everything without a warning") or diag substr $said, -3000;
    }
}

subtest 'make install' => sub {
    my $dir  = tempdir(CLEANUP => 1);
    my $said = `make install DESTDIR='$dir' 2>&1`;
    is($?, 0, 'succeeds') or diag $said;
    chomp(my ($modules, $headers, $conf) = map { `apxs -q $_` } qw(LIBEXECDIR INCLUDEDIR SYSCONFDIR));
    chomp(my @installed = sort `cd '$dir' && find . -type f`);
    my @wanted = (
        "$modules/mod_sigreq.so",                 "$headers/mod_sigreq.h",
        "$conf/mods-available/sigreq.conf",       "$conf/mods-available/sigreq.load",
        '/usr/lib/sigreq/sigreq-pdfd',            '/usr/sbin/sigreqctl',
        '/usr/share/doc/mod_sigreq/README',       '/usr/share/doc/mod_sigreq/api.md',
    );
    my %there = map { s/^\.//r => 1 } @installed;
    ok($there{$_}, $_) or diag "@installed" for @wanted;
};
done_testing;
