# SPDX-License-Identifier: Apache-2.0
# sigreqctl org seal: installs, requests, replaces and removes the own seal of an organisation. What is wrong is refused
# before a file has changed, and a command that is killed leaves nothing that httpd would take for a seal.
# t/api/own_seals.t has what httpd does with them.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use lib 't/lib';
use JSON::PP;
use Sigreq::Killer;
use Test::More;

my $program = abs_path('build/sigreqctl') // '';
-x $program or die "build/sigreqctl is not there: run make\n";
my $folder = tempdir('sigreq-own.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $seals  = "$folder/seals";
delete $ENV{SIGREQ_CONFIG};
plan skip_all => 'the openssl command is not installed' if system('command -v openssl >/dev/null') != 0;

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }
sub mode { return sprintf '%o', (stat $_[0])[2] & 07777 }
sub openssl { system("openssl $_[0] >'$folder/said' 2>&1") == 0 or die "openssl $_[0]: " . slurp("$folder/said") }
sub files { return join ' ', map {m{([^/]+)$}} sort glob "$_[0]/*" }

sub run {    # (exit code or "signal N", stdout, stderr)
    my @arguments = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$folder/out"   or die;
        open STDERR, '>', "$folder/error" or die;
        exec $program, @arguments or die;
    }
    waitpid $pid, 0;
    return ($? & 127 ? 'signal ' . ($? & 127) : $? >> 8, map { slurp("$folder/$_") } qw(out error));
}

sub exits {
    my ($code, $name, @arguments) = @_;
    my ($got, $out, $error) = run(@arguments);
    is($got, $code, $name) or diag $out, $error;
    return $code ? $error : $out;
}
my @db = ('--driver', 'sqlite3', '--params', "$folder/a.db");
my @seal = (@db, 'org', 'seal', '--seals', $seals);
sub own { my ($code, $name, @arguments) = @_; return exits($code, $name, @seal, @arguments) }
sub shown { return decode_json(own(0, 'org seal shows the seal', '--json', @_)) }

exits(0, 'db init makes a database', @db, 'db', 'init');
my %uuid =
    map { $_ => decode_json(exits(0, "$_ is created", @db, '--json', 'org', 'create', $_))->{uuid} } qw(Acme Beta);
exits(0, "seal create makes the seal $_", 'seal', 'create', "$folder/$_", '--name', "Seal $_") for qw(one two);
my @one = ('--certificate', "$folder/one/seal.crt", '--key', "$folder/one/seal.key");
my @two = ('--certificate', "$folder/two/seal.crt", '--key', "$folder/two/seal.key");

# --- wrong command lines
like(own(3, 'a missing folder of seals is an error', 'Acme', @one), qr/seals: No such file/,
    'the message names the missing folder');
mkdir $seals;
like(own(3, 'an unknown organisation is an error', 'Gamma', @one), qr/no such organization/i,
    'the message says that the organisation is unknown');
like(exits(2, 'a folder of seals is needed', @db, 'org', 'seal', 'Acme', '--config', spit("$folder/empty.conf", '')),
    qr/give --seals, or --config with SigreqOrganizationSeals/, 'the message says how to name the folder');
like(own(2, 'two actions are rejected', 'Acme', @one, '--remove'), qr/exclude each other/,
    'the message says that the actions exclude each other');
like(own(2, 'a key alone is rejected', 'Acme', @one[2, 3]), qr/--key needs --certificate/,
    'the message says that the certificate is missing');
like(own(2, 'a request without a name is rejected', 'Acme', '--request'), qr/--request and --name need each other/,
    'the message says that the name is missing');
like(own(1, 'the key of another certificate is rejected', 'Acme', @one[0, 1], @two[2, 3]), qr/Nothing was installed/,
    'the message says that nothing was installed');
is(files($seals), '', 'rejected commands write nothing');
is(shown('Acme')->{seal}, 'that of the service', 'a new organisation has no seal of its own');

# --- install
my $dir = "$seals/$uuid{Acme}";
my $said = decode_json(own(0, 'the first pair is installed', '--json', 'Acme', @one));
is_deeply([@$said{qw(name certificate_file)}], ['Seal one', "$dir/seal.crt"],
    'the result names the certificate and its file');
is(files($dir), 'seal.crt seal.key', 'the folder contains the certificate and the key');
is(mode("$dir/seal.key"), 600, 'only the owner can read the key');
is(mode("$dir/seal.crt"), 644, 'everybody can read the certificate');
is(mode($dir), 755, 'everybody can list the folder');
is(shown('Acme')->{name}, 'Seal one', 'an organisation is found by its name');
is(shown($uuid{Acme})->{name}, 'Seal one', 'an organisation is found by its uuid');
own(0, 'a second pair is installed', 'Acme', @two);
is(files($dir), 'next.crt next.key seal.crt seal.key', 'the second pair is the next one');
is(shown('Acme')->{next}{name}, 'Seal two', 'org seal shows the next certificate');
like(own(4, 'a third pair is rejected', 'Acme', @one), qr/there is a next key or certificate/,
    'the message says that there is a next pair');
own(0, '--rotate succeeds', 'Acme', '--rotate');
is(shown('Acme')->{name}, 'Seal two', '--rotate makes the next seal the present one');
is(files($dir), 'former seal.crt seal.key', '--rotate moves the old certificate to the folder former');

# --- request and import
$dir = "$seals/$uuid{Beta}";
own(0, '--request succeeds', 'Beta', '--request', '--name', 'Beta Ltd');
is(files($dir), 'seal.csr seal.key', '--request writes a request and a key');
like(shown('Beta')->{seal}, qr/that of the service, until/, 'the service seals until the certificate is installed');
like(own(4, 'a pair is rejected while a request is open', 'Beta', @one),
    qr/give --certificate without --key, or delete/, 'the message says what to do with the request');
openssl("x509 -req -in $dir/seal.csr -signkey $dir/seal.key -days 9 -out $folder/beta.crt");
own(0, 'the certificate of the request is accepted', 'Beta', '--certificate', "$folder/beta.crt");
is(files($dir), 'seal.crt seal.key', 'the certificate replaces the request');
is(shown('Beta')->{name}, 'Beta Ltd', 'org seal shows the certificate of the request');

# --- remove
own(0, '--remove succeeds', 'Beta', '--remove');
is(shown('Beta')->{seal}, 'that of the service', 'after --remove the service seals');
my ($away) = glob "$dir.removed-*";
is(files($away), 'seal.crt seal.key', '--remove keeps the certificate and the key');
own(3, '--remove fails if there is no seal', 'Beta', '--remove');
like(exits(0, 'org seal accepts a configuration', 'org', 'seal', 'Acme', '--config',
    spit("$folder/sigreq.conf", qq{DBDriver sqlite3\nDBDParams "$folder/a.db"\nSigreqOrganizationSeals "$seals"\n})),
    qr/Seal two/, 'org seal reads SigreqOrganizationSeals');

# --- killed before each change of a file
SKIP: {
    skip Sigreq::Killer::why_not(), 1 if Sigreq::Killer::why_not();
    my $killer = Sigreq::Killer->new($folder, qw(rename rmdir mkdir fchmod));
    my $killed = sub {    # runs a command that is killed before its Nth change: its exit code
        my ($at, @arguments) = @_;
        return $killer->at($at, sub { (run(@seal, 'Beta', @arguments))[0] });
    };
    for my $case (['install', @one], ['request', '--request', '--name', 'Beta Ltd']) {
        my ($what, @arguments) = @$case;
        my $at = 1;
        for (; ; $at++) {
            system("rm -rf '$dir' '$dir.partial'");
            last if $killed->($at, @arguments) eq '0';
            my $state = shown('Beta');
            my $whole = $what eq 'install' && -e "$dir/seal.crt";
            like($state->{seal} // $state->{name}, $whole ? qr/^Seal one$/ : qr/^that of the service/,
                "if $what is killed before its change $at, the seal is complete or absent");
            my $requested = $what eq 'request' && -e "$dir/seal.key";    # only the answer is missing
            my ($code) = run(@seal, 'Beta', @arguments);
            is($code, $requested ? 4 : 0, "$what can be repeated after change $at");
        }
        cmp_ok($at, '>', 4, "$what makes more than 4 changes");
        is(files($dir), $what eq 'install' ? 'seal.crt seal.key' : 'seal.csr seal.key', "$what succeeds in the end");
    }
}
done_testing;
