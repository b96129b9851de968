# SPDX-License-Identifier: Apache-2.0
# sigreqctl db copy: a service with SQLite continues with PostgreSQL. Submissions in all states get the same answers,
# documents, audit trails and verification as before, and the service creates and signs. What it refuses, and that a
# copy that fails has copied nothing.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite sql wait_for);
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'the target is PostgreSQL' if suite->{db} ne 'pgsql';
my $dir    = tempdir('db_copy.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $file   = "$dir/sigreq.db";
my $old    = Sigreq::Apart->new(driver => 'sqlite3', params => $file);
my %places = (documents => "$dir/documents", place => "Sigreq On\nSigreqBaseURL https://sign.example.org");
Sigreq::Here::ctl_with([], qw(seal create), "$dir/seal", qw(--name Test --test));
$places{seal} = join "\n", Sigreq::Httpd::seal(SigreqSeal => suite->{dir} . '/seal'),
    Sigreq::Httpd::seal(SigreqTestSeal => "$dir/seal");
mkdir for $places{documents}, "$dir/mail";
my @mail = (server => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org");
my $client = $old->serve(%places, @mail);

sub lite {
    open my $pipe, '-|', 'sqlite3', $file, @_ or die "sqlite3: $!\n";
    chomp(my $said = <$pipe> // '');
    close $pipe or die "sqlite3 failed: @_\n";
    return $said;
}

sub copied {    # (exit code, stdout, stderr)
    my @command = (suite->{source} . '/build/sigreqctl', @_);
    my $status  = system 'sh', '-c', 'exec "$@" >"$0.out" 2>"$0.error" </dev/null', "$dir/copy", @command;
    return ($status >> 8, map { path($_)->slurp } "$dir/copy.out", "$dir/copy.error");
}
my $new  = Sigreq::Apart::make_database();
my @copy = ('--driver', 'sqlite3', '--params', $file, 'db', 'copy', '--to-driver', 'pgsql', '--to-params', $new);

sub refused {
    my ($name, $code, $message, @command) = @_;
    my @got = copied(@command ? @command : @copy);
    is($got[0], $code, "$name: refused") or diag "@got";
    like($got[2], $message, "$name: the message has the reason");
    return;
}

sub on_target { return Sigreq::Here::ctl_with(['--driver', 'pgsql', '--params', $new], @_) }

# --- submissions in all states

my $count = 0;

sub created {
    $count++;
    my @people = map { { firstname => "\x{141}ucja \"$_\"", email => "$_$count\@example.org" } } qw(ann bob);
    my $res = $client->create(signers => Sigreq::Client::signers(@people), sendEmail => 'true', @_,
        headers => { 'Idempotency-Key' => "key $count" });
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

sub signers {
    my ($made, $httpd) = @_;
    return map { Sigreq::Signer->new(link => $httpd->base . "/sign/$_->{uuid}") } @{ $made->{submitters} };
}
sub sign { is($_->sign->code, 200, 'signed') for @_; return }

$client->post("/webhooks/$_-webhook-url", json => { url => 'http://127.0.0.1:1/in' }) for qw(sent signed completed);
my %made = map { $_ => created() } qw(open half completed refused cancelled expired deleted held replaced);
my $httpd = $old->{httpd};
sign(signers($made{$_}, $httpd)) for qw(completed deleted held);
sign((signers($made{half}, $httpd))[0]);
is((signers($made{refused}, $httpd))[0]->refuse("No.\n\"Never\" \x{1F58B}")->code, 200, 'refused');
is($client->post("/signatures/$made{cancelled}{uuid}/cancel", json => { reason => 'Mistake' })->code, 200, 'cancelled');
my $replaced = "/signatures/$made{replaced}{uuid}/signers/$made{replaced}{submitters}[0]{uuid}/replace";
is($client->post($replaced, json => { firstname => 'New', lastname => 'One', email => 'new@example.org' })->code, 200,
    'replaced');
lite('.timeout 60000', "UPDATE submission SET expires_at = 1 WHERE uuid = '$made{expired}{uuid}'");
is($client->get("/signatures/$made{expired}{uuid}")->json->{status}, 'expired', 'expired');
$old->ctl('submission', 'hold', $made{held}{uuid}, 'Court');
is($client->delete("/signatures/$made{deleted}{uuid}")->code, 204, 'deleted');
my $child = $client->post('/tokens', json => { name => 'child' })->json;
ok(wait_for(sub { !lite('.timeout 60000', q(SELECT count(*) FROM job WHERE state IN ('pending', 'claimed'))) }),
    'nothing is being sent');

# What the service answers about everything: path → answer
sub answers {
    my $with = shift;
    my @lists = ('/signatures?limit=100', '/deliveries?limit=100', '/events', '/tokens');
    my %all   = map { $_ => $with->get($_)->body } @lists;
    for my $name (sort keys %made) {
        my $path = "/signatures/$made{$name}{uuid}";
        my $res  = $with->get($path);
        $all{"$name: $_"} = $with->get("$path/$_")->body for qw(audit);
        $all{$name} = $res->code . $res->body;
        my $shown = $res->code == 200 ? $res->json : {};
        for my $document (@{ $shown->{documents} // [] }) {
            my $bytes = $with->get("$path/documents/$document->{uuid}")->body;
            $all{"$name: $document->{uuid}"} = sha256_hex($bytes);
            my $said = $with->post('/verify', headers => { 'Content-Type' => 'application/pdf' }, body => $bytes);
            $all{"$name: verify"} = $said->code . $said->body =~ s/"verifiedAt":"[^"]*"//r;
        }
        $all{"$name: certificate"} = sha256_hex($with->get("$path/certificate")->body) if $shown->{certificate};
    }
    return \%all;
}
my $before = answers($client);
cmp_ok(scalar keys %$before, '>', 35, 'answers were compared');

# --- what it refuses

refused('a database that httpd uses', 4, qr/^sigreqctl: the process \d+ uses \Q$file\E: stop httpd, and repeat/);
$old->stop;
refused('a target without tables', 4, qr/^sigreqctl: the target: the database has no tables: run: sigreqctl db init$/);
on_target('db', 'init');
on_target('org', 'create', 'Somebody');
refused('a target with rows', 4, qr/^sigreqctl: the target has rows already, in the table organization: nothing was/);
on_target('org', 'delete', 'Somebody');
lite(q(UPDATE schema_version SET checksum = 'x' || checksum WHERE version = 1));
refused('tables of another build', 4, qr/^sigreqctl: the source: .*its migration 1 differs/);
lite(q(UPDATE schema_version SET checksum = substr(checksum, 2) WHERE version = 1));
my @other = ('--driver', 'pgsql', '--params', $new);
refused('a source that is PostgreSQL', 2, qr/only an SQLite database can be copied/, @other, @copy[4 .. $#copy]);
refused('another target', 2, qr/--to-driver must be pgsql/, @copy[0 .. 6], 'sqlite3', '--to-params', 'x');
refused('a password', 2, qr/--to-params must not have a password/, @copy[0 .. 7], '--to-params', 'password=x');
lite(q(UPDATE submission SET external_id = 'a' || char(0) WHERE id = 3));
refused('a text that PostgreSQL cannot have', 1, qr/^sigreqctl: .*\(submission: /);
lite('UPDATE submission SET external_id = NULL WHERE id = 3');
is(sql('SELECT count(*) FROM organization', $new), 0, 'nothing was copied');

# --- the schemas

my $columns = lite(q(SELECT group_concat(x, ' ') FROM (SELECT m.name || '.' || c.name AS x FROM sqlite_schema m,
    pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY x)));
is(sql(q(SELECT string_agg(c.table_name || '.' || c.column_name, ' ' ORDER BY (c.table_name || '.' || c.column_name)
    COLLATE "C") FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE c.table_schema = 'sigreq' AND c.is_generated = 'NEVER' AND t.table_type = 'BASE TABLE'
    AND c.table_name <> 'submission_lock'), $new), $columns, 'both databases have the same tables and columns');

# --- the copy

my ($code, $said, $error) = copied('--json', @copy);
is($code, 0, 'copied') or diag $error;
my %rows = map { $_->{table} => $_->{rows} } @{ decode_json($said) };
is(join(' ', sort keys %rows), join(' ', sort grep { !/^(?:schema_version|installation)$/ }
    keys %{ { map { s/\..*//r => 1 } split / /, $columns } }), 'all tables');
is($rows{submission}, lite('SELECT count(*) FROM submission'), 'the table of submissions has its rows');
refused('a second copy', 4, qr/the target has rows already/);

my $again = Sigreq::Httpd->new(driver => 'pgsql', params => $new, %places, @mail)->start;
$client = Sigreq::Here::client(base => $again->base, token => $old->{token}, connections => 0);
is($client->get('/health', unjudged => 1)->code, 503, 'the documents belong to the SQLite database');
$again->stop;
my @documents = ('--documents', $places{documents});
on_target('documents', 'adopt', @documents);
$again = Sigreq::Httpd->new(driver => 'pgsql', params => $new, %places, @mail)->start;
$client = Sigreq::Here::client(base => $again->base, token => $old->{token}, connections => 0);
is($client->get('/health')->code, 200, 'after documents adopt the service is healthy');
my $after = answers($client);
is_deeply([grep { $after->{$_} ne $before->{$_} } sort keys %$before], [], 'all answers are the same')
    or diag map {"$_\n$before->{$_}\n$after->{$_}\n"} (grep { $after->{$_} ne $before->{$_} } sort keys %$before)[0];
is(encode_json([sort keys %$after]), encode_json([sort keys %$before]), 'nothing is added');

# --- it continues

sign((signers($made{half}, $again))[1]);
sign(signers($client->get("/signatures/$made{replaced}{uuid}")->json, $again));
is(created()->{name}, $made{open}{name}, 'a new submission');
is($client->with(token => $child->{token})->get('/signatures')->code, 200, 'the other token is valid');
my $repeated = $client->create(signers => Sigreq::Client::signers({}), headers => { 'Idempotency-Key' => 'key 1' });
is($repeated->code, 409, 'the keys of creations are known');
on_target('token', 'create', 'Apart', 'ann@x.org', 'test', 'later');
on_target('user', 'create', 'Apart', qw(Bob Kay bob@x.org));
is(on_target('org', 'create', 'Another')->{used}, 0, 'people and tokens are added');
my $check = on_target('check', '--evidence', @documents);
is_deeply([@$check{qw(missing damaged foreign evidence)}], [0, 0, 0, 0], 'check --evidence finds nothing');
is($check->{submissions}, keys(%made) + 1, 'check --evidence has looked at all submissions');
$again->stop;
done_testing;
