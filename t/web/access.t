# SPDX-License-Identifier: Apache-2.0
# Who has seen a page is not asked again: but what ends a link raises the submission's access_epoch, and then no child
# shows the page any more, though its image is in the cache, and though another host has raised it.
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

# As if the link ended on another host, which this machine does not hear of.
my $uuid = $made->json->{uuid};
sql("UPDATE document SET uuid = 'ffffffff-ffff-4fff-8fff-ffffffffffff' WHERE uuid = '$document->{uuid}'");
sql("UPDATE submission SET access_epoch = access_epoch + 1 WHERE uuid = '$uuid'");
my $dark = 0; # answers in a row, by whichever child
ok(wait_for(sub { $dark = $signer->get($url)->code == 404 ? $dark + 1 : 0; return $dark >= 20 }),
    'is not there for any child when the epoch was raised');
sql("UPDATE document SET uuid = '$document->{uuid}' WHERE uuid = 'ffffffff-ffff-4fff-8fff-ffffffffffff'");
is($signer->get($url)->code, 200, 'a link that is good again shows it');
done_testing;
