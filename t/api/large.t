# Answers that would be large: a page of a list ends after 8 MiB, whatever the limit, and its cursors go on in both
# directions. What one submission may hold is limited, so that this is enough. And no request takes more than 32 MiB of
# a child's memory, nor does a client that does not read.
use strict;
use warnings;
use Mojo::Promise;
use Sigreq::Here qw(organisation is_text is_error);
use Sigreq::Httpd;
use Sigreq::Raw;
use Sigreq::Signer;
use Test::More;

my $MOST  = 32 * 1024;                            # KiB
my $PLAIN = !defined $ENV{ASAN_OPTIONS};          # a sanitizer has another idea of memory
my $httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxPages 30");
$httpd->start;
my $org    = organisation();
my $client = $org->{test}->with(base => $httpd->base);

# How much more memory than before a child takes at most while CODE runs, in KiB. The child is a new one: others have
# memory that they were given back, and would take that.
sub growth {
    my $code = shift;
    $httpd->stop;
    $httpd->start;
    is($client->crowd->get('/health')->code, 200, 'a new child');
    my @children = Sigreq::Here::children($httpd->pid);
    my %before;
    for my $pid (@children) {
        open my $peak, '>', "/proc/$pid/clear_refs" or die "clear_refs: $!\n";
        print $peak '5';
        close $peak;
        $before{$pid} = memory($pid, 'VmRSS');
    }
    $code->();
    my ($most) = sort { $b <=> $a } map { memory($_, 'VmHWM') - $before{$_} } @children;
    return $most;
}

sub memory {
    my ($pid, $what) = @_;
    open my $status, '<', "/proc/$pid/status" or die "/proc/$pid: $!\n";
    return (join('', <$status>) =~ /^$what:\s+(\d+) kB/m)[0];
}

sub takes_little {
    my ($name, $code) = @_;
    my $grown = growth($code);
    note "$name: $grown KiB";
    if (open my $f, ">>", "/tmp/limits-growth") { print $f "$name: $grown KiB\n" }
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok(!$PLAIN || $grown < $MOST, "$name: less than 32 MiB") or diag "$grown KiB";
}

# 1,000 fields, whose names are so long that all texts of the submission have so many bytes
sub signers_of_size {
    my $size  = shift() - length('Lease' . 'a.pdf' . 'Ann' . 'Lee') - 1000 * length 'a.pdf';
    my $field = Sigreq::Client::signers()->[0]{fields}[0];
    my @fields = map { { %$field, name => 'n' x int($size / 1000) } } 1 .. 1000;
    $fields[0]{name} .= 'n' x ($size % 1000);
    return Sigreq::Client::signers({ fields => \@fields });
}

my $signers = signers_of_size(262144);
is_text($client->create(signers => signers_of_size(262145)),
    400, 'All names and emails together must have at most 262144 bytes');
my @made;
takes_little('creating the largest', sub { push @made, $client->create(signers => $signers)->json('/uuid') });
ok($made[0], 'the largest submission is made');
push @made,
    map { $_->json('/uuid') } $client->crowd->parallel(24, 4, sub { $client->crowd->create_p(signers => $signers) });
@made = reverse @{ order(\@made) };

sub list {    # unjudged: judging takes long, and list.t has it done
    my ($limit, $after) = @_;
    my %query = (limit => $limit, defined $after ? (after => $after) : ());
    return $client->get('/signatures', unjudged => 1, query => \%query);
}

# the uuids in the order of their creation, by single pages
sub order {
    my ($uuids, @all, $after) = @_;
    do {
        my $page = list(5, $after)->json;
        push @all, map { $_->{uuid} } @{ $page->{data} };
        $after = $page->{pagination}{next};
    } while defined $after;
    is("@{[sort @all]}", "@{[sort @$uuids]}", '25 submissions are listed');
    return [reverse @all];
}

my (@pages, @seen, $after);
takes_little(
    'lists',
    sub {
        do {
            my $res = list(100, $after);
            cmp_ok(length $res->body, '<', 10 * 1048576, 'a page has less than 10 MiB');
            my $page = $res->json;
            is(scalar @{ $page->{data} }, $page->{pagination}{count}, 'count says how many came');
            push @seen, map { $_->{uuid} } @{ $page->{data} };
            push @pages, { uuids => [map { $_->{uuid} } @{ $page->{data} }], prev => $page->{pagination}{prev} };
            $after = $page->{pagination}{next};
        } while defined $after && @pages < 50;
    });
is("@seen", "@made", 'every submission comes once, newest first');
cmp_ok(scalar @pages, ">", 1, 'in ' . @pages . ' pages');
cmp_ok(scalar @{ $pages[0]{uuids} }, '>', 5, 'the first has ' . @{ $pages[0]{uuids} });

my @back;
for (my $prev = $pages[-1]{prev}; defined $prev && @back < 60;) {
    my $page = list(100, $prev)->json;
    unshift @back, map { $_->{uuid} } @{ $page->{data} };
    $prev = $page->{pagination}{prev};
}
my @last = @{ $pages[-1]{uuids} };
is("@back", "@made[0 .. $#made - @last]", 'and back');

# clients that do not read: what they asked for is in a file
takes_little(
    'eight clients that do not read',
    sub {
        my @slow = map {
            my $raw = Sigreq::Raw->new($httpd->{port});
            $raw->send("GET /api/v3/signatures?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                    . "$client->{token}\r\n\r\n");
            select undef, undef, undef, 0.3;
            $raw;
        } 1 .. 8;
        is($client->crowd->get("/signatures/$made[0]")->code, 200, 'others are answered meanwhile');
    });

# a long name of the host is in every link
my $raw = Sigreq::Raw->new($httpd->{port});
my $bearer = "Authorization: Bearer $client->{token}";
$raw->send("GET /api/v3/signatures HTTP/1.1\r\n$bearer\r\nHost: " . 'x' x 4000 . "\r\n\r\n");
is($raw->answer->code, 400, 'a Host that is no name of DNS is refused');

# what else answers with much, and what is sent
my $one = "/signatures/$made[0]";
for my $path ($one, "$one/audit", '/webhooks/history?limit=100', '/tokens?limit=100') {
    takes_little("GET $path", sub { is($client->get($path)->code, 200, $path) });
}

# JSON that becomes much more in memory than it is as text
my ($link) = map { $_->{signatureLink} } @{ $client->get($one)->json->{submitters} };
my $signer = Sigreq::Signer->new(link => $link);
my $objects = '{"action":"sign","x":[' . '{},' x 690_000 . '{}]}';
takes_little(
    'POST of 690,000 objects to a link',
    sub {
        my $res = $signer->post(body => $objects, headers => { 'Content-Type' => 'application/json' });
        is_error($res, 400, 'The body must be a JSON object: more than 90000 values', 'it is refused');
    });
takes_little(
    'eight of them at once',
    sub {
        my @asked = map {
            $signer->request_p(POST => '', body => $objects, headers => { 'Content-Type' => 'application/json' })
        } 1 .. 8;
        Mojo::Promise->all(@asked)->wait;
    });
my @most = map { [map { [$_ / 20, $_ % 97, 0.5] } 1 .. 20] } 1 .. 1000;
my $ink   = { type => 'drawn', width => 1000, height => 100, strokes => \@most };
my %drawn = (action => 'sign', consent => \1, signature => $ink);
takes_little('the largest drawing', sub { is($signer->post(json => \%drawn)->code, 200, 'is accepted') });
for my $path ('/tokens', '/webhooks/sent-webhook-url') {
    my $res = $client->post(
        $path, body => '{"name":"x","url":"http://x.org","more":[' . '{},' x 20_000 . '{}]}',
        headers => { 'Content-Type' => 'application/json' });
    is_error($res, 400, 'The body must be a JSON object: more than 200 values', "20,000 objects to $path");
}
takes_little(
    'signers of 1,000,000 objects',
    sub {
        is_text($client->create(signers => '[' . '{},' x 1_000_000 . '{}]'),
            400, 'Signers must be a JSON array: more than 55000 values');
    });

$httpd->stop;
done_testing;
