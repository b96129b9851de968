# SPDX-License-Identifier: Apache-2.0
# Drafts: submissions that are not sent yet. Nobody but their caller sees them; their fields may change until they are
# sent, once.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File qw(path);
use Mojo::JSON qw(encode_json);
use Sigreq::Client;
use Sigreq::Apart;
use Sigreq::Here qw(checked ctl is_error is_text organisation sql used user wait_for);
use Sigreq::Mailbox;
use Sigreq::Multipart 'part';
use Sigreq::PDF qw(pdf without_end);
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of chain_fault);
use Sigreq::Validator 'text_of';
use Test::More;

my $org    = organisation();
my $client = $org->{live};
my $id     = qr/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);
my $count = 0;

sub person { my ($name, %more) = @_; return { firstname => $name, lastname => 'Lee', %more } }

sub field {
    my ($type, $y, %more) = @_;
    my $area = { x => 10, y => $y, w => 30, h => $type eq 'signature' ? 6 : 3, page => 0, unit => 'percent' };
    return { type => $type, name => $type, document => 'a.pdf', area => $area, %more };
}
sub drafting { my (%o) = @_; return (%o, more => [part('draft', 'true'), @{ $o{more} // [] }]) }

sub drafted {
    my $who = ref $_[0] ? shift : $client;
    my $res = $who->create(drafting(signers => [person('Ann')], @_));
    is($res->code, 201, 'drafted') or diag $res->body;
    return $res->json;
}
sub path_of { my ($draft, $rest) = @_; return "/signatures/$draft->{uuid}" . ($rest // '') }

sub placed {    # PUT fields: for each signer a list
    my ($draft, $signers, %o) = @_;
    my $body = { signers => [map { { fields => $_ } } @$signers] };
    return ($o{by} // $client)->request(PUT => path_of($draft, '/fields'), json => $body, headers => $o{headers} // {});
}
sub sent { my ($draft, $by) = @_; return ($by // $client)->post(path_of($draft, '/send')) }

sub kinds {
    my $draft = shift;
    return join ' ', map { $_->{event} } @{ $client->get(path_of($draft, '/audit'))->json->{events} };
}

sub link_of {
    my ($draft, $i) = @_;
    return $draft->{placementLink} =~ s{/place/.*}{/sign/$draft->{submitters}[$i // 0]{uuid}}r;
}
sub opened { return Sigreq::Signer->new(link => link_of(@_))->get('')->code }

subtest 'a draft' => sub {
    my $before = used($org);
    my $res    = $client->create(drafting(signers => [person('Ann'), person('Bob', fields => [])]));
    is($res->code, 201, 'signers of a draft need no fields') or diag $res->body;
    my $made = $res->json;
    is($made->{status}, 'draft', 'its status');
    my ($base) = $res->headers->location =~ m{(.*)/api/v3/};
    like($made->{placementLink}, qr{^\Q$base\E/place/$id$}, 'it has a link to place fields');
    like($made->{placementExpiresAt}, qr/^\d{4}-/, 'which ends');
    is_deeply([map { "$_->{status} " . ($_->{signatureLink} // 'none') } @{ $made->{submitters} }],
        [('initiated none') x 2], 'its signers have no links');
    is_deeply($client->get(path_of($made))->json, $made, 'GET shows the same');
    is(used($org), $before, 'it is not counted');
    is(kinds($made), 'drafted', 'its event');
    is(opened($made), 404, 'a signing link does not exist');
    is($client->get('/signatures?status=draft')->json->{data}[0]{uuid}, $made->{uuid}, 'the list has it');
    is($client->get("/templates/$made->{template}{uuid}")->code, 404, 'it is no template');
    is_text($client->create(signers => [person('Ann')]), 400, 'Signer 1: Must have at least 1 field');
    is_text($client->create(more => [part('draft', 'x')]), 400, 'draft must be true or false');
    is_text($client->create(drafting(signers => [person('Ann', fields => [field(text => 10, document => 'b.pdf')])])),
        400, 'Document b.pdf not found');
    my $no = $client->create(more => [part('draft', 'false')])->json;
    ok(!exists $no->{status} && $no->{submitters}[0]{signatureLink}, 'draft=false is sent');
    my %key = (headers => { 'Idempotency-Key' => "drafts $$" });
    my $one = $client->create(drafting(%key))->json;
    is($client->create(drafting(%key))->json->{uuid}, $one->{uuid}, 'a repeated creation is a replay');
    is($client->create(%key)->code, 409, 'which is another request than one without draft');
};

subtest 'fields' => sub {
    my $draft = drafted(signers => [person('Ann', email => 'ann@example.org'), person('Bob')]);
    my $got   = $client->get(path_of($draft));
    my $tag   = $got->headers->etag;
    my $res   = placed($draft, [[field(text => 10)], []], headers => { 'If-Match' => $tag });
    is($res->code, 200, 'a signature may be missing') or diag $res->body;
    is($res->json->{submitters}[0]{fields}[0]{percent}{y}, 10, 'the fields are placed');
    isnt($res->headers->etag, $tag, 'the ETag is another one');
    my $again = $client->get(path_of($draft));
    is($again->headers->etag, $res->headers->etag, 'which GET shows');
    is($again->body, $res->body, 'with the same representation');
    is($client->get(path_of($draft), headers => { 'If-None-Match' => $tag })->code, 200, 'the old one has changed');
    my $newest = $res->headers->etag;
    is($client->get(path_of($draft), headers => { 'If-None-Match' => $newest })->code, 304, 'not the new one');
    is_error(placed($draft, [[], []], headers => { 'If-Match' => $_ }), 412, 'The draft was changed since it was read')
        for $tag, '"x"';
    is_error($client->post(path_of($draft, '/send'), headers => { 'If-Match' => $tag }),
        412, 'The draft was changed since it was read');
    is($client->get(path_of($draft))->body, $res->body, 'nothing has changed');
    is(placed($draft, [[], []], headers => { 'If-Match' => '*' })->code, 200, 'If-Match: *');
    my @all = (
        field(signature => 80, caption => 'name'),
        field(text => 20, value => '950', readOnly => $yes), field(checkbox => 25), field(date => 30),
        field(choice => 35, options => ['a', 'b']), field(initials => 90, area => { x => 1, y => 1, w => 5, h => 5,
            unit => 'percent', pages => 'all' }));
    my $placed = placed($draft, [\@all, [field(signature => 60)]])->json;
    my @shown  = map { $_->{fields} } @{ $placed->{submitters} };
    my $same   = placed($draft, \@shown)->json;
    is_deeply([map { $_->{fields} } @{ $same->{submitters} }], \@shown, 'fields as they are shown may be sent again');
    ok(!$same->{warnings}, 'without warnings') or diag explain $same->{warnings};
    my $far = placed($draft, [[field(signature => 150)], [field(signature => 60)]])->json;
    is_deeply($far->{warnings}, ['Signer 1, Field 1: the area lies outside of page 0'], 'a warning');
    ok(!placed($draft, \@shown)->json->{warnings}, 'which ends with its field');
    is(kinds($draft), 'drafted', 'saving is no event');
    is($client->get(path_of($draft, '/audit'))->code, 200, 'the audit trail');

    my $who = 'Signer 1 (ann@example.org)';
    my %bad = (
        "$who, Field 1: A type must be provided"               => [[{}], []],
        "$who, Field 1: Must be an object"                     => [[5], []],
        "$who, Field 2: size must be a number from 6 to 72"    => [[field(text => 1), field(text => 2, size => 1)], []],
        'Document b.pdf not found'                             => [[field(text => 1, document => 'b.pdf')], []],
        'Index page unknown'                                   => [[field(text => 1, area => { x => 1, y => 1, w => 1,
            h => 1, page => 7, unit => 'percent' })], []],
        "$who: fields must be an array"                        => [undef, []],
        'The draft has 2 signers, and 1 are provided'          => [[]],
        'At most 1000 fields can be provided'                  => [[(field(text => 1)) x 1001], []]);
    is_error(placed($draft, $bad{$_}), 400, $_) for sort keys %bad;
    my $raw = sub { $client->request(PUT => path_of($draft, '/fields'), json => $_[0]) };
    is_error($raw->($_), 400, 'The body must have the member signers alone')
        for {}, { fields => [] }, { signers => [], name => 'x' };
    is_error($raw->({ signers => 5 }), 400, 'Signers must be a JSON array: a number was sent');
    is_error($raw->({ signers => [1, 2] }), 400, "$who: Must be an object");
    for ([400, '{', 'application/json'], [415, '{}', 'text/plain']) {
        my ($code, $body, $type) = @$_;
        my $no = $client->request(
            PUT     => path_of($draft, '/fields'),
            body    => $body,
            headers => { 'Content-Type' => $type });
        is($no->code, $code, "$body as $type");
    }
    is_deeply($client->get(path_of($draft))->json->{submitters}[1]{fields}, $shown[1], 'nothing of these is stored');
};

subtest 'anchors' => sub {
    my $anchor = { anchor => { text => 'Page', occurrence => 'all' }, w => 100, h => 30 };
    my $draft  = drafted(
        files   => [['a.pdf', pdf(pages => [{ text => 'Page one' }, { text => 'Page two' }])]],
        signers => [person('Ann', fields => [field(signature => 1, area => $anchor)])]);
    my $fields = $draft->{submitters}[0]{fields};
    my $again  = placed($draft, [$fields])->json->{submitters}[0]{fields};
    is(scalar @$again, scalar @$fields, 'fields at a text are sent again as they are');
    is_deeply([map { $_->{percent} } @$again], [map { $_->{percent} } @$fields], 'they have not moved');
    is($client->post(path_of($draft, '/send'))->code, 200, 'and are sent');
};

subtest 'sending' => sub {
    my $receiver = Sigreq::Receiver->new;
    my $hooked   = user($org)->{live};
    $hooked->post("/webhooks/$_-webhook-url", json => { url => $receiver->url("/$_") }) for qw(sent completed);
    my $draft = drafted($hooked, signers => [
            person('Ann', order => 1, fields => [field(signature => 80), field(text => 20, name => 'rent',
                        value => '950', readOnly => $yes)]),
            person('Bob', order => 2)],
        more => [part('externalId', "e$$"), part('viewers', encode_json([person('Lea')]))]);
    my $before = used($org);
    is($draft->{viewers}[0]{viewLink}, undef, 'a viewer has no link');
    my $view = $draft->{placementLink} =~ s{/place/.*}{/view/$draft->{viewers}[0]{uuid}}r;
    is(Sigreq::Signer->new(link => $view)->get('')->code, 404, 'it does not exist');
    is_error(sent($draft, $hooked), 400, 'Signer 2: Must have at least 1 field');
    my @first = $draft->{submitters}[0]{fields};
    placed($draft, [@first, [field(text => 20)]], by => $hooked);
    is_error(sent($draft, $hooked), 400, 'Signer 2: Must have at least 1 field of type signature');
    placed($draft, [[@{ $first[0] }, field(text => 50, value => 'W' x 200, size => 40)], [field(signature => 60)]],
        by => $hooked);
    my $fit = sent($draft, $hooked);
    is($fit->code, 400, 'a value that does not fit');
    like($fit->json->{message}, qr/^Signer 1, Field 3: /, 'is named');
    is(used($org), $before, 'nothing is counted');
    placed($draft, [@first, [field(signature => 60)]], by => $hooked);
    my $res = sent($draft, $hooked);
    is($res->code, 200, 'it is sent') or diag $res->body;
    my $made = $res->json;
    is($made->{status}, 'open', 'it is open');
    ok(!exists $made->{placementLink} && !exists $made->{placementExpiresAt}, 'its placement link has ended');
    is_deeply([map { $_->{status} } @{ $made->{submitters} }], ['sent', 'initiated'], 'the first signer is due');
    like($made->{submitters}[$_]{signatureLink}, qr{/sign/\Q$made->{submitters}[$_]{uuid}\E$}, 'a link') for 0, 1;
    is($made->{viewers}[0]{viewLink}, $view, 'the viewer has a link');
    my $got = $hooked->get(path_of($draft));
    is($got->body, $res->body, 'GET shows the same');
    is($got->headers->etag, $res->headers->etag, 'with the same ETag');
    is(used($org), $before + 1, 'it is counted');
    is_error(sent($draft, $hooked), 409, 'This submission is no draft: it was sent');
    is_error(placed($draft, [[], []], by => $hooked), 409, 'This submission is no draft: it was sent');
    is_error($hooked->post(path_of($draft, '/placement')), 409, 'This submission is no draft: it was sent');
    my $audit = $hooked->get(path_of($draft, '/audit'))->json;
    is(chain_fault($audit), undef, 'the events are a chain');
    is(join(' ', map { $_->{event} } @{ $audit->{events} }), 'drafted created', 'its events');
    my $created = $audit->{events}[1]{detail};
    is($created->{signers}[0]{values}[0]{value}, '950', 'the event has the values');
    ok($created->{documents}[0]{preparedSha256}, 'and the document with them');
    my ($told) = $receiver->wait_for(1, '/sent');
    is($told->{body}{submissionId}, $draft->{uuid}, 'the webhook is called');
    is_deeply($told->{body}{submitters}, $made->{submitters}, 'with the links');
    is($hooked->get("/templates/$made->{template}{uuid}")->code, 200, 'it is a template');

    is(Sigreq::Signer->new(link => $view)->get('')->code, 200, 'the link of the viewer works');
    my ($ann, $bob) = signers_of($made);
    is($ann->get('')->code, 200, 'a signing link works');
    is($ann->sign->code, 200, 'Ann signs');
    is($bob->sign->code, 200, 'Bob signs');
    my $done = $hooked->get(path_of($draft))->json;
    my $pdf  = $hooked->get(path_of($draft, "/documents/$done->{documents}[0]{uuid}"), unjudged => 1)->body;
    like(text_of($pdf), qr/950/, 'the value is in the PDF');
    my $judged = $hooked->post('/verify', body => $pdf, headers => { 'Content-Type' => 'application/pdf' })->json;
    is_deeply([@$judged{qw(known submission)}, scalar @{ $judged->{signatures} }], [$yes, $draft->{uuid}, 2],
        'the signed document is verified') or diag explain $judged;
    is_deeply([map { $_->{state} } @{ $judged->{signatures} }], [('intact') x 2], 'both signatures are intact');
    $receiver->wait_for(1, '/completed');
    is(scalar(grep { $_->{path} eq '/sent' } $receiver->received), 1, 'the webhook "sent" was called once');
    my $faults = checked('--evidence');
    ok(!grep({ /$draft->{uuid}/ } encode_json($faults)), 'the rows are what the events say') or diag explain $faults;
};

subtest 'a document that must be rewritten' => sub {
    my $broken = without_end(pdf(nonce => "drafts $$"));
    my $draft  = drafted(files => [['a.pdf', $broken]]);
    my $path   = path_of($draft, "/documents/$draft->{documents}[0]{uuid}");
    placed($draft, [[field(signature => 80), field(text => 20, value => 'x', readOnly => $yes)]]);
    is($client->get($path, unjudged => 1)->body, $broken, 'a draft has it as it was uploaded');
    my $res = sent($draft);
    is($res->code, 200, 'it is rewritten when the draft is sent') or diag $res->body;
    my $whole = $client->get($path, unjudged => 1)->body;
    like($whole, qr/startxref\s+\d+\s+%%EOF\s*\z/, 'the document is whole');
    my ($ann) = signers_of($res->json);
    is($ann->sign->code, 200, 'it is signed');
    my $signed = $client->get($path, unjudged => 1)->body;
    ok(index($signed, $whole) == 0, 'and continued from there');
    my $faults = checked('--evidence');
    ok(!grep({ /$draft->{uuid}/ } encode_json($faults)), 'the rows are what the events say') or diag explain $faults;
};

subtest 'the check of a signer' => sub {
    my $code  = { method => 'code', code => 'abcd1234' };
    my $draft = drafted(signers => [person('Ann', authentication => $code, fields => [field(signature => 80)])]);
    is($draft->{submitters}[0]{authentication}{state}, 'pending', 'it is stored');
    unlike($client->get(path_of($draft))->body, qr/abcd1234/, 'without its code');
    my $made = sent($draft)->json;
    is($made->{submitters}[0]{authentication}{method}, 'code', 'it is sent');
    my ($ann) = signers_of($made);
    is($ann->sign->code, 403, 'nobody signs without it');
    my $in = $ann->request(POST => '/check', json => { code => 'ABCD1234' });
    is($in->code, 200, 'the code is accepted') or diag $in->body;
};

subtest 'from a template' => sub {
    my $made  = $client->create->json;
    my %use   = (files => [], signers => [person('Eve')], more => [part('template', $made->{template}{uuid})]);
    my $draft = drafted(%use);
    is($draft->{template}{uuid}, $made->{template}{uuid}, 'a draft of a template');
    is_deeply($draft->{submitters}[0]{fields}, $made->{submitters}[0]{fields}, 'has its fields');
    my ($event) = @{ $client->get(path_of($draft, '/audit'))->json->{events} };
    is($event->{detail}{template}, $made->{template}{uuid}, 'its event names the template');
    is(placed($draft, [[field(signature => 33)]])->code, 200, 'which may be replaced');
    is(sent($draft)->json->{submitters}[0]{fields}[0]{percent}{y}, 33, 'and are sent');
    my ($template) = $client->get("/templates/$made->{template}{uuid}")->json;
    is_deeply($template->{roles}[0]{fields}, $made->{submitters}[0]{fields}, 'those of the template stay');
    $client->delete("/templates/$made->{template}{uuid}");
    is($client->create(drafting(%use))->code, 400, 'a deleted template');
};

subtest 'mails' => sub {
    my $apart = Sigreq::Apart->new(organization => 'Drafts');
    my $box   = Sigreq::Mailbox->new;
    my $to    = "SigreqSMTP smtp://127.0.0.1:$box->{port}\nSigreqMailFrom sign\@example.org\nSigreqDraftDays 3";
    my $limit = 'SigreqMailLimit test-organization=2/h';
    my $base  = 'SigreqBaseURL https://sign.example.org';
    my $who   = $apart->serve(server => $to, place => join "\n", 'Sigreq On', $base, $limit);
    my %given = (sendEmail => 'true', signers => [map { person($_, email => "$_\@x.org", order => $_ eq 'Ann' ? 1 : 2,
                fields => [field(signature => $_ eq 'Ann' ? 10 : 60)]) } 'Ann', 'Bob']);
    my @drafts = map { drafted($who, %given) } 1, 2;
    is(sent($drafts[0], $who)->code, 200, 'sent');
    ok(wait_for(sub { my @mails = $box->mails; @mails >= 1 }), 'the first signer is invited');
    my ($mail) = $box->mails;
    is_deeply($mail->{to}, ['Ann@x.org'], 'by mail');
    like($mail->{plain}, qr{/sign/$drafts[0]{submitters}[0]{uuid}}, 'with their link');
    is(sent($drafts[1], $who)->code, 429, 'the limit of mails counts when a draft is sent');
    is($who->get(path_of($drafts[1]))->json->{status}, 'draft', 'which stays a draft');
    is(scalar(() = $box->mails), 1, 'a draft sends no mail');
    is(sql("SELECT (draft_until - created_at) / 86400000000 FROM submission WHERE uuid = '$drafts[1]{uuid}'",
            $apart->{params}), 3, 'SigreqDraftDays');
    my $stats = $apart->ctl('stats');
    is($stats->[0]{created}, 1, 'sigreqctl stats counts what was sent') or diag explain $stats;
    $apart->stop;
};

subtest 'races' => sub {
    my $draft  = drafted(signers => [person('Ann', fields => [field(signature => 80)])]);
    my $before = used($org);
    my $crowd  = $client->crowd;
    my @codes  = map { $_->code } $crowd->parallel(8, 8, sub { $crowd->request_p(POST => path_of($draft, '/send')) });
    is_deeply([sort @codes], [200, (409) x 7], 'of requests at the same time, one sends it');
    is(used($org), $before + 1, 'it is counted once');
    is(kinds($draft), 'drafted created', 'and created once');

    my $other = drafted(signers => [person('Ann', fields => [field(signature => 80)])]);
    my @answers = $crowd->parallel(12, 12, sub {
            my $i = shift;
            return $crowd->request_p(POST => path_of($other, '/send')) if $i == 6;
            my $fields = { signers => [{ fields => [field(signature => $i + 1)] }] };
            return $crowd->request_p(PUT => path_of($other, '/fields'), json => $fields);
        });
    my ($send) = splice @answers, 6, 1;
    is($send->code, 200, 'a draft is sent while it is saved');
    is(scalar(grep { $_->code != 200 && $_->code != 409 } @answers), 0, 'each save succeeds, or comes too late');
    my $shown = $client->get(path_of($other))->json;
    is_deeply($shown->{submitters}[0]{fields}, $send->json->{submitters}[0]{fields},
        'no save has changed what was sent');

    my $saved = drafted(signers => [person('Ann')]);
    my $tag   = $client->get(path_of($saved))->headers->etag;
    @answers = $crowd->parallel(6, 6, sub {
            my $fields = { signers => [{ fields => [field(signature => 1 + shift)] }] };
            $crowd->request_p(PUT => path_of($saved, '/fields'), json => $fields, headers => { 'If-Match' => $tag });
        });
    is_deeply([sort map { $_->code } @answers], [200, (412) x 5], 'of saves with one ETag, one succeeds');
};

subtest 'the quota' => sub {
    my $small = organisation(quota => 1);
    my @two   = map { drafted($small->{live}, signers => [person('Ann', fields => [field(signature => 80)])]) } 1, 2;
    is(used($small), 0, 'drafts are not counted');
    is(sent($two[0], $small->{live})->code, 200, 'the first is sent');
    is_error(sent($two[1], $small->{live}), 403, "You've reached the API limit for this plan");
    is($small->{live}->get(path_of($two[1]))->json->{status}, 'draft', 'the second is still a draft');
    is(used($small), 1, 'it is not counted');
    my $test = drafted($small->{test}, signers => [person('Ann', fields => [field(signature => 80)])]);
    is(sent($test, $small->{test})->code, 200, 'test submissions are not counted');
};

subtest 'the quota at the same time' => sub {
    my $small  = organisation(quota => 3);
    my $crowd  = $small->{live}->crowd;
    my @drafts = map { drafted($small->{live}, signers => [person('Ann', fields => [field(signature => 80)])]) } 1 .. 8;
    my @codes  = map { $_->code }
        $crowd->parallel(8, 8, sub { $crowd->request_p(POST => path_of($drafts[ shift() ], '/send')) });
    is_deeply([sort @codes], [(200) x 3, (403) x 5], 'exactly 3 of 8 are sent');
    is(used($small), 3, 'and counted');
};

subtest 'the placement link' => sub {
    my $draft = drafted();
    my $res   = $client->post(path_of($draft, '/placement'));
    is($res->code, 201, 'a new one');
    like($res->json->{placementLink}, qr{/place/$id$}, 'its link');
    isnt($res->json->{placementLink}, $draft->{placementLink}, 'which is another one');
    my $shown = $client->get(path_of($draft))->json;
    is_deeply([@$shown{qw(placementLink placementExpiresAt)}], [@{ $res->json }{qw(placementLink placementExpiresAt)}],
        'GET shows it');
    is(kinds($draft), 'drafted', 'that is no event');
};

subtest 'others' => sub {
    my $draft = drafted();
    my $other = organisation();
    for my $who ($other->{live}, $org->{test}) {
        is_error(placed($draft, [[]], by => $who), 404, 'Not found');
        is_error(sent($draft, $who), 404, 'Not found');
        is_error($who->post(path_of($draft, '/placement')), 404, 'Not found');
        is_error($who->delete(path_of($draft)), 404, 'Not found');
    }
    is_error($client->post('/signatures/x/send'), 404, 'Not found');
    my $open = $client->create->json;
    is_error(sent($open), 409, 'This submission is no draft: it was sent');
};

subtest 'other actions' => sub {
    my $draft = drafted(signers => [person('Ann', email => 'ann@example.org')],
        more => [part('expiresAt', '2035-01-01T00:00:00Z'), part('viewers', encode_json([person('Lea')]))]);
    my ($signer, $viewer) = ($draft->{submitters}[0]{uuid}, $draft->{viewers}[0]{uuid});
    my $is = 'This submission is a draft';
    is_error($client->post(path_of($draft, '/cancel')), 409, $is);
    is_error($client->post(path_of($draft, "/signers/$signer/replace"), json => person('Bob')), 409, $is);
    my $check = $client->request(PATCH => path_of($draft, "/signers/$signer"), json => { authentication => undef });
    is_error($check, 409, $is);
    is_error($client->delete(path_of($draft, "/viewers/$viewer")), 409, $is);
    is($client->post(path_of($draft, '/copies'))->code, 409, 'copies');
    my $document = path_of($draft, "/documents/$draft->{documents}[0]{uuid}");
    is($client->get($document, unjudged => 1)->code, 200, 'the document');
    my $later = $client->request(PATCH => path_of($draft), json => { expiresAt => '2036-01-01T00:00:00Z' });
    is($later->json->{expiresAt}, '2036-01-01T00:00:00.000Z', 'the deadline changes');
    is($later->json->{status}, 'draft', 'it is still a draft');
    sql("UPDATE submission SET expires_at = 1000000 WHERE uuid = '$draft->{uuid}'");
    is($client->get(path_of($draft))->json->{status}, 'draft', 'a draft does not expire');
    placed($draft, [[field(signature => 80)]]);
    is_error(sent($draft), 400, 'expiresAt must be in the future');
    is($client->request(PATCH => path_of($draft), json => { expiresAt => undef })->code, 200, 'without a deadline');
    is(sent($draft)->code, 200, 'it is sent');
};

subtest 'the export of a person' => sub {
    my $mail  = "drafts-$$\@example.net";
    my $draft = drafted(signers => [person('Zoe', email => $mail), person('Secret')]);
    my $out   = tempdir(CLEANUP => 1);
    ctl('export', $mail, '--out', "$out/zoe", Sigreq::Here::storage());
    my $all = path("$out/zoe/export.json")->slurp;
    like($all, qr/"draft"/, 'it has the draft');
    like($all, qr/"drafted"/, 'and its event');
    unlike($all, qr/Secret|\Q$draft->{placementLink}\E/, 'without other signers and the link');
};

subtest 'the end' => sub {
    my $draft = drafted();
    is($client->delete(path_of($draft))->code, 204, 'it is deleted');
    is($client->get(path_of($draft))->code, 410, 'it is gone');
    is_error($_, 410, 'This submission was deleted') for sent($draft), placed($draft, [[]]);
    my $deleted = $client->get('/signatures?status=deleted')->json->{data};
    my ($tombstone) = grep { $_->{uuid} eq $draft->{uuid} } @$deleted;
    is($tombstone->{status}, 'deleted', 'its tombstone');
    my $old = drafted(signers => [person('Ann', fields => [field(signature => 80)])]);
    my $new = drafted(signers => [person('Ann', fields => [field(signature => 80)])]);
    my $days = sql("SELECT (draft_until - created_at) / 86400000000 FROM submission WHERE uuid = '$old->{uuid}'");
    is($days, 30, 'a draft is kept for 30 days');
    is(sent($new)->code, 200, 'another one is sent');
    is(sql("SELECT count(*) FROM timer t JOIN submission s ON s.id = t.submission_id WHERE s.uuid = '$new->{uuid}'"), 0,
        'which then does not end');
    my $past = "(SELECT id FROM submission WHERE uuid = '$old->{uuid}')";
    sql("UPDATE submission SET draft_until = 1000000 WHERE uuid = '$old->{uuid}'");
    sql("UPDATE timer SET due_at = 1000000 WHERE submission_id = $past");
    ok(wait_for(sub { $client->get(path_of($old))->code == 410 }), 'after that time it is deleted');
    my $feed = join ' ', map { $_->{submissionId} // () } @{ $client->get('/events?limit=1000')->json->{data} // [] };
    unlike($feed, qr/$old->{uuid}|$draft->{uuid}/, 'the feed tells nothing of drafts');
    my $faults = checked('--evidence');
    ok(!grep({ /$old->{uuid}|$draft->{uuid}/ } encode_json($faults)), 'the rows are what the events say')
        or diag explain $faults;
};

done_testing;
