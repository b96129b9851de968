# SPDX-License-Identifier: Apache-2.0
# The documents of a service that is used are moved from a folder to a bucket (OpenStack Swift) and back, and no request
# fails. A copy that is killed continues, and sends at most one document again. What it says if the store is away.
use strict;
use warnings;
use File::Path 'make_path';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::Move qw(copy moved);
use Sigreq::PDF 'pdf';
use Sigreq::S3;
use Test::More;

plan skip_all => $_ for grep {defined} Sigreq::S3::missing();

my $s3    = Sigreq::S3->new(dir => suite->{dir}, source => suite->{source});
my $lies  = $s3->liar(suite->{source});
my $apart = Sigreq::Apart->new;
make_path(my $cache = "$apart->{dir}/cache", my $back = "$apart->{dir}/back");
my $directives = $s3->directives($cache, endpoint => $lies);
my $httpd      = $apart->httpd(server => $directives);
my $client     = $apart->client($httpd);
my $from       = "$httpd->{dir}/documents";
my @all        = map { $client->create(files => [['a.pdf', pdf(nonce => "move $$ $_")]])->json } 1 .. 8;
my @config     = (config => $directives);

sub sent {    # how many documents were sent to the store while CODE ran
    my $code = shift;
    $s3->arm('', 0, 'PUT');
    $code->();
    return $s3->asked;
}

subtest 'killed' => sub {
    for my $number (1, 5) {
        my $place = "s3://sigreq/killed$number";
        my $there = sub { scalar grep {!/database/} $s3->objects("killed$number/") };
        my ($pid, $again);
        my $first = sent(sub {
            $pid = fork // die "fork: $!\n";
            if (!$pid) { copy($apart, $from, $place, @config); POSIX::_exit(0) }
            ok(wait_for(sub { $there->() >= $number }), "$number documents are there");
            kill KILL => path("/proc/$pid/task/$pid/children")->slurp =~ /(\d+)/ ? $1 : ();
            waitpid $pid, 0;
        });
        my $report;
        my $second = sent(sub { $report = decode_json((copy($apart, $from, $place, @config))[1]) });
        is($report->{copied} + $report->{present}, scalar @all, 'the next copy makes it complete');
        is($there->(),                             scalar @all, 'all documents are there');
        cmp_ok($first + $second, '<=', @all + 1, 'and at most one was sent twice');
    }
};

subtest 'a store that lies' => sub {
    my $place = 's3://sigreq/lies';
    $s3->arm('503', 99, 'PUT');
    my @got = copy($apart, $from, $place, @config);
    is($got[0], 5, 'that is away: the copy ends');
    like($got[2], qr{PUT s3://sigreq/lies/\S+: 503 SlowDown}, 'the reason is on stderr');
    $s3->arm('lie', 1, 'PUT');
    is((copy($apart, $from, $place, @config))[0], 0, 'an object that it has not kept is sent again');
    is(scalar(grep {!/database/} $s3->objects('lies/')), scalar @all, 'all documents are there');
    my ($object) = grep {!/database/} $s3->objects('lies/');
    $s3->replace($object, $s3->content($object) =~ s/PDF/PFD/r);
    is(decode_json((copy($apart, $place, $back, @config))[1])->{damaged}, 1, 'a damaged object is not copied back');
    is(decode_json((copy($apart, $from, $place, @config, more => ['--json', '--verify']))[1])->{copied}, 1,
        'and --verify repairs it');
    is(decode_json((copy($apart, $place, $back, @config))[1])->{copied}, 1, 'then it is copied');
};
subtest 'to the bucket'  => sub { moved($apart, $httpd, $from, 's3://sigreq/moved', @config) };
make_path("$apart->{dir}/again");
subtest 'and to a folder' => sub { moved($apart, $httpd, 's3://sigreq/moved', "$apart->{dir}/again", @config) };
done_testing;
