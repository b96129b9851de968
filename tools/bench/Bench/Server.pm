# SPDX-License-Identifier: Apache-2.0
# Bench::Server: databases with an organisation and a token each, and an httpd that serves each of them as a virtual
# host of its own, so that one process answers for everything that is compared.
package Bench::Server;
use strict;
use warnings;
use IO::Socket::INET;
use Bench::Share;
use JSON::PP 'decode_json';
use List::Util 'sum0';
use POSIX ();
use Sigreq::Processes;
use Time::HiRes 'sleep';

# new(dir => folder of its own, source => the tree with build/, directives => more of them, for the server, cpu => the
# number of the only processor that httpd and its helpers may use, share => the folder of a Bench::Share)
sub new {
    my ($class, %o) = @_;
    my $self = bless { %o, hosts => [] }, $class;
    for my $folder ($o{dir}, map {"$o{dir}/$_"} qw(logs www documents store-only apxs)) {
        mkdir $folder or die "$folder: $!\n";
    }
    said('sigreqctl seal create', "$o{source}/build/sigreqctl", 'seal', 'create', "$o{dir}/seal");
    return $self;
}

sub said { # runs a command; dies with all it said when it fails
    my ($what, @command) = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', @command or die "$what: $!\n";
    my $said = do { local $/; <$pipe> } // '';
    close $pipe or die "$what failed:\n$said\n";
    return $said;
}

sub spew {
    my ($file, $bytes) = @_;
    open my $out, '>:raw', $file or die "$file: $!\n";
    print {$out} $bytes;
    close $out or die "$file: $!\n";
    return $file;
}

# --- databases

sub cluster { # the private PostgreSQL: started when first asked for
    my $self = shift;
    return $self->{cluster} if $self->{cluster};
    my $dir = "$self->{dir}/pg";
    said('starting PostgreSQL', "$self->{source}/tools/cluster", 'start', $dir);
    my ($bin) = reverse sort glob '/usr/lib/postgresql/*/bin';
    return $self->{cluster} = { dir => $dir, socket => "$dir/s", bin => $bin, log => "$dir/log" };
}

sub psql { # SQL as PostgreSQL's superuser; dies when a statement fails
    my ($self, $database, $sql) = @_;
    my $cluster = $self->cluster;
    my $file = spew("$self->{dir}/statements.sql", $sql);
    return said('psql', "$cluster->{bin}/psql", '-XqAt', '-v', 'ON_ERROR_STOP=1', '-h', $cluster->{socket},
        '-U', 'postgres', '-d', $database, '-f', $file);
}

# A new database: {name, driver, params, token}. Its virtual host is called <name>.test.
sub database {
    my ($self, $name, $driver) = @_;
    my $host = { name => $name, driver => $driver };
    if ($driver eq 'pgsql') {
        $host->{database} = $name =~ tr/-/_/r;
        $self->psql('postgres', "CREATE DATABASE $host->{database} OWNER sigreq");
        my $socket = $self->cluster->{socket};
        $host->{params} = "host=$socket dbname=$host->{database} user=sigreq connect_timeout=2";
    } else {
        $host->{params} = "$self->{dir}/$name.sqlite3";
    }
    $self->ctl($host, 'db', 'init');
    $self->ctl($host, 'org', 'create', '--name', 'Bench');
    $self->ctl($host, 'user', 'create', '--organization', 'Bench', '--firstname', 'Ann', '--lastname', 'Lee', '--email',
        'ann@example.org');
    $host->{token} = decode_json($self->ctl($host, '--json', 'token', 'create', '--organization', 'Bench', '--user',
        'ann@example.org', '--environment', 'test', '--name', 'bench'))->{token};
    return $self->serve($host);
}

# Serves a database, which may be one that another httpd serves, too. Its key `documents` is where its documents are
# (default: a folder of its own).
sub serve {
    my ($self, $host) = @_;
    mkdir $host->{documents} = "$self->{dir}/documents.$host->{name}" if !$host->{documents};
    push @{ $self->{hosts} }, $host;
    return $host;
}

sub ctl {
    my ($self, $host, @arguments) = @_;
    return said("sigreqctl @arguments", "$self->{source}/build/sigreqctl", '--driver', $host->{driver}, '--params',
        $host->{params}, @arguments);
}

# --- httpd

sub start {
    my $self = shift;
    my $apxs = said('looking for apxs', 'sh', '-c', 'command -v apxs') =~ s/\s+$//r;
    my %asked = map { $_ => said("apxs -q $_", $apxs, '-q', $_) =~ s/\s+$//r } qw(SBINDIR PROGNAME LIBEXECDIR);
    $self->build_store_only($apxs);
    my @hosts = map { <<"HOST" } @{ $self->{hosts} };
<VirtualHost *:$self->{port}>
    ServerName $_->{name}.test
    DBDriver $_->{driver}
    DBDParams "$_->{params}"
    DBDMin 1
    DBDKeep 34
    DBDMax 34
    SigreqDocuments "$_->{documents}"
</VirtualHost>
HOST
    spew("$self->{dir}/hosts.conf", join "\n", $self->{directives} // '', @hosts);
    local @ENV{qw(BENCH_DIR BENCH_PORT BENCH_MODULES BENCH_BUILD)} =
        ($self->{dir}, $self->{port}, $asked{LIBEXECDIR}, "$self->{source}/build");
    $self->{pid} = fork // die "fork: $!\n";
    if (!$self->{pid}) {
        open STDOUT, '>>', "$self->{dir}/logs/stderr";
        open STDERR, '>&', \*STDOUT;
        open STDIN, '<', '/dev/null';
        die "httpd: no control group\n" if $self->{share} && !Bench::Share::enter($self->{share});
        my @pinned = defined $self->{cpu} ? ('taskset', '-c', $self->{cpu}) : ();
        exec @pinned, "$asked{SBINDIR}/$asked{PROGNAME}", '-f', "$self->{source}/tools/bench/httpd.conf.in", '-DFOREGROUND';
        die "httpd: $!\n";
    }
    $self->wait_until_healthy($_) for @{ $self->{hosts} };
    return $self;
}

sub build_store_only {
    my ($self, $apxs) = @_;
    $self->{port} //= free_port();
    my $folder = "$self->{dir}/apxs";
    return if -e "$folder/.libs/mod_store_only.so";
    said('apxs', 'sh', '-c', 'cp "$1" "$2" && cd "$2" && exec "$3" -c mod_store_only.c', 'sh',
        "$self->{source}/tools/bench/mod_store_only.c", $folder, $apxs);
}

sub free_port { # below the range the kernel hands out itself
    for (1 .. 200) {
        my $port = 10_000 + int rand 20_000;
        return $port if IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1);
    }
    die "no free port\n";
}

sub wait_until_healthy {
    my ($self, $host) = @_;
    my $status = '';
    for (1 .. 100) {
        $status = $self->curl($host, '/api/v3/health', '-o', '/dev/null');
        return if $status eq '200';
        last if waitpid($self->{pid}, 1) == $self->{pid};
        sleep 0.1;
    }
    die "httpd does not serve $host->{name}: status $status\n";
}

# An HTTP request by curl; gives the status ("000" when there was none).
sub curl {
    my ($self, $host, $path, @options) = @_;
    my @headers = map { ('-H', $_) } "Host: $host->{name}.test", "Authorization: Bearer $host->{token}", 'Expect:';
    open my $pipe, '-|', 'curl', '-s', '--noproxy', '*', '-w', '%{http_code}', @headers, @options,
        "http://127.0.0.1:$self->{port}$path" or die "curl: $!\n";
    my $status = <$pipe> // '';
    close $pipe;
    return $status;
}

sub child { my $self = shift; return Sigreq::Processes::child($self->{pid}) }

sub peak_kb { # VmHWM of a process
    my ($self, $pid) = @_;
    return slurp("/proc/$pid/status") =~ /^VmHWM:\s+(\d+) kB/m ? $1 : die "process $pid has no VmHWM\n";
}

sub processor_seconds { # of httpd and all processes below it, with those that have ended and were waited for
    my $self = shift;
    my @all = $self->{pid};
    for (my $at = 0; $at < @all; $at++) { push @all, Sigreq::Processes::below(qr{}, $all[$at]) }
    my $ticks = 0;
    for (@all) {
        my ($after) = eval { slurp("/proc/$_/stat") =~ /\) (.*)/s } or next;
        $ticks += sum0((split ' ', $after)[11 .. 14]);
    }
    return $ticks / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub slurp {
    open my $file, '<', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar <$file>;
}

sub halt { # httpd alone
    my $self = shift;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    for (1 .. 100) { return if waitpid($pid, 1) != 0; sleep 0.1 }
    kill KILL => $pid;
    waitpid $pid, 0;
}

sub stop {
    my $self = shift;
    $self->halt;
    my $cluster = delete $self->{cluster} or return;
    said('stopping PostgreSQL', "$self->{source}/tools/cluster", 'stop', $cluster->{dir});
}

sub log_tail {
    my $self = shift;
    my @lines = map { -e $_ ? split /^/, slurp($_) : () } map {"$self->{dir}/logs/$_"} qw(stderr error_log);
    return join '', @lines > 10 ? @lines[-10 .. -1] : @lines;
}

1;
