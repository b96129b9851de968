# SPDX-License-Identifier: Apache-2.0
# The desk: a new request. A form makes a draft, whose placement page sends it; a template gives its documents. What the
# service refuses stands beside the input that it is about, and nothing that was entered is lost.
use strict;
use warnings;
use utf8;
use File::Temp 'tempdir';
use Mojo::URL;
use POSIX 'strftime';
use Sigreq::Desk qw(basic browser);
use Sigreq::Here qw(documents organisation suite used user);
use Sigreq::Httpd;
use Sigreq::Multipart qw(multipart part BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Signer;
use Test::More;

my $dir = tempdir('desk_new.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$dir/mail";
my $own   = organisation(quota => 3);
my $other = user($own);
my $login = basic("$dir/passwords", $own->{email} => 'a', $other->{email} => 'o');
sub started {
    my ($desk, $more) = @_;
    my $port = Sigreq::Suite::free_port();
    return Sigreq::Httpd->new(
        port    => $port,
        place   => qq{Sigreq On\nSigreqBaseURL "http://127.0.0.1:$port"},
        modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
        server  => qq{$more\nSigreqMaxFileSize 20K\nSigreqMaxFiles 2\nSigreqMaxSigners 4\nSigreqMaxRequestSize 200K\n}
            . qq{<Location "/desk">\nSigreqDesk $desk\n$login</Location>\n})->start;
}
my $mail  = "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org";
my $httpd = started(On => $mail);
my $base  = $httpd->base;
my $me    = browser("$own->{email}:a", max_redirects => 0);
my $as_other = browser("$other->{email}:o", max_redirects => 0);
my $client = $own->{live}->with(base => $base);    # the documents are there
my $count  = 0;

sub scope { ($_[1] // $base) . "/desk/$own->{uuid}." . ($_[0] // 'production') . '/' }
sub page  { my ($url, $ua) = @_; return ($ua // $me)->get($url)->result }
sub file  { my ($name, %o) = @_; return ['file', pdf(nonce => "desk $$ " . ++$count, %o), $name] }

# What a browser sends of a form: [name, value] in the order of the page. A `change` replaces the values of a name;
# those of rows have the number of the row at the end.
sub entered {
    my ($dom, %change) = @_;
    my (@sent, %row);
    for my $input ($dom->find('form[data-request] :is(input, select, textarea)')->each) {
        my $name = $input->attr('name');
        next if $input->ancestors('template')->size || $name eq 'file';
        my $type  = $input->attr('type') // $input->tag;
        my $value = $type eq 'textarea' ? $input->text =~ s/^\n//r : $input->val;
        $value = undef if $type eq 'checkbox' && !exists $input->attr->{checked};
        my $id = $name =~ /^(?:signer|viewer)-/ ? $input->attr('id') : $name;
        $value = $change{$id} if exists $change{$id};
        push @sent, [$name, $value // ''] if defined $value || $type ne 'checkbox';
    }
    return @sent;
}

sub post {
    my ($sent, %o) = @_;
    my @parts = map {
        my ($name, $value, $file) = @$_;
        utf8::encode($value) unless defined $file;
        part($name, $value, defined $file ? (filename => $file, type => 'application/pdf') : ());
    } @$sent;
    my $type = 'multipart/form-data; boundary=' . BOUNDARY;
    return ($o{ua} // $me)->post($o{url} // scope() . 'new', { 'Content-Type' => $type, %{ $o{headers} // {} } },
        multipart(@parts))->result;
}
my %ann = ('signer-firstname-1' => 'Ann', 'signer-lastname-1' => 'Lee', 'signer-email-1' => 'ann@example.org');
my %usual = (name => 'Lease', %ann);

# The names of the requests with a status, the newest first.
sub listed {
    my $res = $client->get('/signatures', query => { status => shift });
    return [map { $_->{name} } @{ Sigreq::Here::rows($res->json) }];
}

sub is_placement {    # leads to the placement page: its state
    my ($res, $what, $from) = @_;
    is($res->code, 303, "$what: 303") or diag $res->dom->find('.error')->join("\n");
    my $url = Mojo::URL->new($res->headers->location // '')->to_abs(Mojo::URL->new(scope() . ($from // 'new')));
    like($url, qr{^\Q$base\E/place/[\w-]{36}\?from=desk$}, "$what: the placement page");
    return $url;
}

subtest 'from files to the last signature' => sub {
    my $res = page(scope() . 'new');
    is($res->code, 200, 'the form') or diag $res->body;
    is($res->dom->at('h1')->text, 'New request', 'its title');
    ok(exists $res->dom->at('#mail')->attr->{checked}, 'mail is sent if the service can');
    my @sent = entered($res->dom, name => 'Miete Ä', 'signer-firstname-1' => 'Zoë', 'signer-lastname-1' => 'Lee',
        'signer-email-1' => 'zoe@example.org', 'signer-locale-1' => 'de', 'signer-check-1' => 'code',
        'signer-code-1' => 'Kestrel 7', subject => 'Your lease', text => "Dear Zoë,\r\nplease sign.",
        deadline => strftime('%Y-%m-%d', localtime(time + 5 * 86_400)), reminders => 'P3D', 'copy-signers' => 'on',
        'copy-others' => 'files@example.org, law@example.org');
    my $day = strftime('%Y-%m-%d', localtime(time + 5 * 86_400));
    my @files = (file('a.pdf', pages => 2), file('b.pdf'));
    $res = post([@sent, @files]);
    my $url = is_placement($res, 'sent');
    my ($made) = @{ Sigreq::Here::rows($client->get('/signatures')->json) };
    is($made->{status}, 'draft', 'a draft is made');
    is($made->{name}, 'Miete Ä', 'its name');
    is_deeply([map { $_->{name} } @{ $made->{documents} }], ['a.pdf', 'b.pdf'], 'its documents');
    my ($signer) = @{ $made->{submitters} };
    is_deeply([@{$signer}{qw(firstname email)}, $signer->{authentication}{method}],
        ['Zoë', 'zoe@example.org', 'code'], 'the signer');
    is_deeply($made->{message}, { subject => 'Your lease', text => "Dear Zoë,\nplease sign." }, 'the message');
    my $reminders = $made->{reminders};
    is_deeply([@{$reminders}{qw(after every most)}], ['P3D', 'P3D', 3], 'reminders');
    like($made->{expiresAt}, qr/^\d{4}-/, 'the deadline');
    is(strftime('%Y-%m-%d %H:%M', localtime Mojo::Date->new($made->{expiresAt})->epoch), "$day 23:59", 'ends the day')
        if eval { require Mojo::Date };
    is(used($own), 0, 'a draft costs nothing');
    is(scalar(glob "$dir/mail/new/*") // '', '', 'and mails nothing');

    my $place = page($url);
    is($place->code, 200, 'the placement page');
    my @back = $place->dom->find('a[href^="../desk/"]')->map(attr => 'href')->each;
    is_deeply(\@back, [("../desk/$own->{uuid}.production/") x 2], 'which leads back to the desk');
    is(page(Mojo::URL->new($url)->query($_))->dom->at('a[href*=desk]'), undef, "not from elsewhere: $_")
        for '', 'from=', 'from=desks', 'xfrom=desk', 'from=//evil.example';
    my $link = Sigreq::Signer->new(link => "$url");
    my @place = map { { type => 'signature', name => 'Signature', document => $_,
        area => { x => 10, y => 20, w => 30, h => 5, page => 0, unit => 'percent' } } } 'a.pdf';
    is($link->request(PUT => '/fields', json => { signers => [{ fields => \@place }] },
        headers => { 'If-Match' => $link->state->{version} })->code, 200, 'a field is placed');
    is($link->request(POST => '/send')->code, 200, 'it is sent');
    is(used($own), 1, 'which counts once');
    $res = post([@sent, @files]);
    is($res->code, 303, 'the form is sent again');
    is($res->headers->location, "requests/$made->{uuid}", 'and leads to the request');
    is(used($own), 1, 'which is not sent again');
    my $sent = $client->get("/signatures/$made->{uuid}")->json;
    is_deeply(listed('open'), ['Miete Ä'], 'it is open');
    my ($gate) = map { Sigreq::Signer->new(link => $_->{signatureLink}) } @{ $sent->{submitters} };
    is($gate->sign->code, 403, 'the signer is asked for the code');
    my $entered = $gate->request(POST => '/check', json => { code => 'Kestrel 7' });
    is($entered->code, 200, 'and enters it') or diag $entered->body;
    my $within = Sigreq::Signer->new(link => $entered->json('/url'));
    my $signed = $within->sign;
    is($signed->code, 200, 'the document is signed') or diag $signed->body;
    is($client->get("/signatures/$made->{uuid}")->json('/status'), 'completed', 'the request is completed');
};


# Posts the form with changes, and returns the answer, whose form is shown again.
sub again {
    my ($what, $status, $change, @files) = @_;
    my @sent = entered(page(scope() . 'new')->dom, %usual, %$change);
    my $res  = post([@sent, @files ? @files : file('a.pdf')]);
    is($res->code, $status, "$what: $status") or diag $res->dom->find('.error')->join("\n");
    my %kept = map { @$_[0, 1] } entered($res->dom);
    my %want = map { @$_[0, 1] } @sent;
    is_deeply(\%kept, \%want, "$what: everything is kept");
    return $res->dom;
}

subtest 'errors beside their inputs' => sub {
    my $long  = 'x' x 501;
    my $drafts = listed('draft');
    my @cases = (
        ['name', { name => '' }, 'A name must be provided'],
        ['name', { name => $long }, qr/^A name must/],
        ['signer-firstname-1', { 'signer-firstname-1' => ' ' }, 'Signer 1: A firstname must be provided'],
        ['signer-lastname-1',  { 'signer-lastname-1'  => '' },  'Signer 1: A lastname must be provided'],
        ['signer-email-1', { 'signer-email-1' => 'ann' }, 'Signer 1: Invalid email format: ann'],
        ['signer-email-1', { 'signer-email-1' => '' }, qr/^Signer 1: An email must be provided/],
        ['signer-email-1', { 'signer-email-1' => '', mail => undef, 'signer-check-1' => 'email' },
            qr/^Signer 1: An email to which/],
        ['signer-order-1',  { 'signer-order-1'  => 'first' }, qr/^Signer 1 \(ann\@.*An order must be/],
        ['signer-code-1', { 'signer-check-1' => 'code', 'signer-code-1' => 'abc' },
            qr/An authentication code must have/],
        ['signer-code-1',   { 'signer-check-1' => 'code' }, qr/An authentication code must be provided/],
        ['subject',   { subject => 'x' x 201, text => 'x' }, qr/^message: subject/],
        ['text',      { subject => 'x' }, 'message: a text must be provided'],
        ['text',      { text => 'x' x 2001 }, qr/^message: text/],
        ['deadline',  { deadline => '2020-01-01' }, 'expiresAt must be in the future'],
        ['deadline',  { deadline => '2199-01-01' }, 'expiresAt must be within 10 years'],
        ['deadline',  { deadline => 'tomorrow' }, qr/^expiresAt must be an ISO 8601/],
        ['reminders', { reminders => 'P3D', mail => undef }, 'reminders: sendEmail must be true'],
        ['copy-others', { 'copy-others' => 'a@example.org, b' }, qr/^copies: to must have/],
        ['file', {}, 'Document a.pdf is provided more than once', file('a.pdf'), file('a.pdf')],
        ['file', {}, 'Only PDF files are supported', ['file', 'hello', 'a.pdf']],
        ['file', {}, 'At least 1 file must be provided', ['file', '', '']],
    );
    for my $case (@cases) {
        my ($id, $change, $message, @files) = @$case;
        my $dom   = again($id, 400, $change, @files);
        my $input = $dom->at("#$id");
        is($input->attr('aria-invalid'), 'true', "$id: it is marked");
        ok(exists $input->attr->{autofocus}, "$id: it has the focus");
        is($dom->find('[aria-invalid]')->size, 1, "$id: no other one is");
        my ($by) = grep {/fault/} split / /, $input->attr('aria-describedby');
        my $text = $dom->at("#$by")->text;
        ref $message ? like($text, $message, "$id: the message") : is($text, $message, "$id: the message");
        is($dom->at('.error[role=alert] a')->attr('href'), "#$id", "$id: the top leads there");
        my $none = $files[0] && !length $files[0][1];
        is(defined $dom->at('#file-again'), $none ? '' : 1, "$id: files must be chosen again");
    }
    is_deeply(listed('draft'), $drafts, 'nothing was stored');
};

subtest 'limits' => sub {
    my $dom = again('a file', 413, {}, ['file', '%PDF-' . 'x' x 30_000, 'a.pdf']);
    is($dom->at('#file-fault')->text, 'A file must be at most 20480 bytes', 'beside the input');
    $dom = again('files', 413, {}, map { file("$_.pdf") } 1 .. 3);
    is($dom->at('#file-fault')->text, 'At most 2 files can be provided', 'beside the input');
    my @sent = entered(page(scope() . 'new')->dom, %usual);
    my $res  = post([@sent, map { ['file', 'x' x 19_000, "$_.pdf"] } 1 .. 12]);
    is($res->code, 413, 'a request that is too large');
    ok($res->dom->at('.problem, #file-fault'), 'gives a page');
};

subtest 'rows' => sub {
    my $res = page(scope() . 'new');
    is($res->dom->find('[data-rows=signer] > .person')->size, 1, 'a form has one signer');
    is($res->dom->find('[data-rows=viewer] > .person')->size, 0, 'and no viewer');
    my $press = sub {
        my ($button, $value, %change) = @_;
        $res = post([entered($res->dom, %change), [$button, $value], file('a.pdf')]);
        is($res->code, 200, "$button $value") or diag $res->body;
        return $res->dom;
    };
    my $dom = $press->(add => 'signer', %usual, 'signer-order-1' => 3);
    is($dom->find('[data-rows=signer] > .person > legend')->map('text')->join(', '), 'Signer 1, Signer 2', 'one more');
    is($dom->at('#signer-email-1')->val, 'ann@example.org', 'the first is kept');
    is($dom->at('#signer-order-2')->val, 3, 'the next has its order');
    is($dom->at('#name')->val, 'Lease', 'the name is kept');
    like($dom->at('#file-again')->text, qr/choose the files again/, 'files are not, and it is said');
    $dom = $press->(add => 'signer', 'signer-firstname-2' => 'Bob', 'signer-lastname-2' => 'Ray');
    $dom = $press->(remove => 'signer-1');
    is($dom->at('#signer-firstname-1')->val, 'Bob', 'one is removed');
    $dom = $press->(remove => 'signer-9');
    is($dom->find('[data-rows=signer] > .person')->size, 2, 'one that does not exist is not');
    $dom = $press->(add => 'viewer', 'signer-firstname-2' => 'Cy', 'signer-lastname-2' => 'Oz',
        map { ("signer-email-$_" => "s$_\@example.org") } 1, 2);
    my %viewer = ('viewer-firstname-1' => 'Vi', 'viewer-lastname-1' => 'Ewer', 'viewer-email-1' => 'v');
    $res = post([entered($dom, %viewer), file('a.pdf')]);
    is($res->dom->at('#viewer-email-1-fault')->text, 'viewers: viewer 1: email must be an email address', 'a viewer');
    $res = post([entered($res->dom, 'viewer-email-1' => 'v@example.org', 'viewer-when-1' => 'completed',
        'signer-order-1' => 2, 'signer-order-2' => 1), file('a.pdf')]);
    is_placement($res, 'with two signers and a viewer');
    my ($made) = @{ Sigreq::Here::rows($client->get('/signatures')->json) };
    is_deeply([map { [@{$_}{qw(firstname order)}] } @{ $made->{submitters} }], [['Bob', 2], ['Cy', 1]], 'the signers');
    is_deeply([map { [@{$_}{qw(firstname email when)}] } @{ $made->{viewers} }], [['Vi', 'v@example.org', 'completed']],
        'the viewer');
    my @all = entered(page(scope() . 'new')->dom, %usual);
    my @row = grep { $_->[0] =~ /^signer-/ } @all;
    $res = post([(grep { $_->[0] !~ /^signer-/ } @all), file('a.pdf')]);
    is($res->dom->at('#signer')->text, 'At least 1 signer must be provided', 'no signer');
    $res = post([@all, (@row) x 4, file('a.pdf')]);
    is($res->dom->at('#signer')->text, 'At most 4 signers can be provided', 'too many');
};

subtest 'a form that is sent again' => sub {
    my $before = @{ listed('draft') };
    my @sent   = entered(page(scope() . 'new')->dom, %usual, name => 'Twice');
    my $file   = file('a.pdf');
    my $first  = is_placement(post([@sent, $file]), 'once');
    is(is_placement(post([@sent, $file]), 'twice'), $first, 'the same draft');
    is(@{ listed('draft') }, $before + 1, 'nothing is created twice');
    my $german = post([@sent, $file], url => scope() . 'new?lang=de')->headers->location;
    like($german, qr{/place/[\w-]{36}\?lang=de&from=desk$}, 'the placement page has the language of the desk');
    is(page(Mojo::URL->new($german)->to_abs(Mojo::URL->new(scope() . 'new')))->dom->at('a[href*=desk]')->attr('href'),
        "../desk/$own->{uuid}.production/?lang=de", 'and leads back with it');
    my $res = post([(map { $_->[0] eq 'name' ? ['name', 'Other'] : $_ } @sent), $file]);
    is($res->code, 409, 'with other values');
    like($res->dom->at('.error[role=alert]')->text, qr/already made/, 'which is said');
    is_placement(post([entered($res->dom), $file]), 'and again');
    is_deeply([@{ listed('draft') }[0, 1]], ['Other', 'Twice'], 'makes another draft');
};

subtest 'who may send it' => sub {
    my $before = listed('draft');
    my @sent   = entered(page(scope() . 'new')->dom, %usual);
    my %value  = map { @$_[0, 1] } @sent;
    my $with   = sub { my %o = @_; return [map { [$_->[0], $o{ $_->[0] } // $_->[1]] } @sent] };
    my $refused = sub {
        my ($what, $sent, %o) = @_;
        my $res = post([@$sent, file('a.pdf')], %o);
        is($res->code, $o{status} // 403, $what) or diag $res->dom->find('.error, .problem')->join("\n");
        is($res->dom->at('#name'), undef, "$what: no form");
    };
    $refused->('no token',          [grep { $_->[0] ne 'token' } @sent]);
    $refused->('no name of a form', [grep { $_->[0] ne 'form' } @sent]);
    $refused->('another token',     $with->(token => 'a' x 64));
    $refused->('another form',      $with->(form  => $own->{uuid}));
    $refused->('no uuid',           $with->(form  => 'x'));
    $refused->('another user',        \@sent, ua => $as_other);
    $refused->('another environment', \@sent, url => scope('test') . 'new');
    $refused->('a page of another site', \@sent, headers => { 'Sec-Fetch-Site' => 'cross-site' });
    $refused->('another origin',         \@sent, headers => { Origin           => 'https://evil.example' });
    $refused->('an unknown input', [@sent, ['x', 1]], status => 400);
    $refused->('a repeated input', [@sent, ['name', 1]], status => 400);
    $refused->('a row without a beginning', [@sent, ['viewer-email', 1]], status => 400);
    $refused->('not UTF-8', [@sent[0, 1], ['name', "a\0b"]], status => 400);
    $refused->('a scope of others', \@sent, url => $base . "/desk/$other->{user_uuid}.test/new", status => 404);
    my $document = documents();
    my $res = post([file('a.pdf'), @sent]);
    is($res->code, 403, 'a file before the token');
    is($me->post(scope() . 'new', form => \%value)->result->code, 415, 'a form without files');
    is_deeply(listed('draft'), $before, 'nothing was stored');
    is_deeply(documents(), $document, 'no document either') if ref $document;
};

subtest 'templates' => sub {
    my $res  = page(scope() . 'templates');
    my $rows = $res->dom->find('.rows tbody tr');
    my ($own_row) = grep { $_->at('.name')->all_text =~ /Miete/ } $rows->each;
    ok($own_row, 'the request from files is one') or return;
    my $use = $own_row->at('a.primary')->attr('href');
    $res = page(scope() . $use);
    is($res->code, 200, 'it is used') or diag $res->body;
    is($res->dom->at('#file'), undef, 'no files are asked for');
    is($res->dom->find('.chosen li bdi')->map('text')->join(' '), 'a.pdf b.pdf', 'it has those of the template');
    is($res->dom->at('#name')->val, 'Miete Ä', 'and its name');
    is($res->dom->at('[name=add][value=signer]'), undef, 'signers are as many as in the template');
    is($res->dom->at('form[data-request]')->attr('action'), '../new', 'its address');
    my $wrong = post([entered($res->dom, %ann, name => '')]);
    is($wrong->dom->at('#name-fault')->text, 'A name must be provided', 'an error is shown');
    is($wrong->dom->find('.chosen li')->size, 2, 'with the template');
    is_placement(post([entered($wrong->dom, name => 'From a template', reminders => '')]), 'used');
    my ($made) = @{ Sigreq::Here::rows($client->get('/signatures')->json) };
    is_deeply([map { $_->{type} } @{ $made->{submitters}[0]{fields} }], ['signature'], 'the draft has its fields');
    my $drafted = page(scope() . '?status=draft');
    my $form = $drafted->dom->at('.rows form[action$=place]');
    my $to = $form->attr('action');
    is_placement($me->post(scope() . $to, form => { token => $form->at('input')->val })->result, 'from the list', $to);
    is($me->post(scope() . $form->attr('action'), form => { token => 'x' })->result->code, 403, 'not without a token');
    my $delete = $own_row->at('form');
    my $url    = scope() . $delete->attr('action');
    is(page($url)->code, 405, 'nothing is deleted by GET');
    is($me->post($url, form => { token => 'a' x 64 })->result->code, 403, 'nor without its token');
    $res = $me->post($url, form => { token => $delete->at('input')->val })->result;
    is($res->code, 303, 'a template is deleted');
    is(page(scope() . $use)->code, 404, 'and cannot be used');
    like(page(scope() . 'templates?done=template_deleted')->dom->at('.note.good')->text, qr/deleted/, 'which is said');
    is(page(scope() . "templates/$_")->code, 404, "no template: $_") for 'x', $own->{uuid};
    is(page(scope() . 'templates', $as_other)->dom->at('.rows'), undef, 'another user has none');
    $other->{test}->create(name => "Number $_") for 1 .. 51;
    my $names = sub { shift->dom->find('.rows .name')->map('all_text')->join(' ') };
    my $first = page(scope('test') . 'templates?lang=de', $as_other);
    like($names->($first), qr/^Number 51 .* Number 2$/, 'a page has 50 of them, the newest first');
    my $older = page(scope('test') . 'templates' . $first->dom->at('a[rel=next]')->attr('href'), $as_other);
    is($names->($older), 'Number 1', 'and leads to older ones');
    is($older->dom->at('html')->attr('lang'), 'de', 'in the same language');
    my $newer = page(scope('test') . 'templates' . $older->dom->at('a[rel=prev]')->attr('href'), $as_other);
    is($names->($newer), $names->($first), 'and back');
    is(page(scope('test') . 'templates?cursor=x', $as_other)->code, 400, 'a wrong cursor');
};

subtest 'read-only, and without mail' => sub {
    my @sent = entered(page(scope() . 'new')->dom, %usual);
    my ($reads, $mute) = (started('read-only', $mail), started(On => ''));
    my $only = $reads->base;
    is(page(scope(production => $only) . 'new')->code, 403, 'read-only: there is no form');
    is(post(\@sent, url => scope(production => $only) . 'new')->code, 403, 'and none is taken');
    my $dom = page(scope(production => $only))->dom;
    is($dom->at('a[href=new], form[action]'), undef, 'nothing leads there');
    is(page(scope(production => $only) . 'templates')->code, 200, 'templates are shown');
    my $silent = scope(production => $mute->base) . 'new';
    $dom = page($silent)->dom;
    ok(!exists $dom->at('#mail')->attr->{checked}, 'without mail it is not offered');
    my $res = post([entered($dom, %usual, mail => 'on'), file('a.pdf')], url => $silent);
    is($res->code, 400, 'nor taken');
    like($res->dom->at('#mail-fault')->text, qr/sends no mail/, 'with the reason');
    $res = post([entered($dom, %usual, 'copy-sender' => 'on'), file('a.pdf')], url => $silent);
    like($res->dom->at('#copy-others-fault')->text, qr/copies must be left out/, 'copies neither');
};
done_testing;
