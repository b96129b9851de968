# SPDX-License-Identifier: Apache-2.0
# A commit in doubt: the process that has sent a creation is killed while the database still works on it, and gc runs
# before the database commits. Afterwards the submission and its document exist.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use IPC::Open2;
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for);
use Sigreq::PDF 'pdf';
use Test::More;

plan skip_all => 'SQLite commits in the process that is killed' if suite->{db} ne 'pgsql';
my $apart  = Sigreq::Apart->new;
my $httpd  = $apart->httpd;
my $client = $apart->client($httpd);
my @gc     = ('gc', '--reserved', 0, '--quarantine-days', 0, '--documents', "$httpd->{dir}/documents");
is($client->create(files => [['a.pdf', pdf(nonce => "doubt before $$")]])->code, 201, 'a submission');
my ($name, $socket) = map { $apart->{params} =~ /$_=(\S+)/ } qw(dbname host);
my @psql = ('psql', '-qXAt', '-h', $socket, '-U', 'postgres', '-d', $name);
sub ask { my ($sql) = @_; open my $pipe, '-|', @psql, '-c', $sql or die "psql: $!\n"; local $/; return <$pipe> }
sub is_waiting { ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '$name'") > 0 }

my $session = open2(my $said, my $say, @psql);
print $say "BEGIN; LOCK TABLE sigreq.document IN EXCLUSIVE MODE; SELECT 'locked';\n";
like(scalar(<$said>), qr/locked/, 'documents can be read but not stored');
my $bytes  = pdf(nonce => "doubt $$");
my $sender = fork // die "fork: $!";
if (!$sender) {
    eval { $client->create(files => [['a.pdf', $bytes]]) };
    POSIX::_exit(0);
}
ok(wait_for(\&is_waiting), 'a creation waits in the database');
kill KILL => children($httpd->pid), $sender;
waitpid $sender, 0;
my $done = $apart->ctl(@gc);
is($done->{kept}, 1, 'gc does not wait for the creation');
is($done->{deleted}, 0, 'gc removes nothing');
ok(is_waiting(), 'the database still works on the creation');
print $say "COMMIT;\n";
close $say;
waitpid $session, 0;
ok(wait_for(sub { ask('SELECT count(*) FROM sigreq.submission') == 2 }), 'then the database commits');
$apart->ctl(@gc);
ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'httpd works');
my ($row) = grep { $_->{documents}[0]{sha256} eq sha256_hex($bytes) } @{ $client->get('/signatures')->json->{data} };
ok($row, 'the submission exists');
is($client->get("/signatures/$row->{uuid}/documents/$row->{documents}[0]{uuid}")->body, $bytes, 'its document exists');
done_testing;
