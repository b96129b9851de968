# SPDX-License-Identifier: Apache-2.0
# What stays of the checks of signers' identities: the certificate of completion says in words how each signer was
# identified, the audit trail has the events with commitments, and a deletion erases what is personal in them.
use strict;
use warnings;
use utf8;
use Encode 'decode_utf8';
use Mojo::File 'tempfile';
use Mojo::JSON 'decode_json';
use Sigreq::Client;
use Sigreq::Evidence qw(chain_fault commands_say);
use Sigreq::Here qw(suite organisation sql wait_for);
use Sigreq::Signer qw(signers_of typed);
use Sigreq::Traces qw(word pattern found_in database_files vacuum);
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $client = organisation()->{test};

sub created {    # the members of the signers → the submission
    my $res = $client->create(signers => Sigreq::Client::signers(@_));
    is($res->code, 201, 'created') or BAIL_OUT($res->body);
    return $res->json;
}
sub path_of { return "/signatures/$_[0]{uuid}" . ($_[1] // '') }
sub signer_path { my ($made, $at, $what) = @_; return path_of($made, "/signers/$made->{submitters}[$at]{uuid}$what") }
sub signer { return Sigreq::Signer->new(link => $_[0]) }
sub enter { my ($signer, $code) = @_; return $signer->request(POST => '/check', json => { code => $code }) }

sub audit {
    my $body = $client->get(path_of($_[0], '/audit'))->body;
    my $audit = decode_json($body);
    is(chain_fault($audit), undef, 'the chain of events is right');
    is(commands_say(suite->{source}, $body), '', 'the documented commands say so, too');
    return @{ $audit->{events} };
}

sub certificate {    # its text, without the breaks of lines
    my $res = $client->get(path_of($_[0], '/certificate'));
    is($res->code, 200, 'the certificate') or diag $res->body;
    my $file = tempfile->spurt($res->body);
    return decode_utf8(`pdftotext -raw -enc UTF-8 $file -`) =~ s/\s+/ /gr;
}
sub has { my ($text, $what) = @_; return ok(index($text, $what) >= 0, "the certificate has: $what") || diag $text }

my ($how, $reference) = ('Seen ' . word(), 'R-' . word());
my $checked = created(
    { authentication => { method => 'code', code => '4711-KX' } },
    { firstname => 'Bo', authentication => { method => 'caller', when => 'sign' } },
    { firstname => 'Cy' });
my ($ann, $bo, $cy) = signers_of($checked);

subtest 'the certificate' => sub {
    is(enter($ann, '0000')->code, 403, 'a wrong code');
    is(signer(enter($ann, '4711 kx')->json('/url'))->sign('Ann Lee')->code, 200, 'the right code, and a signature');
    my $url = $client->post(signer_path($checked, 1, '/session'),
        json => { how => $how, reference => $reference, at => '2026-01-02T03:04:05Z' })->json('/url');
    is(signer(signer($url)->get('')->json('/url'))->sign('Bo Lee')->code, 200, 'a visit, and a signature');
    is($cy->sign('Cy Lee')->code, 200, 'a signature without a check');
    my $text = certificate($checked);
    has($text, 'Identity check Entered a code from the requester Checked by the requester');
    has($text, "In the requester’s words $how");
    has($text, "Requester’s reference $reference");
    like($text, qr{Time given by the 2026-01-0[123] [\d:]+ \S+ requester}, 'the time that the caller gave');
    like($text, qr/Identity confirmed 20[-\d]+ [\d:]+ [-+\d:]+ 20[-\d]+ [\d:]+ /, 'and when both were identified');
    is(scalar(() = $text =~ /Identity check/g), 1, 'the signer without a check has no such row');
    has($text, $_) for 'Wrong code entered', 'Admitted by the requester';
    unlike($text, qr/4711-?kx/i, 'the code is not there');
};

subtest 'the audit trail' => sub {
    my @events = audit($checked);
    my %of;
    push @{ $of{ $_->{event} } }, $_ for @events;
    is_deeply(
        [map { $_->{authentication} } @{ $of{created}[0]{detail}{signers} }],
        [{ method => 'code', when => 'open' }, { method => 'caller', when => 'sign' }, undef],
        'the first event has how signers are to be identified');
    is_deeply([map { $_->{detail}{method} } @{ $of{codeFailed} }, @{ $of{authenticated} }],
        [qw(code code caller)], 'each check is an event');
    my ($failed, $code, $caller) = (@{ $of{codeFailed} }, @{ $of{authenticated} });
    is_deeply([$failed->{signer}, $failed->{ip}], [$checked->{submitters}[0]{uuid}, '127.0.0.1'],
        'a wrong code has the address of the signer');
    is_deeply([@{ $caller->{detail} }{qw(how reference at)}], [$how, $reference, '2026-01-02T03:04:05.000Z'],
        'the words of the caller');
    is_deeply([map { defined $caller->{commitments}{"detail.$_"} } qw(how reference at)], [1, 1, ''],
        'have commitments');
    my ($at) = grep { $events[$_] == $code } 0 .. $#events;
    is($events[$at + 1]{event}, 'opened', 'the documents were opened after the check');
};

subtest 'a signer who was replaced' => sub {
    my $made = created({ authentication => { method => 'code', code => '4711-KX' } });
    my ($old) = signers_of($made);
    ok(enter($old, '4711-KX')->json('/url'), 'the old signer is identified');
    my $res = $client->post(signer_path($made, 0, '/replace'),
        json => { firstname => 'Eve', lastname => 'Roe', authentication => undef });
    is($res->code, 200, 'replaced') or diag $res->body;
    is((signers_of($res->json))[0]->sign('Eve Roe')->code, 200, 'the new signer signs');
    my $text = certificate($made);
    unlike($text, qr/Identity check|Entered a code/, 'the check of the old signer does not count for the new one');
    has($text, 'Identity confirmed');    # among the events
};

subtest 'no check' => sub {
    my $made = created({});
    is((signers_of($made))[0]->sign('Ann Lee')->code, 200, 'signed');
    unlike(certificate($made), qr/Identity/, 'the certificate says nothing of one');
    is(join(' ', map { $_->{event} } audit($made)), 'created opened signed completed', 'nor do the events');
    is_deeply([sort keys %{ (audit($made))[0]{detail}{signers}[0] }],
        [qw(email firstname lastname uuid)], 'the first event has the members that it had before');
};

subtest 'a deletion' => sub {
    my ($to, $user, $code) = map { word() } 1 .. 3;
    my $made = created(
        {},
        { firstname => 'Bo' },
        { firstname => 'Cy', authentication => { method => 'code', code => $code } });
    my @stored = ("hook\",\"to\":\"$to", "httpd\",\"user\":\"$user");    # this server does not offer all methods
    sql("UPDATE signer SET authentication = '{\"method\":\"$stored[$_]\"}' "
            . "WHERE uuid = '$made->{submitters}[$_]{uuid}'") for 0, 1;
    my $session = enter((signers_of($made))[2], $code)->json('/url');
    my $of = "signer_uuid = '$made->{submitters}[2]{uuid}'";
    is(sql("SELECT count(*) FROM signer_session WHERE $of"), 1, 'a session is stored');
    my ($hash) = sql("SELECT authentication FROM signer WHERE uuid = '$made->{submitters}[2]{uuid}'")
        =~ /(scrypt\$14\$\w+\$\w+)/;
    my @personal = ($to, $user, $hash, $how, $reference);
    vacuum();
    is_deeply([grep { !found_in(pattern($_), [database_files()]) } @personal], [], 'they are in the database');
    my @before = audit($checked);
    $client->post(path_of($made, '/cancel'), json => {});
    is($client->delete(path_of($_))->code, 204, 'deleted') for $made, $checked;
    is(sql("SELECT count(*) FROM signer_session WHERE $of"), 0, 'no session is stored');
    my @after = audit($checked);
    is_deeply([map { $_->{hash} } @after[0 .. $#before]], [map { $_->{hash} } @before], 'the chain is the same');
    my ($caller) = grep { ($_->{detail}{method} // '') eq 'caller' } @after;
    is_deeply($caller->{detail}, { method => 'caller', at => '2026-01-02T03:04:05.000Z' },
        'the event has no words of the caller');
    my @found;
    wait_for(sub {    # PostgreSQL keeps rows that an older statement of another session might read
        vacuum();
        return !(@found = found_in(pattern(@personal), [database_files()]));
    });
    is_deeply(\@found, [], 'neither addresses, users and words nor hashes of codes are left');
};
done_testing;
