# SPDX-License-Identifier: Apache-2.0
# Templates: the documents and fields of a submission, for further ones. They are stored once, belong to one user in one
# environment, and end with their submission or by DELETE /templates/{uuid}.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON 'encode_json';
use Sigreq::Here qw(organisation user used is_text is_error sql suite documents reports checked collect end_workers
    workers nothing_happens at_once);
use Sigreq::Multipart 'part';
use Sigreq::PDF qw(pdf without_end);
use Sigreq::Preview;
use Sigreq::Signer 'signers_of';
use Test::More;

my $org    = organisation();
my $client = $org->{live};
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);
my $count = 0;
sub nonce { 'templates ' . suite->{db} . "$$ " . ++$count }

sub field {
    my ($type, $y, %more) = @_;
    my $area = { x => 72, y => $y, w => 180, h => $type eq 'signature' ? 50 : 20, page => 0 };
    return { type => $type, name => $type, document => 'a.pdf', area => $area, %more };
}

sub person { my ($name, %more) = @_; return { firstname => $name, lastname => 'Lee', %more } }

sub made {    # the response to a creation
    my $res = $client->create(@_);
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

sub use_of {    # the arguments of a creation from a template, for signers with these names, or those objects
    my ($template, $signers, %more) = @_;
    my $text = encode_json([map { ref ? $_ : person($_) } @$signers]);
    my $uuid = ref $template ? $template->{template}{uuid} : $template;
    return (files => [], signers => $text, %more, more => [part('template', $uuid), @{ $more{more} // [] }]);
}
sub refused { my ($message, @arguments) = @_; return is_text($client->create(use_of(@arguments)), 400, $message) }

# The fields without what the service has added.
sub places { return [map { my %f = %$_; delete @f{qw(value)}; \%f } map { @{ $_->{fields} } } @{ $_[0]{submitters} }] }
sub values_of { return [map { $_->{value} } @{ $_[0]{submitters}[ $_[1] // 0 ]{fields} }] }

my @lease = (
    field(signature => 700, caption => 'name'),
    field(text      => 100, name => 'rent', value => '950', readOnly => $yes),
    field(text      => 130, name => 'job', required => $no),
    field(checkbox  => 160, name => 'pets'),
    field(choice    => 190, name => 'pays', options => ['monthly', 'yearly'], value => 'monthly'),
    field(date      => 220, name => 'day'),
    field(initials  => 250, area => { x => 500, y => 20, w => 40, h => 20, pages => 'all' }));
my $bytes = pdf(pages => [{}, { rotate => 90 }], nonce => nonce());
my $lease = made(
    name    => 'Lease',
    files   => [['a.pdf', $bytes], ['b.pdf', pdf(nonce => nonce())]],
    signers => [
        person('Ann', fields => \@lease, email => 'ann@example.org', locale => 'de'),
        person('Bob', fields => [field(signature => 300, document => 'b.pdf')])]);
my $uuid = $lease->{template}{uuid};

subtest 'a use' => sub {
    end_workers();
    my $before = documents();
    my $used   = made(use_of($lease, ['Eve', 'Tom'], name => 'Second'));
    is($used->{template}{uuid}, $uuid, 'it names the template');
    isnt($used->{uuid}, $lease->{uuid}, 'it is another submission');
    is_deeply(places($used), places($lease), 'it has the same fields at the same places');
    is_deeply(values_of($used), values_of($lease), 'the values of the first caller');
    is_deeply([map {"@$_{qw(name sha256 size pages)}"} @{ $used->{documents} }],
        [map {"@$_{qw(name sha256 size pages)}"} @{ $lease->{documents} }], 'the same documents');
    isnt($used->{documents}[0]{uuid}, $lease->{documents}[0]{uuid}, 'with uuids of their own');
    is_deeply([map { $used->{submitters}[0]{$_} } qw(firstname email)], ['Eve', undef], 'not the earlier signer');
    is(sql("SELECT count(*) FROM signer g JOIN submission s ON s.id = g.submission_id "
                . "WHERE s.uuid = '$used->{uuid}' AND g.locale IS NOT NULL"), 0, 'not their locale either');
    my ($event) = @{ $client->get("/signatures/$used->{uuid}/audit")->json->{events} };
    is($event->{detail}{template}, $uuid, 'the event names the template');
    is($client->get("/signatures/$used->{uuid}")->json->{template}{uuid}, $uuid, 'GET, too');
    is(documents(), $before + 1, 'only the prepared values are stored');    # of new fields with new names
    is($client->get("/signatures/$used->{uuid}/documents/$used->{documents}[1]{uuid}?version=original")->body,
        $client->get("/signatures/$lease->{uuid}/documents/$lease->{documents}[1]{uuid}?version=original")->body,
        'the original');
    $_->sign for signers_of($used);
    is($client->get("/signatures/$used->{uuid}")->json->{submitters}[1]{status}, 'completed', 'it is signed');
};

subtest 'a template without values costs no request to a helper' => sub {
    my $first = made(files => [['a.pdf', pdf(nonce => nonce())]]);
    end_workers();
    my $before = documents();
    made(use_of($first, ['Eve']));
    is(scalar(my @none = workers()), 0, 'no helper was asked');
    is(documents(), $before, 'nothing is stored');
};

subtest 'values' => sub {
    my $ann  = sub { return person('Eve', values => {@_}) };
    my %sent = (rent => '1,00', job => "Cook\r\n", pets => $yes, pays => 'yearly');
    delete $sent{job};
    my $used = made(use_of($lease, [$ann->(%sent), 'Tom']));
    is_deeply([@{ values_of($used) }[1 .. 5]], ['1,00', undef, $yes, 'yearly', undef], 'they replace the template\'s');
    is_deeply(values_of(made(use_of($lease, [$ann->(pays => undef), 'Tom'])))->[4], undef, 'null is no value');
    my $at = 'Signer 1';
    refused($_->[0], $lease, [$ann->(%{ $_->[1] }), 'Tom']) for
        ["$at: values: the template has no field color of this signer", { color => 'red' }],
        ["$at: values: field signature is of type signature and takes no value", { signature => 'x' }],
        ["$at: values: field day is of type date and takes no value", { day => '2026-11-30' }],
        ["$at, Field 2: value must be a string", { rent => $yes }],
        ["$at, Field 2: value must be a string, true or false", { rent => 950 }],
        ["$at, Field 2: readOnly needs a value", { rent => undef }],
        ["$at, Field 4: value must be true or false", { pets => 'yes' }],
        ["$at, Field 5: value must be one of the options", { pays => 'weekly' }];
    refused("$at: values must be an object", $lease, [person('Eve', values => ['x']), 'Tom']);
    refused('Signer 2 (t@x.org): values: the template has no field rent of this signer',
        $lease, ['Eve', person('Tom', email => 't@x.org', values => { rent => '1' })]);
    is_text($client->create(signers => [person('Eve', fields => [field(signature => 100)], values => { x => 'y' })]),
        400, 'Signer 1: values can be sent only with a template', 'values without a template');
    my @same  = map { field(text => 200 + 30 * $_, name => 'n', required => $no) } 1, 2;
    my $twice = made(signers => [person('Ann', fields => [field(signature => 100, name => 'n'), @same])]);
    is_deeply(values_of(made(use_of($twice, [person('Eve', values => { n => 'v' })]))), [undef, 'v', 'v'],
        'all fields of a name get its value');
};

subtest 'what a signer enters is not the template\'s' => sub {
    my ($ann, $bob) = signers_of($lease);
    is($ann->post(json => { %{ Sigreq::Signer::typed('Ann Lee') }, values => { 3 => 'Spy', 4 => $yes, 5 => 'yearly' } })
            ->code, 200, 'a signer fills in the fields');
    is(values_of($client->get("/signatures/$lease->{uuid}")->json)->[2], 'Spy', 'the submission has it');
    is_deeply([@{ values_of(made(use_of($lease, ['Eve', 'Tom']))) }[1 .. 5]], ['950', undef, undef, 'monthly', undef],
        'a use has the values of the caller');
    my $shown = $client->get("/templates/$uuid")->json;
    is_deeply([map { $_->{value} } @{ $shown->{roles}[0]{fields} }[1 .. 5]], ['950', undef, undef, 'monthly', undef],
        'GET /templates/{uuid} shows these');
    $client->post("/signatures/$lease->{uuid}/signers/$lease->{submitters}[1]{uuid}/replace",
        json => { firstname => 'Kim', lastname => 'Roe' });
    is_deeply(places(made(use_of($lease, ['Eve', 'Tom']))), places($lease),
        'a replaced signer has no role of their own');
};

subtest 'refusals' => sub {
    my $unknown = '00000000-0000-4000-8000-000000000000';
    nothing_happens($org, 'a refused use', sub {
        refused("Template $unknown not found", $unknown, ['Eve', 'Tom']);
        refused('Template x not found', 'x', ['Eve', 'Tom']);
        refused("Template $uuid has 2 signers, and 1 are provided", $lease, ['Eve']);
        refused("Template $uuid has 2 signers, and 3 are provided", $lease, ['Eve', 'Tom', 'Kim']);
        refused('Either a template or files can be provided, not both', $lease, ['Eve', 'Tom'],
            files => [['a.pdf', $bytes]]);
        refused('Signer 2: fields cannot be sent with a template',
            $lease, ['Eve', person('Tom', fields => [field(signature => 100)])]);
        refused('A name must be provided', $lease, ['Eve', 'Tom'], name => '');
    });
    is_text($client->create(files => [], more => [part('template', '')]), 400, 'At least 1 file must be provided',
        'an empty part counts as absent');
    made(use_of(uc $uuid, ['Eve', 'Tom']));
    my $null = person('Eve', fields => undef, values => undef);
    made(use_of($lease, [$null, 'Tom']));
    my $preview =
        $client->request(POST => '/signatures/preview', $client->creation_options(use_of($lease, ['Eve', 'Tom'])));
    is($preview->code, 200, 'a preview') or diag $preview->body;
    is_deeply(places($preview->json), places($lease), 'it shows the places');
    my %drawn = $client->creation_options(use_of($lease, ['Eve', 'Tom'], headers => { Accept => 'application/pdf' }));
    my $pdf   = $client->request(POST => '/signatures/preview', %drawn);
    is($pdf->code, 200, 'a preview of the documents') or diag $pdf->body;
    like($pdf->body, qr/^%PDF-/, 'it is a PDF');
};

subtest 'isolation' => sub {
    my $other = organisation();
    for ([$org->{test}, 'the other environment'],
        [user($org)->{live}, 'a colleague'],
        [$other->{live},     'another organisation'])
    {
        my ($who, $name) = @$_;
        is_text($who->create(use_of($lease, ['Eve', 'Tom'])), 400, "Template $uuid not found", "$name: a use");
        is_error($who->get("/templates/$uuid"),    404, 'Not found', "$name: GET");
        is_error($who->delete("/templates/$uuid"), 404, 'Not found', "$name: DELETE");
        is_deeply($who->get('/templates')->json->{data}, [], "$name: the list");
    }
};

subtest 'the list' => sub {
    my $who  = organisation()->{test};
    my @made = map { $who->create(name => "T$_")->json } 1 .. 3;
    my $used = $who->create(use_of($made[1], ['Eve']))->json;
    my $names = sub { join ' ', map { $_->{name} } @{ $_[0]{data} } };
    my $all = $who->get('/templates')->json;
    is($names->($all), 'T3 T2 T1', 'newest first, without those that were made from a template');
    is_deeply($all->{data}[1], {
            uuid => $made[1]{template}{uuid}, name => 'T2', createdAt => $made[1]{createdAt},
            lastUsedAt => $used->{createdAt}, signerCount => 1, documentCount => 1 }, 'an entry');
    is($all->{data}[0]{lastUsedAt}, undef, 'one that was never used');
    my $page = $who->get('/templates', query => { limit => 2 })->json;
    is($names->($page), 'T3 T2', 'a page');
    $page = $who->get('/templates', query => { limit => 2, after => $page->{pagination}{next} })->json;
    is($names->($page), 'T1', 'the next page');
    $page = $who->get('/templates', query => { limit => 2, after => $page->{pagination}{prev} })->json;
    is($names->($page), 'T3 T2', 'back');
    my $shown = $who->get("/templates/$made[1]{template}{uuid}")->json;
    is_deeply([$shown->{documents}[0]{name}, $shown->{documents}[0]{sha256}, $shown->{roles}[0]{fields}],
        ['a.pdf', $made[1]{documents}[0]{sha256}, $made[1]{submitters}[0]{fields}], 'one template');
    is_error($who->get('/templates', query => { limit => 0 }), 400, qr/limit/, 'a wrong limit');
    my $link  = suite->{db} eq 'pgsql' ? 'gen_random_uuid()' : 'lower(hex(randomblob(4)) || substr(s.uuid, 9))';
    my $rows =
        suite->{db} eq 'pgsql'
        ? 'SELECT generate_series(1, 5100)'
        : 'SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5100';
    my $same = 'token_id, user_id, organization_id, environment, template_uuid, skip_intro, send_email, events, '
        . 'events_hash, representation_version, base_url, representation';
    sql("WITH RECURSIVE n(i) AS ($rows) INSERT INTO submission (uuid, created_at, updated_at, name, search, $same) "
            . "SELECT $link, s.created_at + i, s.updated_at, 'hay', 'hay', $same FROM submission s, n "
            . "WHERE s.uuid = '$made[2]{uuid}'");
    $page = $who->get('/templates')->json;
    is_deeply($page->{data}, [], 'after 5000 submissions without a template, a page ends');
    $page = $who->get('/templates', query => { after => $page->{pagination}{next} })->json;
    is($names->($page), 'T3 T2 T1', 'the next one has the others');
    is($page->{pagination}{next}, undef, 'and is the last one');
    $page = $who->get('/templates', query => { after => $page->{pagination}{prev} })->json;
    is_deeply($page->{data}, [], 'back');
    sql("DELETE FROM submission WHERE name = 'hay'");
};

subtest 'DELETE /templates/{uuid}' => sub {
    my $first = made(files => [['a.pdf', pdf(nonce => nonce())]]);
    my $path  = "/templates/$first->{template}{uuid}";
    my %key   = (headers => { 'Idempotency-Key' => 'use' });
    my $used  = $client->create(use_of($first, ['Eve'], %key));
    is($used->code, 201, 'a use');
    is($client->delete($path)->code, 204, 'it is deleted');
    refused("Template $first->{template}{uuid} not found", $first, ['Eve']);
    is_error($client->get($path),    404, 'Not found', 'GET');
    is_error($client->delete($path), 404, 'Not found', 'again');
    my @listed = map { $_->{uuid} } @{ $client->get('/templates')->json->{data} };
    is(scalar(grep { $_ eq $first->{template}{uuid} } @listed), 0, 'the list');
    is($client->get("/signatures/$first->{uuid}")->code, 200, 'the submission stays');
    is($client->create(use_of($first, ['Eve'], %key))->body, $used->body, 'a repeated request gets its response');
    is_error($client->create(use_of($first, ['Kim'], %key)), 409, qr/its signers differed/, 'another request does not');
    is_text($client->create(use_of($first, ['Eve'], headers => { 'Idempotency-Key' => 'new' })), 400,
        "Template $first->{template}{uuid} not found", 'nor does a new key');
    my $own = $used->json;
    refused("Template $own->{template}{uuid} not found", $own, ['Eve']);
};

subtest 'the deletion of its submission' => sub {
    my $first = made(files => [['a.pdf', pdf(nonce => nonce())]]);
    my %key   = (headers => { 'Idempotency-Key' => 'erased' });
    my $sent  = $client->create(use_of($first, ['Eve'], %key));
    my $used  = $sent->json;
    $client->post("/signatures/$first->{uuid}/cancel", json => {});
    is($client->delete("/signatures/$first->{uuid}")->code, 204, 'deleted');
    refused("Template $first->{template}{uuid} not found", $first, ['Eve']);
    is_error($client->get("/templates/$first->{template}{uuid}"), 404, 'Not found', 'GET');
    is($client->create(use_of($first, ['Eve'], %key))->body, $sent->body, 'a repeated request gets its response');
    is_error($client->create(use_of($first, ['Kim'], %key)), 409, qr/its signers differed/, 'another request does not');
    is_text($client->create(use_of($first, ['Eve'], headers => { 'Idempotency-Key' => 'other' })), 400,
        "Template $first->{template}{uuid} not found", 'nor does a new key');
    my $unknown = '00000000-0000-4000-8000-000000000000';
    for ($unknown, uc $lease->{uuid}, 'x') {
        is_text($client->create(use_of($_, ['Eve'], headers => { 'Idempotency-Key' => 'unknown' })), 400,
            "Template $_ not found", 'an unknown one, with a key');
    }
    is($client->create(headers => { 'Idempotency-Key' => 'unknown' })->code, 201, 'that key can be used');
    collect();
    $_->sign for signers_of($used);
    is($client->get("/signatures/$used->{uuid}")->json->{submitters}[0]{status},
        'completed', 'the use has its documents');
    checked();
};

subtest 'quota and idempotency' => sub {
    my $before = used($org);
    my %key = (headers => { 'Idempotency-Key' => 'twice' });
    my $one = $client->create(use_of($lease, ['Eve', 'Tom'], %key));
    is($client->create(use_of($lease, ['Eve', 'Tom'], %key))->body, $one->body, 'a repetition');
    is(used($org), $before + 1, 'it counts once');
    is_error($client->create(use_of($lease, [person('Eve', values => { pets => $yes }), 'Tom'], %key)),
        409, qr/its signers differed/, 'other values are another request');
    my $same = made();
    is_error($client->create(use_of($same, ['Ann'], %key)),
        409, qr/its signers, template differed/, 'so is another template');
    is_error($client->create(%key), 409, qr/its signers, file, template differed/, 'and a file');
};

subtest 'documents that are rewritten, encrypted, or have form fields' => sub {
    my $damaged = without_end(pdf(nonce => nonce()));
    my $first   = made(files => [['a.pdf', $damaged]]);
    my $before  = documents();
    my $used    = made(use_of($first, ['Eve']));
    is(documents(), $before, 'the rewritten document is stored once');
    my ($plain, $locked) = map { path(suite->{dir}, "template-$_-$$.pdf") } qw(plain locked);
    Sigreq::Suite::write_file($plain, pdf(nonce => nonce()));
    system('qpdf', '--encrypt', '', 'owner', 256, '--', $plain, $locked) == 0 or die "qpdf\n";
    my $secret = made(use_of(made(files => [['a.pdf', $locked->slurp]]), ['Eve']));
    my $widget = '/Type/Annot/Subtype/Widget/F 4/P 3 0 R/FT/Tx/T(rent)/MaxLen 10/V(950,00)/Rect[100 700 200 720]';
    my $form   = pdf(nonce => nonce(), pages => [{ more => '/Annots[6 0 R]' }], objects => ["<<$widget>>"],
        catalog => '/AcroForm<</Fields[6 0 R]>>');
    my @fields = (field(signature => 100), field(text => 0, name => 'rent', area => { field => 'rent' }));
    my $filled = made(files => [['a.pdf', $form]], signers => [person('Ann', fields => \@fields)]);
    my $other  = made(use_of($filled, [person('Eve', values => { rent => '1,00' })]));
    is_deeply([values_of($filled)->[1], values_of($other)->[1]], ['950,00', '1,00'], 'a form field');
    is_deeply(places($other), places($filled), 'its place');
    refused('Signer 1, Field 2: value must have at most 10 characters',
        $filled, [person('Eve', values => { rent => '1' x 11 })]);
    $_->sign for map { signers_of($_) } $used, $secret, $other;
    for ($used, $secret, $other) {
        is($client->get("/signatures/$_->{uuid}")->json->{submitters}[0]{status}, 'completed', 'it is signed');
    }
    $_->remove for $plain, $locked;
};

subtest 'without reports, a helper reads the documents again' => sub {
    my $first = made(files => [['a.pdf', pdf(nonce => nonce())]]);
    is(unlink(reports($first->{documents}[0]{sha256})), 1, 'the report is gone');
    made(use_of($first, ['Eve']));
    is(scalar(my @new = reports($first->{documents}[0]{sha256})), 1, 'there is a new one');
};

subtest 'many uses' => sub {
    my $first   = made(files => [['a.pdf', pdf(nonce => nonce())], ['b.pdf', pdf(nonce => nonce())]]);
    my $before  = documents();
    my $crowd   = $client->crowd;
    my @answers = $crowd->parallel(100, at_once(8), sub { $crowd->create_p(use_of($first, ["Eve $_[0]"])) });
    is(scalar(grep { $_->code == 201 } @answers), 100, '100 at once');
    is(documents(), $before, 'their documents are stored once');
};

# Uses, a deletion, and collections at the same time: a submission that was acknowledged has its documents.
subtest 'a use and a deletion at once' => sub {
    Sigreq::Preview::end();
    my $crowd = $client->crowd;
    for my $round (1 .. 4) {
        my $first = made(files => [['a.pdf', pdf(nonce => nonce())]]);
        my $path  = $round % 2 ? "/templates/$first->{template}{uuid}" : "/signatures/$first->{uuid}";
        $client->post("/signatures/$first->{uuid}/cancel", json => {});
        my @answers = $crowd->parallel(16, at_once(8), sub {
            $_[0] == 8 ? $crowd->request_p(DELETE => $path) : $crowd->create_p(use_of($first, ['Eve']));
        });
        collect();
        my @codes = map { $_->code } @answers;
        is(splice(@codes, 8, 1), 204, 'it is deleted');
        is_deeply([grep { $_ != 201 && $_ != 400 } @codes], [], 'each use is made or refused');
        for my $made (map { $_->json } grep { $_->code == 201 } @answers) {
            my $document = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
            is($client->get($document)->code, 200, 'a use has its document');
        }
        refused("Template $first->{template}{uuid} not found", $first, ['Eve']);
    }
    checked();
};

done_testing;
