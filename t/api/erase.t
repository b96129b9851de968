# SPDX-License-Identifier: Apache-2.0
# DELETE /signatures/{uuid}: what is personal is gone, from the database, the documents folder, the cache and every
# answer. A tombstone with the chain of commitments stays, and so does all that belongs to others.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Client;
use Sigreq::Evidence qw(chain_fault commands_say);
use Sigreq::Here
    qw(suite organisation user is_error wait_for sql collect children stored reports ctl_said queued);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Sigreq::Traces qw(word pattern patterns found_in not_in files_below database_files vacuum administrator);
use Test::More;
use Time::HiRes qw(sleep time);

my $MANY   = $ENV{SIGREQ_ERASE} // 12;
my $org    = organisation();
my $client = $org->{test};
my $other  = user($org)->{test};

sub later { Mojo::Date->new(time + $_[0])->to_datetime }
sub path_of { "/signatures/$_[0]{uuid}" }
sub page_of { "/documents/$_[0]{documents}[0]{uuid}/pages/0.png?width=200" }

# --- submissions with personal texts of their own

sub sign_by_hand {    # returns a text that is only in the stored drawing
    my ($signer, $uuid, @agent) = @_;
    my @strokes = map { [map { [map { rand 100 } 1 .. 2] } 1 .. 9] } 1 .. 2;
    my %drawn = (type => 'drawn', width => 100, height => 100, strokes => \@strokes);
    my $res   = $signer->post(
        json => { action => 'sign', consent => Mojo::JSON->true, signature => \%drawn }, @agent);
    is($res->code, 200, 'signed by hand') or diag $res->body;
    my $personal = sql("SELECT e.personal FROM event e JOIN submission s ON s.id = e.submission_id "
            . "WHERE s.uuid = '$uuid' AND e.personal LIKE '%strokes%'");
    my ($points) = $personal =~ /strokes\W+([\d.,]{24})/;
    ok($points, 'the drawing is stored with the event') or diag $personal;
    return $points;
}

sub add_values {    # a field with a value of the caller, and one that the signer fills in
    my ($person, $value) = @_;
    my ($field) = @{ $person->{fields} };
    for my $y (300, 360) {
        my $area = { %{ $field->{area} }, y => $y };
        push @{ $person->{fields} }, { %$field, type => 'text', name => "Text $y", area => $area };
    }
    $person->{fields}[1]{value} = $value;
    return;
}

sub submission {    # {made, words, bytes, kind, version}; a word is in each text that is personal
    my ($kind) = @_;
    my @words = map { word() } 1 .. 12;
    my ($first, $last, $mail, $name, $file, $page, $id, $meta, $agent, $reason, $key, $second) = @words;
    my $bytes = pdf(nonce => $page);
    my $people = Sigreq::Client::signers(
        { firstname => "Z\x{f6}e $first", lastname => "L'$last", email => "$mail\@example.org" },
        { firstname => $second, area => { y => 200 } });
    $_->{fields}[0]{document} = "$file.pdf" for @$people;
    my @values = $kind eq 'completed' ? (word(), word()) : ();
    add_values($people->[0], $values[0]) if @values;
    my $res = $client->create(
        name    => "Vertrag \xc3\xbcber $name",
        files   => [["$file.pdf", $bytes]],
        signers => $people,
        more    => [part('externalId', $id), part('metadata', encode_json({ note => $meta }))],
        headers => { 'Idempotency-Key' => $key });
    is($res->code, 201, "$kind: created") or diag $res->body;
    my $made = $res->json;
    my ($one, $two) = signers_of($made);
    my @agent = (headers => { 'User-Agent' => "Pen/1 $agent" });
    $one->get(page_of($made), headers => { Accept => undef });
    my $version = $one->state->{documents}[0]{sha256};
    my %values = @values ? (values => { 3 => $values[1] }) : ();
    $one->post(json => { %{ Sigreq::Signer::typed("Z\x{f6}e $first") }, %values }, @agent);
    if    ($kind eq 'completed') { push @words, sign_by_hand($two, $made->{uuid}, @agent), @values }
    elsif ($kind eq 'refused')   { $two->post(json => { action => 'refuse', reason => $reason }, @agent) }
    elsif ($kind eq 'cancelled') { $client->post(path_of($made) . '/cancel', json => { reason => $reason }) }
    elsif ($kind eq 'expired') {
        $client->request(PATCH => path_of($made), json => { expiresAt => later(3600) });
        sql("UPDATE submission SET expires_at = 1 WHERE uuid = '$made->{uuid}'");
        $client->get(path_of($made));
    }
    return {
        made => $made, words => \@words, bytes => $bytes, kind => $kind, uuid => $made->{uuid}, version => $version };
}

my $root = Sigreq::Here::local_folder();

subtest 'which submissions can be deleted' => sub {
    my $made = $client->create->json;
    is_error($client->delete(path_of($made)), 409, 'This submission is open: cancel it before you delete it');
    is($client->get(path_of($made))->code, 200, 'nothing has changed after the refusal');
    $client->post(path_of($made) . '/cancel', json => {});
    sql("UPDATE submission SET held_at = 1, hold_reason = 'Court' WHERE uuid = '$made->{uuid}'");
    is_error($client->delete(path_of($made)), 409, 'This submission is under legal hold and cannot be deleted');
    sql("UPDATE submission SET held_at = NULL, hold_reason = NULL WHERE uuid = '$made->{uuid}'");
    is_error($other->delete(path_of($made)),       404, 'Not found', 'another user does not find it');
    is_error($org->{live}->delete(path_of($made)), 404, 'Not found', 'nor does the other environment');
    is($client->delete(path_of($made))->code, 204, 'it is deleted');
    is_error($client->delete(path_of($made)), 410, 'This submission was deleted', 'again');
    my $list = sub { $client->get('/signatures', query => {@_})->json->{data} };
    my ($tombstone) = @{ $list->(status => 'deleted', updatedAfter => $made->{updatedAt}) };
    is_deeply([@$tombstone{qw(uuid createdAt status name submitters documents)}],
        [@$made{qw(uuid createdAt)}, 'deleted', '', [], []], 'the list shows with status=deleted that it was deleted');
    cmp_ok($tombstone->{updatedAt}, 'gt', $made->{updatedAt}, 'the list shows when it was deleted');
    is_deeply($list->(status => 'deleted', updatedAfter => $tombstone->{updatedAt}), [], 'the list shows no others');
    is_deeply($list->(updatedAfter => $made->{updatedAt}), [], 'without the filter it is not in the list');
    is_deeply($other->get('/signatures', query => { status => 'deleted' })->json->{data}, [],
        'another user\'s list does not have it');
    my $late = submission('open');
    sql("UPDATE submission SET expires_at = 1 WHERE uuid = '$late->{uuid}'");
    is($client->delete(path_of($late))->code, 204, 'one whose deadline is over');
};

my @kinds = qw(completed refused cancelled expired);
my @all   = map { submission($kinds[$_ % 4]) } 0 .. $MANY - 1;
my @gone  = grep { $_ % 3 } 0 .. $#all;
my @kept  = @all[grep { !($_ % 3) } 0 .. $#all];
@gone = @all[@gone];
my %evidence = map { $_->{uuid} => $client->get(path_of($_) . '/audit')->body } @all;
my %before   = map { $_->{uuid} => $client->get(path_of($_))->json } @kept;

subtest 'before' => sub {
    my @files = (database_files(), files_below($root, suite->{dir} . '/cache'));
    my ($drawn) = grep { $_->{words}[12] } @gone;
    is_deeply([not_in([@{ $drawn->{words} }[12 .. 14]], \@files)], [], 'a drawing and two values are found');
    my %missed = map { $_ => 1 } not_in([map { @{ $_->{words} }[0 .. 8] } @gone[0 .. 3]], \@files);
    is_deeply([grep { $missed{$_} } @{ $_->{words} }[0 .. 8]], [], "$_->{kind}: each word is found") for @gone[0 .. 3];
    for my $one ($gone[0], $drawn) {
        my @pages = grep {/\Q$one->{version}\E\.\w+\.\d+\.0\.200/} files_below($root);
        is(scalar @pages, 1, "$one->{kind}: a page is in the cache");
    }
};

my %size = map { $_ => -s } files_below(suite->{dir} . '/t/logs');

subtest 'deletion' => sub {
    for my $one (@gone) {
        my $last = decode_json($evidence{ $one->{uuid} })->{events}[-1]{hash};
        my $res = $client->delete(path_of($one));
        is($res->code, 204, "$one->{kind}: deleted") or diag $res->body;
        my $made = $one->{made};
        is_error($client->get(path_of($one)), 410, 'This submission was deleted');
        is_error($client->get(path_of($one) . $_), 410, 'This submission was deleted', "410: $_")
            for "/documents/$made->{documents}[0]{uuid}", '/certificate';
        is_error($client->post(path_of($one) . '/cancel', json => {}), 410, 'This submission was deleted');
        my $change = $client->request(PATCH => path_of($one), json => { expiresAt => undef });
        is_error($change, 410, 'This submission was deleted');
        is_error($other->get(path_of($one)),            404, 'Not found', 'another user');
        is_error($other->get(path_of($one) . '/audit'), 404, 'Not found', 'another user');
        my ($signer) = signers_of($made);
        is($signer->get('')->code, 404, 'the link is an unknown one');
        is($signer->get("/documents/$made->{documents}[0]{uuid}")->code, 404, 'the document is unknown');
        is($signer->get(page_of($made), headers => { Accept => undef })->code, 404, 'the page is unknown');
        is(queued($one->{uuid}), 0, 'no job');
        my $answer = $client->get(path_of($one) . '/audit');
        my $audit  = $answer->json;
        is(chain_fault($audit), undef, 'the chain is right');
        is(commands_say(suite->{source}, $answer->body), '', 'the documented commands say so, too');
        is($audit->{events}[-1]{event}, 'deleted', 'the last event');
        is($audit->{events}[-1]{detail}{outcome}, $one->{kind}, 'has the outcome');
        is($audit->{events}[-2]{hash},            $last,        'the chain is the one from before');
        unlike($answer->body, pattern(@{ $one->{words} }), 'no personal text');
        unlike($answer->body, qr/127\.0\.0\.1/,            'no address');
        is($audit->{events}[0]{detail}{documents}[0]{sha256}, sha256_hex($one->{bytes}), 'the hash of the document');
    }
    my @listed = map { $_->{uuid} } @{ $client->get('/signatures', query => { limit => 100 })->json->{data} };
    my %listed = map { $_ => 1 } @listed;
    is_deeply([grep { $listed{ $_->{uuid} } } @gone], [], 'lists do not have them');
    is_deeply([grep { !$listed{ $_->{uuid} } } @kept], [], 'lists have the others');
    my $history = $client->get('/webhooks/history', query => { submissionId => $gone[0]{uuid} })->json->{data};
    is_deeply($history, [], 'the history of webhooks does not have them');
};

subtest 'nothing is left' => sub {
    collect() for 1, 2;
    sleep 1.1;    # the quarantine counts whole seconds
    collect('--quarantine-days', 0);
    my @patterns = patterns(map { @{ $_->{words} } } @gone);
    my @found;
    wait_for(sub {    # PostgreSQL keeps rows that an older statement of another session might read
        vacuum();
        my @files = (database_files(), files_below($root, suite->{dir} . '/cache', suite->{dir} . '/t/logs'));
        @found = found_in(\@patterns, \@files, \%size);
        return !@found;
    });
    is_deeply(\@found, [], 'no file has a personal text');
    for ('/signatures?limit=100', '/webhooks/history?limit=100', '/tokens?limit=100') {
        my $body = $client->get($_)->body;
        is_deeply([grep { $body =~ $_ } @patterns], [], "nor has $_");
    }
    is_deeply([map { stored(sha256_hex($_->{bytes})) } @gone],  [], 'no document is stored');
    is_deeply([map { reports(sha256_hex($_->{bytes})) } @gone], [], 'no report is stored');
    my @pages = map { (sha256_hex($_->{bytes}), $_->{version}) } @gone;
    my $any   = join '|', @pages;
    is_deeply([grep {/$any/} files_below($root, suite->{dir} . '/cache')], [], 'no page is stored');
    is(sql('SELECT count(*) FROM submission WHERE erasing IS NOT NULL'), 0, 'nothing is left to do');
};

subtest 'the others' => sub {
    for my $one (@kept) {
        is_deeply($client->get(path_of($one))->json, $before{ $one->{uuid} }, 'another submission is as it was');
        my $answer = $client->get(path_of($one) . '/audit');
        unlike($answer->body, qr/strokes/, 'the trail does not show the drawing');
        is($answer->body, $evidence{ $one->{uuid} }, 'the evidence of another submission stays');
        is(chain_fault($answer->json), undef, 'the evidence of another submission is a chain');
        my $document = $one->{made}{documents}[0]{uuid};
        is($client->get(path_of($one) . "/documents/$document?version=original")->body,
            $one->{bytes}, 'the document of another submission stays');
    }
    my ($code, $said) = ctl_said('check');
    is($code, 0, 'sigreqctl check finds no fault') or diag $said;
};

subtest 'a document that others use' => sub {
    my $bytes = pdf(nonce => "shared $$");
    my @made  = map { $client->create(files => [['a.pdf', $bytes]])->json } 1 .. 2;
    my ($signer) = signers_of($made[0]);
    $signer->get(page_of($made[0]), headers => { Accept => undef });
    $client->post(path_of($made[0]) . '/cancel', json => {});
    is($client->delete(path_of($made[0]))->code, 204, 'one is deleted');
    collect();
    my $sha256 = sha256_hex($bytes);
    is(scalar reports($sha256), 1, 'its report stays');
    is(scalar(grep {/$sha256\..*\.200/} files_below($root)), 1, 'its page stays');
    my $document = $client->get(path_of($made[1]) . "/documents/$made[1]{documents}[0]{uuid}");
    is($document->body, $bytes, 'the other has its document');
    is((signers_of($made[1]))[0]->sign('Ann Lee')->code, 200, 'the other submission can be signed');
};

subtest 'sigreqctl submission delete' => sub {
    my $one = submission('cancelled');
    is((ctl_said('submission', 'delete', $client->create->json('/uuid')))[0], 4, 'an open submission is refused');
    my ($code, $said) = ctl_said('submission', 'delete', $one->{uuid});
    is($code, 0, 'a closed one is deleted') or diag $said;
    is_error($client->get(path_of($one)), 410, 'This submission was deleted');
    is_deeply([reports(sha256_hex($one->{bytes}))], [], 'the report of the deleted submission is gone');
    ($code, $said) = ctl_said('submission', 'delete', $one->{uuid});
    is($code, 4, 'again');
    like($said, qr/This submission was deleted/, 'the second deletion says that it was deleted');
    is((ctl_said('submission', 'delete', '11111111-2222-4333-8444-555555555555'))[0], 3, 'there is no such submission');
};

subtest 'a repeated creation' => sub {
    my @same = (headers => { 'Idempotency-Key' => word() }, files => [['a.pdf', pdf(nonce => word())]]);
    my $made = $client->create(@same)->json;
    is($client->create(@same)->json('/uuid'), $made->{uuid}, 'the key gives the first answer');
    $client->post(path_of($made) . '/cancel', json => {});
    $client->delete(path_of($made));
    isnt($client->create(@same)->json('/uuid'), $made->{uuid},
        'after the deletion, the same key makes a new submission');
};

subtest 'evidence from before there were commitments' => sub {
    my $made = $client->create->json;
    my $id   = "(SELECT id FROM submission WHERE uuid = '$made->{uuid}')";
    my $old  = '{"at":"2026-11-20T18:09:23.123Z","detail":{"reason":"x"},"event":"created","ip":"192.0.2.7","number":1,'
        . '"previousHash":null,"signer":null,"userAgent":null}';
    my $hash = sha256_hex($old);
    my $body = $old =~ s/"ip"/"hash":"$hash","ip"/r;
    sql("UPDATE event SET body = '$body', hash = '$hash', personal = NULL WHERE submission_id = $id");
    sql("UPDATE submission SET events_hash = '$hash' WHERE uuid = '$made->{uuid}'");
    $client->post(path_of($made) . '/cancel', json => {});
    my $answer = $client->get(path_of($made) . '/audit');
    is(chain_fault($answer->json), undef, 'it is verified as before');
    is(commands_say(suite->{source}, $answer->body), '', 'the documented commands verify it as before');
    is($client->delete(path_of($made))->code, 204, 'deleted');
    $answer = $client->get(path_of($made) . '/audit');
    is_deeply($answer->json('/events/0'), { number => 1, previousHash => undef, hash => $hash }, 'its hash stays');
    is(chain_fault($answer->json), undef, 'the hash is in the chain');
    is(commands_say(suite->{source}, $answer->body), '', 'the documented commands verify the chain');
};

sub spoil {    # what a process leaves that is killed after the commit: → the files
    my ($one) = @_;
    my $sha256 = sha256_hex($one->{bytes});
    my $organization = $org->{uuid};
    my ($ab, $cd) = $sha256 =~ /^(..)(..)/;
    my $owner  = substr sha256_hex("$organization.test"), 0, 16;
    my $report = "$root/$ab/$sha256.$organization.test.json";
    my $page   = "$root/cache/$ab/$cd/$sha256.$owner.4.0.200.image";
    for my $file ($report, $page) { path($file)->dirname->make_path; path($file)->spurt('x') }
    sql("UPDATE submission SET erasing = '[\"$sha256\"]' WHERE uuid = '$one->{uuid}'");
    return ($report, $page);
}

subtest 'what a killed process leaves' => sub {
    my @files = spoil($gone[0]);
    is_error($client->delete(path_of($gone[0])), 410, 'This submission was deleted', 'the second call');
    is_deeply([grep { -e } @files], [], 'the second call has removed the files');
    is(sql('SELECT count(*) FROM submission WHERE erasing IS NOT NULL'), 0, 'nothing is left of the submission');
    @files = (spoil($gone[1]), spoil($gone[2]));
    collect();
    is_deeply([grep { -e } @files], [], 'sigreqctl gc does the same');
    is(sql('SELECT count(*) FROM submission WHERE erasing IS NOT NULL'), 0, 'sigreqctl gc ends all deletions');
};

# Calls DELETE, and kills all children of httpd when it waits for a lock in its transaction, or after a time.
sub killed {
    my ($one, $ready, $release) = @_;
    my $done = 0;
    $client->request_p(DELETE => path_of($one))->then(sub { $done = 1 }, sub { $done = 1 });
    my $end = time + 120;
    Mojo::IOLoop->one_tick until $done || $ready->() || time > $end;
    kill KILL => children();
    $release->();
    Mojo::IOLoop->one_tick until $done;
    my $res;
    wait_for(sub { $res = eval { $client->delete(path_of($one)) }; $res && $res->code =~ /^(?:204|410)$/ });
    is_error($client->get(path_of($one)), 410, 'This submission was deleted', 'the submission is deleted');
    my $signers = "SELECT count(*) FROM signer WHERE submission_id = (SELECT id FROM submission WHERE uuid = '%s')";
    is(sql(sprintf $signers, $one->{uuid}), 0, 'its signers are deleted');
    is(chain_fault($client->get(path_of($one) . '/audit')->json), undef, 'a tombstone stays');
    is_deeply([reports(sha256_hex($one->{bytes}))], [], 'no report stays');
    return $res->code;
}

subtest 'killed at any time' => sub {
    for my $delay (map { $_ * 4 } 0 .. 4) {
        my $until = time + $delay / 1000;
        my $code = killed(submission('cancelled'), sub { time >= $until }, sub { });
        note "killed after $delay ms: $code";
    }
};

subtest 'killed in the transaction' => sub {
    my $one  = submission('cancelled');
    my $hold = "UPDATE submission SET updated_at = updated_at WHERE uuid = '$one->{uuid}'";
    my ($program, @options) = suite->{db} eq 'pgsql' ? qw(psql -qXAt) : ('sqlite3', '-cmd', '.timeout 60000');
    push @options, suite->{params};
    open my $in, '|-', "$program @{[map { qq('$_') } @options]} >/dev/null" or die "$program: $!\n";
    $in->autoflush(1);
    print {$in} suite->{db} eq 'pgsql' ? "BEGIN;\nSET search_path = sigreq;\n$hold;\n" : "BEGIN IMMEDIATE;\n$hold;\n";
    my $waits = suite->{db} eq 'pgsql'
        ? sub { sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") > 0 }
        : do { my $at = time + 2; sub { time >= $at } };
    my $held = 'SELECT count(*) FROM pg_stat_activity '
        . "WHERE state = 'idle in transaction' AND query LIKE 'UPDATE subm%'";
    my $is_held =
        suite->{db} eq 'pgsql'
        ? sub { sql($held) > 0 }
        : sub { system("sqlite3 -cmd '.timeout 0' '@{[suite->{params}]}' 'BEGIN IMMEDIATE' 2>/dev/null") != 0 };
    ok(wait_for($is_held), 'the row is locked, or the database');
    my $end = sub {
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", administrator())
            if suite->{db} eq 'pgsql';    # else the server would go on without its client
        print {$in} "ROLLBACK;\n";
        close $in;
    };
    my $code = killed($one, $waits, $end);
    is($code, 204, 'the second call has deleted it');
};

done_testing;
