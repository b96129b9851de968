# SPDX-License-Identifier: Apache-2.0
# A full disk of documents, of the database, of page images: requests that need room get 503, nothing is stored, and no
# temporary file is left. When there is room again, everything works.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::SmallDisk;
use Sigreq::PDF    qw(pdf pdf_of_size);
use Sigreq::Pages  qw(page_url cached);
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'SQLite is enough' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
plan skip_all => 'no user namespaces here' unless Sigreq::SmallDisk::possible();

my $httpd  = Sigreq::Httpd->new;
my $disk   = Sigreq::SmallDisk->start(httpd => $httpd, folder => "$httpd->{dir}/documents", size => '4m');
my $org    = organisation(client => { base => $httpd->base });
my $client = $org->{live};
ok(wait_for(sub { $client->get('/health')->code == 200 }), 'httpd with a small disk');
is($client->create(files => [['a.pdf', pdf_of_size(100_000, nonce => "disk $$")]])->code, 201, 'room enough');
my $list = $client->get('/signatures')->body;
for my $try (1 .. 3) {
    my $res = $client->create(files => [['a.pdf', pdf_of_size(6_000_000, nonce => "full $$ $try")]]);
    is($res->code, 503, 'no room: 503');
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, 'no room: the answer has Retry-After');
}
is($client->get('/signatures')->body, $list, 'nothing stored');
is(Sigreq::Here::used($org),          1,     'nothing counted');
my @left = grep { -f && !/lock/ } glob($disk->path . '/tmp/*'), glob($disk->path . '/*');
ok(!@left, 'no temporary file') or diag "@left";
is($client->create(files => [['a.pdf', pdf_of_size(100_000, nonce => "again $$")]])->code, 201,
    'a smaller one still fits');

# signing, with what was created while there was room
my $made = $client->create(files => [['a.pdf', pdf(nonce => "sign $$")]])->json;
my ($signer) = signers_of($made);
$disk->fill;
is($signer->sign->code, 503, 'no room to sign: 503');
my $health;
wait_for(sub { ($health = $client->get('/health'))->code == 503 });
is_deeply($health->json, { status => 'unavailable', database => 'ok', helper => 'ok', documents => 'unavailable' },
    'health says it');
is($client->get("/signatures/$made->{uuid}")->json->{submitters}[0]{status}, 'sent', 'nothing was changed');
$disk->free;
is($signer->sign->code, 200, 'room again: signed');
ok(wait_for(sub { $client->get('/health')->code == 200 }), 'and health is well');
$disk->stop;

subtest 'SigreqFreeSpace' => sub {
    my $other = Sigreq::Httpd->new(place => "Sigreq On\nSigreqFreeSpace 2M");
    my $there = Sigreq::SmallDisk->start(httpd => $other, folder => "$other->{dir}/documents", size => '4m');
    my $asks  = $client->with(base => $other->base);
    ok(wait_for(sub { $asks->get('/health')->code == 200 }), 'room enough');
    $there->fill(3 * 1048576);
    wait_for(sub { ($health = $asks->get('/health'))->code == 503 });
    is($health->json('/documents'), 'unavailable', 'less room: health says it, although a small file can be written');
    like($other->log, qr/SR0110: .*documents.* free bytes, less than SigreqFreeSpace/, 'the log says why');
    $there->free;
    ok(wait_for(sub { $asks->get('/health')->code == 200 }), 'room again: health is well');
};

subtest 'the disk of the database' => sub {
    my $folder = "$httpd->{dir}/database";
    my $apart  = Sigreq::Apart->new;
    my $other  = Sigreq::Httpd->new(params => "$folder/db");
    my @file   = (with => ["$apart->{dir}/db"]);
    my $there  = Sigreq::SmallDisk->start(httpd => $other, folder => $folder, size => '4m', @file);
    my $asks   = $apart->client($other);
    my $create = sub { $asks->create(files => [['a.pdf', pdf(nonce => "database $$ " . shift)]]) };
    is($create->('before')->code, 201, 'room enough');
    $there->fill;
    is($create->("full $_")->code, 503, 'no room: 503') for 1 .. 2;
    is($asks->get('/signatures')->code, 200, 'reading goes on');
    $there->free;
    is($create->('after')->code, 201, 'room again: it is written');
};

subtest 'the disk of page images' => sub {
    my $folder = "$httpd->{dir}/cache";
    my $other  = Sigreq::Httpd->new(server => qq{SigreqCache "$folder"});
    my $there  = Sigreq::SmallDisk->start(httpd => $other, folder => $folder, size => '8m');
    my @files  = (['a.pdf', pdf(nonce => "cache $$", pages => 3)]);
    my ($one)  = signers_of($client->with(base => $other->base)->create(files => \@files)->json);
    my $row    = $one->state->{documents}[0];
    my $shown  = sub { $one->get(page_url($row, shift, 'png', version => $row->{sha256}))->code };
    my $kept   = sub { scalar cached($row->{sha256}, $there->path) };
    is_deeply([$shown->(0), $kept->()], [200, 1], 'a page is kept');
    $there->fill(8 * 1048576 * 92 / 100);
    is_deeply([$shown->(1), $kept->()], [200, 1], 'while less than a tenth is free, it is shown and not kept');
    is($shown->(0), 200, 'what is there is shown');
    $there->free;
    is_deeply([$shown->(1), $kept->()], [200, 2], 'room again: it is kept');
    unlike($other->log, qr/SR0500/, 'and no error is logged');
};
done_testing;
