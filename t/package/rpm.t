# SPDX-License-Identifier: Apache-2.0
# The packages of `make rpm`: rpmlint, their files, what they require, and their scripts. They are built by Debian's
# rpmbuild and not installed: a Fedora cannot be had here. `make test-package` runs this.
use strict;
use warnings;
use File::Basename 'basename';
use Test::More;

my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } qw(rpm rpmlint);
plan skip_all => "not installed: @lacking (tools/deps test-package)" if @lacking;
my $built = ($ENV{O} || 'build') . '/rpm';
my %rpm   = map { basename($_) =~ s/-[0-9].*//r => $_ } glob "$built/*.rpm";
plan skip_all => 'make rpm has built nothing' if !%rpm;
is(join(' ', sort keys %rpm), 'mod_sigreq sigreq-pdfd sigreqctl', 'make rpm has built three packages');

sub said {
    my @command = @_;
    open my $from, '-|', @command or die "$command[0]: $!\n";
    my $text = do { local $/; <$from> } // '';
    close $from;
    return $text;
}

my $lint = said('rpmlint', '--config', 'rpm/rpmlint.toml', map { $rpm{$_} } sort keys %rpm);
is(join('', grep {/: [EW]: /} split /^/, $lint), '', 'rpmlint finds no errors and warnings') or diag $lint;

# --- files
my @mail = map {"-rw-r--r-- /usr/share/sigreq/mail/$_"} map { ("$_.html", "$_.txt") } qw(code invitation reminder);
my @other = map { (-x $_ ? '-rwxr-xr-x ' : '-rw-r--r-- ') . s{^conf/}{/usr/share/sigreq/}r }
    grep { !m{^conf/(?:schema|systemd)/} } glob 'conf/*/*';
my %wanted = (
    'mod_sigreq' => [
        '-rw-r----- /etc/httpd/conf.d/sigreq.conf', '-rw-r--r-- /etc/httpd/conf.modules.d/10-sigreq.conf',
        '-rwxr-xr-x /usr/lib/sigreq/sigreq-signd', (map { s{^conf/systemd}{-rw-r--r-- /usr/lib/systemd/system}r }
            glob 'conf/systemd/*'), @mail, @other, 'drwx------ /var/lib/sigreq', 'drwx------ /var/lib/sigreq/documents'
    ],
    'sigreq-pdfd' => ['-rwxr-xr-x /usr/lib/sigreq/sigreq-pdfd'],
    'sigreqctl' => ['-rwxr-xr-x /usr/sbin/sigreqctl', '-rw-r--r-- /usr/share/bash-completion/completions/sigreqctl']);
for my $name (sort keys %rpm) {
    my @rows = map { [(split)[0, -1]] } split /\n/, said('rpm', '-qlvp', $rpm{$name});
    my %has  = map { join(' ', @$_) => 1 } @rows;
    is(join("\n", grep { !$has{$_} } @{ $wanted{$name} }), '', "$name contains the expected files");
    my @paths = map { $_->[1] } @rows;
    ok((grep {m{/licenses/.*/NOTICE$}} @paths), "$name contains its licence and NOTICE");
    is(join(' ', grep {m{^/usr/include|/etc/apache2}} @paths), '', "$name contains no path of Debian and no headers");
    is(said('rpm', '-qp', '--requires', $rpm{$name}) =~ /libpoppler-glib/ ? 1 : 0, $name eq 'sigreq-pdfd' ? 1 : 0,
        "$name needs poppler only if it is sigreq-pdfd");
}
like(said('rpm', '-qlp', $rpm{mod_sigreq}), qr{/modules/mod_sigreq\.so$}m, 'mod_sigreq contains the module');
like(said('rpm', '-qlp', $rpm{mod_sigreq}), qr{/docs?/.*/operations\.md$}m, 'mod_sigreq contains the documents');
my $required = said('rpm', '-qp', '--requires', $rpm{mod_sigreq});
like($required, qr/^\Q$_\E/m, "mod_sigreq requires $_") for 'httpd', 'sigreq-pdfd = ', 'sigreqctl = ';
is(said('rpm', '-qp', '--qf', '%{LICENSE}', $rpm{'sigreq-pdfd'}), 'GPL-3.0-only',
    'the licence of sigreq-pdfd is GPL-3.0-only');
is(said('rpm', '-qp', '--configfiles', $rpm{mod_sigreq}),
    "/etc/httpd/conf.d/sigreq.conf\n/etc/httpd/conf.modules.d/10-sigreq.conf\n", 'an upgrade keeps edited files');

# --- their contents
sub content {
    my $path = shift;
    return said('sh', '-c', 'rpm2cpio "$1" | cpio -i --quiet --to-stdout ".$2"', 'sh', $rpm{mod_sigreq}, $path);
}

SKIP: {
    skip 'cpio is not installed', 4 if system('command -v cpio >/dev/null 2>&1') != 0;
    my $service = content('/usr/lib/systemd/system/sigreq-gc.service');
    like($service, qr{^ConditionPathExists=/etc/httpd/conf\.d/sigreq\.conf$}m, 'the units name the configuration');
    like($service, qr/^User=apache$/m, 'the units name the user of httpd in Fedora');
    is(join('', grep { !/^(?:#|\s*$)/ } split /^/, content('/etc/httpd/conf.d/sigreq.conf')), '',
        'the installed configuration contains only comments');
    like(content('/etc/httpd/conf.modules.d/10-sigreq.conf'), qr{^LoadModule sigreq_module \S*/httpd/modules/}m,
        'the configuration loads the module');
}

# --- scripts
my $scripts = said('rpm', '-qp', '--scripts', $rpm{mod_sigreq});
unlike($scripts, qr/^(?:rm|userdel)\b|restart httpd/m, 'the scripts delete nothing and do not restart httpd');
for my $script ($scripts =~ /scriptlet \(using \S+\):\n(.*?)(?=^\w+ scriptlet|\z)/gms) {
    open my $shell, '|-', 'sh', '-n' or die "sh: $!\n";
    print $shell $script;
    ok(close $shell, 'a shell accepts the script');
}
done_testing;
