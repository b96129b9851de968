# SPDX-License-Identifier: Apache-2.0
# A signer who has seen a page gets it again without a query. But every change that ends a link raises the submission's
# access_epoch, and then no child shows the page any more, also if its image is in the cache, and also if another host
# has raised the epoch.
use strict;
use warnings;
use Sigreq::Here   qw(suite organisation sql wait_for);
use Sigreq::PDF    'pdf';
use Sigreq::Pages  'page_url';
use Sigreq::Signer 'signers_of';
use Test::More;

my $made     = organisation()->{test}->create(files => [['a.pdf', pdf(nonce => "access $$")]]);
my ($signer) = signers_of($made->json);
my $document = $signer->state->{documents}[0];
my $url      = page_url($document, 0, 'png', version => $document->{sha256});
is($signer->get($url)->code, 200, 'a page') for 1 .. 20;

# Simulates that another host ends the link, of which this machine is not notified.
my $uuid = $made->json->{uuid};
sql("UPDATE document SET uuid = 'ffffffff-ffff-4fff-8fff-ffffffffffff' WHERE uuid = '$document->{uuid}'");
sql("UPDATE submission SET access_epoch = access_epoch + 1 WHERE uuid = '$uuid'");
my $dark = 0; # answers in a row, by whichever child
ok(wait_for(sub { $dark = $signer->get($url)->code == 404 ? $dark + 1 : 0; return $dark >= 20 }),
    'after access_epoch was raised no child shows the page');
sql("UPDATE document SET uuid = '$document->{uuid}' WHERE uuid = 'ffffffff-ffff-4fff-8fff-ffffffffffff'");
is($signer->get($url)->code, 200, 'a link that is valid again shows the page');
done_testing;
