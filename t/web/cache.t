# SPDX-License-Identifier: Apache-2.0
# The cache of page images. A cached page is served without a helper. A page that is not cached is made once, however
# many requests ask for it at the same time. Whatever is wrong with the folder, the page is shown. It uses its own
# httpd, with one helper per child.
use strict;
use warnings;
use Mojo::File     'path';
use Sigreq::Here   qw(organisation is_error suite wait_for ctl);
use Sigreq::Httpd;
use Sigreq::PDF qw(pdf slow_pdf);
use Sigreq::Pages  qw(page_url png_size cached);
use Sigreq::Signer qw(signers_of);
use Test::More;

my $event  = suite->{mpm} eq 'event';
my $few    = "SigreqHelperWorkers 1\nSigreqHelperShowTimeout 1s\n"
    . "<Location /metrics>\nSetHandler sigreq-metrics\n</Location>";
my $httpd  = Sigreq::Httpd->new(children => 2, threads => 64, server => $few)->start;
my $base   = $httpd->base;
my $client = organisation()->{test};
$client = $client->with(base => $base);
my $folder = "$httpd->{dir}/documents/cache";
my $count  = 0;

sub fresh { # a signer with a document that nobody has seen, and its row
    my ($at, %pages) = @_;
    my @files = (['a.pdf', pdf(nonce => "cache $$ " . ++$count, %pages)]);
    my ($signer) = signers_of($client->with(base => $at->base)->create(files => \@files)->json);
    return ($signer, $signer->state->{documents}[0]);
}

sub noise { # the content of a page whose image is large: gray dots
    return join "\n", map { sprintf '%.2f g %d %d 4 4 re f', rand, rand 612, rand 792 } 1 .. 6000;
}

sub at { # the same signer at another httpd, which ends sooner when no connection is kept alive
    my ($who, $where) = @_;
    return Sigreq::Signer->new(link => $who->{link} =~ s/\Q$base\E/$where->base/er, connections => 0);
}

sub helpers { my @found = Sigreq::Here::workers(Sigreq::Here::children($httpd->pid)); return @found }

sub renderings { # how often helpers have drawn a page
    my $text = Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body;
    my ($count) = $text =~ /^sigreq_helper_question_duration_seconds_count\{operation="render"\} (\d+)/m
        or die "no renderings in /metrics\n";
    return $count;
}

my ($signer, $document) = fresh($httpd);
my $url = page_url($document, 0, 'png', version => $document->{sha256});
subtest 'a cached page' => sub {
    my $first = $signer->get($url)->body;
    my ($file, @others) = cached($document->{sha256}, $folder);
    is(scalar @others, 0, 'the cache has one file');
    like($file // '', qr{/cache/(..)/(..)/\1\2[0-9a-f]{60}\.[0-9a-f]{16}\.\d+\.0\.800\.png$},
        'its name has document, owner, page and width');
    is((stat $file)[2] & 07777, 0400, 'only httpd can read it');
    is(substr(path($file)->slurp, 0, length $first), $first, 'it has the image');
    kill STOP => helpers();
    is($signer->get($_)->body, $first, "with all helpers stopped: $_")
        for $url, page_url($document, 0, 'png', version => $document->{sha256}, width => 750),
        page_url($document, 0, 'png');
    kill CONT => helpers();
    my $old = time - 25 * 3600;
    utime $old, $old, $file;
    $signer->get($url);
    cmp_ok((stat $file)[9], '>', $old, 'a file that is used gets a new time');
};

subtest 'pages of two organisations' => sub { # no time tells that somebody else has the document
    my @files  = (['a.pdf', pdf(nonce => "whose $$")]);
    my @clients = map { $_->with(base => $base) } $client, $client, organisation()->{test}, organisation()->{live};
    my (@counts, $path, $last);
    for my $who (@clients) {
        ($last) = signers_of($who->create(files => \@files)->json);
        my $row = $last->state->{documents}[0];
        $path = page_url($row, 0, 'png', version => $row->{sha256});
        my $head = $last->request(HEAD => $path);
        push @counts, ($head->headers->etag ? 'found' : 'not there');
        is($last->get($path)->code, 200, 'it is shown') for 1, 2;
        push @counts, scalar(cached($row->{sha256}, $folder));
    }
    is_deeply(\@counts, ['not there', 1, 'found', 1, 'not there', 2, 'not there', 3],
        'a page is made once for each organisation');
    kill STOP => helpers();
    is($last->get($path)->code, 200, 'each organisation finds its own file');
    kill CONT => helpers();
};

subtest 'HEAD' => sub {
    my ($other, $row) = fresh($httpd, pages => 2);
    my $path = page_url($row, 1, 'png', version => $row->{sha256}, width => 1000);
    my $head = $other->request(HEAD => $path);
    is($head->code, 200, 'HEAD for a page that is not cached');
    is($head->headers->content_type, 'image/png', 'HEAD for a page that is not cached has its type');
    is(scalar(cached($row->{sha256}, $folder)), 0, 'HEAD does not make the page');
    my $got = $other->get($path);
    $head = $other->request(HEAD => $path);
    is($head->headers->$_, $got->headers->$_, "of one that is there: $_") for qw(content_length etag content_type);
    is($other->request(HEAD => page_url($row, 2, 'png'))->code, 404, 'HEAD for a page that does not exist');
};

subtest 'SigreqCacheSize' => sub {
    my $root  = "$httpd->{dir}/small";
    my $small = Sigreq::Httpd->new(documents => "$httpd->{dir}/documents",
        server => qq{SigreqCache "$root"\nSigreqCacheSize 1M})->start;
    my ($other, $row) = fresh($httpd, pages => [map { { content => noise() } } 1 .. 20]);
    my $there = at($other, $small);
    my ($all, $most) = (0, 0);
    for my $page (0 .. 19) {
        my $res = $there->get(page_url($row, $page, 'png', width => 500));
        is($res->code, 200, "page $page is shown") if $res->code != 200;
        $all += length $res->body;
        my $sum = 0;
        $sum += -s $_ // 0 for cached($row->{sha256}, $root);
        $most = $sum if $sum > $most;
    }
    cmp_ok($all,  '>=', 1_250_000, 'pages of more than a megabyte');
    cmp_ok($most, '<=', 1_200_000, 'pages of more than a megabyte are limited to a megabyte');
    cmp_ok($most, '>=', 700_000,   'the pages use most of the limit');
};

subtest 'an incomplete file' => sub {
    my $right = $signer->get($url)->body;
    my ($file) = cached($document->{sha256}, $folder);
    my $whole = path($file)->slurp;
    for my $bytes ('', "\0", substr($whole, 0, -1), substr($whole, 0, 100)) {
        unlink $file;
        Sigreq::Suite::write_file($file, $bytes);
        is($signer->get($url)->body, $right, length($bytes) . ' bytes: the page is made again');
        is(path((cached($document->{sha256}, $folder))[0])->slurp, $whole, 'the page is cached again');
    }
};

subtest 'many requests at the same time' => sub {
    my $once = $event ? 12 : 3;    # so many pages may one organisation ask for at once (src/helper/client/admission.c)
    my ($many, $seen) = fresh($httpd, pages => 2);
    my @large = (version => $seen->{sha256}, width => 2000);
    my $path = page_url($seen, 0, 'png', @large);
    my $before  = renderings();
    my @answers = $client->parallel(24, $once, sub { $many->request_p(GET => $path) });
    is(scalar(grep { $_->code == 200 && $_->body eq $answers[0]->body } @answers), 24, 'all have the same image');
    is_deeply([png_size($answers[0]->body)], [2000, 2588], 'it is the requested page');
    is(renderings() - $before, 1, 'one request has made the page');
    my @texts = $client->parallel(12, $once, sub { $many->request_p(GET => page_url($seen, $_[0] % 2, 'json')) });
    is(join(' ', map { $_->code } @texts), join(' ', (200) x 12), 'texts');
};

subtest 'a page that kills helpers' => sub {
    plan skip_all => 'the event MPM is enough' unless $event;
    my @files = (['a.pdf', slow_pdf(nonce => "slow $$")]);
    my ($many) = signers_of($client->create(files => \@files)->json);
    my $seen   = $many->state->{documents}[0];
    my $killed = sub { my @lines = $httpd->log =~ /used up its processor time/g; return scalar @lines };
    my $path = page_url($seen, 0, 'png', version => $seen->{sha256});
    my $refused = sub { # a busy machine says 503 first
        my $res;
        wait_for(sub { ($res = $many->get($path))->code != 503 });
        is_error($res, 422, 'Page 0 cannot be shown: it could not be read within the limits');
    };
    $refused->();
    my $cost = $killed->();
    cmp_ok($cost, '>=', 1, 'the page has killed a helper');
    my ($refusal) = cached($seen->{sha256}, $folder);
    like($refusal // '', qr/\.no$/, 'the refusal is stored');
    my @answers = $client->parallel(8, 8, sub { $many->request_p(GET => $path) });
    is(join(' ', map { $_->code } @answers), join(' ', (422) x 8), 'the refusal is stored for some minutes');
    is($killed->(), $cost, 'no other helper is killed');
    my $old = time - 301;
    utime $old, $old, cached($seen->{sha256}, $folder);
    $refused->();
    cmp_ok($killed->(), '>', $cost, 'after that time the page is tried again');
};

subtest 'a document that kills helpers' => sub {
    plan skip_all => 'the event MPM is enough' unless $event;
    my $other = Sigreq::Httpd->new(server => 'SigreqHelperShowTimeout 50ms')->start;
    my @files = (['a.pdf', slow_pdf(nonce => "slow pages $$", pages => 8)]);
    my ($many) = signers_of($client->with(base => $other->base)->create(files => \@files)->json);
    my $seen   = $many->state->{documents}[0];
    my $killed = sub { my @lines = $other->log =~ /used up its processor time/g; return scalar @lines };
    for my $n (0 .. 2) {
        my $path = page_url($seen, $n, 'png', version => $seen->{sha256});
        ok(wait_for(sub { $many->get($path)->code == 422 }), "page $n is refused");
        is($killed->(), $n + 1, "page $n has killed a helper");
    }
    for my $path (page_url($seen, 7, 'png', version => $seen->{sha256}), page_url($seen, 6, 'json')) {
        is_error($many->get($path), 422, qr/^Page \d cannot be shown: it could not be read within the limits$/);
    }
    is($killed->(), 3, 'the other pages are refused without a helper');
};

subtest 'a cache that cannot be used' => sub {
    my $other = Sigreq::Httpd->new(
        documents => "$httpd->{dir}/documents", threads => 32,
        server => qq{SigreqCache "$httpd->{dir}/not/there"})->start;
    my $elsewhere = at($signer, $other);
    my $right = $signer->get($url)->body;
    is($elsewhere->get($url)->body, $right, 'a folder that cannot be made: the page is shown');
    is($elsewhere->get($url)->headers->cache_control, 'private, max-age=3600, immutable', 'the image is the same');
    my @answers = $client->parallel(8, $event ? 8 : 3, sub { $elsewhere->request_p(GET => $url) });
    is(scalar(grep { $_->body eq $right } @answers), 8, 'many requests at the same time are answered');
    like($other->log, qr{SR0500: a page cannot be cached: making the folder \Q$httpd->{dir}\E/not/there},
        'the log has the reason');
    my ($secret) = $signer->{link} =~ m{([^/]+)$};
    is(index($other->log, $secret), -1, 'the log does not have the link');
    mkdir "$httpd->{dir}/not";
    is($elsewhere->get($url)->body, $right, 'when the folder above exists, the page is shown');
    is(scalar(cached($document->{sha256}, "$httpd->{dir}/not/there")), 1, 'the cache is made then');
    chmod 0500, "$httpd->{dir}/not/there";
    is($elsewhere->get(page_url($document, 0, 'json'))->code, 200, 'a folder that cannot be written');
    chmod 0700, "$httpd->{dir}/not/there";
};

subtest 'a helper that cannot be started' => sub {
    my $other = Sigreq::Httpd->new(documents => "$httpd->{dir}/documents", helper => '/bin/true')->start;
    my $elsewhere = at($signer, $other);
    is($elsewhere->get($url)->code, 200, 'a cached page is shown');
    my $res = $elsewhere->get(page_url($document, 0, 'png', width => 1800));
    is_error($res, 503, 'Documents cannot be read at the moment, try again later', 'other pages are not shown');
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, 'Retry-After');
    is(scalar(grep {/\.no$/} cached($document->{sha256}, $folder)), 0, 'the refusal is not stored');
    is($signer->get(page_url($document, 0, 'png', width => 1800))->code, 200, 'with a helper the page is shown');
};

# a fake helper that responds to every request as on a kernel without landlock
my $without = Sigreq::Suite::write_file("$httpd->{dir}/without", <<'HELPER');
#!/usr/bin/perl
open my $socket, '+<&=', 3 or die;
my $say = sub { my ($id, $text) = @_; syswrite $socket, pack('LLLL', 0x31525053, $id, 0, length $text) . $text };
$say->(0, '{}');
while (sysread $socket, my $header, 16) {
    my (undef, $id, undef, $length) = unpack 'LLLL', $header;
    sysread $socket, my $question, $length;
    $say->($id, '{"unavailable":"the kernel has no landlock"}');
}
HELPER
chmod 0755, $without;
subtest 'no landlock' => sub {
    my $other = Sigreq::Httpd->new(documents => "$httpd->{dir}/documents", helper => $without)->start;
    my $elsewhere = at($signer, $other);
    my $said = 'Pages cannot be shown on this server';
    is_error($elsewhere->get(page_url($document, 0, @$_)), 503, $said, $_->[0])
        for ['png', width => 1600], ['json', version => $document->{sha256}];
    like($other->log, qr/SR0100: $said \(the kernel has no landlock\)/, 'the log has the reason');
    is($elsewhere->get($url)->code, 200, 'a cached page is shown');
};

subtest 'sigreqctl gc' => sub {
    my @gc = ('gc', '--documents', "$httpd->{dir}/documents");
    $signer->get($_) for $url, page_url($document, 0, 'json');
    my ($first, @others) = cached($document->{sha256}, $folder);
    my ($kept, $aside) = ("$folder/aa/aa/" . 'aa' x 32, "$folder/aa/note.txt");
    path("$folder/aa/aa")->make_path;
    Sigreq::Suite::write_file($_, "x") for $kept, $aside;
    my $old = time - 31 * 24 * 3600;
    utime $old, $old, $first, $kept, $aside;
    my $before = ctl(@gc, '--dry-run');
    is($before->{cache_deleted}, 1, 'a file that was not used for 30 days');
    ok(-e $first, 'is kept by a dry run');
    my $done = ctl(@gc);
    ok(!-e $first, 'is deleted by a run');
    is(scalar(grep {-e} @others), scalar @others, 'other files are kept');
    cmp_ok($done->{cache_kept}, '>=', scalar @others, 'files that are kept are counted');
    cmp_ok($done->{cache_freed_bytes}, '>', 100, 'the bytes that were freed are counted');
    ok(-e $kept && -e $aside, 'files that are not of the cache are kept');
    is($done->{kept}, $before->{kept}, 'documents are collected as before');
    my $young = ctl(@gc, '--unused', 0);
    is(scalar(cached($document->{sha256}, $folder)), 0, '--unused 0 deletes all');
    is($young->{cache_kept}, 0, '--unused 0 keeps nothing, which is counted');
    is(ctl('gc', '--documents', "$httpd->{dir}/documents", '--cache', "$httpd->{dir}/not/there", '--unused', 0)
        ->{cache_deleted}, 1, '--cache names another folder');
    is($signer->get($url)->code, 200, 'the page is made again');
};
done_testing;
