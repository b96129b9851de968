# SPDX-License-Identifier: Apache-2.0
# Sigreq::Years: documents that are signed today by httpd, and archived and renewed in the years to come by sigreqctl
# archive with the date of Sigreq::Clock, by one timestamp authority after the other. Proofs are collected by
# t/tool/collect. Other programs judge the documents at a time of the future.
package Sigreq::Years;
use strict;
use warnings;
use File::Copy 'copy';
use JSON::PP 'decode_json';
use POSIX 'strftime';
use Sigreq::Apart;
use Sigreq::Clock 'clocked';
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::Judge qw(java_judge pyhanko_lta);
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::TSA;
use Sigreq::Validator;

use constant YEAR => 365.25 * 86_400;

# new(): an organisation in a database of its own, certificates and a responder. Times are in years from now.
sub new {
    my ($class) = @_;
    my $self = bless { apart => Sigreq::Apart->new, years => 0 }, $class;
    my $folder = $self->{folder} = $self->{apart}{dir};
    $self->{responder} = Sigreq::Responder->new("$folder/pki");
    my %urls = (http => $self->{responder}->http, ocsp => $self->{responder}->ocsp);
    $self->{pki} = Sigreq::PKI->new("$folder/pki", %urls);
    mkdir "$folder/$_" for qw(documents proofs seal);
    return $self;
}

sub pki       { $_[0]{pki} }
sub responder { $_[0]{responder} }
sub roots     { $_[0]{pki}->file('roots.crt') }
sub later     { return time + $_[1] * YEAR }

# Runs code whose programs start with the clock of this object.
sub clocked_at {
    my ($self, $code) = @_;
    return $self->{years} ? clocked($code, int($self->{years} * YEAR)) : $code->();
}

# Issues the certificate of a timestamp authority, of those years: see `issue` of Sigreq::PKI. `issuer`: tsaroot2 by
# default.
sub authority {
    my ($self, $name, $from, $until, %more) = @_;
    my $issuer = delete $more{issuer} // 'tsaroot2';
    $self->{pki}->issue($name, $issuer, 'tsa', from => $self->later($from), until => $self->later($until), %more);
    return $name;
}

# It is so many years later: a timestamp authority of this name and the responder have that clock. If it is earlier than
# before, the folder `proofs` is empty again.
sub begin {
    my ($self, $years, $name) = @_;
    my $port = $self->{responder}{port};
    unlink glob "$self->{folder}/proofs/*" if $years < $self->{years};
    $_->stop for grep {defined} $self->{tsa}, $self->{responder};
    $self->{years} = $years;
    $self->clocked_at(sub {
        $self->{responder} = Sigreq::Responder->new("$self->{folder}/pki", $port);
        $self->{tsa}       = Sigreq::TSA->new($self->{pki}, $name);
    });
    $self->{responder}->set('age', 0);    # so that nobody waits for proofs that are newer than a signature
    return $self;
}

# Makes a certificate the seal: one of Sigreq::PKI.
sub seal {
    my ($self, $name) = @_;
    my $pki = $self->{pki};
    $pki->join_files("$name-chain.crt", $name, 'ca') if !-e $pki->file("$name-chain.crt");
    $pki->put_pair($name, "$self->{folder}/seal");
    return;
}

# An httpd with the clock of this object, the authority of `begin`, and more directives: a client. The one before it is
# stopped.
sub serve {
    my ($self, @more) = @_;
    my ($folder, $pki) = @$self{qw(folder pki)};
    $self->stop;
    $self->{proofs} = "$folder/proofs-" . ++$self->{count};
    mkdir $self->{proofs};
    my %file = map { $_ => '"' . $pki->file("$_.crt") . '"' } qw(root roots authorities);
    my $server = join "\n", "SigreqSealAuthorities $file{root}", qq{SigreqProofs "$self->{proofs}"},
        'SigreqProofsAllow 127.0.0.0/8', 'SigreqTimestamp ' . $self->{tsa}->url,
        "SigreqTimestampAuthorities $file{authorities}", Sigreq::Httpd::seal(SigreqTestSeal => "$folder/seal"), @more;
    $self->{httpd} = $self->clocked_at(sub {
        $self->{apart}->httpd(server => $server, seal => Sigreq::Httpd::seal(SigreqSeal => "$folder/seal"),
            documents => "$folder/documents");
    });
    return $self->{client} = $self->{apart}->client($self->{httpd});
}

sub httpd  { $_[0]{httpd} }
sub client { $_[0]{client} }

sub stop {
    my ($self) = @_;
    delete $self->{client};
    my $httpd = delete $self->{httpd};
    $httpd->stop if $httpd;
    return;
}

sub document {    # of a submission, as the API shows it; `query` as in Sigreq::Client
    my ($self, $made, %query) = @_;
    return $self->{client}->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}", query => \%query)
        ->body;
}

sub events { my ($self, $made) = @_; return $self->{client}->get("/signatures/$made->{uuid}/audit")->json }

sub archived {    # how many times
    my ($self, $made) = @_;
    return scalar grep { $_->{event} eq 'archived' } @{ $self->events($made)->{events} };
}

# Waits until the folder of httpd has the proofs of an authority that has made a timestamp. Then they are wanted in the
# folder `proofs`, too.
sub has_proofs {
    my ($self) = @_;
    my @wanted;
    return wait_for(sub {
        @wanted = glob "$self->{proofs}/*.pem";
        return @wanted && !grep { !-e s/pem$/json/r } @wanted;
    }) && !grep { !copy($_, "$self->{folder}/proofs") } @wanted;
}

# Collects what is wanted in the folder `proofs`, and for the seal's chain if its name is given: true if nothing is
# missing.
sub collect {
    my ($self, $seal) = @_;
    my $pki  = $self->{pki};
    my @seal = $seal ? map { $pki->file($_) } "$seal-chain.crt", 'root.crt' : ();
    my @command =
        (($ENV{O} // 'build') . '/t/tool/collect', "$self->{folder}/proofs", $pki->file('authorities.crt'), @seal);
    return $self->clocked_at(sub { system @command }) == 0;
}

# sigreqctl archive with the folder `proofs` and these options: how many it has archived. If the name of the seal that
# has sealed is in `seal`, the first time waits for its proofs.
sub archive {
    my ($self, $uuid, %o) = @_;
    my @options  = $o{seal} ? ('--test-certificate', $self->{pki}->file("$o{seal}.crt")) : ();
    my %database = $self->{apart}->database;
    my @command  = (
        suite->{source} . '/build/sigreqctl',             '--driver', $database{driver}, '--params', $database{params},
        '--json',        '--documents',                   "$self->{folder}/documents",   'archive',
        '--timestamp',   $self->{tsa}->url,               '--authorities', $self->{pki}->file('authorities.crt'),
        '--proofs',      "$self->{folder}/proofs",        '--helper', suite->{source} . '/build/sigreq-pdfd', @options,
        $uuid);
    my $said = $self->clocked_at(sub {
        open my $pipe, '-|', @command or die "sigreqctl: $!\n";
        local $/ = undef;
        return scalar <$pipe>;
    });
    return decode_json($said || '{"archived":-1}')->{archived};
}

# Renews a document as a job does: asks for the proofs of the present document timestamp, collects them, and renews. It
# does not wait for proofs if the timestamp ends within 45 days.
sub renew {
    my ($self, $made) = @_;
    my $archived = $self->archive($made->{uuid});
    $archived = $self->archive($made->{uuid}) if !$archived && $self->collect;
    return $archived == 1;
}

# What PDFBox says of documents after so many years: for each one "kind intact chain" of each signature and timestamp.
sub java {
    my ($self, $years, @documents) = @_;
    my @files = map { Sigreq::Validator::saved($_) } @documents;
    my $at    = strftime '%Y-%m-%dT%H:%M:%SZ', gmtime $self->later($years);
    my $said  = java_judge({ roots => $self->roots, at => $at }, map {"$_"} @files);
    return map {
        my $one = $said->{"$_"};
        $one->{error} // join ', ', map {"$_->{kind} $_->{intact} $_->{chain}"} @{ $one->{signatures} };
    } @files;
}

# What pyHanko says of the first signature after so many years, offline; undef without pyHanko. It knows the CRLs that
# these authorities issue at that time. `ades`: with the judgement of EN 319 102-1.
sub pyhanko {
    my ($self, $document, $years, %o) = @_;
    my $file = Sigreq::Validator::saved($document);
    my $crls = "$self->{folder}/crls";
    local $self->{years} = $years;
    mkdir $crls;
    unlink glob "$crls/*";
    for my $issuer (@{ $o{crls} // ['tsaroot2'] }) {
        $self->clocked_at(sub { $self->{pki}->crl($issuer) });
        copy($self->{pki}->file("$issuer.crl"), "$crls/$issuer.crl") or die "$issuer.crl: $!\n";
    }
    return scalar $self->clocked_at(sub {
        return scalar pyhanko_lta($self->roots, $crls, $o{ades} ? '--ades' : (), "$file");
    });
}

1;
