# SPDX-License-Identifier: Apache-2.0
# The answer of GET is rendered from the records of the database. A representation that an older program has stored is
# rendered again, alone and in lists, and is the same as before, in every state of the submission.
use strict;
use warnings;
use Sigreq::Here   qw(suite organisation sql wait_for);
use Sigreq::PDF    'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my @people = ({ email => "\x{c9}va\@example.org", lastname => "O'Neil \"x\" \\ \x{1f600}" },
    { firstname => 'Bob', area => { y => 200, x => 12.5 } });

sub create {
    my (%options) = @_;
    my $made = $client->create(
        files   => [['a.pdf', pdf(nonce => "representation $$ " . rand, pages => 2)]],
        signers => Sigreq::Client::signers(@people),
        %options
    );
    is($made->code, 201, 'a submission') or diag $made->body;
    return ($made->json('/uuid'), signers_of($made->json));
}

sub sign { is(shift->sign->code, 200, 'one signs') }

my %made;
($made{new}) = create(skipIntro => 'true');
{
    my ($uuid, $first) = create(unknown => 'x');    # which gives a warning
    $first->state;
    $made{opened} = $uuid;
}
{
    my ($uuid, $first, $second) = create(locale => 'de');
    sign($first);
    $second->refuse('too "dear"');
    $made{refused} = $uuid;
}
{
    my ($uuid, @all) = create(caption => 'name,date');
    sign($_) for @all;
    $made{completed} = $uuid;
}

my %states = (new => 'open', opened => 'open', refused => 'refused', completed => 'completed');
for my $name (sort keys %made) {
    my $uuid = $made{$name};
    is(sql("SELECT state FROM submission WHERE uuid = '$uuid'"), $states{$name}, "$name: its state is a column");
    is(sql("SELECT access_epoch FROM submission WHERE uuid = '$uuid'"), $states{$name} eq 'open' ? 0 : 1,
        "$name: access_epoch is raised if it is closed");
    my $before = $client->get("/signatures/$uuid")->body;
    my $stored = sql("SELECT representation FROM submission WHERE uuid = '$uuid'");
    sql("UPDATE submission SET representation = '{}', representation_version = 0 WHERE uuid = '$uuid'");
    is($client->get("/signatures/$uuid")->body, $before,
        "$name: a representation of an older version is rendered again and is the same");
    is(sql("SELECT representation FROM submission WHERE uuid = '$uuid'"), $stored,
        "$name: the rendered representation is stored");
    isnt(sql("SELECT representation_version FROM submission WHERE uuid = '$uuid'"), 0,
        "$name: the representation is stored with its version");
    is($client->get("/signatures/$uuid")->body, $before, "$name: the stored representation is read");
}

my $list = $client->get('/signatures')->body;
sql("UPDATE submission SET representation = '{}', representation_version = 0 WHERE uuid = '$_'") for values %made;
is($client->get('/signatures')->body, $list, 'a list of older representations is the same');
is(sql('SELECT count(*) FROM submission WHERE representation_version = 0'), 0,
    'all representations of the list are stored');

my $foreign = organisation()->{test};
sql("UPDATE submission SET representation = '{}', representation_version = 0 WHERE uuid = '$made{new}'");
is($foreign->get("/signatures/$made{new}")->code, 404, 'an older representation of another user is not found');
is(sql("SELECT representation FROM submission WHERE uuid = '$made{new}'"), '{}',
    'a representation of another user is not rendered');
for ('initiated', 'sent', 'opened', 'completed') {
    my %want = (initiated => 0, sent => 2, opened => 2, completed => 2);
    is($client->get('/signatures', query => { status => $_ })->json('/pagination/count'), $want{$_}, "filtered by $_");
}
done_testing;
