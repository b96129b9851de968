# A full disk: 503, nothing stored, no temporary file; and when there is room again, all goes on. The small file
# system is a tmpfs of its own mount namespace, which needs root or user namespaces; without either this skips.
use strict;
use warnings;
use Sigreq::Here qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF    qw(pdf pdf_of_size);
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'SQLite is enough' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
my @unshare = ('unshare', '--user', '--map-root-user', '--mount', '--kill-child', '--fork');
plan skip_all => 'no user namespaces here' if system("@unshare true 2>/dev/null") != 0;

my $httpd  = Sigreq::Httpd->new;
my $folder = "$httpd->{dir}/documents";
chomp(my $binary = Sigreq::Httpd::command());
# the shell in the namespace: httpd in the foreground; other commands by its pid
my $script = 'mount -t tmpfs -o size=4m,mode=755 tmpfs "$1" && exec "$2" -f "$3" -DFOREGROUND';
my $pid    = fork // die "fork: $!";
if (!$pid) {
    open STDOUT, '>',  "$httpd->{dir}/stdout";
    open STDERR, '>&', \*STDOUT;
    exec @unshare, 'sh', '-c', $script, 'sh', $folder, $binary, "$httpd->{dir}/httpd.conf";
}
END { kill TERM => Sigreq::Here::children($pid) if $pid; waitpid $pid, 0 if $pid } # unshare itself ignores TERM
my $org    = organisation(client => { base => $httpd->base });
my $client = $org->{live};
my $up     = wait_for(
    sub {
        $httpd->pid && eval { $client->get('/health')->code == 200 }
    },
    10);
ok($up, 'httpd with a small disk') or diag(
    do { local (@ARGV, $/) = "$httpd->{dir}/stdout"; <> // '' }
    ),
    done_testing, exit 1;
my ($inside) = Sigreq::Here::children($pid);

sub there {
    my $root = "/proc/$inside/root";
    return (-d "$root$folder" ? "$root$folder" : die "cannot see $root$folder\n");
}

is($client->create(files => [['a.pdf', pdf_of_size(100_000, nonce => "disk $$")]])->code, 201, 'room enough');
my $list = $client->get('/signatures')->body;
for my $try (1 .. 3) {
    my $res = $client->create(files => [['a.pdf', pdf_of_size(6_000_000, nonce => "full $$ $try")]]);
    is($res->code, 503, 'no room: 503');
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, '… with Retry-After');
}
is($client->get('/signatures')->body, $list, 'nothing stored');
is(Sigreq::Here::used($org),          1,     'nothing counted');
my @left = grep { -f && !/lock/ } glob(there() . '/tmp/*'), glob(there() . '/*');
ok(!@left, 'no temporary file') or diag "@left";
is($client->create(files => [['a.pdf', pdf_of_size(100_000, nonce => "again $$")]])->code, 201,
    'a smaller one still fits');

# signing, with what was created while there was room
my $made = $client->create(files => [['a.pdf', pdf(nonce => "sign $$")]])->json;
my ($signer) = signers_of($made);
open my $ballast, '>', there() . '/ballast' or die "ballast: $!";
syswrite $ballast, 'x' x 65536 or last for 1 .. 100;
is($signer->sign->code, 503, 'no room to sign: 503');
my $health;
wait_for(sub { ($health = $client->get('/health'))->code == 503 }, 20);
is_deeply($health->json, { status => 'unavailable', database => 'ok', helper => 'ok', documents => 'unavailable' },
    'health says it');
is($client->get("/signatures/$made->{uuid}")->json->{submitters}[0]{status}, 'sent', 'nothing was changed');
unlink there() . '/ballast';
close $ballast;
is($signer->sign->code, 200, 'room again: signed');
ok(wait_for(sub { $client->get('/health')->code == 200 }, 20), 'and health is well');
done_testing;
