# SPDX-License-Identifier: Apache-2.0
# The packages in debian/ are of this version, are built with what tools/deps installs, and document their units.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my ($version) = slurp('include/mod_sigreq.h') =~ /^#define MOD_SIGREQ_VERSION "([^"]+)"/m;
my ($packaged) = slurp('debian/changelog') =~ /\Amod-sigreq \((\S+)-\S+\)/;
is($packaged, $version, 'debian/changelog begins with the version of the sources');
my ($newest) = slurp('CHANGES') =~ /^(\d\S+)$/m;
is($newest, $version, '… and so does CHANGES');

my ($build) = slurp('tools/deps') =~ /^build='(.*?)'/ms;
my ($needed) = slurp('debian/control') =~ /^Build-Depends:\n(.*?)^\S/ms;
my %needed = map { $_ => 1 } $needed =~ /^ ([\w.+-]+)/mg;
# what every Debian that builds packages has, and what apache2-dev brings; npm: the tarball has the bundled assets
my %beside = map { $_ => 1 } qw(gcc g++ libc6-dev make apache2-bin npm);
my %other = ('libjpeg62-turbo-dev' => 'libjpeg-dev');
my @wanted = grep { !$beside{$_} } split ' ', $build;
cmp_ok(scalar @wanted, '>', 20, 'tools/deps names packages');
is(join(' ', grep { !$needed{ $other{$_} // $_ } } @wanted), '', 'debian/control has those that the build needs');

my $administration = slurp('docs/administration.md');
for my $unit (map { s{.*/}{}r } files('conf/systemd/*')) {
    like(slurp('debian/rules'), qr/\b\Q@{[$unit =~ s{^sigreq-}{}r]}\E\b/, "$unit is installed");
    like($administration, qr/\b\Q$unit\E\b/, '… and docs/administration.md describes it') if $unit !~ /service$/;
    my $text = slurp("conf/systemd/$unit");
    next if $unit !~ /^sigreq-(?:gc|archive)\.service$/;
    like($text, qr/^$_$/m, "… it has $_")
        for qw(User=www-data ProtectSystem=full NoNewPrivileges=yes CapabilityBoundingSet= PrivateTmp=yes);
}
like($administration, qr/DELETE-ON-PURGE/, 'docs/administration.md says what a purge keeps');
done_testing;
