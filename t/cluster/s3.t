# SPDX-License-Identifier: Apache-2.0
# Documents in a bucket (OpenStack Swift): the configuration, a submission from its creation to its download by two
# hosts, what happens when the cache or an object is damaged or the store is away, and sigreqctl gc and check.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Path  qw(make_path remove_tree);
use Mojo::JSON  'decode_json';
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::S3;
use Sigreq::Signer qw(signers_of pdfsig);
use Sigreq::Suite;
use Test::More;

plan skip_all => $_ for grep {defined} Sigreq::S3::missing();

my $s3    = Sigreq::S3->new(dir => suite->{dir}, source => suite->{source});
my $apart = Sigreq::Apart->new;
my $dir   = $apart->{dir};
make_path(map {"$dir/cache-$_"} 1 .. 3);
my $PLACE = 's3://sigreq/one/two';

sub conf { my ($cache, %o) = @_; return (documents => $PLACE, server => $s3->directives("$dir/$cache", %o)) }

sub tested { my (%o) = @_; return Sigreq::Httpd->new($apart->database, %o)->test }

# sigreqctl with the directives of a cache: the decoded result
my $count = 0;

sub command {
    my ($cache, @words) = @_;
    my $file = Sigreq::Suite::write_file("$dir/ctl-" . ++$count . '.conf',
        qq{SigreqDocuments $PLACE\n} . $s3->directives("$dir/$cache"));
    my @command = (suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', $apart->{params},
        '--config', $file, '--json', @words);
    open my $pipe, '-|', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return decode_json($said);
}

subtest 'what httpd -t says' => sub {
    my $all = $s3->directives("$dir/cache-1");
    for (['SigreqS3Endpoint', qr/SR0002: \S+: SigreqDocuments s3:.. needs SigreqS3Endpoint/],
        ['SigreqS3Credentials', qr/SR0002: \S+: SigreqDocuments s3:.. needs SigreqS3Credentials/],
        ['SigreqDocumentsCache "', qr/SR0002: \S+: SigreqDocuments s3:.. needs SigreqDocumentsCache/]) {
        my ($name, $want) = @$_;
        my ($status, $said) = tested(documents => $PLACE, server => $all =~ s/^\Q$name\E.*\n//mr);
        isnt($status, 0, "without $name");
        like($said, $want, 'it says what is missing');
    }
    my @places = (['s3://', 'no bucket'], ['s3://UPPER/x', 'capitals'], ['s3://sigreq/a b', 'a space']);
    for (@places, ['s3://sigreq/../x', 'dots']) {
        my ($status, $said) = tested(conf('cache-1'), documents => $_->[0]);
        isnt($status, 0, "a place with $_->[1]");
        like($said, qr{must be s3://bucket or s3://bucket/prefix}, 'the form is named');
    }
    my ($status, $said) = tested(conf('cache-1', endpoint => 'http://127.0.0.1/path'));
    like($said, qr{SigreqS3Endpoint must be a URL such as https://s3.example.org, without a path}, 'a path');
    ($status, $said) = tested(conf('nowhere'));
    like($said, qr/SR0711: SigreqDocumentsCache \S+nowhere is not a folder/, 'no folder');
    ($status, $said) = tested(conf('cache-1', credentials => "$dir/none"));
    is($status, 0, 'no file of credentials: other sites start');
    like($said, qr/SR0730: SigreqS3Credentials: \S+none: No such file/, 'it is named');
    my $one = Sigreq::Suite::write_file("$dir/one", "test:tester\n");
    ($status, $said) = tested(conf('cache-1', credentials => $one));
    like($said, qr/SR0730: .* must have the access key in its first line/, 'a file with one line');
    my $wrong = Sigreq::Suite::write_file("$dir/wrong", "test:tester\nsecret\n");
    ($status, $said) = tested(conf('cache-1', credentials => $wrong));
    is($status, 0, 'wrong keys do not stop httpd');
    like($said, qr{SR0703: .* GET s3://sigreq/one/two/\.database: 403 SignatureDoesNotMatch \(request [\w-]+\)},
        'but are a warning');
    unlike($said, qr/secret\b(?!s)/, 'without the key');
    ($status, $said) = tested(conf('cache-1'), documents => 's3://absent');
    like($said, qr{SR0703: .* s3://absent/\.database: 404 NoSuchBucket}, 'a bucket that is missing');
    ($status, $said) = tested(conf('cache-1'));
    is($status, 0, 'the right configuration') or diag $said;
    unlike($said, qr/SR0/, 'is nothing to speak of');
};

my ($first, $second) = map { $apart->httpd(conf("cache-$_")) } 1, 2;
my ($here, $there) = map { $apart->client($_) } $first, $second;
my $bytes = pdf(nonce => "s3 $$", pages => 2);
my $made  = $here->create(files => [['a.pdf', $bytes]])->json;
my $path  = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
my $sha   = sha256_hex($bytes);
my ($object) = $s3->objects('one/two/' . substr($sha, 0, 2) . "/$sha");

sub cached {    # files of a cache, whose number it is as a scalar
    my ($cache, $what) = @_;
    my @found = glob "$dir/cache-$cache/sigreq+one+two/objects/*/*/$what*";
    return @found;
}

subtest 'a submission' => sub {
    is($s3->content($object), $bytes, 'the document is an object');
    is_deeply([$s3->objects('one/two/.')], ['one/two/.database'], 'beside the uuids');
    is(scalar cached(1, $sha), 1, 'the host that stored it has it in its cache');
    is(scalar cached(2, $sha), 0, 'another one does not');
    is($there->get($path)->body, $bytes, 'but fetches it');
    is(scalar cached(2, $sha), 1, 'and has it then');
    my ($signer) = signers_of($made);
    $signer->{link} =~ s/:\d+/:$second->{port}/;
    is($signer->state->{state}, 'opened', 'the other host shows it');
    is($signer->get('/documents/' . $made->{documents}[0]{uuid} . '/pages/0')->code, 200, 'and its page');
    is($signer->sign->code, 200, 'and signs it');
    my $signed = $here->get($path)->body;
    is(substr($signed, 0, length $bytes), $bytes, 'the first one has the signed document');
    cmp_ok(length $signed, '>', length $bytes, 'with the revision');
    is($there->get($path)->body, $signed, 'and the other one the same');
    is(pdfsig($signed)->{valid}, 1, 'the signature is valid');
};
subtest 'a range' => sub {
    my $res = $there->get($path, headers => { Range => 'bytes=5-9' });
    is($res->code, 206,                     'is answered');
    is($res->body, substr($bytes, 5, 5), 'from the file');
};
subtest 'the cache is damaged' => sub {
    my ($file) = cached(2, $sha);
    chmod 0600, $file;
    open my $out, '+<', $file or die "$file: $!\n";
    print {$out} 'X';
    close $out;
    is(substr($there->get($path)->body, 0, length $bytes), $bytes, 'a changed file is fetched again');
    remove_tree("$dir/cache-2/sigreq+one+two");
    is(substr($there->get($path)->body, 0, length $bytes), $bytes, 'a folder that was removed is made again');
};
subtest 'the object is damaged' => sub {
    $s3->replace($object, $bytes =~ s/PDF/PFD/r);
    unlink cached(2, $sha);
    is($there->get($path)->code, 503, 'no wrong byte is sent');
    like($second->log, qr{GET s3://\Q$object\E|the content's SHA-256 is}, 'the log says why');
    is(substr($here->get($path)->body, 0, length $bytes), $bytes, 'the cache of the other host is right');
    my $report = command('cache-3', 'check', '--remote');
    is_deeply([@{$report}{qw(missing damaged foreign)}], [0, 1, 0], 'sigreqctl check --remote finds it');
    like($report->{problems}[0]{detail}, qr/cannot be read|SHA-256/, 'with the reason');
    $s3->replace($object, $bytes);
    is($there->get($path)->code, 200, 'it is right again');
};
subtest 'check and gc' => sub {
    my $report = command('cache-3', 'check');
    is_deeply([@{$report}{qw(missing damaged foreign)}], [0, 0, 0], 'nothing is wrong');
    cmp_ok($report->{documents}, '>=', 3, 'with the documents, revisions and certificates');
    $s3->replace('one/two/aa/' . 'a' x 64 . '.0123456789abcdef', 'x');
    $s3->remove($object);
    $report = command('cache-3', 'check');
    is_deeply([@{$report}{qw(missing damaged foreign)}], [1, 0, 1], 'an object is missing, and one is foreign');
    $s3->replace($object, substr $bytes, 1);
    $report = command('cache-3', 'check');
    is($report->{damaged}, 1, 'one has another size');
    like($report->{problems}[0]{detail}, qr/^it has \d+ bytes instead of \d+$/, 'which is told');
    $s3->replace($object, $bytes);
    my $removed = command('cache-3', 'gc', '--reserved', 0);
    is($removed->{deleted}, 0, 'gc removes nothing that is used');
    my $res    = $here->create(files => [['a.pdf', pdf(nonce => "unused $$")]]);
    my $unused = $res->json;
    is($res->code, 201, 'another submission') or diag $res->body, $first->log;
    $apart->ctl('submission', 'cancel', $unused->{uuid}, '--reason', 'over');
    command('cache-3', 'submission', 'delete', $unused->{uuid});
    my ($gone) = $unused->{documents}[0]{sha256};
    is(scalar cached(1, $gone), 1, 'its document is in the cache of the host that stored it');
    $removed = command('cache-3', 'gc', '--reserved', 0);
    cmp_ok($removed->{deleted}, '>', 0, 'gc removes what was deleted');
    my $kept = cached(1, $sha);
    command('cache-1', 'gc');
    is(scalar cached(1, $gone), 0, 'and gc at that host removes it from the cache');
    ok($kept && cached(1, $sha) == $kept, 'and nothing else');
    my @quarantine = $s3->objects('one/two/quarantine/');
    is(scalar @quarantine, $removed->{deleted}, 'to the quarantine');
    $removed = command('cache-3', 'gc', '--quarantine-days', 0);
    is($removed->{quarantine_deleted}, scalar @quarantine, 'which is emptied');
    is_deeply([$s3->objects('one/two/quarantine/')], [], 'later');
};
subtest 'the store is away' => sub {
    $s3->stop;
    my $res = $here->create(files => [['a.pdf', pdf(nonce => "away $$")]]);
    is($res->code, 503, 'nothing can be stored');
    like($first->log, qr{(?:PUT|HEAD|GET) s3://sigreq/one/two/\S+: (?:no response, |the last)}, 'the log says why');
    is(substr($here->get($path)->body, 0, length $bytes), $bytes, 'what is in the cache can be read');
    ok(wait_for(sub { $here->get('/health')->code == 503 }), 'health says it');
};
done_testing;
