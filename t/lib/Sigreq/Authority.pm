# SPDX-License-Identifier: Apache-2.0
# Sigreq::Authority: a certification authority in a folder: `ca.crt`, and certificates with keys that it has issued.
package Sigreq::Authority;
use strict;
use warnings;

my @NEW = qw(openssl req -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256);

sub new {    # new(folder): made where it is missing; the authority has the folder's name
    my ($class, $folder) = @_;
    my $self = bless { folder => $folder }, $class;
    mkdir $folder;
    $self->run(@NEW, qw(-x509 -days 30 -keyout ca.key -out ca.crt -subj), '/CN=Authority ' . $folder =~ s{.*/}{}r,
        '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
    return $self;
}

sub file { "$_[0]{folder}/$_[1]" }

sub run {    # a command, in the folder
    my ($self, @command) = @_;
    system('sh', '-c', 'cd "$1" && shift && exec "$@" >said 2>&1 </dev/null', 'sh', $self->{folder}, @command) == 0
        or die "@command failed in $self->{folder}\n";
}

# [certificate, key] for a common name: the files NAME.crt, NAME.key. Of extensions, each is a line.
sub issue {
    my ($self, $name, $common, $extensions, $days) = @_;
    open my $file, '>', $self->file("$name.ext") or die "$name.ext: $!\n";
    print {$file} "basicConstraints=critical,CA:FALSE\n$extensions\n";
    close $file;
    $self->run(@NEW, '-keyout', "$name.key", '-out', "$name.csr", '-subj', "/CN=$common");
    $self->run(qw(openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days), $days // 30,
        '-extfile', "$name.ext", '-in', "$name.csr", '-out', "$name.crt");
    return [map { $self->file("$name.$_") } qw(crt key)];
}

# The same for a server: SAN such as "IP:127.0.0.1" or "DNS:x.test". Days below 0: it has expired.
sub issue_server {
    my ($self, $name, $san, $days) = @_;
    return $self->issue($name, 'Server', "extendedKeyUsage=serverAuth\nsubjectAltName=$san", $days);
}

1;
