# SPDX-License-Identifier: Apache-2.0
# With a full disk the pages of a signed document are still shown: the document is joined in memory. As in
# t/api/fault_disk.t, the small file system is a tmpfs in its own mount namespace. If there is no such namespace, this
# is skipped.
use strict;
use warnings;
use Sigreq::Here   qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::SmallDisk;
use Sigreq::PDF    'pdf_of_size';
use Sigreq::Pages  qw(page_url png_size);
use Sigreq::Signer qw(signers_of);
use Test::More;

plan skip_all => 'SQLite is enough' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
plan skip_all => 'no user namespaces here' unless Sigreq::SmallDisk::possible();

my $httpd  = Sigreq::Httpd->new;
my $disk   = Sigreq::SmallDisk->start(httpd => $httpd, folder => "$httpd->{dir}/documents", size => '4m');
my $client = organisation(client => { base => $httpd->base })->{test};
ok(wait_for(sub { $client->get('/health')->code == 200 }), 'httpd with a small disk');

my $made = $client->create(files => [['a.pdf', pdf_of_size(300_000, nonce => "full $$")]])->json;
my ($signer) = signers_of($made);
is($signer->sign('Ann Lee')->json->{state}, 'completed', 'signed');
my ($document) = @{ $signer->state->{documents} };
$disk->fill;
my @url = (page_url($document, 0, 'png', version => $document->{sha256}), page_url($document, 0, 'json'));
for my $try (1, 2) {
    my $res = $signer->get($url[0]);
    is($res->code, 200, "a full disk: the page is shown ($try)");
    is_deeply([png_size($res->body)], [800, 1035], 'a full disk: the page is shown completely');
    is($signer->get($url[1])->code, 200, 'a full disk: the text of the page is shown');
}
like($httpd->log, qr/SR0500: a page cannot be cached: .*No space left on device/, 'the log has the reason');
$disk->free;
is($signer->get($url[0])->code, 200, 'the page is shown when there is room again');
ok(glob($disk->path . '/cache/*/*/*.png'), 'the page is cached then');
done_testing;
