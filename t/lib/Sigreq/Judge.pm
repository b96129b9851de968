# SPDX-License-Identifier: Apache-2.0
# Sigreq::Judge: what two other programs say of the signatures, timestamps and validation data of PDFs: PDFBox with
# Bouncy Castle (t/tool/Judge.java, compiled once for each t/run), and pyHanko, where it is at hand.
package Sigreq::Judge;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use File::Temp 'tempdir';
use IO::Compress::Zip qw(zip $ZipError);
use IPC::Open2 'open2';
use JSON::PP 'decode_json';
use Sigreq::Once 'made_once';

our @EXPORT_OK = qw(java_judge java_pages pyhanko_judge pyhanko_lta);

my @jars = map {"/usr/share/java/$_.jar"} qw(pdfbox2 fontbox2 commons-logging bcprov bcutil bcpkix);
my %java;      # the program that runs: the process that has started it, pid, to, from, errors

# Programs that end after some seconds are not worth a second compiler, nor threads that collect garbage.
my @SHORT = qw(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC);

# Compiles the program, unless another test file of this t/run has done it: its folder.
sub compiled {
    my $path = shift;
    my $in = $ENV{SIGREQ_STAGE} // tempdir('sigreq-judge.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    return made_once("$in/judge", sub {
        my $folder = shift;
        mkdir $folder;
        output_of('javac', map({"-J$_"} @SHORT), '-cp', $path, '-d', $folder, 't/tool/Judge.java');
        my @classes = glob "$folder/*.class";
        zip(\@classes => "$folder/judge.jar", FilterName => sub {s{.*/}{}}) or die "judge.jar: $ZipError\n";
    });
}

# Runs a program. Returns what it has printed, or dies with that.
sub output_of {
    my @command = @_;
    my $errors = File::Temp->new;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>"$0" </dev/null', "$errors", @command or die "$command[0]: $!\n";
    local $/;
    my $said = <$pipe> // '';
    close $pipe or die "$command[0] failed: $said", <$errors> // '';
    return $said;
}

# Starts the program, which ends with this process. To start it takes much longer than to judge a document.
sub start_java {
    my $path   = join ':', @jars;
    my $folder = compiled($path);
    my $errors = File::Temp->new;
    # The first one that ends archives its loaded classes, which are a third of the processor time of a start.
    my %archive = (of => "$folder/judge.jsa", new => "$folder/judge.$$.jsa");
    my $with    = -e $archive{of} ? "-XX:SharedArchiveFile=$archive{of}" : "-XX:ArchiveClassesAtExit=$archive{new}";
    my @judge   = ('java', '-Xlog:disable', '-Xshare:auto', $with, @SHORT, '-cp', "$path:$folder/judge.jar", 'Judge');
    my $pid     = open2(my $from, my $to, 'sh', '-c', 'exec "$@" 2>"$0"', "$errors", @judge);
    %java = (by => $$, pid => $pid, from => $from, to => $to, errors => $errors, archive => \%archive);
    return;
}

sub stop_java {
    return if ($java{by} // 0) != $$;    # a child of the test: the program is not its own
    local ($?, $!);
    kill TERM => $java{pid};
    waitpid $java{pid}, 0;
    rename $java{archive}{new}, $java{archive}{of} if -e $java{archive}{new};
    %java = ();
    return;
}

END { stop_java() }

# java_judge({roots => PEM FILE, at => "2035-01-31T00:00:00Z" or undef for now}, FILE, …): {FILE => {signatures =>
# [{field, kind => "signature" or "timestamp", whole, intact, chain => "ok" or the reason, proofs, time,
# stamp => {intact, time,
# chain, proofs}}, …]} or {error => TEXT}}. The oldest signature is first. t/tool/Judge.java says what each means.
sub java_judge {
    my ($how, @files) = @_;
    my @time = gmtime;
    my $at = $how->{at} // sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $time[5] + 1900, $time[4] + 1, @time[3, 2, 1, 0];
    my @said = asked_java(scalar @files, $how->{roots}, $at, @files);
    return { map { $files[$_] => $said[$_] } 0 .. $#files };
}

sub asked_java {    # so many lines of the answer to a request
    my ($lines, @request) = @_;
    start_java() if ($java{by} // 0) != $$;
    local $SIG{PIPE} = 'IGNORE';
    print { $java{to} } join("\t", @request), "\n";
    return map { decode_json(readline($java{from}) // java_has_ended()) } 1 .. $lines;
}

sub java_has_ended {
    my @errors = readline $java{errors};
    stop_java();
    die "Judge.java has ended: @errors\n";
}

# The pages of a file as PDFBox draws them, at half a pixel for each point: ({width, height, pixels => in base64}, …)
sub java_pages { my ($file) = @_; my ($said) = asked_java(1, draw => $file); return @{ $said->{pages} // [] } }

# pyhanko_judge(ROOTS, FILE, …): {FILE => {signatures => [{field, intact, valid, trusted, coverage, modification,
# bottom_line}, …]}}, or undef where pyHanko is missing.
sub pyhanko_judge {
    my ($roots, @files) = @_;
    my $judge = $ENV{SIGREQ_JUDGE} // return undef;
    open my $pipe, '-|', '/usr/bin/python3', $judge, '--roots', $roots, @files or return undef;
    my @lines = <$pipe>;
    close $pipe;
    return $? >> 8 == 77 ? undef : { map { $_->{file} => $_ } map { decode_json($_) } @lines };
}

# pyhanko_lta(ROOTS, CRLS, FILE, …): what pyHanko's long-term validation says of the first signature of each file, at
# the time of this process's clock: "PADES_LT ok, PADES_LTA NO"; as a scalar, of the first file. It knows what is in
# the file and the CRLs in a folder. undef where pyHanko is missing. --ades before the files adds another judgement.
# t/tool/longterm.py says more.
sub pyhanko_lta {
    my ($roots, $crls, @files) = @_;
    my $there = dirname($ENV{SIGREQ_JUDGE} // return undef) . '/pyhanko';
    open my $pipe, '-|', '/usr/bin/python3', 't/tool/longterm.py', $there, $roots, $crls, @files
        or return undef;
    chomp(my @said = <$pipe>);
    close $pipe;
    return undef if $? >> 8 == 77;
    return wantarray ? @said : $said[0] // 'nothing';
}

1;
