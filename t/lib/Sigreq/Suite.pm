# SPDX-License-Identifier: Apache-2.0
# Sigreq::Suite: one pass of the API tests: a database, an MPM, and an httpd. t/run makes, starts and stops it, and
# checks its log. The tests read its data by Sigreq::Here.
package Sigreq::Suite;
use strict;
use warnings;
use Fcntl 'LOCK_EX';
use File::Temp 'tempdir';
use IO::Socket::INET;
use Mojo::File 'path';
use Mojo::JSON 'encode_json';
use Sigreq::Cluster;
use Time::HiRes 'sleep';

# new(dir => folder of its own, source => the staged tree, db => sqlite3|pgsql, mpm => event|prefork, s3 => documents
# are in a bucket of an OpenStack Swift that the suite starts, firewall => paranoia level of a ModSecurity before it)
sub new { my ($class, %o) = @_; return bless {%o}, $class }

sub name {"$_[0]{db}-$_[0]{mpm}"}

sub said {    # runs a command quietly; dies with all it said when it fails
    my ($what, @command) = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', @command or die "$what: $!\n";
    my $said = do { local $/; <$pipe> }
        // '';
    close $pipe or die "$what failed:\n$said\n";
    return $said;
}

sub write_file {    # Mojo::File's name for it changes between versions
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# A port below the range that the kernel hands out itself. No two callers of one t/run get the same one: what looked
# free would be taken by another lane before its httpd listens.
sub free_port {
    my $folder = $ENV{SIGREQ_STAGE} // tempdir(CLEANUP => 1);    # tools run outside of t/run
    open my $last, '+>>', "$folder/port" or die "port: $!\n";
    flock $last, LOCK_EX or die "port: $!\n";
    seek $last, 0, 0;
    my $port = <$last> // 10_000 + int rand 20_000;
    for (1 .. 200) {
        $port = $port < 30_000 ? $port + 1 : 10_000;
        IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1) or next;
        truncate $last, 0;
        syswrite $last, $port;
        return $port;
    }
    die "no free port\n";
}

sub prepare {    # folders, database and schema
    my $self = shift;
    my ($dir, $source) = @{$self}{qw(dir source)};
    path("$dir/$_")->make_path for qw(documents documents-second documents-none db t);
    $self->write_storage;
    $self->write_firewall;
    said('copying t/', 'cp', '-a', map({"$source/t/$_"} qw(TEST.PL conf data lib)), "$dir/t");    # what httpd needs
    if ($self->{db} eq 'pgsql') {
        $self->{cluster} = Sigreq::Cluster->new(source => $source, dir => "$dir/pg");
        $self->{params} = $self->{cluster}->start;
        $self->{params} .= ' connect_timeout=10';    # longer than a busy machine takes
        $self->{no_params} = "host=$dir/nowhere dbname=none connect_timeout=1";
    } else {
        $self->{params}    = "$dir/db/sigreq.sqlite3";
        $self->{no_params} = "$dir/nowhere/none.sqlite3";
    }
    said('sigreqctl db init', "$source/build/sigreqctl", '--driver', $self->{db}, '--params', $self->{params}, 'db',
        'init');
    my @create = ("$source/build/sigreqctl", 'seal', 'create');
    said('sigreqctl seal create', @create, "$dir/seal");
    said('sigreqctl seal create --test', @create, "$dir/seal-test", '--test');
    $self->{modules} = $self->modules_conf;
    $self->{httpd}   = join '/', map { asked_apxs($_) } qw(SBINDIR PROGNAME);
    return $self;
}

sub write_storage {    # where documents are: for httpd, and for sigreqctl (--config)
    my $self = shift;
    my ($dir, $text) = ($self->{dir}, qq{SigreqDocuments "$self->{dir}/documents"\n});
    if ($self->{s3}) {
        require Sigreq::S3;
        $self->{store} = Sigreq::S3->new(dir => $dir, source => $self->{source});
        $self->{s3}    = { %{ $self->{store} }{qw(port bucket)} };
        path("$dir/cache")->make_path;
        $text = "SigreqDocuments s3://sigreq\n" . $self->{store}->directives("$dir/cache");
    }
    return write_file("$dir/storage.conf", $text);
}

sub write_firewall {    # what stands before the service: t/conf/extra.conf.in and Sigreq::Httpd include it
    my $self = shift;
    my ($dir, $level) = @{$self}{qw(dir firewall)};
    require Sigreq::Firewall if $level;
    return write_file("$dir/firewall.conf",
        $level ? Sigreq::Firewall::directives(source => $self->{source}, dir => $dir, paranoia => $level) : '');
}

sub asked_apxs { my $what = shift; return said('asking apxs', 'apxs', '-q', $what) =~ s/\s+$//r }

sub modules_conf {    # what httpd needs besides ours; Apache::Test takes it over
    my $self    = shift;
    my $folder  = asked_apxs('LIBEXECDIR');
    my @modules = ("mpm_$self->{mpm}", qw(authz_core dbd authn_core authn_anon auth_basic authz_user),
        $self->{firewall} ? Sigreq::Firewall::MODULES() : ());
    my $text    = join '', map {"LoadModule ${_}_module $folder/mod_$_.so\n"} @modules;
    return write_file("$self->{dir}/modules.conf", $text);
}

sub environment {
    my $self = shift;
    return (
        SIGREQ_BUILD     => "$self->{source}/build",
        SIGREQ_DATA      => $self->{dir},
        SIGREQ_DRIVER    => $self->{db},
        SIGREQ_PARAMS    => $self->{params},
        SIGREQ_NO_PARAMS => $self->{no_params},
        SIGREQ_PORT      => $self->{port},
        SIGREQ_SUITE     => "$self->{dir}/suite.json",
        PERL5LIB         => join ':', "$self->{dir}/t/lib", $ENV{PERL5LIB} // ());
}

sub start {
    my $self = shift;
    my $apxs = said('looking for apxs', 'sh', '-c', 'command -v apxs') =~ s/\s+$//r;
    for my $try (1 .. 3) {    # another run may take the port between our look and httpd's
        $self->{port} = free_port();
        my %environment = $self->environment;
        local @ENV{ keys %environment } = values %environment;
        my @driver = ($^X, "$self->{dir}/t/TEST.PL", '-apxs', $apxs, '-httpd_conf', $self->{modules});
        my $said   = eval { said('httpd', @driver, '-port', $self->{port}, '-start-httpd') } // $@;
        last if $self->answers;
        my $log = $self->log;
        die "httpd of $self->{dir} did not start:\n$said\n$log\n" if $try == 3 || $log !~ /Address already in use/;
    }
    $self->{pid_file} = "$self->{dir}/t/logs/httpd.pid";
    write_file("$self->{dir}/suite.json", encode_json({ %$self, cluster => undef, store => undef }));
    return $self;
}

sub answers {    # the module itself, not just any httpd
    my $self = shift;
    for (1 .. 1200) {    # two minutes
        my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Timeout => 5);
        if ($socket) {
            print $socket "GET /api/v3/health HTTP/1.0\r\n\r\n";
            return 1 if (<$socket> // '') =~ m{^HTTP/1.1 200 };
        }
        last unless -e "$self->{dir}/t/logs/httpd.pid";
        sleep 0.1;
    }
    return 0;
}

sub log { my $file = "$_[0]{dir}/t/logs/error_log"; return -e $file ? path($file)->slurp : '' }

# Ends an httpd: true when it is gone. Gracefully first: told to end at once, the event MPM closes the sockets of
# threads still at work, and now and then finds one that has just been freed (seen with no frame of ours in the stack).
sub end_httpd {
    my $pid = shift;
    for my $try (['WINCH', 50], ['TERM', 1200]) {
        my ($signal, $tenths) = @$try;
        kill $signal => $pid;
        for (1 .. $tenths) { return 1 unless kill 0, $pid; sleep 0.1 }
    }
    return !kill 0, $pid;
}

sub stop {
    my $self = shift;
    my $file = "$self->{dir}/t/logs/httpd.pid";
    if (-e $file && (my $pid = path($file)->slurp + 0)) {
        $self->{stuck} = 1 unless end_httpd($pid);
    }
    $self->{cluster}->stop if $self->{cluster};
    $self->{store}->stop   if $self->{store};
}

# The lines of a log that mean a crash. (httpd does not log SIGKILL, which the tests use on purpose.)
sub crashes_in {    # a signal that a sanitizer has caught is in a report, which tools/sanitize reads
    my $log = shift;
    return grep {/exit signal|AH00052|Assertion|Sanitizer(?!:DEADLYSIGNAL)|stack smashing|double free|corrupted/}
        split /\n/, $log;
}

sub crashes {    # of this suite's httpd, and of those its tests started (Sigreq::Httpd)
    my $self  = shift;
    my $other = "$self->{dir}/crashes";
    my @found = map { crashes_in($_) } $self->log, -e $other ? path($other)->slurp : ();
    push @found, 'httpd did not stop within two minutes' if $self->{stuck};
    return @found;
}

1;
