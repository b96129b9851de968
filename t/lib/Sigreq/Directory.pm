# SPDX-License-Identifier: Apache-2.0
# Sigreq::Directory: a running slapd with people in dc=example,dc=org. It ends with the object.
package Sigreq::Directory;
use strict;
use warnings;
use File::Copy 'copy';
use File::Temp 'tempdir';
use IO::Socket::INET;
use POSIX ();
use Sigreq::Here 'wait_for';
use Sigreq::Suite;

use constant PROGRAM => '/usr/sbin/slapd';

sub new {    # new(mail => password, …)
    my ($class, %people) = @_;
    my $dir  = tempdir('slapd.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => $dir, port => Sigreq::Suite::free_port(), owner => $$ }, $class;
    # a copy, because AppArmor's profile of Debian allows its own folders alone
    copy(PROGRAM, "$dir/slapd") && chmod 0755, "$dir/slapd" or die "$dir/slapd: $!\n";
    mkdir "$dir/data";
    my $schemas = join '', map {"include /etc/ldap/schema/$_.schema\n"} qw(core cosine inetorgperson);
    Sigreq::Suite::write_file("$dir/conf", <<"CONF");
${schemas}modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix dc=example,dc=org
directory $dir/data
CONF
    my $ldif = "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\no: x\n\n";
    $ldif .= <<"LDIF" for sort keys %people;
dn: mail=$_,dc=example,dc=org
objectClass: inetOrgPerson
sn: x
cn: x
mail: $_
userPassword: $people{$_}

LDIF
    Sigreq::Suite::write_file("$dir/ldif", $ldif);
    system("$dir/slapd", '-T', 'add', '-f', "$dir/conf", '-l', "$dir/ldif") == 0 or die "slapd cannot add people\n";
    $self->{pid} = fork // die "fork: $!\n";
    if (!$self->{pid}) {
        open STDERR, '>', "$dir/log" or POSIX::_exit(1);
        exec "$dir/slapd", '-f', "$dir/conf", '-h', "ldap://127.0.0.1:$self->{port}", '-d', '0' or POSIX::_exit(1);
    }
    wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}) })
        or die "slapd does not answer\n";
    return $self;
}

sub url { "ldap://127.0.0.1:$_[0]{port}/dc=example,dc=org" }

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$ || !$self->{pid};
    local $?;
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

1;
