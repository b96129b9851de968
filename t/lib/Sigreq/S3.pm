# SPDX-License-Identifier: Apache-2.0
# Sigreq::S3: a running object store with an S3 API, what is in its bucket, and the directives of a service that stores
# its documents there. The store is OpenStack Swift, or with SIGREQ_S3=radosgw that of Ceph. Both have the API of Swift,
# too, which shows what is in the bucket without the S3 API.
package Sigreq::S3;
use strict;
use warnings;
use File::Temp 'tempdir';
use HTTP::Tiny;
use JSON::PP 'decode_json';
use Sigreq::Processes;
use Sigreq::Suite;

# The program that starts a store, where it has the API of Swift, what succeeds if it is installed, and what says if not
my %STORES = (
    swift => {
        program => 's3server.py', swift => '', installed => '/usr/bin/python3 -c "import swift.common.wsgi"',
        missing => 'Swift is not installed (tools/deps cluster)' },
    radosgw => {
        program => 's3rados.py', swift => '/swift', installed => 'which radosgw ceph-mon ceph-osd ceph',
        missing => 'Ceph is not installed (tools/deps radosgw)' });

sub store { return $STORES{ $ENV{SIGREQ_S3} || 'swift' } // die "SIGREQ_S3 must be swift or radosgw\n" }

# Why there is no object store here, or undef.
sub missing { return system(store()->{installed} . ' >/dev/null 2>&1') == 0 ? undef : store()->{missing} }

# new(dir => FOLDER, source => the tree): a server with the bucket "sigreq"
sub new {
    my ($class, %o) = @_;
    my $self  = bless { dir => tempdir('s3.XXXXXX', DIR => $o{dir}, CLEANUP => 1), owner => $$, bucket => 'sigreq' },
        $class;
    for my $try (1 .. 3) {
        my @ports   = map { Sigreq::Suite::free_port() } 1 .. 4;
        my @command = ("$o{source}/t/tool/" . store()->{program}, $self->{dir}, @ports);
        @{$self}{qw(port command)} = ($ports[0], \@command);
        last if ($self->{server} = started(@command))->{said} eq "ready\n";
        $self->stop;
        die "the object store did not start\n" if $try == 3;
    }
    $self->native(PUT => '') == 201 or die "the bucket was not made\n";
    Sigreq::Suite::write_file("$self->{dir}/credentials", "test:tester\ntesting\n");
    chmod 0600, "$self->{dir}/credentials" or die "$self->{dir}/credentials: $!\n";    # else httpd warns
    return $self;
}

# Kills the server, and starts it again.
sub again {
    my $self = shift;
    # itself, too: it would not end as long as another process of the test has its standard input
    kill KILL => Sigreq::Processes::below(qr{}, $self->{server}{pid}), $self->{server}{pid};
    ended($self->{server});
    $self->{server} = started(@{ $self->{command} });
    return $self->{server}{said} eq "ready\n" || die "the object store did not start again\n";
}

# Starts a program in Python, which ends with its standard input: {pid, in, out, said => its first line}
sub started {
    my @command = @_;
    pipe my $in, my $stdin or die "pipe: $!\n";
    my $pid = open(my $out, '-|') // die "$command[0]: $!\n";
    if (!$pid) {
        open STDIN, '<&', $in or die "dup: $!\n";
        close $stdin;
        exec '/usr/bin/python3', @command or die "exec: $!\n";
    }
    return { pid => $pid, in => $stdin, out => $out, said => scalar <$out> // '' };
}

sub ended { my $program = shift; close $program->{in}; close $program->{out}; return }

# liar(source): a proxy in front of the server that lies (t/tool/s3liar.py): its endpoint
sub liar {
    my ($self, $source) = @_;
    $self->{liar} = started("$source/t/tool/s3liar.py", $self->{port});
    my ($port) = $self->{liar}{said} =~ /^(\d+)$/ or die "s3liar.py did not start\n";
    return $self->{lies} = "http://127.0.0.1:$port";
}

# Arms a fault for the next requests of blobs with a method, or "any".
sub arm {
    my ($self, $fault, $count, $method) = @_;
    my $answer = HTTP::Tiny->new->request(PUT => "$self->{lies}/-/$fault/$count/$method");
    return $answer->{success} || die "s3liar.py: $answer->{content}\n";
}
sub asked { return HTTP::Tiny->new->get("$_[0]{lies}/-/")->{content} + 0 }

# of(what suite.json says): the server of the suite, which somebody else ends
sub of { my ($class, $suite) = @_; return bless {%$suite}, $class }

sub endpoint {"http://127.0.0.1:$_[0]{port}"}

# The directives for a documents cache. endpoint => URL of a proxy in front, size => of the cache
sub directives {
    my ($self, $cache, %o) = @_;
    my ($endpoint, $size, $credentials) =
        ($o{endpoint} // $self->endpoint, $o{size} // '1G', $o{credentials} // "$self->{dir}/credentials");
    return <<"CONF";
SigreqS3Endpoint $endpoint
SigreqS3Region us-east-1
SigreqS3Credentials file:$credentials
SigreqDocumentsCache "$cache"
SigreqDocumentsCacheSize $size
CONF
}

# Swift's own API: the status, or (status, body).
sub native {
    my ($self, $method, $path, $content) = @_;
    my $http = $self->{http} //= HTTP::Tiny->new(timeout => 30);    # which keeps its connection
    $self->{token} //= do {
        my %login = ('X-Auth-User' => 'test:tester', 'X-Auth-Key' => 'testing');
        $http->get($self->endpoint . '/auth/v1.0', { headers => \%login })->{headers}{'x-auth-token'}
            // die "the object store gave no token\n";
    };
    my $url    = $self->endpoint . store()->{swift} . "/v1/AUTH_test/$self->{bucket}$path";
    my %more   = defined $content ? (content => $content) : ();
    my $answer = $http->request($method, $url, { headers => { 'X-Auth-Token' => $self->{token} }, %more });
    return wantarray ? ($answer->{status}, $answer->{content}) : $answer->{status};
}

sub objects {    # the names of all objects that begin with a text
    my ($self, $begin) = @_;
    my ($status, $body) = $self->native(GET => '?prefix=' . ($begin // ''));
    die "the object store: $status\n" unless $status =~ /^2/;
    return split /\n/, $body // '';
}

sub objects_of {    # of blobs, whose keys begin with a text
    my ($self, $begin) = @_;
    my @found = grep {m{^[0-9a-f]{2}/\Q$begin\E}} $self->objects($begin =~ /^(..)/ ? "$1/$begin" : '');
    return @found;
}

# What sigreqctl check --remote finds: the program, the directives of the database, and a documents cache with what
# `directives` may be given. It exits with 1 if it finds anything.
sub checked {
    my ($self, $program, $database, $cache, %o) = @_;
    my $config = Sigreq::Suite::write_file("$self->{dir}/check.conf",
        "${database}SigreqDocuments s3://$self->{bucket}\n" . $self->directives($cache, %o));
    open my $pipe, '-|', $program, '--config', $config, qw(--json check --remote) or die "sigreqctl: $!\n";
    return decode_json(do { local $/; <$pipe> });
}

sub content { my @answer = $_[0]->native(GET    => "/$_[1]");        return $answer[1] }
sub replace { my ($self, $name, $bytes) = @_; return $self->native(PUT => "/$name", $bytes) }
sub remove  { return scalar $_[0]->native(DELETE => "/$_[1]") }

sub stop {
    my $self = shift;
    return if ($self->{owner} // 0) != $$;
    ended($_) for grep {defined} delete @{$self}{qw(liar server)};
    return;
}

sub DESTROY { local ($?, $!, $@) = ($?, $!, $@); $_[0]->stop }

1;
