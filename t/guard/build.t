# What is built: one exported symbol, and a clean build with warnings as errors by every compiler that is here. clang
# does not optimise: its warnings do not need it. The unit tests that run were built by gcc before.
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

my $npm = abs_path('build/npm');    # the packages are there: a clean build of ours is what is looked at
my %build = (gcc => 'all', clang => 'CFLAGS=-O0 HARDEN= all units');
for my $compiler ('gcc', 'clang') {
    SKIP: {
        skip "$compiler is not installed", 1 if system("command -v $compiler >/dev/null") != 0;
        my $dir = tempdir(CLEANUP => 1);
        system('sh', '-c', 'tar -cf - --exclude=./build . | tar -C "$1" -xf -', 'sh', $dir) == 0 or die "copy failed\n";
        my $how  = "CC=$compiler CPPFLAGS=-DOF_THE_CALLER WERROR=1 NPM='$npm' $build{$compiler}";
        my $said = `make -C '$dir' -j2 $how 2>&1`;
        is($?, 0, "$compiler builds everything without a warning, with flags of the caller")
            or diag substr $said, -3000;
        install_into($dir) if $compiler eq 'gcc';
    }
}

# DESTDIR is respected, httpd's own folders are apxs's, and an edited configuration is never overwritten.
sub install_into {
    my $dir  = shift;
    my $root = "$dir/root";
    my ($modules, $sysconf) = map { chomp(my $path = `apxs -q $_`); $path } 'LIBEXECDIR', 'SYSCONFDIR';
    my $conf = "$root$sysconf/mods-available/sigreq.conf";
    my $said = `make -C '$dir' NPM='$npm' install DESTDIR='$root' 2>&1`;
    is($?, 0, 'make install') or diag $said;
    ok(-e "$root$_", "it installs $_")
        for "$modules/mod_sigreq.so", "$sysconf/mods-available/sigreq.load", '/usr/lib/sigreq/sigreq-pdfd',
        '/usr/sbin/sigreqctl', '/usr/share/doc/mod_sigreq/api.md',
        '/usr/share/doc/mod_sigreq/decisions/README.md';
    open my $edited, '>', $conf or die "$conf: $!";
    print $edited "edited\n";
    close $edited;
    system "make -C '$dir' NPM='$npm' install DESTDIR='$root' >/dev/null 2>&1";
    is(-s $conf, 7, 'an edited sigreq.conf stays');
    ok(-s "$conf.new", 'the new one lies beside it');
    $said = `make -C '$dir' NPM='$npm' uninstall DESTDIR='$root' 2>&1`;
    is($?, 0, 'make uninstall') or diag $said;
    my @left = map { s{^\Q$root\E}{}r } split /\n/, `find '$root' -type f`;
    is("@{[sort @left]}", "$sysconf/mods-available/sigreq.conf $sysconf/mods-available/sigreq.conf.new",
        'it leaves the configuration alone');
}
done_testing;
