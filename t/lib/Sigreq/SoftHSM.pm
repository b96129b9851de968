# SPDX-License-Identifier: Apache-2.0
# Sigreq::SoftHSM: tokens of SoftHSM in a folder. They belong to this process and what it starts (SOFTHSM2_CONF).
package Sigreq::SoftHSM;
use strict;
use warnings;
use Sigreq::Suite;

use constant MODULE => '/usr/lib/softhsm/libsofthsm2.so';
use constant PIN    => 'a PIN of 1 token';

# new(FOLDER): also makes the file `pin` there. Editors end a file with a newline.
sub new {
    my ($class, $folder) = @_;
    my $self = bless { folder => $folder, keys => 0 }, $class;
    mkdir "$folder/tokens" or die "$folder/tokens: $!\n";
    Sigreq::Suite::write_file("$folder/softhsm2.conf",
        "directories.tokendir = $folder/tokens\nobjectstore.backend = file\nlog.level = ERROR\n");
    Sigreq::Suite::write_file("$folder/pin", PIN . "\n");
    $ENV{SOFTHSM2_CONF} = "$folder/softhsm2.conf";
    return $self;
}

sub run {    # a program: what it said; dies if it fails
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @_ or die "$_[0]: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe or die "@_: $said\n";
    return $said;
}

sub token {    # makes a token: the path of its folder. A token is pulled by renaming its folder
    my ($self, $label) = @_;
    my %before = map { $_ => 1 } glob "$self->{folder}/tokens/*";
    run('softhsm2-util', '--init-token', '--free', '--label', $label, '--so-pin', '12345678', '--pin', PIN);
    my ($made) = grep { !$before{$_} } glob "$self->{folder}/tokens/*";
    return $made;
}

sub key {    # puts a key into a token, and makes its certificate: its path
    my ($self, $token, $label, @kind) = @_;
    my ($key, $certificate) = map {"$self->{folder}/$label.$_"} qw(key crt);
    my $id = sprintf '%02x', ++$self->{keys};
    run(qw(openssl genpkey -out), $key, map { /=|:/ ? ('-pkeyopt', $_) : ('-algorithm', $_) } @kind);
    run(qw(openssl req -x509 -new -days 30 -key), $key, '-subj', "/CN=$label", '-addext', 'keyUsage=digitalSignature',
        '-out', $certificate);
    run('softhsm2-util', '--import', $key, '--token', $token, '--label', $label, '--id', $id, '--pin', PIN);
    unlink $key;
    return $certificate;
}

1;
