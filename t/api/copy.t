# SPDX-License-Identifier: Apache-2.0
# sigreqctl documents copy from a folder to another one: what it copies and refuses, what a command that is killed
# leaves, and a service whose documents are moved while it is used. t/cluster/move.t does the same with a bucket.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Path 'remove_tree';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Httpd;
use Sigreq::Killer;
use Sigreq::Move qw(copy moved);
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $apart  = Sigreq::Apart->new;
my $httpd  = $apart->httpd;
my $client = $apart->client($httpd);
my $dir    = $apart->{dir};
my $from   = "$httpd->{dir}/documents";

sub folder { my $path = "$dir/$_[0]"; remove_tree($path); mkdir $path; return $path }

sub copied {    # the result of a copy that succeeds
    my ($to, @more) = @_;
    my ($code, $said, $error) = copy($apart, $from, $to, more => ['--json', @more]);
    is($code, 0, 'copied') or diag $said, $error;
    return decode_json($said || '{}');
}

sub blobs {    # the files of a folder: key → path
    my %found = map { m{/([0-9a-f]{64}\.[0-9a-f]{16})$} ? ($1 => $_) : () } glob "$_[0]/??/*";
    return \%found;
}

sub wrong_in {    # those with another content than their keys say
    my $found = blobs(shift);
    return [grep { sha256_hex(path($found->{$_})->slurp) ne substr $_, 0, 64 } sort keys %$found];
}

sub refused {
    my ($what, $places, $code, $message) = @_;
    my @got = copy($apart, @$places, more => []);
    is($got[0], $code, "$what: refused") or diag @got;
    like($got[2], $message, "$what: the reason is on stderr");
    is($got[1], '', "$what: nothing is on stdout");
    return;
}

refused('a folder where nothing was stored', [folder('none'), folder('to')], 4, qr/has no documents: nothing was/);
my $made = $client->create(files => [['a.pdf', pdf(nonce => "copy $$")]])->json;
is((signers_of($made))[0]->sign->code, 200, 'a document is signed');
$client->create(files => [['a.pdf', pdf(nonce => "copy $$ $_")]]) for 1 .. 3;
my $there = blobs($from);

subtest 'what it refuses' => sub {
    refused('no such folder', ["$dir/absent", folder('to')], 2, qr/--from \S+absent is not a folder/);
    refused('a file', [$from, "$httpd->{dir}/pid"], 2, qr/--to \S+pid is not a folder/);
    refused('the same folder', [$from, "$from/../documents"], 2, qr/--from and --to are the same place/);
    refused('a bucket without a store', [$from, 's3://bucket'], 2, qr/SigreqS3Endpoint is missing: give --config/);
    my $config = "SigreqS3Endpoint http://127.0.0.1:1\nSigreqDocumentsCache $dir\n"
        . "SigreqS3Credentials file:$dir/nokeys\n";
    my @got = copy($apart, $from, 's3://UPPER', config => $config);
    is($got[0], 2, 'the name of a bucket');
    like($got[2], qr{--to must be s3://bucket or s3://bucket/prefix}, 'is told');
    @got = copy($apart, $from, 's3://bucket', config => $config);
    like($got[2], qr{$dir/nokeys: No such file}, 'credentials that are missing');
    my $other = folder('other');
    Sigreq::Suite::write_file("$other/.database", path("$from/.database")->slurp =~ s/\n\K\w{8}/00000000/r);
    refused('a place with other documents', [$from, $other], 4, qr/has documents of its own: its \.database is not/);
    my $foreign = folder('foreign');
    Sigreq::Suite::write_file("$foreign/.database", path("$from/.database")->slurp =~ s/^\w{8}/00000000/r);
    refused('the place of another database', [$from, $foreign], 4, qr/foreign belongs to the database 00000000/);
    refused('from another database', [$foreign, folder('to')], 4, qr/foreign belongs to the database 00000000/);
    is_deeply(blobs($_), {}, 'nothing was written') for $other, $foreign, folder('to');
};
subtest 'a copy' => sub {
    my $to     = folder('to');
    my $report = copied($to);
    is_deeply([sort keys %{ blobs($to) }], [sort keys %$there], 'has all documents');
    is_deeply(wrong_in($to),               [],                  'with their contents');
    is($report->{copied}, scalar keys %$there, 'which is said');
    is(path("$to/.database")->slurp, path("$from/.database")->slurp, 'and the same uuids');
    $report = copied($to);
    is_deeply([@{$report}{qw(copied present)}], [0, scalar keys %$there], 'nothing is copied again');
    like((copy($apart, $from, $to))[2], qr/^sigreqctl: 0 of \d+ documents, 0 of \d+ bytes$/m,
        'stderr has the progress');
    like((copy($apart, $from, $to, more => []))[1], qr/^present +\d+$/m, 'the result is also a text');
};
subtest 'damage' => sub {
    my $to = folder('to');
    my ($key, $second) = sort keys %$there;
    copied($to);
    my $bytes = path(blobs($to)->{$key})->slurp;
    chmod 0600, values %{ blobs($to) };
    path(blobs($to)->{$key})->spurt(substr $bytes, 1);
    is(copied($to)->{copied}, 1, 'a file of another size is copied again');
    chmod 0600, blobs($to)->{$key};
    path(blobs($to)->{$key})->spurt($bytes ^ ("\0" x (length($bytes) - 1) . 'x'));
    is(copied($to)->{copied}, 0, 'another content of the same size is not seen');
    is(copied($to, '--verify')->{copied}, 1, 'but with --verify it is');
    is_deeply(wrong_in($to), [], 'everything is right then');
    $to = folder('to');
    my ($file, $kept) = ($there->{$key}, path($there->{$key})->slurp);
    unlink $file;
    path($file)->spurt($kept ^ "\1");
    rename $there->{$second}, "$dir/aside";
    my ($code, $said) = copy($apart, $from, $to);
    is($code, 1, 'a damaged and a missing file make it fail');
    my $report = decode_json($said);
    is_deeply([@{$report}{qw(damaged missing copied)}], [1, 1, keys(%$there) - 2], 'which are counted');
    is_deeply([map {"$_->{problem} $_->{key}"} @{ $report->{problems} }], ["damaged $key", "missing $second"],
        'and named');
    is_deeply(wrong_in($to), [], 'nothing damaged was copied');
    path($file)->spurt($kept);
    rename "$dir/aside", $there->{$second};
    is(copied($to)->{copied}, 2, 'they are copied when they are right again');
};
subtest 'killed at any point' => sub {
    plan skip_all => Sigreq::Killer::why_not() if Sigreq::Killer::why_not();
    my $killer = Sigreq::Killer->new($dir, qw(fdatasync fsync linkat mkdir write));
    my ($kills, @wrong, @twice);
    for my $number (1 .. 1000) {
        my $to = folder('to');
        my ($code) = $killer->at($number, sub { copy($apart, $from, $to) });
        last if $code eq '0';
        $kills++;
        my $kept = keys %{ blobs($to) };
        push @wrong, @{ wrong_in($to) };
        my $report = decode_json((copy($apart, $from, $to))[1] || '{}');
        push @twice, $number if ($report->{copied} // -1) != keys(%$there) - $kept;
        push @wrong, "$number: not complete" if keys %{ blobs($to) } != keys %$there || @{ wrong_in($to) };
    }
    cmp_ok($kills, '>', 20, "killed $kills times");
    is_deeply(\@wrong, [], 'no file is incomplete, and the next copy copies the rest');
    is_deeply(\@twice, [], 'and nothing twice');
};
subtest 'a document that is deleted while it is copied' => sub {
    my ($to, $new) = (folder('to'), $client->create(files => [['a.pdf', pdf(nonce => "gone $$")]])->json);
    copied($to);
    my ($gone) = grep {/^$new->{documents}[0]{sha256}/} keys %{ blobs($to) };
    ok($gone, 'it was copied');
    my $config = Sigreq::Suite::write_file("$dir/both.conf",
        qq{SigreqDocuments "$from"\nSigreqDocumentsAlso "$to"\n});
    my @both = ('--config', $config);
    $apart->ctl('submission', 'cancel', $new->{uuid});
    $apart->ctl(@both, 'submission', 'delete', $new->{uuid});
    is($apart->ctl(@both, 'gc', '--reserved', 0)->{deleted}, 1, 'gc removes it');
    ok(!blobs($_)->{$gone}, "from $_") for $from, $to;
    is($apart->ctl(@both, 'gc', '--quarantine-days', 0)->{quarantine_deleted}, 2, 'and from both quarantines');
};
subtest 'what httpd -t says' => sub {
    my $said = sub {
        my ($place, %o) = @_;
        return Sigreq::Httpd->new($apart->database, documents => $from,
            place => "Sigreq On\nSigreqDocumentsAlso $place", %o)->test;
    };
    my @got = $said->($from);
    isnt($got[0], 0, 'the same place twice');
    like($got[1], qr/SR0002: \S+: SigreqDocumentsAlso is the same as SigreqDocuments/, 'is refused');
    like(($said->("$dir/absent"))[1], qr/SR0711: SigreqDocumentsAlso \S+absent is not a folder: /, 'no folder');
    like(($said->('s3://bucket'))[1], qr/SR0002: \S+: SigreqDocuments s3:.. needs SigreqS3Endpoint/, 'no store');
    like(($said->("$dir/foreign"))[1], qr/SR0702: SigreqDocuments \S+foreign belongs to the database 0/,
        'a foreign one');
    is(($said->(folder('to')))[0], 0, 'a new folder is fine');
};
subtest 'places of other uuids' => sub {
    my $other = $apart->httpd(documents => $from, place => qq{Sigreq On\nSigreqDocumentsAlso "$dir/other"});
    is($apart->client($other)->create->code, 503, 'nothing is stored');
    like($other->log, qr/has documents of its own: its \.database is another one/, 'the log says why');
};
subtest 'a service that is used' => sub {
    moved($apart, $httpd, $from, folder('new'));
    my $report = $apart->ctl('check', '--documents', "$dir/new");
    is_deeply([@{$report}{qw(missing damaged foreign)}], [0, 0, 0], 'sigreqctl check finds nothing wrong');
};
done_testing;
