# SPDX-License-Identifier: Apache-2.0
# Users and organisations that are disabled, renamed or deleted by sigreqctl while httpd runs and they have submissions.
# With --erase, nothing of them is left, also if the command is killed and repeated.
use strict;
use warnings;
use Sigreq::Client;
use Sigreq::Here qw(suite organisation user ctl ctl_said is_error sql wait_for checked collect);
use Sigreq::Signer qw(signers_of);
use Sigreq::Traces qw(word pattern found_in database_files vacuum);
use Test::More;

my $refused = 'User not founded for this API Token';

# A user whose tokens exist, and are not created later.
sub with_tokens { my $user = shift; my @clients = @$user{qw(test live)}; return $user }

subtest 'a disabled user' => sub {
    my $org  = with_tokens(organisation());
    my $made = $org->{test}->create(signers => Sigreq::Client::signers({}, {}))->json;
    my ($first, $second) = signers_of($made);
    ctl('user', 'disable', $org->{email});
    is_error($org->{$_}->get('/tokens/current'), 401, $refused, "$_: a token is refused") for qw(test live);
    is_error($org->{test}->get("/signatures/$made->{uuid}"), 401, $refused,
        'a token of a disabled user is refused for a submission');
    is_error($org->{test}->create,                           401, $refused,
        'a token of a disabled user is refused for a creation');
    is_error($org->{test}->post('/tokens', json => { name => 'x' }), 401, $refused,
        'a token of a disabled user is refused for a new token');
    my $late = ctl('token', 'create', $org->{uuid}, $org->{email}, 'test', 'late');
    is_error($org->{test}->with(token => $late->{token})->get('/tokens'), 401, $refused, 'so is a later one');
    is($first->sign('Ann Lee')->code, 200, 'a signer can sign');
    is($second->refuse('no')->code,   200, 'another signer can refuse');
    ctl('user', 'enable', $org->{email});
    my $now = $org->{test}->get("/signatures/$made->{uuid}");
    is($now->code, 200, 'the token of the enabled user is accepted');
    is($now->json('/submitters/0/status'), 'completed', 'the token of the enabled user shows who has signed meanwhile');
    ctl('token', 'revoke', $org->{test_token}{uuid});
    ctl('user',  $_, $org->{email}) for qw(disable enable);
    is_error($org->{test}->get('/tokens'), 401, $refused, 'a revoked token stays revoked');
};

subtest 'with submissions nobody is deleted' => sub {
    my $org    = with_tokens(organisation());
    my $other  = with_tokens(user({ %$org{qw(uuid name)} }));
    my $open   = $org->{test}->create->json;
    my $signed = $org->{live}->create->json;
    (signers_of($signed))[0]->sign('Ann Lee');
    for (['user', $org->{email}], ['org', $org->{name}]) {
        my ($group, $name) = @$_;
        my ($code,  $said) = ctl_said($group, 'delete', $name);
        is($code, 4, "$group delete fails");
        like($said, qr/has 1 open and 1 other submissions: nothing was deleted/,
            "$group delete names the numbers of submissions");
    }
    is($org->{$_->[0]}->get("/signatures/$_->[1]{uuid}")->code, 200, 'the submissions exist')
        for [test => $open], [live => $signed];
    ctl('user', 'delete', $other->{user_uuid});
    is_error($other->{test}->get('/tokens'), 401, $refused, 'a user without submissions is deleted');
    is((ctl_said('user', 'delete', $other->{user_uuid}))[0], 3, 'the deleted user does not exist any more');
    is(sql('SELECT count(*) FROM token WHERE user_id NOT IN (SELECT id FROM user_account)'), 0, 'no token is left');
    ctl('org', 'rename', $org->{name}, "$org->{name} Ltd");
    is($org->{test}->get('/tokens/current')->json('/organization/name'), "$org->{name} Ltd", 'the new name is shown');
};

# --- --erase

my @words;
sub closed {    # a submission of a client that was cancelled, with words of its own
    my $client = shift;
    push @words, map { word() } 1 .. 3;
    my $made = $client->create(
        name    => "Lease $words[-1]",
        signers => Sigreq::Client::signers({ firstname => $words[-2], email => "$words[-3]\@example.org" }))->json;
    $client->post("/signatures/$made->{uuid}/cancel", json => {});
    return $made;
}

subtest 'user delete --erase' => sub {
    my $org   = with_tokens(organisation());
    my $other = with_tokens(user($org));
    my $kept  = closed($org->{test});
    my @made  = map { closed($other->{$_}) } qw(test live);
    my $open  = $other->{test}->create->json;
    my @erase = ('user', 'delete', $other->{user_uuid}, '--erase');
    ctl('submission', 'hold', $made[0]{uuid}, 'Case 17');
    my ($code, $said) = ctl_said(@erase);
    is($code, 4, 'an open submission and one under legal hold');
    like($said, qr/has 1 open submissions, and 1 under legal hold: the user was not deleted/,
        'the open and the held submission are named');
    is($other->{live}->get("/signatures/$made[1]{uuid}")->code, 200, 'nothing is deleted');
    ctl('submission', 'cancel', $open->{uuid});
    is((ctl_said(@erase))[0], 4, 'the legal hold alone');
    ctl('submission', 'release', $made[0]{uuid});
    is($other->{test}->delete("/signatures/$open->{uuid}")->code, 204, 'there is a tombstone');
    sql("UPDATE submission SET erasing = '[]' WHERE uuid = '$open->{uuid}'");    # and files that must be removed
    ($code, $said) = ctl_said('--json', @erase);
    is($code, 0, 'then they are deleted') or diag $said;
    like($said, qr/"erased": 3/, 'three submissions are deleted');
    is_error($other->{test}->get('/tokens'), 401, $refused, 'the tokens are refused');
    is((ctl_said(@erase))[0], 3, 'the user does not exist any more');
    is($org->{test}->get("/signatures/$kept->{uuid}")->code, 200, 'those of another user stay');
    is((ctl_said('submission', 'show', $made[0]{uuid}))[0], 3, 'no tombstone is left');
    is((ctl_said('org', 'delete', $org->{uuid}))[0], 4, 'the organisation is not deleted without --erase');
    is((ctl_said('org', 'delete', $org->{uuid}, '--erase'))[0], 0, 'the organisation is deleted with --erase');
};

subtest 'org delete --erase, killed' => sub {
    my $org = with_tokens(organisation(name => word()));
    push @words, $org->{name};
    closed($org->{test}) for 1 .. 12;
    my @command = (
        suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', suite->{params}, '--documents',
        suite->{dir} . '/documents', 'org', 'delete', $org->{uuid}, '--erase');
    my $deleted = "SELECT count(*) FROM submission s JOIN organization o ON o.id = s.organization_id "
        . "WHERE o.uuid = '$org->{uuid}' AND s.state = 'deleted'";
    my $exists = "SELECT count(*) FROM organization WHERE uuid = '$org->{uuid}'";
    for my $round (1 .. 2) {
        my $before = sql($deleted);
        my $pid    = fork // die "fork: $!\n";
        if (!$pid) { open STDOUT, '>', '/dev/null' or die; exec @command or die }
        wait_for(sub { sql($deleted) > $before || !sql($exists) });
        kill KILL => $pid;
        waitpid $pid, 0;
        note 'killed after ', sql($deleted), ' of 12';
    }
    my ($code) = ctl_said('org', 'delete', $org->{uuid}, '--erase');
    like($code, qr/^[03]$/, 'the last run finishes, or found nothing');
    is(sql($exists), 0, 'the organisation does not exist');
    for (['token', 'user_id', 'user_account'], ['event', 'submission_id', 'submission'],
        ['submission', 'organization_id', 'organization'], ['job', 'submission_id', 'submission'])
    {
        my ($table, $column, $of) = @$_;
        is(sql("SELECT count(*) FROM $table WHERE $column NOT IN (SELECT id FROM $of)"), 0, "no $table is left");
    }
};

subtest 'nothing is left' => sub {
    collect() for 1, 2;
    my @found;
    wait_for(sub {    # PostgreSQL keeps rows that an older statement of another session might read
        vacuum();
        @found = found_in(pattern(@words), [database_files()]);
        return !@found;
    });
    is_deeply(\@found, [], 'no file of the database has a word of them');
    my $report = checked();
    is_deeply([@$report{qw(missing damaged)}], [0, 0], 'sigreqctl check finds all documents');

    # `gc --reserved 0` of this file and others forgets the key of an upload that a busy httpd still writes
    my @foreign = map { glob suite->{dir} . "/documents/*/$_->{key}" } grep { $_->{problem} eq 'foreign' }
        @{ $report->{problems} };
    is_deeply([found_in(pattern(@words), \@foreign)], [], 'no foreign file has a word of the deleted ones');
};
done_testing;
