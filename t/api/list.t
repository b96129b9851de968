# SPDX-License-Identifier: Apache-2.0
# GET /signatures: newest first, pages in both directions while new submissions are made, filters, and the errors of
# wrong queries.
use strict;
use warnings;
use utf8;
use Sigreq::Here qw(organisation suite is_error);
use Mojo::Util 'encode';
use Test::More;

my $org    = organisation();
my $client = $org->{test};
is_deeply($client->get('/signatures')->json,
    { data => [], pagination => { count => 0, next => undef, prev => undef } }, 'an empty list');

my @made  = map         { $client->create(name => sprintf 'No %02d', $_)->json } 1 .. 25;
my @names = reverse map { $_->{name} } @made;

sub names {
    join ' ', map { $_->{name} } @{ $_[0]{data} };
}
sub page { $client->get('/signatures', query => {@_})->json }

my $first = page();
is(names($first),               "@names[0 .. 9]", '10, newest first');
is($first->{pagination}{count}, 10,               'count');
is($first->{pagination}{prev},  undef,            'the first page has no prev');
my $second = page(after => $first->{pagination}{next});
is(names($second), "@names[10 .. 19]", 'the next page');
my $third = page(after => $second->{pagination}{next});
is(names($third),                                    "@names[20 .. 24]", 'the last page');
is($third->{pagination}{next},                       undef,              'the last page has no next');
is(names(page(after => $third->{pagination}{prev})), "@names[10 .. 19]", 'the previous page');
my $back = page(after => $second->{pagination}{prev});
is(names($back),                                    "@names[0 .. 9]",   'the first page again');
is($back->{pagination}{prev},                       undef,              'the first page has no prev again');
is(names(page(after => $back->{pagination}{next})), "@names[10 .. 19]", 'the second page again');

my $new = $client->create(name => 'No 26')->json;
is(names(page(after => $first->{pagination}{next})), "@names[10 .. 19]",
    'a cursor gives the same page after a new submission');
is(names(page(after => $second->{pagination}{prev}, limit => 3)), "@names[7 .. 9]",
    'prev gives the submissions just before the cursor');
unshift @names, 'No 26';

for my $limit (1, 2, 7, 25, 26, 27, 100) {
    my (@all, $after);
    for (1 .. 30) {
        my $page = page(limit => $limit, defined $after ? (after => $after) : ());
        cmp_ok(scalar @{ $page->{data} }, '<=', $limit, "limit $limit") if @{ $page->{data} } > $limit;
        push @all, map { $_->{name} } @{ $page->{data} };
        last unless defined($after = $page->{pagination}{next});
    }
    is("@all", "@names", "pages of $limit have all submissions, each once");
}

subtest 'filters' => sub {
    my $signers =
        Sigreq::Client::signers({ firstname => 'Zoë', lastname => 'ŁUKASZ', email => 'Zoe.L@Example.ORG' }, {});
    my $zoe   = $client->create(name => encode('UTF-8', 'Straße 50% off_now \\ back'), signers => $signers)->json;
    my %finds = (
        'zoë'        => 1, 'ZOË' => 1, 'łukasz' => 1, 'zoe.l@example' => 1, 'straße' => 1, '50%' => 1, '_now' => 1,
        '\\ back'    => 1,
        ' zoë  '     => 1,
        'zoë łukasz' => 1, '%' => 1, '_' => 1, 'nobody' => 0, '5_%' => 0, "'" => 0, 'zoe' => 1, "off\0" => undef);
    for my $q (sort keys %finds) {
        my $res = $client->get('/signatures', query => { q => $q });
        if (!defined $finds{$q}) { is($res->code, suite->{firewall} ? 403 : 400, 'NUL in q'); next }
        my $found = grep { $_->{uuid} eq $zoe->{uuid} } @{ $res->json->{data} };
        (my $shown = $q) =~ s/[^ -~]/?/g;
        is($found, $finds{$q}, "q=$shown");
    }
    is(names(page(q => 'no 2', limit => 100)), join(' ', grep {/No 2/} @names), 'q in the name, any case');
    is(scalar @{ page(q => '')->{data} },      10,                              'an empty q is ignored');
    my $filtered = page(q => 'no', limit => 5);
    is(names(page(q => 'no', limit => 5, after => $filtered->{pagination}{next})), "@names[4 .. 8]",
        'filters and cursors work together');

    is(scalar @{ page(status => 'sent', limit => 100)->{data} }, 27, 'status=sent');
    is(scalar @{ page(status => $_)->{data} },                   0,  "status=$_") for qw(initiated opened completed);

    my $middle = $made[9]{createdAt};
    my $after  = names(page(createdAfter  => $middle, limit => 100));
    my $before = names(page(createdBefore => $middle, limit => 100));
    like($after,  qr/No 11$/, 'createdAfter');
    like($before, qr/^No 09/, 'createdBefore');
    unlike("$after $before", qr/No 10/, 'both filters leave the moment itself out')
        if $middle ne $made[10]{createdAt} && $middle ne $made[8]{createdAt};
    (my $offset = $middle) =~ s/Z$/+00:00/;
    is(names(page(createdBefore => $offset, limit => 100)), $before, 'a time with an offset is accepted');
    is(scalar @{ page(createdAfter => '2020-01-01', createdBefore => '2100-01-01', limit => 100)->{data} }, 27,
        'dates');
    is(scalar @{ page(createdAfter => '2100-01-01')->{data} }, 0, 'in the future');
};

subtest 'bad queries' => sub {
    is_error($client->get('/signatures', query => { limit => $_ }), 400, qr/limit/, "limit=$_")
        for 0, 101, -1, 'x', '', '1e1', '99999999999999999999';
    is_error($client->get('/signatures', query => { after => $_ }), 400, qr/after/, "after=$_")
        for 'x', '!!!', "$made[0]{uuid}", 'bw', 'A' x 5000;
    is_error($client->get('/signatures', query => { status => $_ }), 400, qr/status/, "status=$_")
        for 'done', '', 'SENT';
    is_error($client->get('/signatures', query => { $_ => 'yesterday' }), 400, qr/$_/, "$_=yesterday")
        for 'createdAfter', 'createdBefore';
    is_error($client->get('/signatures', query => { createdAfter => $_ }), 400, qr/createdAfter/, "createdAfter=$_")
        for '2026-13-01', '2026-02-30', '2026-01-01T25:00:00Z', '';
    is_error($client->get('/signatures?limit=1&limit=2'), 400, qr/limit/, 'a repeated parameter is refused');
    is_error($client->get('/signatures?limt=5'), 400, 'Unknown query parameter limt',
        'a misspelt parameter is refused');
    is_error($client->get('/signatures?' . 'x' x 200 . '=5'), 400, 'Unknown query parameter ' . 'x' x 64 . "\x{2026}",
        'a long misspelt parameter is refused');
    is_error($client->get('/signatures', query => { createdAfter => '2026-11-22T04:00:00' }),
        400, qr/^createdAfter must have a time zone, as in 2026-\S+Z or /, 'a time without a zone is refused');
    is_error($client->get('/signatures?createdBefore=2026-11-22T04:00:00+02:00'),
        400, 'createdBefore has a space in place of +: write + as %2B in a URL', 'an unescaped + is refused');
    is_error($client->get('/signatures?q=%zz'),           400, qr/./,     'a wrong escape is refused');
    is_error($client->get('/signatures?q=%ff'),           400, qr/./,     'a text that is not UTF-8 is refused');
};

# A search through more submissions than one page looks at: pages without entries lead to the one that fits.
subtest 'a search through many' => sub {
    my $other = organisation()->{test};
    my $made  = $other->create(name => 'a needle')->json;
    my $link  = suite->{db} eq 'pgsql' ? 'gen_random_uuid()' : 'lower(hex(randomblob(4)) || substr(s.uuid, 9))';
    my $rows =
        suite->{db} eq 'pgsql'
        ? 'SELECT generate_series(1, 5100)'
        : 'SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5100';
    my $same = 'token_id, user_id, organization_id, environment, template_uuid, skip_intro, send_email, events, '
        . 'events_hash, representation_version, base_url, representation';
    Sigreq::Here::sql("WITH RECURSIVE n(i) AS ($rows) "
            . "INSERT INTO submission (uuid, created_at, updated_at, name, search, $same) "
            . "SELECT $link, s.created_at + i, s.updated_at + i, 'hay', 'hay', $same FROM submission s, n "
            . "WHERE s.uuid = '$made->{uuid}'");
    my $look  = sub { $other->get('/signatures', query => { q => 'needle', @_ })->json };
    my $empty = $look->();
    is(scalar @{ $empty->{data} }, 0, 'the first page is empty');
    ok($empty->{pagination}{next}, 'there is a next page');
    my $found = $look->(after => $empty->{pagination}{next});
    is(names($found),              'a needle', 'the next page has it');
    is($found->{pagination}{next}, undef,      'the page with the submission is the last one');
    my $back = $look->(after => $found->{pagination}{prev});
    is(scalar @{ $back->{data} }, 0, 'the page before is empty');
    ok($back->{pagination}{prev}, 'there is a page before it');
    is(names($look->(after => $back->{pagination}{next})), 'a needle', 'there is a page after it');
    $back = $look->(after => $back->{pagination}{prev});
    is_deeply([scalar @{ $back->{data} }, $back->{pagination}{prev}], [0, undef], 'the first one is the end');
};
done_testing;
