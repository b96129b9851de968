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
    my ($out) = exits(0, "org list @arguments succeeds", '--json', 'org', 'list', @arguments);
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
exits(0, 'db init finds the database', 'db', 'init');
ok(-e "$folder/first.db" && !-e "$folder/wrong.db", 'the tables are in the database that httpd uses');
exits(0, 'org create succeeds', 'org', 'create', 'One');
is(organizations(), 'One', 'org list shows the organization');
exits(0, 'gc finds the folder of a virtual host', 'gc');
is((exits(0, 'gc --quiet succeeds', 'gc', '--quiet'))[0], '', 'gc --quiet prints nothing');
my ($code, $out, $error) = run('org', 'create', 'One', '--quiet');
is($code, 4, 'org create --quiet rejects a name that is taken');
like($error, qr/^sigreqctl: /, 'a command that fails with --quiet prints the reason');
($out) = exits(0, 'config succeeds', 'config');
like($out, qr{^DBDParams "\Q$folder\E/first\.db"$}m, 'config prints the values of variables');
unlike($out, qr/wrong|ServerName/, 'config prints only sections that apply and directives of the service');

# --- what --config reads later
my $printed = spit("$folder/printed", $out);
is(organizations('--config', $printed), 'One', '--config reads the output of config');
is(organizations('--server', 'sign.example.org'), 'One', '--server finds a virtual host by its name');
($out, $error) = exits(2, '--server rejects an unknown name', 'org', 'list', '--server', 'nobody.example.org');
like($error, qr/no server nobody\.example\.org: give --server, one of: sign\.example\.org$/m,
    'the message lists the servers');

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
($out, $error) = exits(2, 'org list needs --server if there are several databases', 'org', 'list');
like($error, qr/several databases: give --server, one of: main shared\.example\.org own\.example\.org$/m,
    'the message lists the servers with databases');
exits(0, 'db init --server all makes tables in each database', 'db', 'init', '--server', 'all');
exits(0, 'org create succeeds with the database of a virtual host', 'org', 'create', 'Two', '--server',
    'own.example.org');
is(organizations('--server', 'own.example.org'), 'Two', 'the database of the virtual host contains the organization');
is(organizations('--server', 'main'), 'One', 'the first database does not contain the organization');
is(organizations('--server', 'shared.example.org'), 'One', 'a virtual host without a database uses the first one');
($out) = exits(0, 'gc --server all succeeds', 'gc', '--server', 'all');
is(scalar(() = $out =~ /^kept/mg), 2, 'gc --server all reports each database');
unlink "$folder/second.db" or die "second.db: $!\n";
($out, $error) = exits(5, 'gc --server all fails if one database fails', 'gc', '--server', 'all');
like($out, qr/^kept/m, 'gc --server all collects the other database');

# --- what httpd refuses
configure("DBDriver sqlite3\nMisspelt yes\n");
($out, $error) = exits(2, 'org list fails if httpd rejects the configuration', 'org', 'list');
like($error, qr/cannot read httpd's configuration.*Misspelt/s, 'the message contains that of httpd');
configure("DBDriver sqlite3\n");
exits(1, 'config reports a configuration without a database', 'config');
exits(2, 'org list needs a database in the configuration', 'org', 'list');
my ($refused) = (exits(2, '--params rejects a password', '--driver', 'pgsql', '--params',
    'dbname=x password=y', 'org', 'list'))[1];
like($refused, qr/--params must not have a password/, 'the message names --params');
($refused) = (exits(2, '--params rejects a password in a URL', '--driver', 'pgsql', '--params',
    'postgresql://u:p@h/x', 'org', 'list'))[1];
like($refused, qr/--params must not have a password/, 'the message about a URL names --params');
done_testing;
