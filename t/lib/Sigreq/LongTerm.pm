# SPDX-License-Identifier: Apache-2.0
# Sigreq::LongTerm: what a server needs to seal with timestamps and proofs: authorities, a responder and a timestamp
# authority, which run until the object ends.
package Sigreq::LongTerm;
use strict;
use warnings;
use File::Copy 'copy';
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::TSA;

# new(folder). Members: `trust`, a folder as Sigreq::Validator::authority makes it; `name`, of the seal's certificate.
sub new {
    my ($class, $folder) = @_;
    my $responder = Sigreq::Responder->new($folder);
    my $pki = Sigreq::PKI->new($folder, http => $responder->http, ocsp => $responder->ocsp);
    my $self = bless { pki => $pki, responder => $responder, tsa => Sigreq::TSA->new($pki, 'tsa1'),
        trust => "$folder/trust", name => 'Test seal' }, $class;
    mkdir "$folder/$_" or die "$folder/$_: $!\n" for qw(trust trust/nss);
    copy($pki->file('root.crt'), "$folder/trust/ca.crt") or die "ca.crt: $!\n";
    $pki->run('root', qw(certutil -N -d sql:trust/nss --empty-password));
    $pki->run('root', 'certutil', '-A', '-d', 'sql:trust/nss', '-n', 'authority', '-t', 'C,C,C', '-i', 'root.crt');
    return $self;
}

sub install {    # the pair of the seal, as seal.crt and seal.key of a folder
    my ($self, $folder) = @_;
    mkdir $folder or die "$folder: $!\n";
    for (['seal-chain.crt', 'seal.crt'], ['seal.key', 'seal.key']) {
        my ($from, $to) = @$_;
        copy($self->{pki}->file($from), "$folder/$to") or die "$to: $!\n";
    }
    chmod 0600, "$folder/seal.key";
    return;
}

sub conf {       # the directives. Makes the folder for proofs, in which httpd's user writes
    my ($self, $proofs) = @_;
    mkdir $proofs or die "$proofs: $!\n";
    chown +(getpwnam 'www-data')[2, 3], $proofs if $> == 0;
    my ($pki, $url) = ($self->{pki}, $self->{tsa}->url);
    my ($root, $authorities, $roots) = map { $pki->file("$_.crt") } qw(root authorities roots);
    return <<"CONF";
SigreqSealAuthorities "$root"
SigreqProofs "$proofs"
SigreqProofsAllow 127.0.0.0/8
SigreqTimestamp $url
SigreqTimestampAuthorities "$authorities"
SigreqLongTerm lt
SigreqTrust "$roots"
CONF
}

1;
