# SPDX-License-Identifier: Apache-2.0
# One documents folder and two databases: refused if the configuration shows it, when httpd starts (t/api/owned.t), and
# when something would be stored. Existing documents can be read.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite is_error ctl);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my ($one, $two) = map { Sigreq::Apart->new(lastname => $_) } qw(One Two);
my $httpd  = $one->httpd;
my $client = $one->client($httpd);
my $folder = "$httpd->{dir}/documents";
my $other  = $two->httpd(documents => $folder); # while the folder belongs to nobody
my $made   = $client->create(files => [['a.pdf', pdf(nonce => "two $$")]]);
is($made->code, 201, 'the first database stores a document');
ok(-s "$folder/.database", 'the folder belongs to this database');

subtest 'detected when something is stored' => sub {
    my $second = $two->client($other);
    my $res    = $second->create(files => [['a.pdf', pdf(nonce => "second $$")]]);
    is($res->code, 503, 'the second one is refused');
    like($other->log, qr/\Q$folder\E belongs to the database .*sigreqctl documents adopt/, 'the log says what to do');
    is($second->get('/signatures')->code, 200, 'reading works');
    is($client->create(files => [['a.pdf', pdf(nonce => "first $$")]])->code, 201, 'the first one stores documents');
    my $again = $one->httpd(documents => $folder);
    $two->ctl('documents', 'adopt', '--documents', $folder);
    is($second->create(files => [['a.pdf', pdf(nonce => "second $$")]])->code, 201, 'adopted: it is the second one\'s');
    $other->stop;
    my $late  = Sigreq::Signer->new(
        link => (signers_of($made->json))[0]{link} =~ s{^http://[^/]+}{$again->base}er, connections => 0);
    is($late->sign->code, 503, 'after an adoption the first database cannot sign');
    $one->ctl('documents', 'adopt', '--documents', $folder);
    is($late->sign->code, 200, 'after it has adopted the folder again, it can sign');
    $again->stop;
};

subtest 'detected in the configuration' => sub {
    my ($params, $driver) = ($two->{params}, suite->{db});
    my $host = sub {
        my ($params, $more) = @_;
        return "<VirtualHost *:1>\nServerName two.test\nDBDriver $driver\nDBDParams \"$params\"\n$more\n</VirtualHost>";
    };
    my ($status, $said) = Sigreq::Httpd->new($one->database, server => $host->($params, ''))->test;
    isnt($status, 0, 'a virtual host with a database of its own and the same folder');
    my $named = qr/SR0701: SigreqDocuments \S+ is used with two databases, by the main server and by the virtual host/;
    like($said, $named, 'the message names the folder');
    mkdir "$folder/other";
    ($status, $said) = Sigreq::Httpd->new($one->database,
        server => $host->($params, "SigreqDocuments \"$folder/other\""))->test;
    is($status, 0, 'another folder is accepted') or diag $said;
    ($status, $said) = Sigreq::Httpd->new($one->database, server => $host->($one->{params}, ''))->test;
    is($status, 0, 'the same database is accepted') or diag $said;
    my $longer = "$one->{params} connect_timeout=3";
    ($status, $said) = Sigreq::Httpd->new($one->database, server => $host->($longer, ''))->test;
    is($status, 0, 'the same database with other options is accepted') or diag $said if $driver eq 'pgsql';
};
done_testing;
