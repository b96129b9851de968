# SPDX-License-Identifier: Apache-2.0
# The commands of docs/several-hosts.md that copy the bucket to another object store, and back after everything in it
# was lost. They are of rclone, another implementation of the S3 API, which also judges the objects: their hashes are
# their names. The service has its bucket in the host's name (virtual-host style), and rclone in the path.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Path  qw(make_path remove_tree);
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here 'suite';
use Sigreq::PDF 'pdf';
use Sigreq::S3;
use Sigreq::Signer qw(signers_of pdfsig);
use Sigreq::Suite;
use Test::More;

plan skip_all => $_ for grep {defined} Sigreq::S3::missing();
plan skip_all => 'rclone is not installed (tools/deps cluster)' if !grep { -x "$_/rclone" } split /:/, $ENV{PATH};

my $s3    = Sigreq::S3->new(dir => suite->{dir}, source => suite->{source});
my $apart = Sigreq::Apart->new;
my $cache = "$apart->{dir}/cache";
make_path($cache);
my @style  = (endpoint => "http://s3.localhost:$s3->{port} virtual-host");
my $httpd  = $apart->httpd(documents => 's3://sigreq', server => $s3->directives($cache, @style));
my $client = $apart->client($httpd);

delete @ENV{ grep {/^(?:AWS|RCLONE)_/} keys %ENV };    # what rclone would read of the caller

# The page names two stores. Here they are two accounts of one.
my %key = (store => ['test:tester', 'testing'], 'backup-store' => ['other:person', 'secret']);
$ENV{RCLONE_CONFIG} = Sigreq::Suite::write_file("$apart->{dir}/rclone.conf", join '', map { <<"CONF" } sort keys %key);
[$_]
type = s3
provider = Other
endpoint = @{[$s3->endpoint]}
region = us-east-1
access_key_id = $key{$_}[0]
secret_access_key = $key{$_}[1]
CONF
my @commands = path(suite->{source} . '/docs/several-hosts.md')->slurp =~ /^(rclone copy .*?) *(?:#.*)?$/mg;
is_deeply([map { s/ \S+:.*//r } @commands], [('rclone copy') x 2], 'the page has both commands');

sub run {    # a command: all it says
    my $command = shift;
    open my $pipe, '-|', 'sh', '-c', "exec $command 2>&1" or die "sh: $!\n";
    my $said = do { local $/; <$pipe> } // '';
    ok(close($pipe), $command) or diag $said;
    return $said;
}

sub checked {
    my $database = Sigreq::Apart::configuration(driver => suite->{db}, params => $apart->{params});
    my $report   = $s3->checked(suite->{source} . '/build/sigreqctl', $database, $cache, @style);
    return [@{$report}{qw(missing damaged foreign)}];
}

my $bytes = pdf(nonce => "backup $$");
my $two   = Sigreq::Client::signers({}, { firstname => 'Bob' });
my $made  = $client->create(files => [['a.pdf', $bytes]], signers => $two)->json;
my $path  = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
my @signers = signers_of($made);
is($signers[0]->sign->code, 200, 'the first signer signs');
my $signed = $client->get($path)->body;

run($commands[0]);
run('rclone check --download store:sigreq backup-store:sigreq');
my %hash = reverse run('rclone hashsum SHA-256 --download backup-store:sigreq') =~ /^([0-9a-f]{64})  (\S+)$/mg;
my %named = map { m{/([0-9a-f]{64})(?:\.[0-9a-f]+)?$} ? ($_ => $1) : () } keys %hash;
cmp_ok(scalar keys %named, '>=', 2, 'the backup has the document and its revision');
is($hash{$_}, $named{$_}, "rclone computes the hash that the name says: $_") for sort keys %named;
ok((grep { $_ eq sha256_hex($bytes) } values %named), 'the document as it was sent is one of them');

$s3->remove($_) for $s3->objects;
is_deeply([$s3->objects], [], 'the bucket loses everything');
remove_tree("$cache/sigreq");
is($client->get($path)->code, 503, 'and the cache, too: the document cannot be had');
run($commands[1]);
is_deeply(checked(), [0, 0, 0], 'after the copy back sigreqctl check --remote finds nothing wrong');
ok($client->get($path)->body eq $signed, 'the service reads what rclone has written');
is($signers[1]->sign->code, 200, 'and the second signer signs');
is(pdfsig($client->get($path)->body)->{valid}, 2, 'both signatures are valid');
done_testing;
