# SPDX-License-Identifier: Apache-2.0
# Reminders by mail: on request, and automatic ones (the form part reminders). A test does not wait for days: it puts
# the times of a submission back in the database.
use strict;
use warnings;
use MIME::Base64 ();
use Mojo::File 'path';
use Mojo::JSON qw(encode_json);
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite is_error is_text wait_for sql);
use Sigreq::Mailbox;
use Sigreq::Multipart 'part';
use Sigreq::Signer 'chain_fault';
use Test::More;

my $apart = Sigreq::Apart->new(organization => 'Org', lastname => 'Roe');
my $dir   = $apart->{dir};
my $none  = '00000000-0000-4000-8000-000000000000';
my $client;
mkdir "$dir/mail";

sub serve {    # httpd that writes mail to a folder, with these directives for the server
    my @place = (place => "Sigreq On\nSigreqBaseURL https://sign.example.org");
    $client = $apart->serve(
        server => join("\n", "SigreqSMTP maildir:$dir/mail", 'SigreqMailFrom sign@example.org', @_), @place);
    return;
}

sub made {    # the overrides of signers, form parts → submission
    my ($signers, %parts) = @_;
    my $res = $client->create(
        signers => Sigreq::Client::signers(@$signers),
        more    => [map { part($_, $parts{$_}) } grep { $_ ne 'sendEmail' } sort keys %parts],
        $parts{sendEmail} ? (sendEmail => $parts{sendEmail}) : ());
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

# A submission whose first signer has this address, with automatic reminders after two hours, every hour.
sub reminded {
    my ($email, %o) = @_;
    my $reminders = encode_json({ after => 'PT2H', every => 'PT1H', most => 3, %{ $o{reminders} // {} } });
    return made($o{signers} // [{ email => $email }], sendEmail => 'true', reminders => $reminders,
        %{ $o{parts} // {} });
}
sub signers_of {    # whose links are of this httpd
    return map { Sigreq::Signer->new(link => $apart->{httpd}->base . "/sign/$_->{uuid}") } @{ $_[0]{submitters} };
}
sub now_of { $client->get("/signatures/$_[0]{uuid}")->json }
sub events { map { $_->{event} } @{ $client->get("/signatures/$_[0]{uuid}/audit")->json->{events} } }
sub later  { Mojo::Date->new(time + $_[0])->to_datetime }

sub path_of {
    my ($made, $number, $what) = @_;
    return "/signatures/$made->{uuid}/signers/$made->{submitters}[$number]{uuid}/$what";
}
sub remind { my ($made, $number) = @_; return $client->post(path_of($made, $number // 0, 'remind')) }
sub db     { sql($_[0], $apart->{params}) }
sub id_of  { "(SELECT id FROM submission WHERE uuid = '$_[0]{uuid}')" }

sub mails {    # those to an address whose subject has these words
    my ($to, $words) = @_;
    my @mails = map { Sigreq::Mailbox::taken_apart({ data => MIME::Base64::encode_base64(path($_)->slurp) }) }
        sort glob "$dir/mail/*.eml";
    return grep { $_->{headers}{to}[0] =~ /\Q$to\E/ && $_->{headers}{subject}[0] =~ /$words/ } @mails;
}

sub gets {    # waits until an address has so many reminders, and returns them
    my ($to, $count, $name) = @_;
    my @mails;
    wait_for(sub { @mails = mails($to, 'Reminder'); @mails >= $count });
    is(scalar @mails, $count, $name);
    return @mails;
}

sub history {
    my $query = { submissionId => $_[0]{uuid}, event => 'reminder' };
    return @{ $client->get('/webhooks/history', query => $query)->json->{data} };
}

sub event_of {    # the event of the last reminder
    my ($made) = @_;
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    return (grep { $_->{event} eq 'reminded' } @{ $audit->{events} })[-1];
}

# So much time passes for a submission: for its signers, its timer and its job.
sub passes {
    my ($made, $hours) = @_;
    my $by = $hours * 3_600_000_000;
    db("UPDATE signer SET due_at = due_at - $by, reminded_at = reminded_at - $by "
            . 'WHERE submission_id = ' . id_of($made));
    db("UPDATE timer SET due_at = due_at - $by WHERE kind = 'remind' AND submission_id = " . id_of($made));
    return db("UPDATE job SET due_at = due_at - $by WHERE kind = 'remind' AND state = 'scheduled' AND submission_id = "
            . id_of($made));
}
sub jobs_where { db("SELECT count(*) FROM job WHERE $_[1] AND submission_id = " . id_of($_[0])) }
sub timers_where {
    return db("SELECT count(*) FROM timer WHERE kind = 'remind' AND $_[1] AND submission_id = " . id_of($_[0]));
}
sub scheduled { timers_where($_[0], 'true') + jobs_where($_[0], "kind = 'remind' AND state <> 'done'") }
sub number_of { db("SELECT reminders FROM signer WHERE uuid = '$_[0]{submitters}[0]{uuid}'") }

# The job ran and wrote the next one: nothing more comes of it.
sub settles {
    my $made = shift;
    return wait_for(
        sub {
            my $now = time . '000000';
            jobs_where($made, "kind IN ('remind', 'reminder') AND (state IN ('pending', 'claimed') "
                    . "OR state = 'scheduled' AND kind = 'remind' AND due_at < $now)")
                + timers_where($made, "due_at < $now") == 0;
        });
}

serve();

subtest 'on request' => sub {
    my $made = made([{ email => 'ann@x.org' }], expiresAt => '2030-05-17T18:30:00Z');
    my $res  = remind($made);
    is($res->code, 202, 'also without sendEmail') or diag $res->body;
    my $view = $res->json;
    like($view->{submitters}[0]{remindedAt}, qr/^20\d\d-/, 'the answer has the time');
    is_deeply(now_of($made), $view, 'GET shows the same');
    my ($mail) = gets('ann@x.org', 1, 'the signer gets a mail');
    like($mail->{headers}{subject}[0], qr/^TEST: Reminder: please sign ./, 'the subject says that it is a reminder');
    like($mail->{plain}, qr/is still waiting for you to sign/, 'the text says that it is a reminder');
    like($mail->{plain}, qr/^Please sign or decline by 1\d May 2030, \d\d:30 \(\w+\)\.$/m, 'the text has the deadline');
    like($mail->{html}, qr/Please sign or decline by 1\d May 2030,/, 'the HTML has the deadline');
    like($mail->{plain}, qr/^\Q$made->{submitters}[0]{signatureLink}\E$/m, 'the text has the link');
    my $number = substr $made->{uuid}, 0, 8;
    like($mail->{$_}, qr/Request number $number\b/, "the mail has the request number ($_)") for qw(plain html);
    unlike($mail->{plain}, qr/\{/, 'nothing is left unfilled');
    $res = remind($made);
    is_error($res, 429, qr/^This signer was reminded less than 10 minutes ago, try again in [1-6]?\d?\d s$/);
    like($res->headers->header('Retry-After'), qr/^(?:[1-9]\d{0,2})$/, 'the refusal has Retry-After');
    my $event = event_of($made);
    is($event->{signer}, $made->{submitters}[0]{uuid}, 'the event has the signer');
    is($event->{ip},     '127.0.0.1',                  'the event has the client that asked');
    is_deeply($event->{detail}, { automatic => Mojo::JSON::false() }, 'the event says that the reminder was asked for');
    wait_for(sub { history($made) });
    my ($row) = history($made);
    is_deeply([@$row{qw(event url success)}], ['reminder', 'mailto:ann@x.org', Mojo::JSON::true()],
        'the history has it');
    db("UPDATE signer SET reminded_at = reminded_at - 600000000 WHERE submission_id = " . id_of($made));
    is(remind($made)->code, 202, 'ten minutes later there may be another one');
    gets('ann@x.org', 2, 'the second reminder is sent');
    is(join(' ', events($made)), 'created reminded reminded', 'both are events');
    is(chain_fault($client->get("/signatures/$made->{uuid}/audit")->json), undef, 'the reminders are in the chain');
    is(number_of($made), 0, 'they do not count as automatic ones');
    my ($plain) = map { made([{ email => 'plain@x.org' }]) } 1;
    ok(!exists $plain->{status}, 'a submission of the contract has no status');
    is(remind($plain)->json->{status}, 'open', 'the reminder gives the submission a status');
    (my $german) = map { made([{ email => 'de@x.org', locale => 'de' }], expiresAt => '2030-05-17T18:30:00Z') } 1;
    remind($german);
    ok(wait_for(sub { mails('de@x.org', 'Erinnerung') }), 'a reminder is in the language of the signer');
    like((mails('de@x.org', 'Erinnerung'))[0]{plain}, qr/bis 1\d\. Mai 2030, \d\d:30/,
        'the deadline is in the language of the signer');
};

subtest 'who cannot be reminded' => sub {
    my $made = made([{ email => 'a1@x.org' }, { email => 'a2@x.org', order => 2 }, {}]);
    my ($ann) = signers_of($made);
    is_error(remind($made, 1), 409, 'It is not this signer\'s turn yet');
    is_error(remind($made, 2), 409, 'This signer has no email');
    $ann->sign('Ann Lee');
    is_error(remind($made, 0), 409, 'This signer has signed already');
    is_error($client->post("/signatures/$made->{uuid}/signers/$none/remind"), 404, 'Not found');
    is_error($client->post("/signatures/$none/signers/$none/remind"),         404, 'Not found');
    my $replaced = $client->post(path_of($made, 2, 'replace'),
        json => { firstname => 'E', lastname => 'L', email => 'e@x.org' })->json;
    is_error(remind($made, 2), 404, 'Not found', 'a signer who was replaced is no signer');
    is(remind($replaced, 2)->code, 202, 'the new signer is reminded');
    $client->post("/signatures/$made->{uuid}/cancel");
    is_error(remind($replaced, 2), 409, 'This submission is cancelled');
    my $done = made([{ email => 'b@x.org' }]);
    (signers_of($done))[0]->sign('Ann Lee');
    is_error(remind($done), 409, 'This submission is completed');
    my $refused = made([{ email => 'b@x.org' }]);
    (signers_of($refused))[0]->refuse('no');
    is_error(remind($refused), 409, 'This submission is refused');
    my $late = made([{ email => 'b@x.org' }], expiresAt => later(3600));
    db("UPDATE submission SET expires_at = 1000 WHERE uuid = '$late->{uuid}'");
    is_error(remind($late), 409, 'This submission is expired');
    is(scalar mails($_, 'Reminder'), 0, "no mail to $_") for qw(a1@x.org a2@x.org b@x.org);
};

subtest 'at the same time' => sub {
    my $made    = made([{ email => 'twice@x.org' }]);
    my $crowd   = $client->crowd;
    my @answers = $crowd->parallel(6, 6, sub { $crowd->request_p(POST => path_of($made, 0, 'remind')) });
    is(join(' ', sort map { $_->code } @answers), '202 429 429 429 429 429', 'one of six is accepted');
    gets('twice@x.org', 1, 'one reminder is sent');
};

subtest 'faults of a creation' => sub {
    my $after = 'must be an ISO 8601 duration in weeks, days, hours, minutes or seconds, such as P3D';
    my %good  = (after => 'P3D', every => 'P3D', most => 3);
    for (
        ['[]',  'reminders must be a JSON object'],
        ['"x"', 'reminders must be a JSON object'],
        [encode_json({ %good, from => 1 }),           'reminders: unknown member from'],
        ['{"every":"P3D","most":3}',                  "reminders: after $after"],
        [encode_json({ %good, after => 3 }),          "reminders: after $after"],
        [encode_json({ %good, every => 'P1M' }),      "reminders: every $after"],
        [encode_json({ %good, every => 'P1Y' }),      "reminders: every $after"],
        [encode_json({ %good, after => 'PT59M59S' }), 'reminders: after must be from 1 hour to 365 days'],
        [encode_json({ %good, every => 'P366D' }),    'reminders: every must be from 1 hour to 365 days'],
        [encode_json({ %good, most => 0 }),           'reminders: most must be an integer from 1 to 5'],
        [encode_json({ %good, most => 6 }),           'reminders: most must be an integer from 1 to 5'],
        [encode_json({ %good, most => 'three' }),     'reminders: most must be an integer from 1 to 5'],
        ['{"after":"P3D","every":"P3D"}',             'reminders: most must be an integer from 1 to 5'],
        [encode_json(\%good),                         'reminders: sendEmail must be true'])
    {
        my ($value, $message) = @$_;
        is_text($client->create(more => [part(reminders => $value)]), 400, $message, "$value: $message");
    }
    my $res = $client->create(more => [part(reminders => '{"after":"P3D",}')]);
    like($res->code . $res->body, qr/^400reminders must be a JSON object: ./, 'what is no JSON is refused');
};

subtest 'automatic' => sub {
    my $made = reminded('auto@x.org');
    is_deeply($made->{reminders}, { after => 'PT2H', every => 'PT1H', most => 3 }, 'the answer has what was sent');
    is($made->{status}, 'open', 'the answer has the status');
    passes($made, 1);
    settles($made);
    is(scalar mails('auto@x.org', 'Reminder'), 0, 'after an hour there is none');
    passes($made, 1);
    my ($mail) = gets('auto@x.org', 1, 'after two hours there is one');
    unlike($mail->{plain}, qr/decline by/, 'the reminder has no deadline if there is none');
    my $event = event_of($made);
    is_deeply([@$event{qw(signer ip detail)}],
        [$made->{submitters}[0]{uuid}, undef, { automatic => Mojo::JSON::true() }], 'its event says that it is');
    ok(now_of($made)->{submitters}[0]{remindedAt}, 'the signer shows when');
    settles($made);
    is(scheduled($made), 1, 'the next one is scheduled');
    passes($made, 10);
    gets('auto@x.org', 2, 'ten intervals later there is one, not ten');
    settles($made);
    passes($made, 1);
    gets('auto@x.org', 3, 'an hour later there is the third');
    settles($made);
    is(scheduled($made), 0, 'the third reminder is the last one');
    is(number_of($made), 3, 'all are counted');
    is(join(' ', events($made)), 'created reminded reminded reminded', 'the events');
    is(chain_fault($client->get("/signatures/$made->{uuid}/audit")->json), undef, 'the events are a chain');
};

subtest 'a reminder on request begins the interval again' => sub {
    my $made = reminded('again@x.org');
    passes($made, 1.5);
    is(remind($made)->code, 202, 'half an hour before the first one is due');
    gets('again@x.org', 1, 'it is sent');
    passes($made, 0.75);
    settles($made);
    is(scalar mails('again@x.org', 'Reminder'), 1, 'a quarter of an hour after the first one was due there is none');
    passes($made, 0.25);
    gets('again@x.org', 2, 'one hour after the last reminder there is another one');
    is(number_of($made), 1, 'one was automatic');
};

subtest 'order' => sub {
    my $made = reminded('', signers => [{ email => 'one@x.org' }, { email => 'two@x.org', order => 2 }]);
    my ($one, $two) = signers_of($made);
    passes($made, 5);
    gets('one@x.org', 1, 'the signer who is due is reminded');
    settles($made);
    is(scalar mails('two@x.org', 'Reminder'), 0, 'the signer who waits is not reminded');
    $one->sign('Ann Lee');
    passes($made, 1);
    settles($made);
    is(scalar mails('two@x.org', 'Reminder'), 0, 'an hour after their turn began there is none');
    passes($made, 1);
    gets('two@x.org', 1, 'two hours after their turn began, the second signer is reminded');
    is(scalar mails('one@x.org', 'Reminder'), 1, 'who has signed gets no more');
    $two->sign('Bob Lee');
    is(scheduled($made), 0, 'after the last signature nothing is scheduled');
};

subtest 'after an end' => sub {
    my %ends = (
        cancel => sub { $client->post("/signatures/$_[0]{uuid}/cancel") },
        refuse => sub { (signers_of($_[0]))[0]->refuse('no') },
        sign   => sub { (signers_of($_[0]))[0]->sign('Ann Lee') },
        expire => sub {
            db("UPDATE submission SET expires_at = 1000 WHERE uuid = '$_[0]{uuid}'");
            $client->get("/signatures/$_[0]{uuid}");
        });
    for my $end (sort keys %ends) {
        my $made = reminded("$end\@x.org", parts => { expiresAt => later(86400) });
        passes($made, 2);
        gets("$end\@x.org", 1, "$end: a reminder before it");
        settles($made);
        is(scheduled($made), 1, "$end: the next one is scheduled");
        my ($row) = history($made);
        $ends{$end}->($made);
        is(scheduled($made), 0, "$end: the timer of the reminder goes with the end");
        is($client->post("/webhooks/history/$row->{eventId}/redeliver")->code, 202, 'the last one is asked for again');
        my @rows;
        wait_for(sub { (@rows = history($made)) == 2 });
        is($rows[0]{error}, 'not sent, because the signer is not asked to sign any more',
            "$end: the queued reminder is not sent");
        is(scalar mails("$end\@x.org", 'Reminder'), 1, "$end: no other reminder arrives");
    }
};

subtest 'a replaced signer' => sub {
    my $made = reminded('old@x.org');
    passes($made, 2);
    gets('old@x.org', 1, 'one was reminded');
    settles($made);
    my %eve = (firstname => 'E', lastname => 'L', email => 'new@x.org');
    my $new = $client->post(path_of($made, 0, 'replace'), json => \%eve)->json;
    ok(!exists $new->{submitters}[0]{remindedAt}, 'the new one was not');
    passes($made, 1);
    settles($made);
    is(scalar mails('new@x.org', 'Reminder'), 0, 'an hour later they are not');
    passes($made, 1);
    gets('new@x.org', 1, 'two hours after the new signer came there is a reminder');
    is(scalar mails('old@x.org', 'Reminder'), 1, 'the old one gets no more');
};

subtest 'limits of mail' => sub {
    serve('SigreqMailLimit test-recipient=2/h');
    my $made = reminded('many@x.org');    # its invitation is the first one
    is(remind($made)->code, 202, 'the second mail to this address');
    db("UPDATE signer SET reminded_at = reminded_at - 600000000 WHERE submission_id = " . id_of($made));
    my $res = remind($made);
    is_error($res, 429, qr/^Too many test invitations to one address .* try again in \d+ s$/);
    cmp_ok($res->headers->header('Retry-After'), '>', 60, 'the refusal has Retry-After');
    gets('many@x.org', 1, 'one reminder was sent');
    passes($made, 3);
    ok(wait_for(sub { jobs_where($made, "kind = 'remind' AND state = 'scheduled' AND due_at > " . time . '000000') }),
        'an automatic one is postponed');
    is(number_of($made), 0, 'the postponed reminder is not recorded');
    is(scalar mails('many@x.org', 'Reminder'), 1, 'the postponed reminder is not sent');
    serve();                              # which has forgotten the count
    passes($made, 1);
    gets('many@x.org', 2, 'the reminder is sent when the limit allows it');
};

subtest 'another address, and templates' => sub {
    path("$dir/templates")->make_path;
    path("$dir/templates/$_")->spurt("Subject: Ours\n\n$_ {{name}} {{deadline}}\n{{link}}\n")
        for qw(invitation.txt reminder.txt);
    path("$dir/templates/$_")->spurt("<p>$_</p>\n") for qw(invitation.html reminder.html);
    serve('SigreqMailTestTo test@example.org', "SigreqMailTemplates $dir/templates");
    my $made = made([{ email => 'other@x.org' }], expiresAt => '2030-05-17T18:30:00Z');
    remind($made);
    ok(wait_for(sub { mails('test@example.org', 'Ours') }), 'another address gets reminders of the test environment');
    my ($mail) = mails('test@example.org', 'Ours');
    like($mail->{plain}, qr/^reminder\.txt .* 2030, \d\d:30 \(\w+\)$/m,
        'the text of the reminder is made with the template');
    like($mail->{html}, qr/<p>reminder\.html/, 'the HTML of the reminder is made with the template');
    like($mail->{headers}{subject}[0], qr/^TEST: Ours/, 'the reminder is marked as a test');
    ok(wait_for(sub { history($made) }), 'it is in the history, which is written after the mail');
    is((history($made))[0]{url}, 'mailto:other@x.org', 'with the address of the signer');
    unlink map {"$dir/templates/reminder.$_"} qw(txt html);
    serve("SigreqMailTemplates $dir/templates");
    remind(made([{ email => 'builtin@x.org' }]));
    gets('builtin@x.org', 1, 'without templates of reminders, the built-in ones are used');
    unlike($apart->{httpd}->log, qr/SR0602/, 'the log does not miss the templates');
};

subtest 'a service that sends no mail' => sub {
    $client = $apart->serve(place => 'Sigreq On');
    my $made = made([{ email => 'ann@x.org' }]);
    is_error(remind($made), 503, 'This service sends no mail (SigreqSMTP): nobody can be reminded');
    is_error($client->post("/signatures/$none/signers/$none/remind"), 404, 'Not found', 'what does not exist is 404');
    is(join(' ', events($made)), 'created', 'nothing is recorded');
};

serve();

subtest 'by the administrator' => sub {
    my $made = made([{ email => 'ann@y.org', firstname => 'Ann' }, { email => 'bob@y.org' }, { email => 'bob@y.org' }],
        sendEmail => 'true');
    my $mine = [{ email => 'zoe@y.org' }];
    my @uuid = ($made->{uuid});
    my $refused = sub {    # exit code, words
        my ($code, @words) = @_;
        ok(!eval { $apart->ctl('submission', @words) }, "@words[0, 2 .. $#words] is refused");
        like($@, qr/exits with $code$/m, "@words[0, 2 .. $#words]: the exit code is right");
    };
    my $by = sub { (grep { $_->{event} eq $_[0] }
        @{ $client->get("/signatures/$uuid[0]/audit")->json->{events} })[-1]{detail}{by} // 'nobody' };

    my $shown = $apart->ctl('submission', 'resend', @uuid, '--signer', 'ANN@y.org');
    is(join(' ', map { $_->{event} } @{ $shown->{events} }), 'created reminded', 'one signer is reminded');
    my ($mail) = gets('ann@y.org', 1, 'the signer is reminded by mail');
    like($mail->{plain}, qr{https://sign\.example\.org/sign/$made->{submitters}[0]{uuid}}, 'the mail has the link');
    is($by->('reminded'), 'administrator', 'the event says that an administrator reminded');
    $refused->(4, 'resend', @uuid);
    gets('bob@y.org', 2, 'the others are reminded, although one was reminded a moment ago');
    $refused->(3, 'resend', @uuid, '--signer', 'no@y.org');
    $refused->(3, $_, $none, @{ { extend => ['2030-01-31'], replace => [qw(ann@y.org A B a@b.org)] }->{$_} // [] })
        for qw(extend resend replace);

    $apart->ctl('submission', 'extend', @uuid, '2030-05-17');
    is(now_of($made)->{expiresAt}, '2030-05-17T00:00:00.000Z', 'another deadline');
    is($by->('extended'), 'administrator', 'the event says that an administrator set the deadline');
    $refused->(2, 'extend', @uuid, '2099-01-01');

    $refused->(4, 'replace', @uuid, 'bob@y.org', 'Eve', 'Poe', 'eve@y.org');
    $apart->ctl('submission', 'replace', @uuid, substr($made->{submitters}[1]{uuid}, 0, 8), 'Eve', 'Poe', 'eve@y.org');
    my $new = now_of($made)->{submitters}[1];
    is("$new->{firstname} $new->{email}", 'Eve eve@y.org', 'another signer');
    isnt($new->{uuid}, $made->{submitters}[1]{uuid}, 'the new signer has a link of their own');
    is($by->('replaced'), 'administrator', 'the event says that an administrator replaced');
    my @mails;
    wait_for(sub { @mails = mails('eve@y.org', 'sign') });
    like($mails[0]{plain}, qr{https://sign\.example\.org/sign/$new->{uuid}}, 'the new signer gets an invitation');
    is($apart->ctl('check', '--evidence', '--documents', "$dir/documents")->{problems}[0], undef,
        'the audit trail explains it') if -d "$dir/documents";

    $client->post("/signatures/$uuid[0]/cancel");
    $refused->(4, @$_) for ['resend', @uuid], ['extend', @uuid, '2030-01-31'],
        ['replace', @uuid, qw(ann@y.org A B a@b.org)];
    @uuid = made($mine)->{uuid};
    $refused->(4, 'resend', @uuid);
    is_deeply([mails('zoe@y.org', '.')], [], 'no mail for a submission without sendEmail');
};

done_testing;
