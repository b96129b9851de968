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
sub shown { return decode_json(own(0, 'it is shown', '--json', @_)) }

exits(0, 'a database', @db, 'db', 'init');
my %uuid =
    map { $_ => decode_json(exits(0, "an organisation $_", @db, '--json', 'org', 'create', $_))->{uuid} } qw(Acme Beta);
exits(0, "a seal $_", 'seal', 'create', "$folder/$_", '--name', "Seal $_") for qw(one two);
my @one = ('--certificate', "$folder/one/seal.crt", '--key', "$folder/one/seal.key");
my @two = ('--certificate', "$folder/two/seal.crt", '--key', "$folder/two/seal.key");

# --- wrong command lines
like(own(3, 'a missing folder', 'Acme', @one), qr/seals: No such file/, '… is named');
mkdir $seals;
like(own(3, 'another organisation', 'Gamma', @one), qr/no such organization/i, '… is not there');
like(exits(2, 'no folder', @db, 'org', 'seal', 'Acme', '--config', spit("$folder/empty.conf", '')),
    qr/give --seals, or --config with SigreqOrganizationSeals/, '… what to do');
like(own(2, 'two actions', 'Acme', @one, '--remove'), qr/exclude each other/, '… are refused');
like(own(2, 'a key alone', 'Acme', @one[2, 3]), qr/--key needs --certificate/, '… is refused');
like(own(2, 'a request without name', 'Acme', '--request'), qr/--request and --name need each other/, '… is refused');
like(own(1, 'a foreign key', 'Acme', @one[0, 1], @two[2, 3]), qr/Nothing was installed/, '… is refused');
is(files($seals), '', 'nothing was written');
is(shown('Acme')->{seal}, 'that of the service', 'there is none');

# --- install
my $dir = "$seals/$uuid{Acme}";
my $said = decode_json(own(0, 'the first pair', '--json', 'Acme', @one));
is_deeply([@$said{qw(name certificate_file)}], ['Seal one', "$dir/seal.crt"], '… is shown');
is(files($dir), 'seal.crt seal.key', '… its files');
is(mode("$dir/seal.key"), 600, '… the key is private');
is(mode("$dir/seal.crt"), 644, '… and the certificate is not');
is(mode($dir), 755, '… the folder');
is(shown('Acme')->{name}, 'Seal one', 'by its name');
is(shown($uuid{Acme})->{name}, 'Seal one', 'or its uuid');
own(0, 'another pair', 'Acme', @two);
is(files($dir), 'next.crt next.key seal.crt seal.key', '… is the next one');
is(shown('Acme')->{next}{name}, 'Seal two', '… and shown');
like(own(4, 'a third one', 'Acme', @one), qr/there is a next key or certificate/, '… does not replace it');
own(0, 'rotate', 'Acme', '--rotate');
is(shown('Acme')->{name}, 'Seal two', '… the next one is the present one');
is(files($dir), 'former seal.crt seal.key', '… the old one is in the folder former');

# --- request and import
$dir = "$seals/$uuid{Beta}";
own(0, 'a request', 'Beta', '--request', '--name', 'Beta Ltd');
is(files($dir), 'seal.csr seal.key', 'a key waits for its certificate');
like(shown('Beta')->{seal}, qr/that of the service, until/, '… until then, the seal of the service');
like(own(4, 'a pair instead', 'Beta', @one), qr/give --certificate without --key, or delete/, '… is refused');
openssl("x509 -req -in $dir/seal.csr -signkey $dir/seal.key -days 9 -out $folder/beta.crt");
own(0, 'its certificate', 'Beta', '--certificate', "$folder/beta.crt");
is(files($dir), 'seal.crt seal.key', '… is installed');
is(shown('Beta')->{name}, 'Beta Ltd', '… and shown');

# --- remove
own(0, 'remove', 'Beta', '--remove');
is(shown('Beta')->{seal}, 'that of the service', 'the seal of the service');
my ($away) = glob "$dir.removed-*";
is(files($away), 'seal.crt seal.key', '… nothing is lost');
own(3, 'remove again', 'Beta', '--remove');
like(exits(0, 'the folder may be in the configuration', 'org', 'seal', 'Acme', '--config',
    spit("$folder/sigreq.conf", qq{DBDriver sqlite3\nDBDParams "$folder/a.db"\nSigreqOrganizationSeals "$seals"\n})),
    qr/Seal two/, '… which is read');

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
                "$what is killed before its change $at: the seal is whole, or there is none");
            my $requested = $what eq 'request' && -e "$dir/seal.key";    # only the answer is missing
            my ($code) = run(@seal, 'Beta', @arguments);
            is($code, $requested ? 4 : 0, '… it is repeated');
        }
        cmp_ok($at, '>', 4, "$what makes $at changes");
        is(files($dir), $what eq 'install' ? 'seal.crt seal.key' : 'seal.csr seal.key', '… at last it is there');
    }
}
done_testing;
