# SPDX-License-Identifier: Apache-2.0
# Sigreq::PKI: certificates for tests of timestamps and validation data, made by openssl in a folder:
#   root issues ca, which issues seal, seal2 and ocsp (OCSP responder); tsaroot1 issues tsa1 (RSA); tsaroot2 issues
#   tsa2 (P-256) and notsa
# The extended key usage timeStamping of `notsa` is not critical, but it must be. Each name is a certificate NAME.crt
# and a key NAME.key. seal-chain.crt has seal and ca, authorities.crt the roots of the timestamp authorities, roots.crt
# all roots.
package Sigreq::PKI;
use strict;
use warnings;
use File::Copy 'copy';
use File::Spec;
use POSIX qw(strftime);
use Sigreq::Once 'made_once';

my %KEYS = (
    root     => [ec  => 'P-384'],
    ca       => [ec  => 'P-256'],
    tsaroot1 => [rsa => 2048],
    tsa1     => [rsa => 2048],
    tsaroot2 => [ec  => 'P-384'],
);

# The parts of openssl's configuration that `issue` names. N is the issuer's name, OCSP and HTTP are URLs.
sub configuration {
    my ($http, $ocsp) = @_;
    my $points = $http ? "crlDistributionPoints=URI:$http/\$ENV::N.crl\n" : '';
    my $access = join ',', $ocsp ? "OCSP;URI:$ocsp" : (), $http ? "caIssuers;URI:$http/\$ENV::N.crt" : ();
    $access &&= "authorityInfoAccess=$access\n";
    my $ids  = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n";
    my $end  = "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature";
    return <<"END";
[ca_default]
database=\$ENV::N.index
serial=\$ENV::N.serial
crlnumber=\$ENV::N.crlnumber
new_certs_dir=.
certificate=\$ENV::N.crt
private_key=\$ENV::N.key
default_md=sha256
policy=any
unique_subject=no
default_crl_days=30
[any]
O=optional
CN=supplied
[root]
basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign
subjectKeyIdentifier=hash
[sub]
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign
$ids$points
[seal]
$end,nonRepudiation
$ids$points$access
[ocsp]
$end
extendedKeyUsage=OCSPSigning
noCheck=ignored
$ids
[tsa]
$end
extendedKeyUsage=critical,timeStamping
$ids$points
[notsa]
$end
extendedKeyUsage=timeStamping
$ids
END
}

# new(folder, http => URL of CRLs and issuers, ocsp => URL): makes all of them. Without URLs the certificates name none.
sub new {
    my ($class, $folder, %urls) = @_;
    my $self = bless { folder => File::Spec->rel2abs($folder) }, $class;
    mkdir $folder;
    $self->write('ca.cnf', configuration(@urls{qw(http ocsp)}));
    $self->issue($_,      $_,        'root', days => 11_000) for qw(root tsaroot1 tsaroot2);
    $self->issue('ca',    'root',    'sub', days => 3650);
    $self->issue($_,      'ca',      'seal') for qw(seal seal2);
    $self->issue('ocsp',  'ca',      'ocsp');
    $self->issue('tsa1',  'tsaroot1', 'tsa');
    $self->issue('tsa2',  'tsaroot2', 'tsa');
    $self->issue('notsa', 'tsaroot2', 'notsa');
    $self->join_files('seal-chain.crt',  qw(seal ca));
    $self->join_files('authorities.crt', qw(tsaroot1 tsaroot2));
    $self->join_files('roots.crt',       qw(root tsaroot1 tsaroot2));
    return $self;
}

sub file { "$_[0]{folder}/$_[1]" }

sub write {    ## no critic (ProhibitBuiltinHomonyms)
    my ($self, $name, $text) = @_;
    open my $file, '>', $self->file($name) or die "$name: $!\n";
    print {$file} $text;
    close $file or die "$name: $!\n";
    return;
}

# Copies a seal with its chain into a folder: seal.crt, and seal.key, which only its owner can read. Returns the
# folder.
sub put_pair {
    my ($self, $name, $folder) = @_;
    copy($self->file("$name-chain.crt"), "$folder/seal.crt") or die "seal.crt: $!\n";
    copy($self->file("$name.key"),       "$folder/seal.key") or die "seal.key: $!\n";
    chmod 0600, "$folder/seal.key"                           or die "seal.key: $!\n";
    return $folder;
}

sub join_files {    # name of the file, names of certificates
    my ($self, $name, @names) = @_;
    my $all = '';
    for my $one (@names) {
        open my $file, '<', $self->file("$one.crt") or die "$one: $!\n";
        $all .= do { local $/ = undef; <$file> };
        close $file;
    }
    return $self->write($name, $all);
}

sub run {    # a command, in the folder; N is the name of the issuer
    my ($self, $issuer, @command) = @_;
    local $ENV{N} = $issuer;
    system('sh', '-c', 'cd "$1" && shift && exec "$@" >>said 2>&1 </dev/null', 'sh', $self->{folder}, @command) == 0
        or die "@command failed in $self->{folder} (see the file `said`)\n";
    return;
}

# Issues a certificate: its name, the name of its issuer, a section of the configuration. It begins `from` (time,
# default: an hour ago) and ends `until` (default: after `days`, 730). `key`: [ec => curve] or [rsa => bits]. `hash`:
# with which the issuer signs it, sha256 by default.
sub issue {
    my ($self, $name, $issuer, $section, %more) = @_;
    my ($kind, $size) = @{ $more{key} // $KEYS{$name} // [ec => 'P-256'] };
    my @key = ('-newkey', 'ec', '-pkeyopt', "ec_paramgen_curve:$size", '-keyout', "$name.key");
    if ($section eq 'root' || $section eq 'sub') {
        $self->write("$name.index",     '');
        $self->write("$name.crlnumber", "01\n");
        $self->write("$name.serial",    sprintf "10%06x%06x\n", rand 0xff_ffff, rand 0xff_ffff);
    }
    @key = ('-key', $self->rsa_key($name, $size)) if $kind eq 'rsa';
    $self->run($issuer, qw(openssl req -nodes -new), @key, '-out', "$name.csr",
        '-subj', '/O=Test/CN=Test ' . ($more{common} // $name));
    return $self->certify($name, $issuer, $section, %more);
}

my %rsa_keys;

# The file of a new RSA key. It takes a fifth of a second to make one, so files of one t/run share them: no two keys of
# a test file are the same.
sub rsa_key {
    my ($self, $name, $size) = @_;
    my $file = $self->file("$name.key");
    my $kept = ($ENV{SIGREQ_STAGE} // $self->{folder}) . "/rsa-$size-" . ++$rsa_keys{$size};
    made_once($kept, sub { $self->run('', qw(openssl genrsa -out), $_[0], $size) });
    copy($kept, $file) or die "$file: $!\n";
    chmod 0600, $file or die "$file: $!\n";
    return $file;
}

sub certify {    # the same for a request that is there: NAME.csr
    my ($self, $name, $issuer, $section, %more) = @_;
    my $from  = $more{from}  // time - 3600;
    my $until = $more{until} // time + 86_400 * ($more{days} // 730);
    $self->run($issuer, qw(openssl ca -batch -notext -config ca.cnf -name ca_default -extensions), $section,
        ($name eq $issuer ? ('-selfsign', '-keyfile', "$name.key") : ()),
        '-startdate', strftime('%Y%m%d%H%M%SZ', gmtime $from), '-enddate', strftime('%Y%m%d%H%M%SZ', gmtime $until),
        '-md', $more{hash} // 'sha256', '-in', "$name.csr", '-out', "$name.crt");
    return $self->file("$name.crt");
}

my $REQUESTS = <<'END';
[ca]
default_ca = own
[own]
database = FOLDER/requests.index
new_certs_dir = FOLDER
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[seal]
keyUsage = critical,digitalSignature,nonRepudiation
[tls]
keyUsage = critical,keyAgreement
extendedKeyUsage = serverAuth
END

# Signs a request for an authority that is not one of these: FOLDER/ISSUER.crt and ISSUER.key. The certificate is valid
# `from` and `until` so many seconds from now. `extensions`: seal, authority or tls.
sub sign_request {
    my ($folder, $request, $out, %o) = @_;
    for (['requests.index', ''], ['requests.cnf', $REQUESTS =~ s/FOLDER/$folder/gr]) {
        my ($name, $text) = @$_;
        open my $file, '>', "$folder/$name" or die "$name: $!\n";
        print {$file} $text;
        close $file or die "$name: $!\n";
    }
    my @dates = map { strftime '%Y%m%d%H%M%SZ', gmtime time + $_ } @o{qw(from until)};
    my @command = (
        qw(openssl ca -batch -notext -config), "$folder/requests.cnf", '-extensions', $o{extensions} // 'seal',
        '-keyfile', "$folder/$o{issuer}.key", '-cert', "$folder/$o{issuer}.crt", '-in', $request, '-out', $out,
        '-startdate', $dates[0], '-enddate', $dates[1]);
    system('sh', '-c', 'log=$1 && shift && exec "$@" >"$log" 2>&1', 'sh', "$folder/said", @command) == 0
        or die "@command failed (see $folder/said)\n";
    return $out;
}

sub revoke {    # the name of a certificate, and of its issuer
    my ($self, $name, $issuer) = @_;
    return $self->run($issuer, qw(openssl ca -batch -config ca.cnf -name ca_default -revoke), "$name.crt");
}

sub crl {       # makes ISSUER.crl (DER); valid for some days
    my ($self, $issuer, $days) = @_;
    $self->run($issuer, qw(openssl ca -batch -config ca.cnf -name ca_default -gencrl -out), "$issuer.crl.pem",
        '-crldays', $days // 30);
    $self->run($issuer, qw(openssl crl -outform DER -in), "$issuer.crl.pem", '-out', "$issuer.crl");
    return $self->file("$issuer.crl");
}

1;
