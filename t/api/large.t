# SPDX-License-Identifier: Apache-2.0
# Large answers: a page of a list ends after 8 MiB, whatever the limit, and its cursors work in both directions. The
# size of a submission is limited, so this is sufficient. No request needs more than 32 MiB of a child's memory, also if
# the client does not read.
use strict;
use warnings;
use Compress::Zlib qw(compress crc32);
use Mojo::Util 'b64_encode';
use Sigreq::Here qw(children organisation is_text is_error sql wait_for);
use Sigreq::Httpd;
use Sigreq::Memory;
use Sigreq::PDF 'pdf';
use Sigreq::Raw;
use Sigreq::Signer;
use Test::More;

my $httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxPages 30");
$httpd->start;
my $org    = organisation();
my $client = $org->{test}->with(base => $httpd->base);

sub takes_little { return Sigreq::Memory::takes_little($httpd, @_) }

# Makes 1,000 fields with names so long that all texts of the submission have this number of bytes.
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
my $crowd = $client->crowd;
my @more  = (POST => '/signatures', $client->creation_options(signers => $signers), unjudged => 1);    # it takes long
push @made, map { $_->json('/uuid') } $crowd->parallel(24, 4, sub { $crowd->request_p(@more) });
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

my (@pages, @seen);
sub pages {
    my $name = shift;
    my $after;
    (@pages, @seen) = ();
    takes_little($name, sub {
        do {
            my $res = list(100, $after);
            cmp_ok(length $res->body, '<', 10 * 1048576, 'a page has less than 10 MiB');
            my $page = $res->json;
            is(scalar @{ $page->{data} }, $page->{pagination}{count}, 'count is the number of entries');
            push @seen, map { $_->{uuid} } @{ $page->{data} };
            push @pages, { uuids => [map { $_->{uuid} } @{ $page->{data} }], prev => $page->{pagination}{prev} };
            $after = $page->{pagination}{next};
        } while defined $after && @pages < 50;
    });
    is("@seen", "@made", 'every submission is listed once, newest first');
    cmp_ok(scalar @pages, ">", 1, 'in ' . @pages . ' pages');
    cmp_ok(scalar @{ $pages[0]{uuids} }, '>', 5, 'the first has ' . @{ $pages[0]{uuids} });
}
my $these = join ', ', map {"'$_'"} @made;
sql("UPDATE submission SET representation = '{}', representation_version = 0 WHERE uuid IN ($these)");
pages('lists, of representations of an older version');
pages('lists');

my @back;
for (my $prev = $pages[-1]{prev}; defined $prev && @back < 60;) {
    my $page = list(100, $prev)->json;
    unshift @back, map { $_->{uuid} } @{ $page->{data} };
    $prev = $page->{pagination}{prev};
}
my @last = @{ $pages[-1]{uuids} };
is("@back", "@made[0 .. $#made - @last]", 'the pages back have the same submissions');

# clients that do not read: their responses are in files
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
        is($client->crowd->get("/signatures/$made[0]")->code, 200, 'other requests are answered meanwhile');
    },
    2 * Sigreq::Memory::MOST);
# they have gone, also from the middle of a file that httpd had set aside
sub unnamed {
    return grep { (readlink // '') =~ m{^/(?!memfd:).* \(deleted\)$} }
        map { glob "/proc/$_/fd/*" } children($httpd->pid);
}
ok(wait_for(sub { !unnamed() }), 'the files of their responses are closed') or diag map { readlink . "\n" } unnamed();

# a long name of the host is in every link
my $raw = Sigreq::Raw->new($httpd->{port});
my $bearer = "Authorization: Bearer $client->{token}";
$raw->send("GET /api/v3/signatures HTTP/1.1\r\n$bearer\r\nHost: " . 'x' x 4000 . "\r\n\r\n");
is($raw->answer->code, 400, 'a Host that is no name of DNS is refused');

# other large responses and requests
my $one = "/signatures/$made[0]";
takes_little(
    'other answers',
    sub {
        is($client->get($_)->code, 200, $_)
            for $one, "$one/audit", '/webhooks/history?limit=100', '/tokens?limit=100';
    });

# JSON that needs much more memory than its text
my ($link) = map { $_->{signatureLink} } @{ $client->get($one)->json->{submitters} };
my $signer = Sigreq::Signer->new(link => $link);
my $objects = '{"action":"sign","x":[' . '{},' x 690_000 . '{}]}';
takes_little(
    'POST of 690,000 objects to a link',
    sub {
        my $res = $signer->post(body => $objects, headers => { 'Content-Type' => 'application/json' });
        is_error($res, 400, 'The body must be a JSON object: more than 90000 values', 'the request is refused');
    });
my @most = map { [map { [$_ / 20, $_ % 97, 0.5] } 1 .. 20] } 1 .. 1000;
my $ink   = { type => 'drawn', width => 1000, height => 100, strokes => \@most };
my %drawn = (action => 'sign', consent => \1, signature => $ink);
takes_little('the largest drawing', sub { is($signer->post(json => \%drawn)->code, 200, 'is accepted') });
# a signature that is shown in 20 documents
my @names  = map {"$_.pdf"} 1 .. 20;
my $fields = [map { { %{ Sigreq::Client::signers()->[0]{fields}[0] }, document => $_ } } @names];
my $many   = $client->create(
    files   => [map { [$_, pdf(nonce => $_)] } @names],
    signers => Sigreq::Client::signers(map { { fields => $fields } } 1 .. 2))->json;
my ($first, $second) = map { Sigreq::Signer->new(link => $_->{signatureLink}) } @{ $many->{submitters} };
takes_little('20 documents, drawn', sub { is($first->post(json => \%drawn)->code, 200, 'signed') });
my $image    = 'data:image/png;base64,' . b64_encode(noise(590, 590), '');
my %uploaded = (action => 'sign', consent => \1, signature => { type => 'uploaded', image => $image });
takes_little('20 documents, an image', sub { is($second->post(json => \%uploaded)->code, 200, 'signed') });

# a PNG that cannot be made smaller
sub noise {
    my ($width, $height) = @_;
    open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!\n";
    my $bytes = '';
    for (1 .. $height) {
        read $random, my $row, 3 * $width or die "/dev/urandom: $!\n";
        $bytes .= "\0$row";
    }
    my $chunk = sub { pack('N', length $_[1]) . $_[0] . $_[1] . pack 'N', crc32($_[0] . $_[1]) };
    return "\x89PNG\r\n\x1A\n"
        . $chunk->('IHDR', pack 'NNCCCCC', $width, $height, 8, 2, 0, 0, 0)
        . $chunk->('IDAT', compress($bytes))
        . $chunk->('IEND', '');
}

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
