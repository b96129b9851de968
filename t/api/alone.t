# SPDX-License-Identifier: Apache-2.0
# What this service needs and does not have at the start of httpd: other sites are served, the error log says what is
# missing, and the service works as soon as it is there, without a restart. (Seals: seal.t; databases that are away:
# owned.t; files that need a restart: trust.t.)
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Suite;
use Test::More;

my $folder = tempdir('alone.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$folder/www";
Sigreq::Suite::write_file("$folder/www/other.txt", 'another site');
my $site  = qq{DocumentRoot "$folder/www"};
my $apart = Sigreq::Apart->new;

sub other { return Mojo::UserAgent->new->get($_[0]->base . '/other.txt', { Accept => '*/*' })->res->body }
sub creates { return $_[0]->create(files => [['a.pdf', pdf(nonce => rand)]])->code }

sub heals {    # what is missing, what the log says, which part of health, how it comes; and the options of httpd
    my ($name, $said, $part, $come, %options) = @_;
    subtest $name => sub {
        my $httpd = Sigreq::Httpd->new($apart->database, server => $site, %options);
        my ($status, $told) = $httpd->test;
        is($status, 0, 'httpd -t') or diag $told;
        like($told, $said, 'httpd -t says what is missing');
        $httpd->start;
        like($httpd->log, $said, 'httpd starts, and the error log says it');
        my $client = $apart->client($httpd);
        my $health = $client->get('/health');
        is($health->code, 503, 'the health check');
        is($health->json("/$part"), 'unavailable', "the health check names $part");
        is(creates($client), 503, 'nothing is created');
        is(other($httpd), 'another site', 'another site is served');
        ok($httpd->graceful, 'httpd can be restarted for another site');
        is(other($httpd), 'another site', 'another site is served after the restart');
        my $pid = $httpd->pid;
        $come->();
        ok(wait_for(sub { creates($client) == 201 }), 'when it is there, submissions are created');
        ok(wait_for(sub { $client->get('/health')->code == 200 }), 'the health check says ok');
        is($httpd->pid, $pid, 'httpd works again without a restart');
        $httpd->stop;
    };
    return;
}

my $documents = "$folder/documents";
heals('no folder of documents', qr/SR0711: SigreqDocuments \Q$documents\E is not a folder/, 'documents',
    sub { mkdir $documents }, documents => $documents);

my $helper = "$folder/sigreq-pdfd";
heals('no PDF helper', qr/SR0003: SigreqHelper \Q$helper\E is not a program/, 'helper',
    sub { symlink suite->{source} . '/build/sigreq-pdfd', $helper }, helper => $helper);

my $database = suite->{db} eq 'pgsql' ? Sigreq::Apart::make_database() : "$folder/database";
subtest 'a database without tables' => sub {
    my $httpd = Sigreq::Httpd->new(driver => suite->{db}, params => $database, server => $site)->start;
    like($httpd->log, qr/SR0703: .* cannot be used now: /, 'httpd starts, and the error log says it');
    is(Sigreq::Here::client(base => $httpd->base, connections => 0)->get('/health')->json('/database'), 'unavailable',
        'the health check names the database');
    is(other($httpd), 'another site', 'another site is served');
    my $client = Sigreq::Apart->new(params => $database)->client($httpd);
    ok(wait_for(sub { creates($client) == 201 }), 'when it has tables, submissions are created');
    ok(wait_for(sub { $client->get('/health')->code == 200 }), 'the health check says ok when there are tables');
};
done_testing;
