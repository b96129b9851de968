# SPDX-License-Identifier: Apache-2.0
# Sigreq::Httpd: another httpd for one test file: for wrong configurations, and for faults that would disturb the
# suite's httpd. It uses the suite's database unless another one is given, and ends with the object.
package Sigreq::Httpd;
use strict;
use warnings;
use File::Temp 'tempdir';
use IO::Socket::INET;
use Mojo::File 'path';
use Scalar::Util qw(refaddr weaken);
use Sigreq::Firewall;
use Sigreq::Here 'suite';
use Sigreq::Suite;
use Time::HiRes 'sleep';

my %started; # those that live: what a file holds to its end has to stop before File::Temp removes its folder

# new(place => what stands in <Location "/">, server => what stands in the server, documents => FOLDER, mpm => 'event',
#     driver, params => database, seal => the directives of the seal, children, threads => of each: prefork has 8
#     children unless told otherwise, address => 127.0.0.1, port)
sub new {
    my ($class, %o) = @_;
    my $self =
        bless { dir => tempdir('httpd.XXXXXX', DIR => suite->{dir}, CLEANUP => 1), port => Sigreq::Suite::free_port(),
        address => '127.0.0.1', %o }, $class;
    mkdir "$self->{dir}/documents";
    Sigreq::Suite::write_file("$self->{dir}/httpd.conf", $self->conf);
    return $self;
}

sub conf {
    my $self  = shift;
    my $build = suite->{source} . '/build';
    my %o     = (
        place     => 'Sigreq On', server => '', mpm => suite->{mpm}, driver => suite->{db}, params => suite->{params},
        documents => "$self->{dir}/documents", helper => "$build/sigreq-pdfd", children => 1,
        signd     => "$build/sigreq-signd",
        threads   => 8,
        seal      => seal(SigreqSeal => suite->{dir} . '/seal'),
        modules   => 'authz_core dbd',         %$self);
    my $modules = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_} ? $1 : die "no modules folder\n";
    my $processes     = $o{children} > 2 ? $o{children} : 8;
    # the others of prefork are started when they are needed: each has a helper
    $o{starts} =
          $o{mpm} ne 'prefork' ? "StartServers $o{children}"
        : $o{children} > 2     ? 'StartServers ' . $processes / 2
        :                        "StartServers 2\nMinSpareServers 1";
    my $load    = join '', map {"LoadModule ${_}_module $modules/mod_$_.so\n"} "mpm_$o{mpm}", split(/ /, $o{modules}),
        suite->{firewall} ? Sigreq::Firewall::MODULES() : ();
    return <<"CONF";
ServerRoot "$o{dir}"
ServerName 127.0.0.1
Listen $o{address}:$o{port}
PidFile "$o{dir}/pid"
DefaultRuntimeDir "$o{dir}"
ErrorLog "$o{dir}/error_log"
LogLevel info
Timeout 5
KeepAlive Off
${load}LoadModule sigreq_module "$build/mod_sigreq.so"
ServerLimit @{[$o{mpm} eq 'prefork' ? $processes : 2 * $o{children}]}
$o{starts}
@{[$o{mpm} eq 'prefork' ? '' : "ThreadsPerChild $o{threads}"]}
MaxRequestWorkers @{[$o{mpm} eq 'prefork' ? $processes : $o{threads} * $o{children}]}
GracefulShutdownTimeout 10
DBDriver $o{driver}
DBDParams "$o{params}"
DBDMin 0
DBDMax @{[$o{threads} + 2]}
SigreqDocuments "$o{documents}"
SigreqHelper "$o{helper}"
SigreqSealProgram "$o{signd}"
SigreqDatabaseTimeout 30s
$o{seal}
Include "@{[suite->{dir}]}/firewall.conf"
$o{server}
<Location "/">
$o{place}
</Location>
CONF
}

sub seal {    # the directives that name the pair in a folder
    my ($name, $folder) = @_;
    return qq{${name}Certificate "$folder/seal.crt"\n${name}Key "$folder/seal.key"};
}

sub command { return suite->{httpd} }

sub test {    # httpd -t: (status, what it said)
    my $self = shift;
    my @command = (command(), '-t', '-f', "$self->{dir}/httpd.conf");
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "httpd -t: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? >> 8, $said);
}

sub start {
    my $self = shift;
    system(command(), '-f', "$self->{dir}/httpd.conf", '-k', 'start') == 0
        or die "httpd did not start: " . $self->log . "\n";
    $self->{owner} = $$;
    weaken($started{ refaddr $self } = $self);
    for (1 .. 2400) {    # two minutes, as Sigreq::Here::wait_for
        return $self
            if -e "$self->{dir}/pid" && IO::Socket::INET->new(PeerAddr => $self->{address}, PeerPort => $self->{port});
        sleep 0.05;
    }
    die "httpd does not answer: " . $self->log . "\n";
}

sub base {"http://$_[0]{address}:$_[0]{port}"}
sub pid  { my $file = "$_[0]{dir}/pid";       -e $file ? path($file)->slurp + 0 : 0 }
sub log  { my $file = "$_[0]{dir}/error_log"; -e $file ? path($file)->slurp     : '' }

sub graceful { my $self = shift; return Sigreq::Here::restarted($self->pid, sub { $self->log }) }

sub stop {
    my $self = shift;
    return unless ($self->{owner} // 0) == $$;
    delete $self->{owner};
    Sigreq::Suite::end_httpd($self->pid) if $self->pid;    # some tests end it themselves
    my @crashes = Sigreq::Suite::crashes_in($self->log) or return;
    open my $file, '>>', suite->{dir} . '/crashes' or die "crashes: $!\n";    # t/run reads it
    print $file map {"$_\n"} @crashes;
}

sub DESTROY { local $?; delete $started{ refaddr $_[0] }; $_[0]->stop }

END { local $?; $_->stop for grep {defined} values %started }

1;
