# SPDX-License-Identifier: Apache-2.0
# Sigreq::Validator: checks signed PDFs with other programs (pdfsig, qpdf, mutool and openssl). It also has a
# certification authority that they can be told to trust.
package Sigreq::Validator;
use strict;
use warnings;
use Exporter 'import';
use File::Temp;
use POSIX ();
use Sigreq::Authority;

our @EXPORT_OK = qw(pdfsig qpdf_check qpdf_status mutool openssl is_unchanged text_of images_in authority verdict);

use constant SECONDS => 60; # a validator may take; some public files make each of them hang

sub saved {
    my $bytes = shift;
    my $file = File::Temp->new(SUFFIX => '.pdf');
    binmode $file;
    print $file $bytes;
    close $file;
    return $file;
}

# (all it said, its exit status; 128 + N: killed by signal N) of a program, and a file as its last argument.
sub asked {
    my ($file, @command) = @_;
    my $pid = open(my $pipe, '-|') // die "fork: $!\n";
    if (!$pid) {
        open STDIN, '<', '/dev/null' or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        alarm SECONDS;    # which the program inherits, and ends by
        exec @command, "$file" or POSIX::_exit(127);
    }
    my $said = do { local $/; <$pipe> } // '';
    close $pipe;
    return ($said, $? & 127 ? 128 + ($? & 127) : $? >> 8);
}

sub lacks { my $program = shift; return !grep { -x "$_/$program" } split /:/, $ENV{PATH} }

# pdfsig lists fields, and the fields of one signer have one signature, with the same byte ranges: it counts once,
# unless something else is said of it.
# {signatures, valid, total, trusted}: how many there are, how many are intact, how many cover the whole document, how
# many have a certificate that leads to one of the NSS database; `last`: what is said of the last one.
# (pdfsig 22.12 reads freed memory when a second signature has the certificate of the first: once in some hundred
# files it then says "Unknown issue with Certificate" of a good one. openssl below has no such doubts.)
sub pdfsig {
    my ($pdf, $nss) = @_;
    my ($said) = asked(saved($pdf), 'pdfsig', $nss ? ('-nssdir', $nss) : '-nocert');
    my @signatures = grep { !/form field is not signed/ } split /^(?=Signature #)/m, $said;
    shift @signatures unless @signatures && $signatures[0] =~ /^Signature #/;
    my %told;
    @signatures = grep { !$told{ s/^Signature #.*\n|^.*Signature Field Name.*\n//gmr }++ } @signatures;
    my $count = sub { my $text = shift; return scalar grep {/$text/} @signatures };
    return {
        said => $said, signatures => scalar @signatures, last => $signatures[-1] // '',
        valid => $count->('Signature is Valid'), total => $count->('- Total document signed'),
        trusted => $count->('Certificate is Trusted') };
}

# {signatures, intact, unchanged}: those with a certificate of this name (a pattern), those of them whose bytes are as
# they were signed, and those since which nothing was appended. undef: mutool is not installed.
sub mutool {
    my ($pdf, $name) = @_;
    return undef if lacks('mutool');
    my ($said) = asked(saved($pdf), 'mutool', 'sign', '-v');
    $name //= '';
    my @signatures = grep {/^Verifying signature.*\n\s*Distinguished name: cn=$name/}
        split /^(?=Verifying signature )/m, $said;
    my @unchanged = grep {/The document is unchanged since signing/} @signatures;
    my @grown = grep {/The signature is valid but there have been edits since signing/} @signatures;
    return { said => $said, signatures => scalar @signatures, intact => @unchanged + @grown,
        unchanged => scalar @unchanged };
}

# {signatures, valid}: how many signatures there are behind the first FROM bytes, and how many of them openssl finds to
# be good CAdES signatures of their byte ranges, by a certificate that an authority (a file) issued.
sub openssl {
    my ($bytes, $authority, $from) = @_;
    my %count = (signatures => 0, valid => 0, said => '');
    my $folder = File::Temp->newdir;
    pos($bytes) = $from // 0;
    while ($bytes =~ m{/ByteRange\s*\[\s*0 (\d+) (\d+) (\d+)\s*\]}g) {
        my ($first, $next, $rest) = ($1, $2, $3);
        my %file = (
            signed => substr($bytes, 0, $first) . substr($bytes, $next, $rest),
            der    => pack 'H*', substr $bytes, $first + 1, $next - $first - 2);
        for my $name (keys %file) {
            open my $out, '>:raw', "$folder/$name" or die "$folder/$name: $!\n";
            print {$out} $file{$name};
        }
        my ($said, $status) = asked("$folder/der", qw(openssl cms -verify -cades -binary -inform DER -purpose any),
            '-CAfile', $authority, '-content', "$folder/signed", '-out', '/dev/null', '-in');
        $count{signatures}++;
        $count{valid}++ if $status == 0;
        $count{said} .= $said;
    }
    return \%count;
}

# mutool agrees: so many signatures, all intact, one of them since the document last changed
sub is_unchanged {
    my ($pdf, $signatures) = @_;
    require Test::More;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $told = mutool($pdf);
SKIP: {
        Test::More::skip('mutool is not installed (mupdf-tools)', 1) unless $told;
        Test::More::is_deeply([@$told{qw(signatures intact unchanged)}], [$signatures, $signatures, 1],
            "mutool: $signatures intact, the last of an unchanged document") or Test::More::diag($told->{said});
    }
}

# What pdfsig, mutool and qpdf say together: "2 intact" if all find two signatures, all of them valid, the last of them
# of the whole document, and no fault.
sub verdict {
    my $pdf = shift;
    my ($pdfsig, $mutool) = (pdfsig($pdf), mutool($pdf));
    my @seen = $mutool ? @{$mutool}{qw(signatures intact unchanged)} : ();
    my $said = join ' ', @{$pdfsig}{qw(valid total)}, @seen, qpdf_check($pdf);
    my $count = $pdfsig->{signatures};
    return $said eq join(' ', $count, 1, $mutool ? ($count, $count, 1) : (), '') ? "$count intact" : "$count: $said";
}

sub qpdf_check { my ($said, $status) = asked(saved(shift), 'qpdf', '--check'); return $status ? $said : '' }

# How bad a file is for qpdf: 0 good, 1 warnings, 2 errors, 3 it crashed or hangs
sub qpdf_status {
    my ($said, $status) = asked(saved(shift), 'qpdf', '--check');
    return { 0 => 0, 3 => 1, 2 => 2 }->{$status} // 3;
}

sub text_of { my $file = saved(shift); return scalar qx(pdftotext -layout '$file' - 2>&1) }

# How many images a document shows, without their masks.
sub images_in {
    my $file = saved(shift);
    return scalar grep {/^\s*\d+\s+\d+\s+image\s/} qx(pdfimages -list '$file' 2>&1);
}

# A certification authority in a folder: `ca.crt`; `seal.crt`, `seal.key`: a pair it has issued to NAME; `nss`: a
# database for pdfsig that trusts it. False: a program for that is not installed.
sub authority {
    my ($folder, $name) = @_;
    return 0 if grep { lacks($_) } qw(openssl certutil);
    my $authority = Sigreq::Authority->new($folder);
    $authority->issue('seal', $name, 'keyUsage=critical,digitalSignature,nonRepudiation');
    mkdir "$folder/nss" or die "$folder/nss: $!\n";
    $authority->run(qw(certutil -N -d sql:nss --empty-password));
    $authority->run('certutil', '-A', '-d', 'sql:nss', '-n', 'authority', '-t', 'C,C,C', '-i', 'ca.crt');
    return 1;
}

1;
