# SPDX-License-Identifier: Apache-2.0
# The packages in debian/ are of this version, are built with what tools/deps installs, and document their units.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;
use Time::Piece ();

my ($version) = slurp('include/mod_sigreq.h') =~ /^#define MOD_SIGREQ_VERSION "([^"]+)"/m;
my ($packaged, $time) = slurp('debian/changelog') =~ /\Amod-sigreq \((\S+)-\S+\).*?^ -- .*>  (.*) \+0000$/ms;
is($packaged, $version, 'debian/changelog begins with the version of the sources');
my ($newest, $date, $changes) = slurp('CHANGES') =~ /\A.*?^v(\d\S+) \((\S+)\)\n-+\n(.*?)(?=^v\d|\z)/ms;
is($newest, $version, 'CHANGES begins with the version of the sources');
is($date, Time::Piece->strptime($time, '%a, %d %b %Y %T')->ymd, 'CHANGES and debian/changelog have the same date');
my $entries = () = $changes =~ /^ \* /mg;
ok($entries > 0 && $entries <= 60, "CHANGES has 1 to 60 entries for this version ($entries)");

my ($build) = slurp('tools/deps') =~ /^build='(.*?)'/ms;
my ($needed) = slurp('debian/control') =~ /^Build-Depends:\n(.*?)^\S/ms;
my %needed = map { $_ => 1 } $needed =~ /^ ([\w.+-]+)/mg;
# what every Debian that builds packages has, and what apache2-dev brings
my %beside = map { $_ => 1 } qw(gcc g++ libc6-dev make apache2-bin);
my %other = ('libjpeg62-turbo-dev' => 'libjpeg-dev');
my @wanted = grep { !$beside{$_} } split ' ', $build;
cmp_ok(scalar @wanted, '>', 20, 'tools/deps names packages');
is(join(' ', grep { !$needed{ $other{$_} // $_ } } @wanted), '', 'debian/control has those that the build needs');

my $operations = slurp('docs/operations.md');
for my $unit (map { s{.*/}{}r } files('conf/systemd/*')) {
    like(slurp('debian/rules'), qr/\b\Q@{[$unit =~ s{^sigreq-}{}r]}\E\b/, "$unit is installed");
    like($operations, qr/\b\Q$unit\E\b/, "docs/operations.md describes $unit") if $unit !~ /service$/;
    my $text = slurp("conf/systemd/$unit");
    next if $unit !~ /^sigreq-(?:gc|archive)\.service$/;
    like($text, qr/^$_$/m, "$unit has $_")
        for qw(User=www-data ProtectSystem=full NoNewPrivileges=yes CapabilityBoundingSet= PrivateTmp=yes);
}

# Root must not open, create, chown or remove by name in a folder that another user can write: this user could put a
# link there. Of /run, /etc and /var/lib, only root can write to the first level.
for my $unit (files('conf/systemd/*.service')) {
    my $text = slurp($unit);
    unlike($text, qr/^(?:Runtime|State|Cache|Logs)Directory=/m, "$unit has no folder of its user");
    for my $command ($text =~ /^Exec\w+=[@:!-]*\+(.*)$/mg) {
        unlike($command, qr{(?:%[tTSCLV]|/run|/tmp|/var/\w+)/[\w.-]+/}, "$unit: root writes to /run itself, in a file");
        unlike($command, qr/\bchown\b|-R\b|\binstall\b/, "$unit: the file of root stays its own");
    }
}
my $verbs = qr/\b(?:install|chown|chgrp|chmod|mkdir|touch|cp|mv|ln|rm|tee)\b|>/;
for my $script (files('debian/*.p*', 'conf/container/start')) {
    next if $script !~ m{\.(?:pre|post)(?:inst|rm)$|start$};
    my ($text, @wrong, $given) = slurp($script) =~ s/^\s*#.*//gmr;
    for my $line (split /\n/, $text =~ s/\\\n//gr) {
        next if $line !~ $verbs || $line =~ /^\s*(?:say|echo)\b/ || $line =~ /\bsetpriv --reuid=www-data /;
        push @wrong, $line if $line =~ m{(?:\$folder|/var/lib/sigreq)/} && ($given || $line !~ m{^\s*install -d });
        $given ||= $line =~ m{\b(?:chown|-o) www-data.* "?(?:\$folder|/var/lib/sigreq)"?$};
    }
    is(join("\n", @wrong), '', "$script: root does nothing by name in the folder of httpd's user");
}
for my $spec (slurp('rpm/mod_sigreq.spec') =~ /^%(?:pre|post)\w*\n(.*?)(?=^%)/gms) {
    unlike($spec, qr{/var/lib/sigreq}, 'rpm: no script works in the folder of httpd\'s user');
}
like($operations, qr/DELETE-ON-PURGE/, 'docs/operations.md says what a purge keeps');
done_testing;
