# SPDX-License-Identifier: Apache-2.0
# How often the object store is asked (through t/tool/s3liar.py, which counts) for each thing that is done with a
# document, and that a document which others have costs the same.
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Sigreq::Apart;
use Sigreq::Here 'suite';
use Sigreq::PDF 'pdf';
use Sigreq::S3;
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => $_ for grep {defined} Sigreq::S3::missing();

my $METRICS = qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>\n};
my $s3    = Sigreq::S3->new(dir => suite->{dir}, source => suite->{source});
my $lies  = $s3->liar(suite->{source});
my $apart = Sigreq::Apart->new;
my @cache = map {"$apart->{dir}/cache-$_"} 1, 2;
make_path(@cache);
my ($first, $second) = map {
    $apart->httpd(documents => 's3://sigreq', server => $s3->directives($_, endpoint => $lies) . $METRICS)
} @cache;
my ($here, $there) = map { $apart->client($_) } $first, $second;
my $other = do {    # another organisation in the same database
    my @of = ('--organization', 'Other');
    $apart->ctl('org', 'create', '--name', $of[1]);
    $apart->ctl('user', 'create', @of, '--firstname', 'Bob', '--lastname', 'Poe', '--email', 'bob@x.org');
    my @token = ('--user', 'bob@x.org', '--environment', 'test', '--name', 't');
    $here->with(token => $apart->ctl('token', 'create', @of, @token)->{token}, connections => 0);
};

sub asked {    # how many requests CODE needs, by method
    my $code = shift;
    my %count;
    for my $method (qw(PUT HEAD GET)) {
        $s3->arm('', 0, $method);
        $code->();
        $count{$method} = $s3->asked;
    }
    return join ' ', map {"$_:$count{$_}"} qw(PUT HEAD GET);
}

my $count = 0;
sub new_pdf { return pdf(nonce => join ' ', 'trips', $$, ++$count) }

sub created {
    my ($client, $bytes) = @_;
    my $res = $client->create(files => [['a.pdf', $bytes]]);
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

# What /metrics of the first host says about its cache and the store: the sum of all children.
sub shown {
    my $text = $here->{ua}->get($first->base . '/metrics')->res->body;
    return map { $text =~ /^\Q$_\E (\d+)$/m ? $1 : 0 } @_;
}

created($here, new_pdf());    # what is asked once
created($there, new_pdf());
is(asked(sub { created($here, new_pdf()) }), 'PUT:1 HEAD:1 GET:0', 'a new document');
my $known = new_pdf();
my $made  = created($here, $known);
is(asked(sub { created($here, $known) }), 'PUT:0 HEAD:0 GET:0', 'a document that the organisation has');
my @all = map { new_pdf() } 1 .. 6;
created($there, $_) for @all;
my @one = @all[0 .. 2];
is(asked(sub { created($other, shift @one) }), 'PUT:1 HEAD:1 GET:0', 'one that another one has, in no cache here');
created($here, $_) for @all[3 .. 5];
@one = @all[3 .. 5];
is(asked(sub { created($other, shift @one) }), 'PUT:1 HEAD:1 GET:0', 'and in the cache: always the same');

sub download {
    my ($client, $made) = @_;
    return $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}");
}
is(asked(sub { download($here, $made) }), 'PUT:0 HEAD:0 GET:0', 'a download where it was stored');
my @made = map { created($here, new_pdf()) } 1 .. 3;
is(asked(sub { download($there, shift @made) }), 'PUT:0 HEAD:0 GET:1', 'at another host');
@made = map { created($here, new_pdf()) } 1 .. 3;
is(asked(sub { is((signers_of(shift @made))[0]->sign->code, 200, 'signed') }), 'PUT:2 HEAD:2 GET:0',
    'a signature: its revision and the certificate of completion');
my @names = map {"sigreq_documents_cache_reads_total{result=\"$_\"}"} qw(hit miss);
push @names, 'sigreq_store_requests_total{method="PUT",result="done"}', 'sigreq_documents_cache_size_bytes';
my @before = shown(@names);
my $mine   = created($here,  new_pdf());
my $theirs = created($there, new_pdf());
download($here, $mine);
download($here, $theirs);
my @after = shown(@names);
is_deeply([map { $after[$_] - $before[$_] } 0 .. 2], [1, 1, 1], 'the metrics: a hit, a miss, and what was stored');
cmp_ok($after[3], '>', $before[3], 'the size of the cache has grown');
done_testing;
