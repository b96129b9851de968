# SPDX-License-Identifier: Apache-2.0
# sigreqctl export: all that is stored about one email address, and nothing about others. In a database of its own,
# whose httpd writes mail to a folder.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Evidence 'commands_say';
use Sigreq::Here qw(suite sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Signer;
use Sigreq::Traces qw(word pattern found_in files_below);
use Test::More;

my $apart = Sigreq::Apart->new(organization => 'Org', lastname => 'Roe');
my $dir   = $apart->{dir};
mkdir "$dir/mail";
my $client = $apart->serve(
    server => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org",
    place  => "Sigreq On\nSigreqBaseURL https://sign.example.org");
my $production = $apart->ctl('token', 'create', 'Org', 'ann@x.org', 'production', 'live')->{token};
my $live       = $client->with(token => $production);
$apart->ctl('org', 'create', 'Other');

# --- people with words of their own; the email of the person whose data is exported is written in several ways

my %zoe = map { $_ => word() } qw(first last mail agent reason rent job user);
my @others;    # words that must not be exported
sub other { push @others, word(); return $others[-1] }
sub zoe {
    my $mail = $_[0]{upper} ? uc $zoe{mail} : $zoe{mail};
    return { firstname => "Z\x{f6}e $zoe{first}", lastname => $zoe{last}, email => "$mail\@example.org", @_[1 .. $#_] };
}
sub somebody { return { firstname => other(), lastname => other(), email => other() . '@example.org', @_ } }
sub created {
    my ($by, $people, %parts) = @_;
    my $res = $by->create(
        signers   => Sigreq::Client::signers(@$people),
        sendEmail => 'true',
        files     => [['a.pdf', pdf(nonce => word())]],
        headers   => { 'User-Agent' => 'Caller/1 ' . ($parts{agent} // other()) },
        more      => [part('externalId', other()), part('metadata', encode_json({ note => other() }))]);
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}
sub signers_of {    # whose links are of this httpd
    return map { Sigreq::Signer->new(link => $apart->{httpd}->base . "/sign/$_->{uuid}") } @{ $_[0]{submitters} };
}
sub with_texts {    # fields: the signature, a value of the caller, and a value that the signer enters
    my ($value) = @_;
    my ($field) = @{ Sigreq::Client::signers()->[0]{fields} };
    my @texts = map { { %$field, type => 'text', area => { %{ $field->{area} }, y => $_ } } } 300, 360;
    return (fields => [$field, { %{ $texts[0] }, value => $value }, $texts[1]]);
}
sub acts {    # a signer signs, or refuses
    my ($signer, $agent, $reason, $value) = @_;
    my $signed = { %{ Sigreq::Signer::typed('Signed') }, values => $value && { 3 => $value } };
    my $json   = $reason ? { action => 'refuse', reason => $reason } : $signed;
    my $res = $signer->post(json => $json, headers => { 'User-Agent' => "Pen/1 $agent" });
    is($res->code, 200, 'acts') or diag $res->body;
    return;
}

$client->post('/webhooks/sent-webhook-url', json => { url => 'http://hook.invalid/in?key=' . other() });
my $caller    = other();
my $completed =
    created($client, [zoe({ upper => 1 }, with_texts($zoe{rent})), somebody(with_texts(other()))], agent => $caller);
my ($first, $second) = signers_of($completed);
acts($first,  $zoe{agent}, undef, $zoe{job});
acts($second, other(),     undef, other());
my $refused = created($client, [zoe(), somebody()]);
acts((signers_of($refused))[1], other(), other());
my $live_one = created($live, [zoe(), somebody()]);
acts((signers_of($live_one))[0], $zoe{agent}, $zoe{reason});
my $replaced = created($client, [zoe()]);
my $new = somebody();
$client->post("/signatures/$replaced->{uuid}/signers/$replaced->{submitters}[0]{uuid}/replace", json => $new);
my $waiting = created($client, [somebody(), zoe({}, order => 2)]);
my $gone = created($client, [zoe()]);
$client->post("/signatures/$gone->{uuid}/cancel", json => { reason => other() });
is($client->delete("/signatures/$gone->{uuid}")->code, 204, 'one is deleted');
my $cancelled = created($client, [zoe({}, authentication => { method => 'code', code => '4711-KX' })]);
is((signers_of($cancelled))[0]->request(POST => '/check', json => { code => '0000' })->code, 403, 'a wrong code');
is((signers_of($cancelled))[0]->request(POST => '/check', json => { code => '4711 kx' })->code, 200, 'the right code');
for my $row ([$cancelled, 0, '"method":"code"', qq("method":"code","user":"$zoe{user}")],
    [$waiting, 0, undef, '{"method":"hook","to":"' . other() . '"}']) {    # methods that this server does not offer
    my ($made, $at, $from, $to) = @$row;
    my $value = $from ? "replace(authentication, '$from', '$to')" : "'$to'";
    sql("UPDATE signer SET authentication = $value WHERE uuid = '$made->{submitters}[$at]{uuid}'", $apart->{params});
}
$client->post("/signatures/$cancelled->{uuid}/cancel", json => { reason => other() });
created($client, [somebody()]);
my $mails = "SELECT count(*) FROM job WHERE url LIKE 'mailto:%' AND state <> 'done'";
ok(wait_for(sub { sql($mails, $apart->{params}) == 0 }), 'all mails are sent');
my @uuids = map { $_->{uuid} } $completed, $refused, $live_one, $replaced, $waiting, $cancelled;

# --- the command

my $count = 0;
sub said {    # exit code and what it said, with the documents of the httpd
    my @command = (
        suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', $apart->{params}, '--documents',
        "$apart->{httpd}{dir}/documents", @_);
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? & 127 ? "signal $?" : $? >> 8, $said);
}
sub exported {    # email, options → (the folder, export.json as bytes and decoded, the summary)
    my ($email, @options) = @_;
    my $out = "$dir/out" . ++$count;
    my ($code, $said) = said('--json', 'export', $email, '--out', $out, @options);
    is($code, 0, "exported $email @options") or diag $said;
    my $bytes = path("$out/export.json")->slurp;
    return ($out, $bytes, decode_json($bytes), decode_json($said));
}
sub refused_is {
    my ($code, $message, @words) = @_;
    my ($got, $said) = said('export', @words);
    is($got, $code, "export @words: exit code $code");
    like($said, $message, "export @words: the message has the reason");
}
sub mode_of { return sprintf '%o', (stat $_[0])[2] & 07777 }
sub short   { return substr $_[0]{submitters}[0]{uuid}, 0, 8 }
sub by_uuid { return map { $_->{uuid} => $_ } @{ $_[0]{submissions} } }

my ($folder, $bytes, $export, $summary) = exported("$zoe{mail}\@EXAMPLE.org");
my %found = by_uuid($export);

subtest 'what is exported' => sub {
    is_deeply([map { $_->{uuid} } @{ $export->{submissions} }], \@uuids, 'their submissions, without the deleted one');
    is_deeply([@$export{qw(accounts missing)}], [[], []], 'they are no user, and no file is missing');
    is_deeply(
        [@$summary{qw(accounts submissions)}, $summary->{files}],
        [0, 6, scalar grep {/\.pdf$/} files_below($folder)],
        'the summary has the numbers');
    my @not = grep { !found_in(pattern($_), ["$folder/export.json"]) } values %zoe;
    is_deeply(\@not, [], 'each of their words is in export.json');
    my ($self, $other) = @{ $found{ $completed->{uuid} }{signers} };
    is_deeply([@$self{qw(self state email lastname link)}],
        [Mojo::JSON::true, 'completed', uc($zoe{mail}) . '@example.org', $zoe{last}, short($completed)],
        'what they are as a signer');
    is_deeply([map { $_->{value} } @{ $self->{fields} }], [undef, @zoe{qw(rent job)}], 'the values of their fields');
    like($self->{completedAt}, qr/^20.*Z$/, 'the export has the times of the signer');
    is($self->{ip}, '127.0.0.1', 'the export has the address of the signer');
    is_deeply([sort keys %$other], [qw(link order self state)], 'another signer has a state alone');
    is($found{ $live_one->{uuid} }{environment}, 'production', 'both environments are there');
    is_deeply($found{ $completed->{uuid} }{withheld}, [qw(externalId metadata)], 'what is withheld is named');
    my @mails = grep { $_->{event} eq 'invitation' } @{ $found{ $completed->{uuid} }{deliveries} };
    my @to = map { [@$_{qw(to success)}] } @mails;
    is_deeply(\@to, [[uc($zoe{mail}) . '@example.org', Mojo::JSON::true]], 'mail to them');
    my @calls = grep { $_->{event} eq 'sent' } @{ $found{ $completed->{uuid} }{deliveries} };
    is($calls[0]{to}, 'hook.invalid', 'the receiver of a webhook about them is named by its host');
};

subtest 'how they were identified' => sub {
    my $one = $found{ $cancelled->{uuid} };
    my $check = $one->{signers}[0]{authentication};
    like(delete $check->{passedAt}, qr/^20.*Z$/, 'when');
    is_deeply($check, { method => 'code', user => $zoe{user} }, 'and how, without the hash of the code');
    unlike($bytes, qr/scrypt|challenge/, 'which is nowhere');
    ok(!exists $found{ $completed->{uuid} }{signers}[0]{authentication}, 'a signer without a check has no such member');
    my @own = grep { $_->{salts}{ip} } @{ $one->{events} };
    is_deeply([map { $_->{event} } @own], ['codeFailed', 'authenticated'], 'attempts have their address');
};

subtest 'nothing about others' => sub {
    my @json = ("$folder/export.json", grep { !/\.pdf$/ } files_below($folder));
    is_deeply([found_in(pattern(@others), \@json)], [], 'no word of another person, nor of the caller');
    my @links = map { $_->{uuid} } map { @{ $_->{submitters} } } $completed, $refused, $live_one, $replaced, $waiting;
    is_deeply([grep { index($bytes, $_) >= 0 } @links], [], 'no signing link');
    unlike($bytes, qr/sigreq_(?:test|live)_/, 'no token');
};

subtest 'the evidence' => sub {
    for my $made ($completed, $live_one, $replaced) {
        my $events = encode_json({ events => $found{ $made->{uuid} }{events} });
        my $by     = $made == $live_one ? $live : $client;
        my $audit  = $by->get("/signatures/$made->{uuid}/audit");
        my @links  = $audit->body =~ /"(?:signer|uuid|replaces)": ?"([-0-9a-f]{36})"/g;
        for my $link (@links) { my $short = substr $link, 0, 8; $events =~ s/"$short"/"$link"/g }
        is(commands_say(suite->{source}, $events), '', 'with the links, the documented commands verify the chain');
        is(decode_json($events)->{events}[-1]{hash}, $audit->json->{events}[-1]{hash},
            'the chain is that of the caller');
    }
    my @own = grep { $_->{salts} && $_->{salts}{ip} } @{ $found{ $completed->{uuid} }{events} };
    is_deeply([map { $_->{event} } @own], ['opened', 'signed'], 'only their own events have an address');
    is($found{ $live_one->{uuid} }{events}[-1]{detail}{reason}, $zoe{reason}, 'their reason is there');
    my @events = grep { $_->{event} =~ /^(?:created|signed)$/ } @{ $found{ $completed->{uuid} }{events} };
    my ($created, $signed) = map { $_->{detail} } @events;
    is_deeply([map { $_->{value} } @{ $created->{signers}[0]{values} }, @{ $signed->{values} }],
        [@zoe{qw(rent rent job)}], 'the events have the values of their fields');
};

subtest 'documents' => sub {
    my $one = $found{ $completed->{uuid} };
    my $document = $one->{documents}[0];
    my $now = $client->get("/signatures/$completed->{uuid}/documents/$document->{uuid}")->body;
    is(path("$folder/$document->{signed}")->slurp, $now, 'the signed document');
    is(sha256_hex(path("$folder/$document->{original}")->slurp), $document->{sha256}, 'the original');
    is(
        path("$folder/$one->{certificate}{file}")->slurp,
        $client->get("/signatures/$completed->{uuid}/certificate")->body,
        'the certificate of completion');
    my @without = grep { !$found{$_}{documents}[0]{original} } @uuids;
    is_deeply(\@without, [map { $_->{uuid} } $replaced, $waiting], 'none if they were replaced or is not due yet');
    is_deeply([map { mode_of($_) } $folder, "$folder/submissions", "$folder/submissions/$completed->{uuid}"],
        [('700') x 3], 'folders are for the caller alone');
    is_deeply([grep { mode_of($_) ne '600' } files_below($folder)], [], 'and so are files');
};

subtest 'a user' => sub {
    my ($out, $text, $of_ann) = exported('Ann@X.org', '--environment', 'test', '--organization', 'Org');
    my $account = $of_ann->{accounts}[0];
    is_deeply([@$account{qw(firstname lastname email)}, $account->{organization}{name}],
        ['Ann', 'Roe', 'ann@x.org', 'Org'], 'the account');
    is_deeply([map { [@$_{qw(name environment)}] } @{ $account->{tokens} }], [['t', 'test']], 'tokens');
    unlike($text, qr/sigreq_test_|secret/, 'the tokens have no secrets');
    my %sent = by_uuid($of_ann);
    ok($sent{ $completed->{uuid} }{sender} && !$sent{ $live_one->{uuid} }, 'what they sent in this environment');
    like($sent{ $completed->{uuid} }{events}[0]{userAgent}, qr/\Q$caller\E/,
        'the export has the browser of the sender');
    ok(!$sent{ $completed->{uuid} }{documents}[0]{original}, 'the export of a sender has no documents');
    my ($mail) = grep { $_->{event} eq 'invitation' } @{ $sent{ $completed->{uuid} }{deliveries} };
    is_deeply([@$mail{qw(to error)}], [undef, undef], 'a mail to somebody else has no address');
    is_deeply([found_in(pattern(values %zoe), ["$out/export.json"])], [], 'no word of a signer');
    is_deeply([map { $_->{uuid} } @{ (exported('ann@x.org', '--environment', 'production'))[2]{submissions} }],
        [$live_one->{uuid}], 'the other environment');
};

subtest 'refusals' => sub {
    my $mail = "$zoe{mail}\@example.org";
    refused_is(3, qr/Nothing is stored about this email address/, 'nobody@example.org', '--out', "$dir/none");
    refused_is(3, qr/Nothing is stored/, $mail, '--out', "$dir/none", '--organization', 'Other');
    refused_is(3, qr/no such organization/i, $mail, '--out', "$dir/none", '--organization', 'None');
    refused_is(2, qr/--out is required/, $mail);
    refused_is(2, qr/--email must be/,   'zoe', '--out', "$dir/none");
    refused_is(4, qr/is not empty/,      $mail, '--out', $folder);
    mkdir "$dir/none.partial";
    refused_is(4, qr/none\.partial exists: this command was interrupted/, $mail, '--out', "$dir/none");
    rmdir "$dir/none.partial";
    refused_is(1, qr/No such file or directory/, $mail, '--out', "$dir/no/none");
    ok(!-e "$dir/none", 'nothing was written');
    mkdir "$dir/none";
    is((said('export', $mail, '--out', "$dir/none/"))[0], 0, 'an empty folder is taken');
    ok(-e "$dir/none/export.json", 'an empty folder gets the export');
    my $sha256 = $found{ $completed->{uuid} }{certificate}{sha256};
    my ($blob) = grep {m{/\Q$sha256\E\.}} files_below("$apart->{httpd}{dir}/documents");
    rename $blob, "$dir/blob";
    path($blob)->spurt('other');
    for my $state ('damaged', 'missing') {
        unlink $blob if $state eq 'missing';
        refused_is(5, qr/certificate\.pdf: .*incomplete.*sigreqctl check/s, $mail, '--out', "$dir/$state");
        my $told = decode_json(path("$dir/$state/export.json")->slurp);
        is_deeply([map { $_->{file} } @{ $told->{missing} }],
            ["submissions/$completed->{uuid}/certificate.pdf"], "export.json names what is $state");
        is(scalar(files_below("$dir/$state")), files_below($folder) - 1, "everything else is there: $state");
        ok(!-e "$dir/$state/$told->{missing}[0]{file}", "the file is missing: $state");
    }
    rename "$dir/blob", $blob;
};

done_testing;
