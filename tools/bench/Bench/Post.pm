# Bench::Post: POST of 100 kB and two signers, of a document seen before and of a new one each time, against pgbench
# doing the same database work, and against a handler that only stores the upload.
package Bench::Post;
use strict;
use warnings;
use Bench::Measure qw(in_turns pgbench ratio wrk);
use Bench::Upload;

my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

sub run {
    my ($server, $report) = @_;
    my $pgsql = $server->database('pgsql', 'pgsql');
    my $sqlite3 = $server->database('sqlite3', 'sqlite3');
    $server->start;
    Bench::Upload::create($server, $_) for $pgsql, $sqlite3; # seen from now on
    my $script = pgbench_script($server, $pgsql);
    check_script($server, $pgsql, $script);
    my $rates = in_turns(
        'seen pgsql' => sub { post($server, $pgsql, @_) },
        'pgbench' => sub { pgbench($server, $pgsql, $script, @_) },
        'new pgsql' => sub { post($server, $pgsql, @_, seed()) },
        'store only' => sub { store_only($server, $pgsql, @_) },
        'seen sqlite3' => sub { post($server, $sqlite3, @_) },
        'new sqlite3' => sub { post($server, $sqlite3, @_, seed()) });
    for (['seen pgsql', 'pgbench', ['≥', 0.5]], ['new pgsql', 'pgbench'], ['seen pgsql', 'store only'],
        ['new pgsql', 'store only'], ['seen sqlite3', 'store only'], ['new sqlite3', 'store only']) {
        my ($what, $beside, $target) = @$_;
        $report->row(
            what => name_of($what), beside => name_of($beside), a => $rates->{$what}, b => $rates->{$beside},
            ratio => ratio($rates->{$what}, $rates->{$beside}), target => $target);
    }
}

sub name_of {
    my $name = shift;
    return 'the same statements by pgbench' if $name eq 'pgbench';
    return 'the same upload, only stored' if $name eq 'store only';
    my ($kind, $driver) = split ' ', $name;
    return 'POST 100 kB, document ' . ($kind eq 'seen' ? 'seen before' : 'new each time') . ", $driver";
}

sub post {
    my ($server, $host, $seconds, @seed) = @_;
    return upload($server, $host, '/api/v3/signatures', $seconds, @seed);
}

sub upload {
    my ($server, $host, $path, $seconds, @seed) = @_;
    my @arguments = ("$server->{dir}/upload", Bench::Upload::TYPE, $host->{token}, @seed);
    return wrk($server, $host, $path, $seconds, 'post.lua', @arguments);
}

my $seeds = 0;
sub seed { return time . '-' . ++$seeds } # other documents in each round

sub store_only {
    my ($server, $host, $seconds) = @_;
    my $rate = upload($server, $host, '/store-only', $seconds);
    # the last requests may still be under way, and their files change names
    system 'sh', '-c', 'exec find "$1" -type f -delete 2>/dev/null', 'sh', "$server->{dir}/store-only";
    return $rate;
}

# The statements one POST makes, as PostgreSQL logs them, as a script for pgbench: the same text with the arguments as
# literals, and uuids that are new in each transaction (their last 12 digits; pgbench has no other variables). Sent
# by the simple protocol, which costs PostgreSQL a little less than the module's parameters do.
sub pgbench_script {
    my ($server, $host) = @_;
    my $log = $server->cluster->{log};
    my $reload = 'SELECT pg_reload_conf(), pg_sleep(0.5);';
    $server->psql($host->{database}, "ALTER SYSTEM SET log_statement = 'all';\n$reload");
    my $start = -s $log;
    Bench::Upload::create($server, $host);
    $server->psql($host->{database}, "ALTER SYSTEM RESET log_statement;\n$reload");
    my $said = substr Bench::Server::slurp($log), $start;
    my @statements;
    for my $line (split /\n/, $said) {
        if ($line =~ /LOG:  (?:statement|execute [^:]*): (.*)/) { push @statements, $1 }
        elsif ($line =~ /DETAIL:  parameters: (.*)/) { $statements[-1] = with_literals($statements[-1], $1) }
    }
    @statements = grep { !/pg_reload_conf|ALTER SYSTEM|delivery_/ } @statements; # the delivery thread looks now and then
    "@statements" =~ /submission_create/ or die "POST /signatures did not call submission_create:\n@statements\n";
    s/($uuid)/substr($1, 0, 24) . ':tail'/ge for @statements;
    return Bench::Server::spew("$server->{dir}/post.pgbench",
        join "\n", '\set tail random(100000000000, 999999999999)', map({"$_;"} @statements), '');
}

sub with_literals {
    my ($statement, $parameters) = @_;
    my %literal = $parameters =~ /\$(\d+) = ('(?:[^']|'')*'|NULL)/g;
    $statement =~ s/\$(\d+)/$literal{$1} or die "no parameter $1 in $parameters\n"/ge;
    return $statement;
}

sub check_script { # it must really create
    my ($server, $host, $script) = @_;
    my $count = sub { $server->psql($host->{database}, 'SELECT count(*) FROM sigreq.submission') };
    my $before = $count->();
    $server->{pgbench_done} = 0;
    pgbench($server, $host, $script, 1);
    my $made = $count->() - $before;
    die "pgbench made $made submissions in $server->{pgbench_done} transactions\n" if $made != $server->{pgbench_done};
}

1;
