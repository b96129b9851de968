# SPDX-License-Identifier: Apache-2.0
# The exported symbols and the libraries of the module, what `make install` installs and `make uninstall` removes, and
# the list of `make help`. Nothing is built here, because build.t does that.
use strict;
use warnings;
use File::Temp 'tempdir';
use lib 't/lib';
use Sigreq::Make qw(make make_ok files_below write_file);
use Test::More;

my $module = 'build/mod_sigreq.so';
ok(-e $module, 'the module is built') or BAIL_OUT('no module');
my @exported = map { (split)[-1] } grep { / [A-TV-Z] / } `nm -D --defined-only $module`;
is("@exported", 'sigreq_module', 'it exports its record alone');
unlike(`nm -D --undefined-only $module`, qr/ U sr_/, 'nothing of ours is missing in it');
unlike(`ldd $module build/sigreqctl`, qr/libqpdf|libpoppler/, 'neither it nor sigreqctl is linked with a PDF library');

# DESTDIR is respected, httpd's own folders are apxs's, and an edited configuration is never overwritten. What others
# have put into our folders stays. With `-o all` make takes the programs as they are.
my $root = tempdir(CLEANUP => 1);
my ($modules, $sysconf) = map { chomp(my $path = `apxs -q $_`); $path } 'LIBEXECDIR', 'SYSCONFDIR';
my $conf = "$root$sysconf/mods-available/sigreq.conf";
my @make = ('.', '-o', 'all', 'O=build', "DESTDIR=$root");

make_ok('make install', @make, 'install');
ok(-e "$root$_", "it installs $_")
    for "$modules/mod_sigreq.so", "$sysconf/mods-available/sigreq.load", '/usr/lib/sigreq/sigreq-pdfd',
    '/usr/lib/sigreq/sigreq-signd', '/usr/sbin/sigreqctl', '/usr/share/doc/mod_sigreq/api.md',
    '/usr/share/doc/mod_sigreq/decisions/README.md',
    '/usr/share/doc/mod_sigreq/signing-page/done.png', '/usr/share/sigreq/mail/invitation.txt',
    (map {s{^conf/}{/usr/share/sigreq/}r} grep { !m{^conf/(?:schema|systemd)/} } glob 'conf/*/*'),
    '/usr/share/man/man8/sigreqctl.8', '/usr/share/man/man8/mod_sigreq.8',
    '/usr/share/bash-completion/completions/sigreqctl';
is((stat $conf)[2] & 0777, 0600, 'only its owner can read sigreq.conf');
make_ok('make install again', @make, 'install');
ok(!-e "$conf.new", 'make install makes no sigreq.conf.new if nothing has changed');
make_ok('make uninstall', @make, 'uninstall');
is(files_below($root), '', 'it removes everything');
is(`find '$root' -type d -name '*sigreq*'`, '', 'make uninstall removes folders that are only of mod_sigreq');

make(@make, 'install');
write_file($conf,                                "edited\n");
write_file("$root/usr/share/sigreq/mail/own.txt", "of the administrator\n");
make(@make, 'install');
is(-s $conf, 7, 'an edited sigreq.conf stays');
ok(-s "$conf.new", 'the new one lies beside it');
make(@make, 'uninstall');
is(files_below($root), ".$sysconf/mods-available/sigreq.conf\n./usr/share/sigreq/mail/own.txt\n",
    'make uninstall leaves files of others and an edited configuration');

like((make('.', 'O=src/out', 'clean'))[1], qr/is a folder of the sources/, 'O is no folder of the sources');

# `make help` has every target that is no file.
open my $makefile, '<', 'Makefile' or die "Makefile: $!\n";
my @targets = map {split} join('', <$makefile>) =~ s/\\\n//gr =~ /^\.PHONY: (.*)/mg;
my $help    = `make help`;
cmp_ok(scalar @targets, '>', 15, 'targets were found');
is(join(' ', grep { $_ ne 'FORCE' && $help !~ /^make (?:\[\Q$_\E\]|\Q$_\E) /m } @targets), '', 'make help lists them');
done_testing;
