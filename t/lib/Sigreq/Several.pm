# SPDX-License-Identifier: Apache-2.0
# Sigreq::Several: what docs/several-hosts.md sets up, on one machine: hosts behind haproxy, and PostgreSQL with a
# standby under Patroni and etcd. It uses the files of docs/several-hosts with addresses of the loopback network
# instead of 10.0.0.x, so that the ports can stay. Everything ends with the object.
package Sigreq::Several;
use strict;
use warnings;
use File::Path 'make_path';
use File::Temp 'tempdir';
use HTTP::Tiny;
use IO::Socket::INET;
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Scalar::Util qw(refaddr weaken);
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::Processes;
use Sigreq::Receiver;
use Sigreq::S3;
use Sigreq::Suite;

my %PROGRAMS = (haproxy => 'haproxy', patroni => 'patroni', etcd => 'etcd-server', pgbouncer => 'pgbouncer');
my @FOLDERS  = (split(/:/, $ENV{PATH}), qw(/usr/sbin /usr/local/sbin));

my %living; # what a file holds to its end has to stop before File::Temp removes its folder

sub program { my $name = shift; my ($found) = grep {-x} map {"$_/$name"} @FOLDERS; return $found }

# Why these programs cannot be used here, or undef.
sub missing {
    return 'several hosts need PostgreSQL' if suite->{db} ne 'pgsql';
    my @missing = sort grep { !program($_) } @_;
    return @missing ? join(', ', map { $PROGRAMS{$_} } @missing) . ' not installed (tools/deps cluster)' : undef;
}

# new: a network of its own
sub new {
    my $class  = shift;
    my $number = Sigreq::Suite::free_port();
    my $self   = bless {
        dir => tempdir('several.XXXXXX', DIR => suite->{dir}, CLEANUP => 1), owner => $$, started => [],
        network => '127.' . (1 + ($number >> 8)) . '.' . ($number & 255) }, $class;
    weaken($living{ refaddr $self } = $self);
    return $self;
}

# everything: PostgreSQL, haproxy, two hosts (the second one with PgBouncer), and an organisation whose webhooks are
# received: {params, receiver, hosts => [Sigreq::Httpd], direct => [a client for each host], client => through haproxy}
sub everything {
    my $class = shift;
    my $receiver = Sigreq::Receiver->new; # before the programs that end with our pipes, which it would keep open
    my $self     = $class->new;
    my $params   = $self->database;
    my $apart    = Sigreq::Apart->new(params => $params);
    $self->haproxy;
    my @hosts  = ($self->host(1, $params), $self->host(2, $self->pooler));
    my $client = Sigreq::Here::client(base => $self->base, token => $apart->{token}, connections => 0);
    @{$self}{qw(receiver apart hosts direct client)} =
        ($receiver, $apart, \@hosts, [map { $apart->client($_) } @hosts], $client);
    $self->serves($client) or die "the service does not work: " . $self->log('haproxy') . "\n";
    $client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url('/ok') })
        for qw(sent signed completed);
    return $self;
}

sub address { return "$_[0]{network}.$_[1]" }

# A file of docs/several-hosts as it is used here. Pairs of texts: what must be in it, and what is there instead.
sub file {
    my ($self, $name, $as, @replace) = @_;
    my $text = path(suite->{source} . "/docs/several-hosts/$name")->slurp;
    push @replace, '10.0.0.0/24' => '127.0.0.0/8' if $text =~ m{10\.0\.0\.0/24};
    while (my ($old, $new) = splice @replace, 0, 2) {
        $text =~ s/(?<![\w.])\Q$old\E(?![\w.])/$new/g or die "docs/several-hosts/$name has no $old\n";
    }
    $text =~ s/\b10\.0\.0\.(\d+)/$self->address($1)/ge;
    my ($left) = $text =~ m{^(?!\s*[#;])(.*["\s](?:/etc|/var)/.*)}m;
    die "docs/several-hosts/$name has a path that is not for tests: $left\n" if $left;
    return Sigreq::Suite::write_file("$self->{dir}/$as", $text);
}

# --- processes: each has a file with its number, so that any process of the test can kill it and start it again

sub start {
    my ($self, $name, @command) = @_;
    push @{ $self->{started} }, $name if !$self->{commands}{$name};
    $self->{commands}{$name} = \@command;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        setpgrp;
        open STDIN,  '<',  '/dev/null'              or die "null: $!\n";
        open STDOUT, '>>', "$self->{dir}/$name.log" or die "$name.log: $!\n";
        open STDERR, '>&', \*STDOUT                 or die "$name.log: $!\n";
        exec @command or die "$command[0]: $!\n";
    }
    Sigreq::Suite::write_file("$self->{dir}/$name.pid", $pid);
    return;
}

sub again { my ($self, $name) = @_; return $self->start($name, @{ $self->{commands}{$name} }) }
sub pid   { my $file = "$_[0]{dir}/$_[1].pid"; return -s $file ? path($file)->slurp + 0 : 0 }
sub log   { my $file = "$_[0]{dir}/$_[1].log"; return -e $file ? path($file)->slurp     : '' }

# A process of `start` and all that it has started.
sub family {
    my ($self, $name) = @_;
    my @found = grep { Sigreq::Processes::processes()->{$_} } $self->pid($name);
    if (-e "$self->{dir}/$name/data/postmaster.pid") {
        my ($postmaster) = path("$self->{dir}/$name/data/postmaster.pid")->slurp =~ /^(\d+)/;
        my $words = $postmaster && -r "/proc/$postmaster/cmdline" ? path("/proc/$postmaster/cmdline")->slurp : '';
        push @found, $postmaster, Sigreq::Processes::below(qr{}, $postmaster) if $words =~ /\Q$self->{dir}\E/;
    }
    return @found;
}

sub kill_all {    # a process and all that it has started; waits until they are gone
    my ($self, $name) = @_;
    my @all = $self->family($name);
    kill KILL => @all;
    return wait_for(sub { my $there = Sigreq::Processes::processes(); !grep { $there->{$_} } @all });
}

sub stop {
    my $self = shift;
    return if $self->{owner} != $$;
    for my $name (reverse @{ $self->{started} }) {
        my @all = $self->family($name);
        kill CONT => @all;
        kill KILL => @all;
        my $pid = $self->pid($name);
        waitpid $pid, 0 if $pid;
    }
    $self->{started} = [];
    return;
}

sub DESTROY { local ($?, $!, $@) = ($?, $!, $@); delete $living{ refaddr $_[0] }; $_[0]->stop }

END { local $?; $_->stop for grep {defined} values %living }

sub answers {
    my ($self, $address, $port, $name) = @_;
    wait_for(sub { IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port) })
        or die "$name does not answer: " . $self->log($name) . "\n";
    return;
}

# --- hosts and haproxy

# A host, with one object store for all of them. params: of the database
sub host {
    my ($self, $number, $params, %o) = @_;
    my $s3    = $self->{s3} //= Sigreq::S3->new(dir => $self->{dir}, source => suite->{source});
    my $cache = "$self->{dir}/cache-$number";
    make_path($cache);
    my @paths = ('/var/cache/sigreq' => $cache, '/etc/sigreq/s3-credentials' => "$s3->{dir}/credentials");
    my @names = ('https://sign.example.org' => $self->base, 'https://s3.example.org' => $s3->endpoint);
    my $text  = path($self->file('sigreq.conf', "sigreq-$number.conf", @paths, @names))->slurp =~ s/^DBD.*\n//mgr;
    return Sigreq::Httpd->new(
        driver => 'pgsql', params => $params, documents => 's3://sigreq', port => 8080, children => 2, threads => 16,
        address => $self->address(10 + $number),
        modules => 'authz_core dbd remoteip',
        server  => "${text}SigreqWebhookAllow 127.0.0.0/8\n<Location /metrics>\nSetHandler sigreq-metrics\n</Location>",
        %o)->start;
}

sub port {8443}
sub base { my $self = shift; return 'http://' . $self->address(1) . ':' . port() }

sub haproxy {
    my $self = shift;
    my $tls  = '443 ssl crt /etc/haproxy/sign.example.org.pem alpn h2,http/1.1';
    $self->start('haproxy', program('haproxy'), '-db', '-f', $self->file('haproxy.cfg', 'haproxy.cfg', $tls => port()));
    return $self->answers($self->address(1), port(), 'haproxy');
}

# What sigreqctl check --remote finds in the object store.
sub checked {
    my ($self, $params) = @_;
    return $self->{s3}->checked(suite->{source} . '/build/sigreqctl',
        Sigreq::Apart::configuration(driver => 'pgsql', params => $params), "$self->{dir}/cache-1");
}

# Waits until haproxy has found a host. What haproxy itself answers before is not in the API's description.
sub serves { my ($self, $client) = @_; return wait_for(sub { $client->get('/health', unjudged => 1)->code == 200 }) }

# --- PostgreSQL under Patroni: the connection string of sigreq.conf

sub database {
    my $self = shift;
    $self->etcd;
    for my $number (1, 2) {
        my $name = "pg$number";
        my $dir  = "$self->{dir}/$name";
        make_path("$dir/s");
        my @own = $number == 1 ? () : ('name: pg1' => "name: $name", '10.0.0.21' => '10.0.0.22');
        my $file = $self->file('patroni.yml', "$name.yml", @own, '/var/lib/postgresql/15/sigreq' => "$dir/data",
            '/usr/lib/postgresql/15/bin' => (glob '/usr/lib/postgresql/*/bin')[-1],
            '/var/lib/postgresql/pgpass-patroni' => "$dir/pgpass", '/var/run/postgresql' => "$dir/s");
        $self->start($name, program('patroni'), $file);
    }
    # initdb, and a copy of it: minutes on a machine that is very busy
    my $tries = 5;
    1 while !$self->is_redundant && --$tries;
    $tries or die "Patroni did not start: " . join '', map { $self->log("pg$_") } 1, 2;
    $self->superuser("CREATE ROLE sigreq LOGIN PASSWORD 'secret'");
    $self->superuser('CREATE DATABASE sigreq OWNER sigreq');
    for my $host (map { $self->address($_) } 21, 22) {    # the standby has it, but may show it later
        my $here = sub { (psql("host=$host user=sigreq password=secret dbname=sigreq", 'SELECT 1'))[0] };
        wait_for($here) or die "the database is not at $host\n";
    }
    my ($params) = path(suite->{source} . '/docs/several-hosts/sigreq.conf')->slurp =~ /^DBDParams "(.*)"$/m;
    return $self->{params} = $params =~ s/\b10\.0\.0\.(\d+)/$self->address($1)/ger;
}

sub etcd {
    my $self = shift;
    for my $number (1 .. 3) {
        my $own  = $self->address(30 + $number);
        my $file = $self->file('etcd.yml', "etcd$number.yml", '/var/lib/etcd/sigreq' => "$self->{dir}/etcd$number");
        my $text = path($file)->slurp =~ s/^name: e1/name: e$number/mr;
        my $first = $self->address(31);
        $text =~ s/^([\w-]+-urls: .*)\Q$first\E/$1$own/mg;
        $self->start("etcd$number", program('etcd'), '--config-file', Sigreq::Suite::write_file($file, $text));
    }
    return $self->answers($self->address(31), 2379, 'etcd1');
}

sub superuser {    # one statement, at the leader, again if it fails
    my ($self, $statement) = @_;
    my $params = 'host=' . $self->address(21) . ',' . $self->address(22)
        . ' user=postgres password=secret-of-postgres dbname=postgres target_session_attrs=read-write';
    my ($done, $said);
    my $run = sub { ($done, $said) = psql($params, $statement); return $done || $said =~ /already exists/ };
    return wait_for($run) || die "psql failed: $said\n";
}

sub psql {    # (whether it succeeds, all it said)
    my ($params, $statement) = @_;
    my @psql = ('sh', '-c', 'exec psql -qXAt "$1" -c "$2" 2>&1', 'sh', "$params connect_timeout=2", $statement);
    open my $pipe, '-|', @psql or die "psql: $!\n";
    my $said = do { local $/; <$pipe> };
    return (close($pipe), $said);
}

# PgBouncer, which needs haproxy: the connection string of a host that uses it.
sub pooler {
    my $self  = shift;
    my $users = Sigreq::Suite::write_file("$self->{dir}/users", qq{"sigreq" "secret"\n});
    my $file  = $self->file('pgbouncer.ini', 'pgbouncer.ini', '/etc/pgbouncer/userlist.txt' => $users);
    $self->start('pgbouncer', program('pgbouncer'), $file);
    $self->answers($self->address(1), 6432, 'pgbouncer');
    $self->superuser("ALTER ROLE sigreq SET statement_timeout = '5s'");
    my $params = $self->{params} =~ s/ (?:options='.*?'|target_session_attrs=\S+)//gr;
    return $params =~ s/host=\S+ port=\S+/'host=' . $self->address(1) . ' port=6432'/er;
}

# What Patroni says about its members: {name => {role, state}}, or undef.
sub members {
    my $self = shift;
    for my $number (1, 2) {
        my $answer = HTTP::Tiny->new(timeout => 2)->get('http://' . $self->address(20 + $number) . ':8008/cluster');
        my $said = eval { decode_json($answer->{content}) } or next;
        return { map { $_->{name} => $_ } @{ $said->{members} // [] } };
    }
    return;
}

sub leader {
    my $members = $_[0]->members // return;
    my ($name) = grep { $members->{$_}{role} eq 'leader' && $members->{$_}{state} eq 'running' } sort keys %$members;
    return $name;
}

# Whether the PostgreSQL of a member accepts connections that want to write.
sub is_writable {
    my ($self, $name) = @_;
    my ($number) = $name =~ /(\d)/;
    my $params = 'host=' . $self->address(20 + $number) . ' user=sigreq password=secret dbname=sigreq';
    return (psql("$params target_session_attrs=read-write", 'SELECT 1'))[0];
}

# Asks the Patroni of a member for something.
sub ask {
    my ($self, $name, $method, $path, %what) = @_;
    my ($number) = $name =~ /(\d)/;
    my $url = 'http://' . $self->address(20 + $number) . ":8008/$path";
    return HTTP::Tiny->new(timeout => 60)->request($method, $url, { content => encode_json(\%what) })->{success};
}

sub switch_over { my ($self, $leader) = @_; return $self->ask($leader, POST => 'switchover', leader => $leader) }

# How long a leader may be silent. Tests set less than patroni.yml after everything has been set up.
sub ttl {
    my ($self, $seconds) = @_;
    return wait_for(sub { $self->ask('pg1', PATCH => 'config', ttl => $seconds, loop_wait => 1) });
}

sub is_redundant {    # waits until there is a leader, and a standby that has everything
    my $self = shift;
    return wait_for(sub {
        my $members = $self->members // return;
        my $roles   = join ' ', sort map {"$_->{role} $_->{state}"} values %$members;
        return $roles =~ /^leader running sync_standby (?:running|streaming)$/;
    });
}

1;
