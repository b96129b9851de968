# SPDX-License-Identifier: Apache-2.0
# Sigreq::Apart: an organisation in its own database, and httpds that serve it. No other process sends its mails and
# webhooks, and these httpds can be configured differently from the suite's, or stopped.
package Sigreq::Apart;
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Copy 'copy';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Here 'suite';
use Sigreq::Httpd;
use Sigreq::Once 'made_once';
use Sigreq::Suite;

my $count = 0;

# new(organization => name, lastname => of its user Ann, params => a database that is there, instead of a new one,
# driver => of that)
sub new {
    my ($class, %given) = @_;
    my %o = (organization => 'Apart', lastname => 'Roe', %given);
    my $self = bless { dir => tempdir('apart.XXXXXX', DIR => suite->{dir}, CLEANUP => 1) }, $class;
    @{$self}{qw(driver params)} = ($o{driver} // suite->{db}, $o{params});
    return $self->fill(%o) if $o{params};
    my $template = template(%o);
    $self->{token} = $template->{token};
    $self->{params} = suite->{db} eq 'pgsql' ? make_database("TEMPLATE $template->{name}") : "$self->{dir}/db";
    return $self if suite->{db} eq 'pgsql';
    copy($template->{params}, $self->{params}) or die "copying $template->{params}: $!\n";
    return $self;
}

sub fill {    # a new database with the organisation, and a token of its user
    my ($self, %o) = @_;
    my @of  = ('--organization', $o{organization});
    my @ann = ('--firstname', 'Ann', '--lastname', $o{lastname}, '--email', 'ann@x.org');
    $self->ctl('db', 'init');
    $self->ctl('org', 'create', '--name', $o{organization});
    $self->ctl('user', 'create', @of, @ann);
    my @token = ('--user', 'ann@x.org', '--environment', 'test', '--name', 't');
    $self->{token} = $self->ctl('token', 'create', @of, @token)->{token};
    return $self;
}

# A database that is filled once, and then copied for each object of all test files: {name, params, token}.
sub template {
    my %o      = @_;
    my $pgsql  = suite->{db} eq 'pgsql';    # each suite has its own
    my $folder = $pgsql ? suite->{dir} : $ENV{SIGREQ_STAGE} // suite->{dir};
    my $name   = 'apart_' . substr sha256_hex(join "\0", @o{qw(organization lastname)}), 0, 16;
    my $file   = made_once("$folder/$name.json", sub {
        my $params = $pgsql ? make_database('', $name) : "$folder/$name.db";
        my $made   = bless { dir => $folder, name => $name, params => $params }, __PACKAGE__;
        Sigreq::Suite::write_file($_[0], encode_json({ %{ $made->fill(%o) } }));
    });
    return decode_json(path($file)->slurp);
}

sub make_database {    # in the suite's PostgreSQL, perhaps from a template, perhaps with a name: its connection string
    my $from = shift // '';
    my $name = shift // "apart_${$}_" . ++$count;
    superuser("CREATE DATABASE $name $from OWNER sigreq");
    return suite->{params} =~ s/dbname=\S+/dbname=$name/r;
}

sub superuser {    # runs statements of the superuser of the suite's PostgreSQL, each in its own transaction
    my ($socket) = suite->{params} =~ /host=(\S+)/;
    my @psql = ('psql', '-qXAt', '-v', 'ON_ERROR_STOP=1', '-h', $socket, '-U', 'postgres', '-d', 'postgres');
    system('sh', '-c', 'exec "$@" >/dev/null', 'sh', @psql, map { ('-c', $_) } @_) == 0 or die "psql failed: @_\n";
}

sub database { return (driver => $_[0]{driver} // suite->{db}, params => $_[0]{params}) }

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
