# SPDX-License-Identifier: Apache-2.0
# sigreqctl gc, run by root in a folder where somebody else may have put links.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Test::More;

my $program = abs_path('build/sigreqctl') // '';
-x $program or die "build/sigreqctl is not there: run make\n";
delete $ENV{SIGREQ_CONFIG};
my $folder    = tempdir('sigreq-gc.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $documents = "$folder/documents";
my $elsewhere = "$folder/elsewhere";
my $hash      = 'ab' x 32;
my @database  = ('--driver', 'sqlite3', '--params', "$folder/db");

sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }

sub slurp { my ($path) = @_; open my $in, '<', $path or die "$path: $!\n"; local $/; return <$in> }

sub run {    # (exit code, all it said)
    my @command = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', @command or die "$command[0]: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? & 127 ? "signal $?" : $? >> 8, $said);
}

sub gc { return run(@_, $program, @database, '--json', 'gc', '--documents', $documents, '--unused', 0,
        '--quarantine-days', 0, '--reserved', 0) }

is((run($program, @database, 'db', 'init'))[0], 0, 'db init makes the database');
mkdir for $documents, $elsewhere, "$documents/ab";
my @victims = map { spit("$elsewhere/$_", 'x') } $hash, "$hash.0123456789abcdef", "$hash.1.0.800.png",
    '00000000-0000-4000-8000-000000000000', 'passwd';
utime 1e9, 1e9, @victims;

my %link = ('tmp' => $elsewhere, 'quarantine' => $elsewhere, 'ab/ab' => $elsewhere);
for my $name (sort keys %link) {
    symlink $link{$name}, "$documents/$name" or die "$name: $!\n";
    gc();
    is(scalar(grep { -e } @victims), scalar @victims, "if $name is a link, gc deletes nothing in its target");
    unlink "$documents/$name";
}
mkdir "$elsewhere/ab";
mkdir "$elsewhere/ab/ab";
push @victims, spit("$elsewhere/ab/ab/$hash.1.0.800.png", 'x');
utime 1e9, 1e9, @victims;
symlink $elsewhere, "$documents/cache";
my ($code, $said) = gc();
ok(-e $victims[-1], 'if cache is a link, gc deletes nothing in its target');
is($code, 4, 'gc fails if cache is a link');
like($said, qr{documents/cache is a link}, 'the message names the link');
unlink "$documents/cache";
is((gc())[0], 0, 'gc succeeds without the link');

# A folder that belongs to another database
my @other = ('--driver', 'sqlite3', '--params', "$folder/other", '--documents', $documents);
is((run($program, @other, 'db', 'init'))[0], 0, 'db init makes another database');
is((run($program, @other, 'documents', 'adopt'))[0], 0, 'the other database adopts the folder');
like((run($program, @other, 'documents', 'adopt'))[1], qr/^database +[0-9a-f-]{36}$/m,
    'documents adopt prints the uuid of the database');
is((run($program, @other, 'gc'))[0], 0, 'gc succeeds with the database that adopted the folder');
mkdir "$documents/quarantine";
my $removed = spit("$documents/quarantine/$hash.0123456789abcdef", 'x');
for my $command ('gc', 'check') {
    ($code, $said) = run($program, @database, $command, '--documents', $documents);
    is($code, 4, "$command rejects the first database");
    like($said, qr/belongs to the database [0-9a-f-]{36}, and this is [0-9a-f-]{36}: nothing was/,
        "the message of $command names both databases");
}
ok(-e $removed, 'gc deletes nothing with the first database');
is((run($program, @database, '--documents', $documents, 'documents', 'adopt'))[0], 0,
    'the first database adopts the folder again');
is((gc())[0], 0, 'gc succeeds after the adoption');
ok(!-e $removed, 'gc deletes a file from the quarantine');
($code, $said) = run($program, @database, 'documents', 'adopt');
is($code, 2, 'documents adopt needs a folder');
($code, $said) = run($program, @database, '--documents', "$folder/none", 'documents', 'adopt');
is($code, 5, 'documents adopt needs a folder that exists');

# Quarantine days of the configuration
my $config = spit("$folder/httpd.conf",
    qq{DBDriver sqlite3\nDBDParams "$folder/db"\nSigreqDocuments "$documents"\n});
spit($removed, 'x');
utime time - 20 * 86400, time - 20 * 86400, $removed;
sub configured { return run($program, '--config', $config, '--json', 'gc', @_) }
is((configured())[0], 0, 'gc succeeds with a configuration');
ok(-e $removed, 'gc keeps a file that was removed 20 days ago');
spit($config, slurp($config) . "SigreqQuarantineDays 19\n");
like((configured('--dry-run'))[1], qr/"quarantine_deleted": 1\b/, 'gc reads SigreqQuarantineDays');
ok(-e $removed, 'a dry run deletes nothing');
configured('--quarantine-days', 21);
ok(-e $removed, '--quarantine-days has precedence over SigreqQuarantineDays');
configured();
ok(!-e $removed, 'gc deletes a file that was removed before SigreqQuarantineDays');
spit($config, slurp($config) . "SigreqQuarantineDays soon\n");
($code, $said) = configured();
is($code, 2, 'gc rejects a configuration that httpd would reject');
like($said, qr/SigreqQuarantineDays soon must be/, 'the message names the directive');

# Root of a user namespace, in which all other users are mapped to one that this root cannot become.
SKIP: {
    my @root = ('unshare', '--user', '--map-root-user');
    skip 'no user namespaces here', 3 if system("@root true 2>/dev/null") != 0;
    is((gc(@root))[0], 0, "root can run gc in root's folder");
    my ($owner) = grep { -d && (stat)[4] != $> } '/var/empty', '/usr', '/root';
    skip 'no folder of another user', 2 if !$owner;
    ($code, $said) = run(@root, $program, @database, 'gc', '--documents', $owner);
    is($code, 1, "gc rejects the folder of a user whom root cannot become");
    like($said, qr/belongs to user \d+, whose rights cannot be taken on/, 'the message names the user');
}
done_testing;
