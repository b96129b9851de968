# SPDX-License-Identifier: Apache-2.0
# Sigreq::Apart: an organisation in its own database, and httpds that serve it. No other process sends its mails and
# webhooks, and these httpds can be configured differently from the suite's, or stopped.
package Sigreq::Apart;
use strict;
use warnings;
use File::Temp 'tempdir';
use Sigreq::Here 'suite';
use Sigreq::Httpd;
use Sigreq::Suite;

my $count = 0;

# new(organization => name, lastname => of its user Ann, params => a database that is there, instead of a new one)
sub new {
    my ($class, %o) = @_;
    my $self = bless { dir => tempdir('apart.XXXXXX', DIR => suite->{dir}, CLEANUP => 1) }, $class;
    my @of   = ('--organization', $o{organization} // 'Apart');
    my @ann  = ('--firstname', 'Ann', '--lastname', $o{lastname} // 'Roe', '--email', 'ann@x.org');
    $self->{params} = $o{params} // (suite->{db} eq 'pgsql' ? make_database() : "$self->{dir}/db");
    $self->ctl('db', 'init');
    $self->ctl('org', 'create', '--name', $of[1]);
    $self->ctl('user', 'create', @of, @ann);
    my @token = ('--user', 'ann@x.org', '--environment', 'test', '--name', 't');
    $self->{token} = $self->ctl('token', 'create', @of, @token)->{token};
    return $self;
}

sub make_database {    # in the suite's PostgreSQL: its connection string
    my $name = "apart_${$}_" . ++$count;
    superuser("CREATE DATABASE $name OWNER sigreq");
    return suite->{params} =~ s/dbname=\S+/dbname=$name/r;
}

sub superuser {    # runs statements of the superuser of the suite's PostgreSQL, each in its own transaction
    my ($socket) = suite->{params} =~ /host=(\S+)/;
    my @psql = ('psql', '-qXAt', '-v', 'ON_ERROR_STOP=1', '-h', $socket, '-U', 'postgres', '-d', 'postgres');
    system('sh', '-c', 'exec "$@" >/dev/null', 'sh', @psql, map { ('-c', $_) } @_) == 0 or die "psql failed: @_\n";
}

sub database { return (driver => suite->{db}, params => $_[0]{params}) }

sub ctl {
    my ($self, @words) = @_;
    my %database = $self->database;
    my @options = ('--driver', $database{driver}, '--params', $database{params});
    # sigreqctl takes no password from the command line
    @options = ('--config', Sigreq::Suite::write_file("$self->{dir}/ctl.conf", configuration(%database)))
        if $database{params} =~ /\bpassword=/;
    return Sigreq::Here::ctl_with(\@options, @words);
}

sub configuration { my %o = @_; return qq{DBDriver $o{driver}\nDBDParams "$o{params}"\n} }

sub httpd {    # one more that serves it; see Sigreq::Httpd
    my ($self, %o) = @_;
    return Sigreq::Httpd->new($self->database, %o)->start;
}

sub client {    # of one; a connection kept alive would hold up its end by five seconds
    my ($self, $httpd) = @_;
    return Sigreq::Here::client(base => $httpd->base, token => $self->{token}, connections => 0);
}

sub serve {    # a client of an httpd with these directives, after the one before it
    my ($self, %o) = @_;
    $self->stop;
    $self->{httpd} = $self->httpd(%o);
    return $self->client($self->{httpd});
}

sub stop { my $httpd = delete $_[0]{httpd} or return; $httpd->stop }

1;
