# SPDX-License-Identifier: Apache-2.0
# The placement link of a draft: what each of its routes gives while it works and after it has ended, what the page
# tells of the signers, how two tabs conflict, and that nothing changes for a page of another site.
use strict;
use warnings;
use Compress::Zlib ();
use Mojo::JSON 'decode_json';
use Mojo::Util 'encode';
use Sigreq::Client;
use Sigreq::Form 'form';
use Sigreq::Here qw(is_error organisation place sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Signer;
use Test::More;

my $org    = organisation();
our $client = $org->{test};
my @html   = (headers => { Accept => 'text/html' });

# A draft of two signers without fields, with these options of Sigreq::Client::creation and form parts.
sub drafted {
    my ($more, %o) = @_;
    my $res = $client->create(
        files   => [['a.pdf', pdf(nonce => "place $$ " . rand, pages => 2)]],
        signers => [map { +{ %$_, fields => [] } } @{ Sigreq::Client::signers({}, { firstname => 'Bob' }) }], %o,
        more => [part('draft', 'true'), map { part($_, $more->{$_}) } sort keys %$more]);
    is($res->code, 201, 'a draft is created') or diag $res->body;
    return $res->json;
}
sub link_of { return Sigreq::Signer->new(link => $_[0]{placementLink}) }
sub shown   { return $client->get("/signatures/$_[0]{uuid}")->json }

sub field {
    my ($type, %o) = @_;
    return { type => $type, name => ucfirst $type, document => 'a.pdf',
        area => { x => 10, y => 20, w => 30, h => 5, page => 0, unit => 'percent' }, %o };
}
sub signed_by { return { signers => [map { { fields => $_ } } @_] } }
my $both = signed_by([field('signature')], [field('signature', name => 'Second')]);

sub put {
    my ($link, $version, $json, %headers) = @_;
    return $link->request(PUT => '/fields', json => $json, headers => { 'If-Match' => $version, %headers });
}

# Every route as a browser asks for it: the statuses in a line, and the answers.
sub routes {
    my ($link, $made) = @_;
    my $document = "/documents/$made->{documents}[0]{uuid}";
    my $sha256   = $made->{documents}[0]{sha256};
    my @all      = map { $link->get($_, @html) } '', "$document/pages/0?width=200",
        "$document/pages/1?width=200&version=$sha256", "$document/pages/0.png?width=200", "$document/pages/0.json",
        "$document/forms";
    push @all, $link->get('');
    return (join(' ', map { $_->code } @all), \@all);
}

sub is_ended {
    my ($link, $made, $status, $what) = @_;
    my ($have) = routes($link, $made);
    is($have, join(' ', ($status) x 7), "$what: every route is closed");
    is(put($link, '"x"', $both)->code, $status, "$what: no fields");
    is($link->request(POST => '/send')->code, $status, "$what: nothing is sent");
    return;
}

subtest 'what the page shows' => sub {
    my $made = drafted();
    my $link = link_of($made);
    my ($have, $answers) = routes($link, $made);
    is($have, join(' ', (200) x 7), 'every route is open');
    my $state = $answers->[-1]->json;
    is(join(' ', sort keys %$state), 'documents environment expiresAt limits locale name placementExpiresAt problems '
            . 'redirectUrl sendEmail signers status version', 'the members of the state');
    is_deeply([@{$state}{qw(status name environment sendEmail redirectUrl limits)}],
        ['draft', 'Lease', 'test', Mojo::JSON->false, undef, { fields => 1000 }], 'the state');
    is_deeply($state->{signers}, [
            { number => 1, firstname => 'Ann', lastname => 'Lee', order => 1, fields => [] },
            { number => 2, firstname => 'Bob', lastname => 'Lee', order => 1, fields => [] }], 'the signers');
    is_deeply($state->{documents}, [{ uuid => $made->{documents}[0]{uuid}, name => 'a.pdf',
            version => $made->{documents}[0]{sha256}, pages => [{ count => 2, width => 612, height => 792 }] }],
        'the documents');
    is_deeply([map {"$_->{signer} $_->{code}"} @{ $state->{problems} }], ['1 signature', '2 signature'],
        'what keeps it from being sent');
    is($state->{placementExpiresAt}, $made->{placementExpiresAt}, 'when the link ends');
    my $text = join "\n", map { $_->body } grep { ($_->headers->content_type // '') !~ /^image/ } @$answers;
    my @secrets = (map { ($_->{uuid}, $_->{email} // ()) } @{ $made->{submitters} });
    is(join(' ', grep { $text =~ /\Q$_\E/i } @secrets), '', 'no answer has the uuid of a signer');
    my $page = $answers->[0];
    my $main = $page->dom->at('main');
    my $in   = decode_json(encode('UTF-8', $main->{'data-state'}));
    is_deeply($in, { %$state, locale => $in->{locale} }, 'the page has the state');
    is($main->{'data-area'},       'place',      'the area');
    is($main->{'data-submission'}, $made->{uuid}, 'the submission, for messages to the framing site');
    like($page->dom->at('script[type=module]')->{src}, qr{^\.\./sign/assets/main-\w+\.js$}, 'its own script');
    like($page->dom->at('link[rel=stylesheet]')->{href}, qr{^\.\./sign/assets/place-\w+\.css$}, 'its own style');
    my $asset = Sigreq::Signer->new(link => $link->{link} =~ s{/place/.*}{/sign}r);
    is($asset->get($page->dom->at($_->[0])->{ $_->[1] } =~ s{^\.\./sign}{}r)->code, 200, "$_->[0] is there")
        for ['script[type=module]', 'src'], ['link[rel=stylesheet]', 'href'];
    ok(exists decode_json(encode('UTF-8', $main->{'data-texts'}))->{'placing.title'}, 'the texts');
    my %want = (
        'Referrer-Policy' => qr/^no-referrer$/, 'Cache-Control' => qr/^no-store$/, 'X-Robots-Tag' => qr/noindex/,
        'Content-Security-Policy' => qr/default-src 'none'.*frame-ancestors 'none'/);
    like($page->headers->header($_), $want{$_}, "the page has $_") for sort keys %want;
    like($answers->[-1]->headers->header($_), $want{$_}, "the state has $_") for sort keys %want;
    is($answers->[2]->headers->cache_control, 'private, max-age=3600, immutable', 'a page with a version is cached');
    is($link->get("?lang=$_", @html)->dom->at('html')->{lang}, $_, "in $_") for qw(de ar);
    is($link->get(').', @html)->headers->location, $link->{link}, 'a tail is cut');
    is($link->request(HEAD => '')->code, 200, 'HEAD');
    is($link->request($_->[0] => $_->[1])->code, 405, "$_->[0] $_->[1]")
        for [POST => ''], [GET => '/fields'], [GET => '/send'];
    is_deeply(shown($made), { %{ shown($made) }, updatedAt => $made->{updatedAt} }, 'reading changes nothing');
};

subtest 'other locations' => sub {
    local $client = $client->with(base => place('/timed'));
    my $made = drafted({ redirectUrl => 'https://app.example.org/done?a=1' });
    my $link = link_of($made);
    is($link->state->{redirectUrl}, 'https://app.example.org/done?a=1', 'where the page leads after sending');
    is($link->state->{expiresAt},   shown($made)->{expiresAt},          'the deadline');
    $link->{link} =~ s{/timed/}{/themed/};
    like($link->get('', @html)->headers->content_security_policy,
        qr{frame-ancestors http://127\.0\.0\.1:\* }, 'a site that may show it in a frame');
};

subtest 'without a script' => sub {
    my $made = drafted();
    my $link = link_of($made);
    put($link, $link->state->{version}, signed_by([field('signature', name => 'Here <b>')], []));
    my $main = $link->get('', @html)->dom->at('main');
    like($main->at('.plain-only .note')->text, qr/^To place fields, open this link .* JavaScript/, 'what is needed');
    is($main->find('.files li')->map('all_text')->map(sub { s/[\x{2066}-\x{2069}]//gr })->join('|'),
        'Here <b> a.pdf, page 1', 'the fields that exist');
};

subtest 'placing fields' => sub {
    my $made = drafted();
    my $link = link_of($made);
    my $old  = $link->state->{version};
    my $res  = put($link, $old, signed_by([field('signature'), field('text', value => 'Engineer')], []));
    is($res->code, 200, 'they are stored') or diag $res->body;
    my $new = $res->json->{version};
    isnt($new, $old, 'there is a new version');
    is_deeply($res->json, $link->state, 'the answer is the new state');
    is_deeply([map { scalar @{ $_->{fields} } } @{ $link->state->{signers} }], [2, 0], 'each signer has their own');
    is_deeply([map {"$_->{signer} $_->{code}"} @{ $link->state->{problems} }], ['2 signature'], 'one is missing');
    is($link->state->{signers}[0]{fields}[1]{value}, 'Engineer', 'a value');
    is(put($link, $old, signed_by([], []))->code, 412, 'another tab that has the old version overwrites nothing');
    is($link->request(PUT => '/fields', json => $both)->code, 428, 'nor does one without a version');
    is(scalar @{ $link->state->{signers}[0]{fields} }, 2, 'the fields are still there');
    my $sent = [map { $_->{fields} } @{ $link->state->{signers} }];
    $res = put($link, $new, signed_by(@$sent));
    is($res->code, 200, 'the fields of the state can be sent again') or diag $res->body;
    is_deeply([map { $_->{fields} } @{ $res->json->{signers} }], $sent, 'they do not change');
    is_deeply(shown($made)->{submitters}[0]{fields}, $sent->[0], 'the API shows the same');
    my $version = $res->json->{version};
    is_error(put($link, $version, signed_by([field('signature', document => 'b.pdf')], [])), 400,
        'Document b.pdf not found');
    is_error(put($link, $version, signed_by([], [field('sign')])), 400, qr/^Signer 2, Field 1: /);
    is(put($link, $version, signed_by([]))->code, 400, 'a signer is missing');
    is($link->request(PUT => '/fields', body => '{}', headers =>
                { 'If-Match' => $version, 'Content-Type' => 'text/plain' })->code, 415, 'another type');
    is(put($link, $version, { signers => \1 })->code, 400, 'no list');
    is($link->state->{version}, $version, 'nothing has changed');
    my $first = $link->state->{version};
    is(put($link, $first, $both)->code, 200, 'one of two tabs');
    is(put($link, $first, signed_by([], []))->code, 412, 'and the other');
    is_deeply($link->state->{problems}, [], 'nothing is missing');
    my %if = (headers => { 'If-Match' => $link->state->{version} });
    my $many = Sigreq::Signer->new(link => $made->{placementLink}, connections => 0);
    my $tab  = sub { signed_by([field('signature', name => "Tab $_[0]")], []) };
    my @tabs = $client->parallel(6, 6, sub { $many->request_p(PUT => '/fields', json => $tab->($_[0]), %if) });
    is(join(' ', sort map { $_->code } @tabs), '200 412 412 412 412 412', 'of six tabs at once, one saves');
    my ($won) = grep { $tabs[$_]->code == 200 } 0 .. $#tabs;
    is($link->state->{signers}[0]{fields}[0]{name}, "Tab $won", 'that one');
};

subtest 'many fields' => sub {
    my $made = drafted();
    my $link = link_of($made);
    my $many = sub { signed_by([map { field('signature', name => "Field $_") } 1 .. $_[0]], []) };
    my $res  = put($link, $link->state->{version}, $many->(1000));
    is($res->code,                                      200,  'as many as the limit are saved');
    is(scalar @{ $res->json->{signers}[0]{fields} },    1000, 'the state has all of them');
    is_error(put($link, $res->json->{version}, $many->(1001)), 400, 'At most 1000 fields can be provided');
    my $bytes = 0;
    for my $file ('', map { $_->{src} // $_->{href} } $link->get('', @html)->dom->find('script, link[href]')->each) {
        my $from = Sigreq::Signer->new(link => $file ? $link->{link} =~ s{[^/]+$}{$file}r : $made->{placementLink});
        my $tx   = $from->transaction(GET => '', headers => { Accept => 'text/html', 'Accept-Encoding' => 'gzip' });
        $tx->res->content->auto_decompress(0);
        $bytes += length $from->{ua}->start($tx)->res->body if $file;
        $bytes += length Compress::Zlib::memGzip($from->get('', @html)->body) unless $file;
    }
    cmp_ok($bytes, '<', 150_000, 'the page has at most 150 kB, compressed');
    cmp_ok($bytes, '>', 30_000,  'with all of its files');
};

subtest 'a page of another site' => sub {
    my $made    = drafted();
    my $link    = link_of($made);
    my $version = $link->state->{version};
    for my $header (['Sec-Fetch-Site' => 'cross-site'], ['Sec-Fetch-Site' => 'same-site'],
        [Origin => 'https://example.org'])
    {
        is_error(put($link, $version, $both, @$header), 403, 'The request must come from the placement page');
        is_error($link->request(POST => '/send', headers => {@$header}),
            403, 'The request must come from the placement page');
    }
    is($link->state->{version}, $version, 'nothing has changed');
    is(put($link, $version, $both, 'Sec-Fetch-Site' => 'same-origin')->code, 200, 'the page itself');
    is(shown($made)->{status}, 'draft', 'nothing is sent');
};

subtest 'documents' => sub {
    my $made  = drafted();
    my $other = drafted();
    my $live  = $org->{live}->create(more => [part('draft', 'true')])->json;
    my $link  = link_of($made);
    for my $foreign ($other, $live) {
        my $document = "/documents/$foreign->{documents}[0]{uuid}";
        is($link->get("$document$_")->code, 404, "no $_ of another submission")
            for '/pages/0', "/pages/0?version=$foreign->{documents}[0]{sha256}", '/pages/0.json', '/forms';
    }
    my $document = "/documents/$made->{documents}[0]{uuid}";
    $link->get("$document/pages/0?width=200") for 1, 2;
    my $base = $link->{link} =~ s{/place/.*}{}r;
    my ($placement) = $link->{link} =~ m{([^/]+)$};
    my $get = sub { return Sigreq::Signer->new(link => "$base$_[0]")->get('', headers => { 'X-Test' => 1 }) };
    is($get->("/$_/$placement$document/pages/0?width=200")->code, 404, "the link is none below /$_") for qw(sign view);
    is($get->("/$_/$placement")->code,                            404, "the link is none below /$_") for qw(sign view);
    is($get->("/place/$made->{submitters}[0]{uuid}")->code, 404, 'a signer has no placement link');
    is($get->('/place/' . uc $placement)->code,             200, 'a uuid in upper case is the same link');
    is($get->('/place/00000000-0000-4000-8000-000000000000')->code, 404, 'an unknown link');
    my $text = $link->get("$document/pages/0.json")->json;
    ok(ref $text eq 'HASH', 'the text of a page');
    is($link->get("$document/pages/2")->code, 404, 'there is no third page');
};

subtest 'the form of a document' => sub {
    my $bytes = form(fields => [['Tenant', '50 50 150 90'], ['Landlord', '50 150 150 190']]);
    my $made  = drafted({}, files => [['form.pdf', $bytes]]);
    my $link  = link_of($made);
    my $forms = $link->get("/documents/$made->{documents}[0]{uuid}/forms")->json;
    my $want  = $client->post('/documents/inspect', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    is_deeply($forms, { fields => $want->json->{fields} }, 'as POST /documents/inspect tells it');
    is(scalar @{ $forms->{fields} }, 2, 'there are two fields');
    my @placed = map { [{ type => 'signature', name => $_, document => 'form.pdf', area => { field => $_ } }] }
        qw(Tenant Landlord);
    my $res = put($link, $link->state->{version}, signed_by(@placed));
    is($res->code, 200, 'the fields can be used') or diag $res->body;
    my $sent = [map { $_->{fields} } @{ $res->json->{signers} }];
    is_deeply($sent->[0][0]{area}, { field => 'Tenant' }, 'the area is the name');
    $res = put($link, $res->json->{version}, signed_by(@$sent));
    is_deeply([map { $_->{fields} } @{ $res->json->{signers} }], $sent, 'they can be sent again');
    my $none = drafted();
    is_deeply(link_of($none)->get("/documents/$none->{documents}[0]{uuid}/forms")->json, { fields => [] }, 'no form');
};

subtest 'sending' => sub {
    my $made = drafted();
    my $link = link_of($made);
    is($link->request(POST => '/send')->code, 400, 'a signature is missing');
    is(shown($made)->{status}, 'draft', 'nothing is sent');
    is(put($link, $link->state->{version}, $both)->code, 200, 'fields are placed');
    routes($link, $made);    # into the caches
    is($link->request(POST => '/send', headers => { 'If-Match' => '"x"' })->code, 412, 'a tab with other fields');
    my $res = $link->request(POST => '/send', headers => { 'If-Match' => $link->state->{version} });
    is($res->code, 200, 'it is sent') or diag $res->body;
    is_deeply($res->json, { status => 'sent' }, 'the answer');
    is_ended($link, $made, 410, 'sent');
    my $page = $link->get('', @html)->dom;
    is($page->at('h1')->text, 'This link is no longer valid', 'the page says so');
    like($page->at('.lead')->text, qr/^You can no longer use it to place fields/, 'and why');
    is($page->at('main')->{'data-area'}, 'place', 'the area, for the framing site');
    my ($ann) = Sigreq::Signer::signers_of(shown($made));
    is($ann->sign->code, 200, 'a signer can sign');
};

subtest 'a link that was replaced' => sub {
    my $made = drafted();
    my $link = link_of($made);
    routes($link, $made);    # into the caches
    my $res = $client->post("/signatures/$made->{uuid}/placement");
    is($res->code, 201, 'there is a new link') or diag $res->body;
    is_ended($link, $made, 410, 'replaced');
    my ($have) = routes(link_of($res->json), $made);
    is($have, join(' ', (200) x 7), 'the new link works');
};

subtest 'a link whose time is over' => sub {
    my $made = drafted();
    my $link = link_of($made);
    my ($uuid) = $link->{link} =~ m{([^/]+)$};
    my $page   = "/documents/$made->{documents}[0]{uuid}/pages/0?width=200&version=$made->{documents}[0]{sha256}";
    is($link->get($page)->code, 200, 'before') for 1, 2;
    sql("UPDATE submission SET placement_until = 1 WHERE placement = '$uuid'");
    ok(wait_for(sub { $link->get($page)->code == 410 }), 'the cache permits nothing');
    is_ended($link, $made, 410, 'over');
};

subtest 'a draft that was deleted' => sub {
    my $made = drafted();
    my $link = link_of($made);
    routes($link, $made);
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'it is deleted');
    my ($have) = routes($link, $made);
    like($have, qr/^(?:4(?:04|10) ?){7}$/, 'every route is closed');
};

done_testing;
