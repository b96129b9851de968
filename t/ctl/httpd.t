# SPDX-License-Identifier: Apache-2.0
# sigreqctl asks httpd for its configuration: files that are included, sections that apply, variables, and virtual hosts
# that have databases of their own. --server chooses one of them, or all.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;

my $build = abs_path('build');
-x "$build/sigreqctl" or die "build/sigreqctl is not there: run make\n";
sub apxs { my $said = qx(apxs -q $_[0] 2>/dev/null) // ''; return $said =~ s/\s+$//r }
# that of apxs comes first, because tools/sanitize has one of its own
my ($httpd) = grep {-x} apxs('SBINDIR') . '/' . apxs('PROGNAME'), qw(/usr/sbin/apache2 /usr/sbin/httpd)
    or plan skip_all => 'httpd is not in /usr/sbin';
my $modules = apxs('LIBEXECDIR') || '/usr/lib/apache2/modules';
my $folder = tempdir('sigreq-httpd.XXXXXX', TMPDIR => 1, CLEANUP => 1);
delete $ENV{SIGREQ_CONFIG};
$ENV{SIGREQ_HTTPD} = "$httpd -f $folder/httpd.conf";
$ENV{SIGREQ_FOLDER} = $folder;

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }

sub run {    # (exit code, stdout, stderr)
    my @arguments = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<', '/dev/null'     or die;
        open STDOUT, '>', "$folder/out"   or die;
        open STDERR, '>', "$folder/error" or die;
        exec "$build/sigreqctl", @arguments or die;
    }
    waitpid $pid, 0;
    return ($? & 127 ? "signal $?" : $? >> 8, map { slurp("$folder/$_") } qw(out error));
}

sub exits {
    my ($code, $name, @arguments) = @_;
    my ($got, $out, $error) = run(@arguments);
    is($got, $code, $name) or diag($out, $error);
    return ($out, $error);
}

sub configure { # what is included
    my $text = shift;
    spit("$folder/included.conf", $text);
    return spit("$folder/httpd.conf", <<"CONF");
ServerRoot "$folder"
ServerName localhost
Listen 127.0.0.1:8099
PidFile "$folder/pid"
DefaultRuntimeDir "$folder"
ErrorLog "$folder/error_log"
LoadModule mpm_event_module "$modules/mod_mpm_event.so"
LoadModule authz_core_module "$modules/mod_authz_core.so"
LoadModule dbd_module "$modules/mod_dbd.so"
LoadModule sigreq_module "$build/mod_sigreq.so"
Define name first
Include "$folder/incl*.conf"
CONF
}

sub organizations {
    my @arguments = @_;
    my ($out) = exits(0, "org list @arguments", '--json', 'org', 'list', @arguments);
    return join ' ', map { $_->{name} } @{ decode_json($out) };
}

# --- one database, in a file that is included
configure(<<'CONF');
DBDriver sqlite3
<IfDefine !NoSuchDefine>
    DBDParams "${SIGREQ_FOLDER}/${name}.db"
</IfDefine>
<IfDefine NoSuchDefine>
    DBDParams "${SIGREQ_FOLDER}/wrong.db"
</IfDefine>
<VirtualHost 127.0.0.1:8099>
    ServerName sign.example.org
    <Location "/esign">
        Sigreq On
        SigreqDocuments "${SIGREQ_FOLDER}/documents"
    </Location>
</VirtualHost>
CONF
mkdir "$folder/documents" or die "mkdir: $!\n";
exits(0, 'the tables are made', 'db', 'init');
ok(-e "$folder/first.db" && !-e "$folder/wrong.db", '… in the database that httpd uses');
exits(0, 'an organization', 'org', 'create', 'One');
is(organizations(), 'One', '… is there');
exits(0, 'gc finds the folder of a virtual host', 'gc');
is((exits(0, 'gc --quiet', 'gc', '--quiet'))[0], '', '… prints nothing');
my ($code, $out, $error) = run('org', 'create', 'One', '--quiet');
is($code, 4, 'a command that fails with --quiet');
like($error, qr/^sigreqctl: /, '… says why');
($out) = exits(0, 'the configuration', 'config');
like($out, qr{^DBDParams "\Q$folder\E/first\.db"$}m, '… has the values of variables');
unlike($out, qr/wrong|ServerName/, '… and nothing else');

# --- what --config reads later
my $printed = spit("$folder/printed", $out);
is(organizations('--config', $printed), 'One', 'the output is a configuration');
is(organizations('--server', 'sign.example.org'), 'One', 'the virtual host has a name');
($out, $error) = exits(2, 'another name', 'org', 'list', '--server', 'nobody.example.org');
like($error, qr/no server nobody\.example\.org: give --server, one of: sign\.example\.org$/m, '… is unknown');

# --- virtual hosts with databases of their own
configure(<<'CONF');
DBDriver sqlite3
DBDParams "${SIGREQ_FOLDER}/first.db"
SigreqDocuments "${SIGREQ_FOLDER}/documents"
<Location "/esign">
    Sigreq On
</Location>
<VirtualHost 127.0.0.1:8099>
    ServerName shared.example.org
</VirtualHost>
<VirtualHost 127.0.0.1:8099>
    ServerName own.example.org
    DBDParams "${SIGREQ_FOLDER}/second.db"
    SigreqDocuments "${SIGREQ_FOLDER}/others"
</VirtualHost>
CONF
mkdir "$folder/others" or die "mkdir: $!\n";
($out, $error) = exits(2, 'several databases', 'org', 'list');
like($error, qr/several databases: give --server, one of: main shared\.example\.org own\.example\.org$/m,
    '… and --server is needed');
exits(0, 'all of them get tables', 'db', 'init', '--server', 'all');
exits(0, 'an organization in the second one', 'org', 'create', 'Two', '--server', 'own.example.org');
is(organizations('--server', 'own.example.org'), 'Two', '… is there');
is(organizations('--server', 'main'), 'One', '… and not in the first one');
is(organizations('--server', 'shared.example.org'), 'One', 'a virtual host without a database uses the first one');
($out) = exits(0, 'gc of all', 'gc', '--server', 'all');
is(scalar(() = $out =~ /^kept/mg), 2, '… reports each database');
unlink "$folder/second.db" or die "second.db: $!\n";
($out, $error) = exits(5, 'if one of them fails', 'gc', '--server', 'all');
like($out, qr/^kept/m, '… the other one is collected');

# --- what httpd refuses
configure("DBDriver sqlite3\nMisspelt yes\n");
($out, $error) = exits(2, 'a configuration that httpd refuses', 'org', 'list');
like($error, qr/cannot read httpd's configuration.*Misspelt/s, '… and its message');
configure("DBDriver sqlite3\n");
exits(1, 'a configuration without a database', 'config');
exits(2, '… is not enough for other commands', 'org', 'list');
my ($refused) = (exits(2, 'a password on the command line', '--driver', 'pgsql', '--params',
    'dbname=x password=y', 'org', 'list'))[1];
like($refused, qr/--params must not have a password/, '… is refused');
($refused) = (exits(2, '… and in a URL', '--driver', 'pgsql', '--params', 'postgresql://u:p@h/x', 'org', 'list'))[1];
like($refused, qr/--params must not have a password/, '… too');
done_testing;
