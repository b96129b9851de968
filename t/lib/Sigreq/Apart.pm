# Sigreq::Apart: an organisation in a SQLite database of its own, and an httpd of its own that serves it: nobody else
# sends its mails and webhooks, and it can be told otherwise than the suite's, or stopped.
package Sigreq::Apart;
use strict;
use warnings;
use File::Temp 'tempdir';
use Sigreq::Here 'suite';
use Sigreq::Httpd;

sub new {    # new(organization => name, lastname => of its user Ann)
    my ($class, %o) = @_;
    my $self = bless { dir => tempdir('apart.XXXXXX', DIR => suite->{dir}, CLEANUP => 1) }, $class;
    my @of   = ('--organization', $o{organization} // 'Apart');
    my @ann  = ('--firstname', 'Ann', '--lastname', $o{lastname} // 'Roe', '--email', 'ann@x.org');
    $self->ctl('db', 'init');
    $self->ctl('org', 'create', '--name', $of[1]);
    $self->ctl('user', 'create', @of, @ann);
    my @token = ('--user', 'ann@x.org', '--environment', 'test', '--name', 't');
    $self->{token} = $self->ctl('token', 'create', @of, @token)->{token};
    return $self;
}

sub database { return (driver => 'sqlite3', params => "$_[0]{dir}/db") }

sub ctl {
    my ($self, @words) = @_;
    my %database = $self->database;
    return Sigreq::Here::ctl_with(['--driver', $database{driver}, '--params', $database{params}], @words);
}

sub serve {    # a client of an httpd with these directives, after the one before it; %o: see Sigreq::Httpd
    my ($self, %o) = @_;
    $self->stop;
    $self->{httpd} = Sigreq::Httpd->new($self->database, %o)->start;
    # a connection kept alive would hold up its end by five seconds
    return Sigreq::Here::client(base => $self->{httpd}->base, token => $self->{token}, connections => 0);
}

sub stop { my $httpd = delete $_[0]{httpd} or return; $httpd->stop }

1;
