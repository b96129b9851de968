# SPDX-License-Identifier: Apache-2.0
# The commands of docs/operations.md for a backup, which runs while submissions are created and signed, and for
# restoring it. Everything that was acknowledged before the backup is restored with its documents and its audit trail,
# and the service works.
use strict;
use warnings;
use Mojo::JSON   'decode_json';
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use Mojo::File 'path';
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my $pgsql    = suite->{db} eq 'pgsql';
my $apart    = Sigreq::Apart->new;
my $httpd    = $apart->httpd(children => 2);
my $backup   = tempdir('backup.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $restored = tempdir('restored.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $done     = "$backup/done";    # the load writes down there what was acknowledged
my $stop     = "$backup/stop";
my ($socket) = suite->{params} =~ /host=(\S+)/;
local @ENV{qw(PGHOST PGUSER)} = ($socket, 'postgres') if $pgsql;

# The command of the page's code blocks that begins with these words, with the test's files and databases.
sub command {
    my ($words, %files) = @_;
    my @blocks   = path(suite->{source} . '/docs/operations.md')->slurp =~ /^```sh.*?\n(.*?)^```/gms;
    my @lines    = grep {/^(?:runuser -u \S+ -- )?\Q$words\E/} map { split /\n/ } @blocks;
    my %commands = map { s/^runuser -u \S+ -- //r => 1 } @lines;
    is(scalar keys %commands, 1, "the page has the command: $words");
    my ($command) = keys %commands;
    $command =~ s/\Q$_\E(?![\w.])/$files{$_}/g for sort { length $b <=> length $a } keys %files;
    is(system('sh', '-c', $command), 0, "the command works: $command");
}

sub name_of { my ($name) = $_[0] =~ /dbname=(\S+)/; return $name // '' }

sub files {
    my $nonce = shift;
    return [map { ["$_.pdf", pdf(nonce => "backup $$ $nonce $_")] } 'a', 'b'];
}

sub create_and_sign {    # runs until the file `stop` is there
    my $client = $apart->client($httpd);
    open my $out, '>>', $done or die "$done: $!\n";
    $out->autoflush;
    for (my $round = 0; !-e $stop; $round++) {
        my $create = sub { my $i = shift; $client->create_p(files => files("$round $i")) };
        my @made = map { $_->json } grep { $_->code == 201 } $client->parallel(4, 4, $create);
        print $out "created $_->{uuid}\n" for @made;
        my @signers = map { signers_of($_, connections => 0) } @made[0, 1];
        my @signed = $client->parallel(2, 2, sub { $signers[$_[0]]->sign_p });
        $signed[$_]->code == 200 and print $out "signed $made[$_]{uuid}\n" for 0, 1;
    }
}

sub acknowledged {
    my %found;
    my $text = -e $done ? path($done)->slurp : '';
    $found{$1}{$2} = 1 while $text =~ /^(created|signed) (\S+)\n/mg;
    return \%found;
}

sub goes_on {    # until some more submissions were signed
    my $before = keys %{ acknowledged()->{signed} // {} };
    ok(wait_for(sub { keys %{ acknowledged()->{signed} // {} } >= $before + 4 }), 'the load is still running');
}

my $load = fork // die "fork: $!\n";
if (!$load) {
    eval { create_and_sign(); 1 } or warn $@;
    POSIX::_exit($@ ? 1 : 0);
}
goes_on();
my $before = acknowledged();
my $copy   = $pgsql ? name_of($apart->{params}) . '_restored' : '';
sub places {    # of the page's folders: a seal and documents
    my ($seal, $documents) = @_;
    return ('/backup' => $backup, '/etc/sigreq' => $seal, '/var/lib/sigreq/documents' => $documents);
}
my %live = places(suite->{dir} . '/seal', "$httpd->{dir}/documents");
my %new  = places("$restored/seal", "$restored/documents");
my @sigreqctl = (suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', qq{'$apart->{params}'},
    '--documents', "$httpd->{dir}/documents");
my %backup = (sigreqctl => "@sigreqctl", '/root/saved' => "$backup/saved", %live);
command('sigreqctl backup', %backup);
my $first = path("$backup/saved")->slurp;
goes_on();
$before = acknowledged();
command('sigreqctl backup', %backup);
my $second = path("$backup/saved")->slurp;
my $copied = sub { my ($copied) = $_[0] =~ /^copied +(\d+)$/m; return $copied };
cmp_ok($copied->($first),  '>', 0, 'the first backup copies documents');
cmp_ok($copied->($second), '>', 0, 'the next backup copies the documents that were added');
my ($all) = $second =~ /^documents +(\d+)$/m;
cmp_ok($copied->($second), '<', $all, 'the next backup copies no other documents');
goes_on();
command('rsync -a /etc/sigreq', %live);
# what a database that was not stopped well has left
system('cp', "$apart->{params}-wal", "$restored/db-wal") == 0 or die "no -wal\n" if !$pgsql;
Sigreq::Suite::write_file($stop, '');
waitpid $load, 0;
is($?, 0, 'the load ends without an error');
my $after = acknowledged();
$httpd->stop;

mkdir "$restored/documents";
if ($pgsql) {
    command('createdb -O sigreq sigreq', 'sigreq sigreq' => "sigreq $copy");
    command('pg_restore -d sigreq', %new, '-d sigreq' => "-d $copy");
} else {
    my %file = ('/var/lib/sigreq/sigreq.db' => "$restored/db");
    command('rm -f /var/lib/sigreq', %file);
    command('install -o www-data -g www-data -m 600', %new, %file, '-o www-data -g www-data' => '');
}
command('rsync -a --chown=www-data:www-data /backup/documents/ /var/lib/sigreq/documents/', %new,
    ' --chown=www-data:www-data' => '');
command('rsync -a /backup/seal', %new);

my $params = $pgsql ? $apart->{params} =~ s/dbname=\S+/dbname=$copy/r : "$restored/db";
my $again  = Sigreq::Httpd->new(driver => suite->{db}, params => $params, documents => "$restored/documents",
    seal => Sigreq::Httpd::seal(SigreqSeal => "$restored/seal"))->start;
my $client = $apart->client($again);

sub submissions {    # all that the restored service lists
    my ($after, @found);
    do {
        my $page = $client->get('/signatures', query => { limit => 100, $after ? (after => $after) : () })->json;
        push @found, @{ $page->{data} };
        $after = $page->{pagination}{next};
    } while $after;
    return @found;
}

sub faults {    # what is missing of a submission: uploads, what was made of them, certificate, audit trail
    my $uuid   = shift->{uuid};
    my $row    = $client->get("/signatures/$uuid")->json;
    my $signed = $row->{submitters}[0]{signedDocuments} // [];
    my $sealed = $row->{certificate};
    my %wanted = map { ("$_->{uuid}?version=original" => $_->{sha256}) } @{ $row->{documents} };
    $wanted{ $_->{uuid} } = $_->{sha256} for @$signed;
    my @wrong = grep { content_of("/signatures/$uuid/documents/$_") ne $wanted{$_} } sort keys %wanted;
    push @wrong, 'certificate' if $sealed && content_of("/signatures/$uuid/certificate") ne $sealed->{sha256};
    push @wrong, chain_fault($client->get("/signatures/$uuid/audit")->json) // ();
    push @wrong, 'a document is missing' if @{ $row->{documents} } != 2;
    push @wrong, 'not sealed' if $row->{submitters}[0]{status} eq 'completed' && !($sealed && @$signed);
    return map {"$uuid: $_"} @wrong;
}

sub content_of { my $res = $client->get($_[0]); return $res->code == 200 ? sha256_hex($res->body) : $res->code }

is($client->get('/health')->code, 200, 'the restored service is healthy');
my @there = submissions();
my %there = map { $_->{uuid} => $_ } @there;
is(scalar(grep { !$there{$_} } keys %{ $before->{created} }), 0,
    'all submissions that were created before the backup exist');
cmp_ok(scalar @there, '<', scalar keys %{ $after->{created} }, 'submissions that were created after it do not exist');
my @open = grep { $there{$_}{submitters}[0]{status} ne 'completed' } keys %there;
is(scalar(grep { $before->{signed}{$_} } @open), 0, 'signed submissions are signed');
is(join("\n", map { faults($_) } @there), '', 'each submission has its documents and its audit trail');

my @folder = ('--documents', "$restored/documents");
sub restored { return Sigreq::Here::ctl_with(['--driver', suite->{db}, '--params', $params], @_, @folder) }
my @database = ('--driver', suite->{db}, '--params', $params);
my @check    = (suite->{source} . '/build/sigreqctl', '--json', @database, 'check', @folder);
my $found = decode_json(do { open my $pipe, '-|', @check or die "check: $!\n"; local $/; <$pipe> });
is_deeply([@$found{qw(missing damaged)}], [0, 0], 'check finds no missing or damaged document');
# keys that were reserved when the database was saved name uploads that it does not know
my $reserved = Sigreq::Here::sql('SELECT count(*) FROM blob_reservation', $params);
cmp_ok(restored('gc', '--reserved', 0, '--quarantine-days', 0)->{deleted}, '<=', $reserved, 'gc does not remove them');
is(join("\n", map { faults($_) } @there), '', 'after gc no document is missing');

my $made = $client->create(files => files('restored'));
is($made->code, 201, 'documents are stored: the folder is accepted');
for my $one ($made->json, $there{ $open[0] }) {
    my ($signer) = signers_of($one);
    is($signer->sign->code, 200, 'signing goes on');
    is(join("\n", faults($one)), '', 'the new signature has documents and audit trail');
}
$again->stop;

# --- what else sigreqctl backup does

sub backed_up {    # (exit code, stdout, stderr) of the restored service's backup, perhaps with other options
    my ($to, @options) = @_;
    my @command = ($sigreqctl[0], @options ? @options : @database, @folder, 'backup', $to);
    my $status = system '/bin/sh', '-c', 'exec "$@" >"$0.out" 2>"$0.error" </dev/null', "$backup/b", @command;
    return ($status >> 8, map { path($_)->slurp } "$backup/b.out", "$backup/b.error");
}

sub refused {
    my ($name, $code, $message, @arguments) = @_;
    my @got = backed_up(@arguments);
    is($got[0], $code, "$name: refused") or diag @got;
    like($got[2], $message, "$name: the message has the reason");
}

my $file = $pgsql ? 'sigreq.dump' : 'sigreq.db';
my $next = "$backup/next";
my @got  = backed_up($next, @database, '--quiet');
is("@got", '0  ', 'a backup with --quiet prints nothing') or diag @got;
is((stat $next)[2] & 07777,         0700, 'only the caller can read the folder');
is((stat "$next/$file")[2] & 07777, 0600, 'only the caller can read the file of the database');
ok(!-e "$next/$file.partial", 'nothing incomplete is left');
refused('the folder of the service', 4, qr/^sigreqctl: \Q$restored\E is in use by the service/, $restored);
mkdir "$backup/other";
Sigreq::Suite::write_file("$backup/other/$file", 'x');
refused('a folder with something else', 4, qr/documents does not: this is not a backup/, "$backup/other");
is(path("$backup/other/$file")->slurp, 'x', 'the other file stays');
my ($gone) = grep { $_ ne $open[0] && !$before->{signed}{$_} } @open;
restored('submission', 'cancel', $gone);
restored('submission', 'delete', $gone);
restored('gc');
like((backed_up($next))[1], qr/^removed +[12]$/m, 'documents of a submission that was deleted are removed');
cmp_ok(scalar(() = glob "$next/documents/quarantine/*"), '>', 0, 'the removed documents are in the quarantine');
my ($copy) = grep { !m{/quarantine/} } glob "$next/documents/*/*.????????????????";
my $damaged = "$restored/documents/" . path($copy)->to_rel("$next/documents");
my $kept    = path($damaged)->slurp;
chmod 0600, $damaged;
path($damaged)->spurt('x');
unlink $copy;
my ($code, $said) = backed_up($next);
is($code, 1, 'a damaged document makes it fail');
like($said, qr/^damaged +1\n.*^damaged +\Q${\path($damaged)->basename}\E /ms, 'the damaged document is named');
path($damaged)->spurt($kept);
if ($pgsql) {
    mkdir "$backup/bin";
    Sigreq::Suite::write_file("$backup/bin/pg_dump", qq{#!/bin/sh\necho "\$* \$PGPASSWORD" >&2; exit 1\n});
    chmod 0755, "$backup/bin/pg_dump";
    Sigreq::Suite::write_file("$backup/secret.conf", qq{DBDriver pgsql\nDBDParams "$params password='it\\\\'s'"\n});
    my $size = -s "$next/$file";
    {
        local $ENV{PATH} = "$backup/bin:$ENV{PATH}";
        refused('a pg_dump that fails', 5, qr/cannot be saved: .*--dbname (?:(?!it).)* it's$/m, $next, '--config',
            "$backup/secret.conf");
        local $ENV{PATH} = "$backup/none";
        refused('no pg_dump', 5, qr/there is no pg_dump: install postgresql-client/, $next);
    }
    is(-s "$next/$file", $size, 'the former backup stays');
}
done_testing;
