# SPDX-License-Identifier: Apache-2.0
# POST /signatures/preview: the response of a creation that stores nothing, sends nothing and counts nothing but its own
# rate limit. That it agrees with the creation is tested by all files that use Sigreq::Preview.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Here qw(suite organisation place is_error is_text sql documents used wait_for temporary_files);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Test::More;

my $org      = organisation(quota => 1);
my $client   = $org->{live};
my $receiver = Sigreq::Receiver->new;
is($client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') })->code, 200,
    'a webhook is registered');

sub preview {
    my ($who, %o) = @_;
    return $who->request(POST => '/signatures/preview', $who->creation_options(%o));
}

sub rows { # the number of rows of each table
    my $tables = sql(suite->{db} eq 'pgsql'
        ? "SELECT string_agg(table_name, ',' ORDER BY table_name) FROM information_schema.tables"
            . " WHERE table_schema = 'sigreq'"
        : "SELECT group_concat(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    my @tables = split /,/, $tables;
    cmp_ok(scalar @tables, '>', 10, 'the tables are found');
    return sql('SELECT ' . join " || ' ' || ", map {"'$_ ' || (SELECT count(*) FROM $_)"} @tables);
}

sub files {
    return join ' ', documents() if suite->{s3};
    return join ' ', sort grep { !m{/tmp/} } @{ path(suite->{dir} . '/documents')->list_tree->to_array };
}

subtest 'nothing is stored, sent or counted' => sub {
    is($client->create(files => [['a.pdf', pdf(nonce => "quota $$")]])->code, 201, 'the quota is used up');
    my %key = (headers => { 'Idempotency-Key' => "preview $$" });
    my ($rows, $files) = (rows(), files());
    my $res = preview($client, files => [['a.pdf', pdf(nonce => "previewed $$")]], %key);
    is($res->code, 200, 'a submission is previewed') or diag $res->body;
    is($res->headers->location, undef, 'the response names no URL');
    is($res->json->{submitters}[0]{status}, 'sent', 'the signer would be due');
    is(preview($client, %key)->code, 200, 'Idempotency-Key is ignored: another form with the same key');
    is(preview($client, headers => { 'Idempotency-Key' => "\xff" })->code, 200, 'and one that is no key');
    is_text(preview($client, name => ' '), 400, 'A name must be provided');
    is(rows(),  $rows,  'no row is inserted');
    is(files(), $files, 'no file is stored');
    is(used($org), 1, 'the quota is not touched');
    ok(wait_for(sub { !temporary_files() }), 'no temporary file is left');
    is(scalar @{ $client->get('/signatures')->json->{data} }, 1, 'the list has the created submission alone');
    is($client->get('/webhooks/history')->json->{data}[1], undef, 'and the only webhook is about it');
};

subtest 'who may preview' => sub {
    is_error(preview($client->with(token => 'sigreq_test_x')), 401, 'User not founded for this API Token');
    is($client->get('/signatures/preview')->code, 404, 'GET finds no submission of this name');
    is($client->post('/signatures/preview', json => {})->code, 415, 'another type of content is rejected');
};

subtest 'a rate limit of its own' => sub {
    my $limited = $org->{test}->with(base => place('/limited'));
    is(preview($limited)->code, 200, "preview $_ of two") for 1 .. 2;
    my $res = preview($limited);
    is_error($res, 429,
        qr/^Too many requests to preview a submission with one token: the limit is 2 per hour, try again in \d+ s$/);
    like($res->headers->header('RateLimit-Policy'), qr/"preview";q=2;w=3600/, 'the response has the policy');
    is($limited->create->code, 201, 'creations are not limited by it');
};

done_testing;
