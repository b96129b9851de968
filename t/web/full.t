# SPDX-License-Identifier: Apache-2.0
# With a full disk the pages of a signed document are still shown: the document is joined in memory. As in
# t/api/fault_disk.t, the small file system is a tmpfs in its own mount namespace. If there is no such namespace, this
# is skipped.
use strict;
use warnings;
use Sigreq::Here   qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF    'pdf_of_size';
use Sigreq::Pages  qw(page_url png_size);
use Sigreq::Signer qw(signers_of);
use Test::More;

plan skip_all => 'SQLite is enough' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
my @unshare = ('unshare', '--user', '--map-root-user', '--mount', '--kill-child', '--fork');
plan skip_all => 'no user namespaces here' if system("@unshare true 2>/dev/null") != 0;

my $httpd  = Sigreq::Httpd->new;
my $folder = "$httpd->{dir}/documents";
my $binary = Sigreq::Httpd::command();
my $script = 'mount -t tmpfs -o size=4m,mode=755 tmpfs "$1" && exec "$2" -f "$3" -DFOREGROUND';
my $pid    = fork // die "fork: $!";
if (!$pid) {
    open STDOUT, '>',  "$httpd->{dir}/stdout";
    open STDERR, '>&', \*STDOUT;
    exec @unshare, 'sh', '-c', $script, 'sh', $folder, $binary, "$httpd->{dir}/httpd.conf";
}
END { kill TERM => Sigreq::Here::children($pid) if $pid; waitpid $pid, 0 if $pid }
my $client = organisation(client => { base => $httpd->base })->{test};
ok(wait_for(sub { $httpd->pid && eval { $client->get('/health')->code == 200 } }), 'httpd with a small disk')
    or done_testing, exit 1;
my ($inside) = Sigreq::Here::children($pid);
my $there = "/proc/$inside/root$folder";

my $made = $client->create(files => [['a.pdf', pdf_of_size(300_000, nonce => "full $$")]])->json;
my ($signer) = signers_of($made);
is($signer->sign('Ann Lee')->json->{state}, 'completed', 'signed');
my ($document) = @{ $signer->state->{documents} };
my $filled = "$there/filled";
open my $file, '>:raw', $filled or die "$filled: $!";
syswrite $file, "\0" x 4096 for 1 .. 1100;
close $file;
my @url = (page_url($document, 0, 'png', version => $document->{sha256}), page_url($document, 0, 'json'));
for my $try (1, 2) {
    my $res = $signer->get($url[0]);
    is($res->code, 200, "a full disk: the page is shown ($try)");
    is_deeply([png_size($res->body)], [800, 1035], '… completely');
    is($signer->get($url[1])->code, 200, '… the text of the page is shown, too');
}
like($httpd->log, qr/SR0500: a page is not cached: .*No space left on device/, 'the log has the reason');
unlink $filled;
is($signer->get($url[0])->code, 200, 'the page is shown when there is room again');
ok(glob("$there/cache/*/*/*.png"), 'the page is cached then');
done_testing;
