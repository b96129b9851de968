# SPDX-License-Identifier: Apache-2.0
# The submission lock: a holder that is stopped delays others for ten seconds at most, and they get 503. A holder that
# is killed delays them until its lease is over. Two httpds share a database and a documents folder.
use strict;
use warnings;
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(suite children workers wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;
use Time::HiRes 'time';

my $apart = Sigreq::Apart->new;
my $first = $apart->httpd(children => 1);
my $other = $apart->httpd(children => 1, documents => "$first->{dir}/documents");
my $one   = $apart->client($first);
my @two   = ({ email => 'ann@example.org' }, { firstname => 'Bob', area => { y => 200 } });
my $made =
    $one->create(files => [['a.pdf', pdf(nonce => "lock $$")]], signers => Sigreq::Client::signers(@two))->json;
my ($ann, $bob) = signers_of($made);
$bob = Sigreq::Signer->new(link => $bob->{link} =~ s/:$first->{port}\b/:$other->{port}/r);
is($_->get('')->code, 200, 'a link is opened') for $ann, $bob;

my ($child) = my @children = children($first->pid);
is(scalar @children, 1, 'the first httpd has one child');

sub has_lock {    # the child, while it waits for a helper
    return grep { (readlink // '') =~ m{/\.turns$} } glob "/proc/$child/fd/*" if suite->{db} eq 'sqlite3';
    my ($name)   = $apart->{params} =~ /dbname=(\S+)/;
    my ($socket) = $apart->{params} =~ /host=(\S+)/;
    return `psql -qXAt -h $socket -U postgres -d $name -c 'SELECT count(*) FROM sigreq.submission_lock'` > 0;
}

my (@stopped, $client);
END { local $?; kill CONT => @stopped if @stopped; kill KILL => $client if $client }
ok(!has_lock(), 'nobody has the lock');
@stopped = workers($child);
kill STOP => @stopped;
$client = fork // die "fork: $!";
if (!$client) {
    eval { $ann->sign('Ann') };
    POSIX::_exit(0);
}
ok(wait_for(\&has_lock, 20), 'one who signs has the lock');
push @stopped, $child;
kill STOP => $child;

my $begun  = time;
my $answer = $bob->sign('Bob');
is($answer->code, 503, 'another one, who signs while the holder is stopped, gets 503');
cmp_ok(time - $begun, '>=', 9, 'having waited for it');
like($answer->headers->header('Retry-After') // '', qr/^\d+$/, 'and is told when to try again');
is($one->with(base => $other->base)->get("/signatures/$made->{uuid}")->json->{submitters}[1]{status}, 'opened',
    'nothing has changed');

kill KILL => @stopped;
@stopped = ();
$begun   = time;
ok(wait_for(sub { ($answer = $bob->sign('Bob'))->code == 200 }, 90), 'when the holder is killed, the lock ends')
    or diag $answer->code . ' ' . $answer->body;
ok(wait_for(sub { $ann->sign('Ann')->code == 200 }, 60), 'and the first signer signs, too');
is($one->with(base => $other->base)->get("/signatures/$made->{uuid}")->json->{submitters}[$_]{status}, 'completed',
    'signed once')
    for 0, 1;
done_testing;
