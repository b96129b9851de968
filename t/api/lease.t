# SPDX-License-Identifier: Apache-2.0
# The database stops between the beginning of a signature, which takes the submission's lease, and its end. The process
# cannot end the lease then. It does so as soon as the database answers. Nobody waits until the lease's time is over.
use strict;
use warnings;
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(suite children workers wait_for database_stop database_start);
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

plan skip_all => 'SQLite has file locks' if suite->{db} eq 'sqlite3';

my $apart = Sigreq::Apart->new;
my $httpd = $apart->httpd(children => 1);
my $one   = $apart->client($httpd);
my @two   = ({ email => 'ann@example.org' }, { firstname => 'Bob', area => { y => 200 } });
my @files = (['a.pdf', pdf(nonce => "lease $$")]);
my $made  = $one->create(files => \@files, signers => Sigreq::Client::signers(@two))->json;
my ($ann, $bob) = signers_of($made);
is($_->get('')->code, 200, 'a link is opened') for $ann, $bob;

sub ask {
    my ($name)   = $apart->{params} =~ /dbname=(\S+)/;
    my ($socket) = $apart->{params} =~ /host=(\S+)/;
    return `psql -qXAt -h $socket -U postgres -d $name -c "$_[0]"`;
}
sub leases { return ask('SELECT count(*) FROM sigreq.submission_lock') + 0 }

my (@stopped, $client);
END { local $?; kill CONT => @stopped if @stopped; kill KILL => $client if $client }
my ($child) = children($httpd->pid);
@stopped = workers($child);
kill STOP => @stopped;
$client = fork // die "fork: $!";
if (!$client) {
    my $res = eval { $ann->sign('Ann') };
    POSIX::_exit($res && $res->code == 503 ? 0 : 1);
}
ok(wait_for(sub { leases() == 1 }), 'one who signs has the lease');
ask(q{UPDATE sigreq.submission_lock SET ends_at = ends_at + interval '1 hour'});
database_stop();
kill CONT => splice @stopped;
waitpid $client, 0;
is($?, 0, 'the database is away when the signature is to be stored: 503');
undef $client;
database_start();
ok(wait_for(sub { leases() == 0 }), 'when the database answers, the lease is ended');
ok(wait_for(sub { $_->sign('Here')->code == 200 }), 'a signer signs') for $bob, $ann;
is_deeply([map { $_->{status} } @{ $one->get("/signatures/$made->{uuid}")->json->{submitters} }],
    ['completed', 'completed'], 'both have signed');
done_testing;
