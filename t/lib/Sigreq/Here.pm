# SPDX-License-Identifier: Apache-2.0
# Sigreq::Here: the environment of a test file: the data of its suite, its own organisations and tokens (by sigreqctl),
# and the server's stored files, processes and log.
package Sigreq::Here;
use strict;
use warnings;
use Exporter 'import';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Client;
use Sigreq::Cluster;
use Sigreq::Lazy;
use Sigreq::Processes;
use Sigreq::Suite;
use Test::More  ();
use Time::HiRes qw(sleep time);

our @EXPORT_OK =
    qw(suite organisation user place ctl ctl_said collect checked documents stored reports temporary_files
    children signers not_behind_firewall restarted workers end_workers wait_for used signed database_stop database_start
    sql queued is_text is_error nothing_happens at_once);

my $suite;

sub suite {
    return $suite //= decode_json(path($ENV{SIGREQ_SUITE} // die "SIGREQ_SUITE is not set: use t/run\n")->slurp);
}

sub place { "http://127.0.0.1:" . suite->{port} . ($_[0] // '') }    # base URL of a location of extra.conf.in

sub ctl { return ctl_with(['--driver', suite->{db}, '--params', suite->{params}], @_) }

sub ctl_with {    # sigreqctl with --json and these options: the decoded answer
    my ($options, @words) = @_;
    my @command = (suite->{source} . '/build/sigreqctl', @$options, '--json', @words);
    open my $pipe, '-|', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe or die "sigreqctl @words exits with " . ($? >> 8) . "\n";
    return length $said ? decode_json($said) : undef;
}

# The same, with documents folder: exit code and all it said.
sub ctl_said {
    my @command = (
        suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', suite->{params},
        storage(), @_);
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? & 127 ? "signal $?" : $? >> 8, $said);
}

sub client { Sigreq::Client->new(base => place(), spec => suite->{source} . '/src/api/openapi.json', @_) }

# A new organisation with a user: {uuid, name, test => client, live => client, …}. quota => N limits production.
my $count = 0;

sub named {    # what CODE creates by a name that is free. In a long run another file may have had this process id.
    my ($code, $name, $form) = @_;
    for (1 .. 100) {
        my $made = eval { $code->($name // sprintf $form, ++$count) };
        return $made if $made;
        die $@       if defined $name || $@ !~ /exits with 4$/m;
    }
    die "no name is free: $@";
}

sub organisation {
    my %o     = @_;
    my @quota = defined $o{quota} ? ('--quota', $o{quota}) : ();
    my $made  = named(sub { ctl('org', 'create', '--name', @_, @quota) }, $o{name}, "Org $$-%d");
    return user({ uuid => $made->{uuid}, name => $made->{name} }, %o);
}

# A user of an organisation with a client for each environment. Its token is created when a test asks for it: many use
# one environment.
sub user {
    my ($organisation, %o) = @_;
    my @kim   = ('--organization', $organisation->{uuid}, '--firstname', 'Kim', '--lastname', 'Roe');
    my $user  = named(sub { ctl('user', 'create', @kim, '--email', @_) }, $o{email}, "u%d-$$\@example.org");
    my $email = $user->{email};
    my @of    = ('--organization', $organisation->{uuid}, '--user', $email);
    my %made =
        (uuid => $organisation->{uuid}, name => $organisation->{name}, email => $email, user_uuid => $user->{uuid});
    for (['test', 'test'], ['live', 'production']) {
        my ($key, $environment) = @$_;
        my $token;
        my $create = sub { $token //= ctl('token', 'create', @of, '--environment', $environment, '--name', $key) };
        $made{"${key}_token"} = $create;
        $made{$key} = sub { client(token => $create->()->{token}, %{ $o{client} // {} }) };
    }
    return Sigreq::Lazy->hash(%made);
}

# How many requests a test may send side by side so that none gets 503 for want of a helper: fewer if helpers have
# sanitizers, which make them slow.
sub at_once { return $ENV{SIGREQ_SANITIZE} && $_[0] > 4 ? 4 : $_[0] }

sub used {    # what an organisation used of its quota
    my $organisation = shift;
    my ($row) = grep { $_->{uuid} eq $organisation->{uuid} } @{ rows(ctl('org', 'list')) };
    return $row->{used};
}

sub rows { ref $_[0] eq 'ARRAY' ? $_[0] : $_[0]{data} }

# The options of sigreqctl that name the documents, the folder of this host for them, and their bucket.
sub storage { return suite->{s3} ? ('--config', suite->{dir} . '/storage.conf') : ('--documents', local_folder()) }
sub local_folder { return suite->{dir} . (suite->{s3} ? '/cache/' . suite->{s3}{bucket} : '/documents') }
sub bucket { require Sigreq::S3; return Sigreq::S3->of(suite->{s3}) }

# These give arrays, so that a scalar of one is its length.
sub documents {    # stored documents (not their reports) that gc does not remove
    collect();
    return bucket()->objects_of('') if suite->{s3};
    my @found = grep { !/\.json$/ } glob suite->{dir} . '/documents/[0-9a-f][0-9a-f]/*';
    return @found;
}

# The files of a stored content: one, or more until gc has run.
sub stored {
    my $sha256 = shift;
    return bucket()->objects_of($sha256) if suite->{s3};
    my $folder = join '/', suite->{dir}, 'documents', substr($sha256, 0, 2);
    my @found  = grep { !/\.json$/ } glob "$folder/$sha256.*";
    return @found;
}

sub stored_bytes {    # of one of them
    my ($name) = @_;
    return suite->{s3} ? bucket()->content($name) : path($name)->slurp;
}

# sigreqctl gc, also of uploads that a moment ago were refused.
sub collect { return ctl('gc', '--reserved', 0, storage(), @_) }

# What sigreqctl check says, which exits with 1 if it finds a problem.
sub checked {
    my @command = (suite->{source} . '/build/sigreqctl', '--json', '--driver', suite->{db}, '--params', suite->{params},
        'check', storage(), @_);
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    return decode_json(do { local $/; <$pipe> });
}

# The reports of a stored document: one for each organisation and environment that has it.
sub reports {
    my $sha256 = shift;
    my $folder = join '/', local_folder(), substr($sha256, 0, 2);
    my @found  = glob "$folder/$sha256.*.json";
    return @found;
}

# What uploads leave behind if they are not cleaned up: named files, and unnamed ones still open in a child.
sub temporary_files {
    my @found = grep {-f} glob local_folder() . '/tmp/*';
    my @open  = map  { glob "/proc/$_/fd/*" } children();
    push @found, grep { (readlink // '') =~ m{/(?:documents|cache)/.*\(deleted\)$} } @open;
    return @found;
}

sub httpd_pid { path(suite->{pid_file})->slurp + 0 }
sub children { return Sigreq::Processes::children(@_ ? @_ : httpd_pid()) }    # httpd's
sub signers  { return Sigreq::Processes::signers(@_  ? @_ : httpd_pid()) }

# Restarts an httpd gracefully and waits until that is over: httpd loses a signal that comes while it restarts, and a
# new child need not be one of the restart (httpd starts some when there is much to do). log: a function.
sub restarted {
    my ($pid, $log) = @_;
    my $times  = sub { scalar(() = $log->() =~ /resuming normal operations/g) };
    my $before = $times->();
    my %old    = map { $_ => 1 } children($pid);
    kill USR1 => $pid;
    return wait_for(sub { $times->() > $before && grep { !$old{$_} } children($pid) });
}

sub workers { return Sigreq::Processes::workers(@_ ? @_ : children()) }

# Ends all PDF helpers. It kills again and again, because one may just have been started.
sub end_workers { return wait_for(sub { kill KILL => workers(); !workers() }) || die "workers do not end\n" }

# True as soon as CODE is. False after `patience`, which no machine is so busy as to need. What takes long is asked
# less often, because CODE may start a program.
sub wait_for {
    my $code  = shift;
    my $begun = time;
    do { return 1 if $code->(); sleep pause(time - $begun) } while time < $begun + patience();
    return 0;
}

# How many seconds a test waits for a condition at most. Programs that have sanitizers are about five times slower.
sub patience { return $ENV{SIGREQ_SANITIZE} ? 600 : 120 }

sub pause { my $waited = shift; return $waited < 4.8 ? 0.02 + $waited / 10 : 0.5 }

# A PDF, as bytes, signed by each of NAMES with the pair in a folder, as the service does it: t/tool/sign.c
sub signed {
    my ($bytes, $folder, @names) = @_;
    my $build = suite->{source} . '/build';
    my ($in, $out) = map { suite->{dir} . "/sign-$$.$_" } qw(in out);
    Sigreq::Suite::write_file($in, $bytes);
    system("$build/t/tool/sign", "$build/sigreq-pdfd", "$folder/seal.crt", "$folder/seal.key", $in, $out, @names) == 0
        or die "t/tool/sign failed\n";
    my $made = path($out)->slurp;
    unlink $in, $out;
    return $made;
}

sub cluster        { Sigreq::Cluster->new(source => suite->{source}, dir => suite->{dir} . '/pg') }
sub database_stop  { cluster->stop }
sub database_start { cluster->start }

sub sql {    # one statement in the suite's database, or another one: the first column of the first row
    my ($statement, $params) = (@_, suite->{params});
    my @command =
        suite->{db} eq 'pgsql'
        ? ('psql', '-qXAt', $params, '-c', 'SET search_path = sigreq', '-c', $statement)
        : ('sqlite3', '-cmd', '.timeout 60000', $params, $statement);
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    chomp(my $said = <$pipe> // '');
    close $pipe or die "$command[0] failed: $statement\n";
    return $said;
}

# How many events of a submission were ever queued: no more can arrive than these.
sub queued {
    my ($uuid, @params) = @_;
    return sql("SELECT count(*) FROM job d JOIN submission s ON s.id = d.submission_id WHERE s.uuid = '$uuid'",
        @params);
}

# --- assertions

# Whether a firewall before the service (make test-firewall) has refused a request, with a page of httpd. It may do so
# whenever the service would refuse it, and with any 4xx. For an incomplete JSON, ModSecurity 2.9 has a 500.
sub by_firewall {
    my $res = shift;
    return $ENV{SIGREQ_SUITE} && suite->{firewall} && $res->code =~ /^4|^500/ && $res->body =~ /^<!DOCTYPE HTML PUBLIC/;
}

# Ends a subtest that cannot succeed behind a firewall.
sub not_behind_firewall { return suite->{firewall} && Test::More::plan(skip_all => "behind a firewall: $_[0]") }

sub is_text {    # a refusal as plain text, exactly
    my ($res, $status, $message, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::pass(($name // $message) . ' (by the firewall)') if $status >= 400 && by_firewall($res);
    my $text = $res->body;
    utf8::decode($text);
    return Test::More::is(
        $res->code . ' ' . ($res->headers->content_type // '') . "\n$text",
        "$status text/plain; charset=utf-8\n$message", $name // $message);
}

sub is_error {    # a refusal as JSON; message: a text or a pattern
    my ($res, $status, $message, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $name //= "$status $message";
    return Test::More::pass("$name (by the firewall)") if $status >= 400 && by_firewall($res);
    my $body = eval { decode_json($res->body) } // {};
    return Test::More::is($res->code, $status, $name) || Test::More::diag(substr $res->body, 0, 300)
        if $res->code != $status;
    return
        ref $message
        ? Test::More::like($body->{message}, $message, $name)
        : Test::More::is($body->{message}, $message, $name);
}

# Runs CODE, and checks that it stored nothing: no submission of the organisation, no document that gc does not remove,
# no temporary file, no use of the quota.
sub nothing_happens {
    my ($organisation, $name, $code) = @_;
    my $state = sub {
        my @lists = map { $organisation->{$_}->get('/signatures', query => { limit => 100 })->body } qw(test live);
        return join "\n", 'used ' . used($organisation), 'documents ' . documents(), @lists;
    };
    my $before = $state->();
    $code->();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    Test::More::is($state->(), $before, "$name: nothing stored, nothing counted");
    Test::More::ok(wait_for(sub { !temporary_files() }), "$name: no temporary file")
        || Test::More::diag(join "\n", temporary_files());
}

1;
