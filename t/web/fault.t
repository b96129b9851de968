# SPDX-License-Identifier: Apache-2.0
# Faults while a signer signs: children are killed, the database stops, helpers hang, the stored document was changed,
# gc runs. The answer "signed" is given only if everything is stored durably. Otherwise nothing has changed, and the
# signer can sign again.
use strict;
use warnings;
use Digest::SHA    'sha256_hex';
use Sigreq::Here   qw(organisation suite ctl children workers is_error temporary_files wait_for database_stop
    database_start stored);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of pdfsig);
use Test::More;
use Time::HiRes 'sleep';
use POSIX ();

my $org    = organisation();
my $client = $org->{test};
my $crowd  = $client->crowd;
sub shown    { $client->get("/signatures/$_[0]{uuid}")->json }
sub document { "/signatures/$_[0]{uuid}/documents/$_[0]{documents}[0]{uuid}" }

sub fresh { # a submission of one signer, and its link
    my $made = $client->create(files => [['a.pdf', pdf(nonce => "fault $$ @_")]])->json;
    my ($signer) = signers_of($made);
    return ($made, Sigreq::Signer->new(link => $signer->{link}, connections => 0));
}

sub is_sealed { # once, and as the API says
    my ($made, $name) = @_;
    my $shown  = shown($made)->{submitters}[0];
    my $bytes  = $client->get(document($made))->body;
    my $told   = pdfsig($bytes);
    my @signed = grep { $_->{event} eq 'signed' } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    my $got    = join ' ', $shown->{status}, @$told{qw(signatures valid total)}, scalar @signed;
    my $right  = $got eq 'completed 1 1 1 1' && sha256_hex($bytes) eq $shown->{signedDocuments}[0]{sha256};
    return $right || (diag("$name: $got"), 0)[1];
}

sub signs {    # the status, after 503 if the machine is busy
    my ($signer, $code) = @_;
    wait_for(sub { ($code = $signer->sign->code) != 503 });
    return $code;
}

my $many = $ENV{SIGREQ_SIGNERS} // 40;

subtest 'children are killed while many sign' => sub {
    my @pairs = map { [fresh('killed', $_)] } 1 .. $many;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        for (1 .. 4) { sleep 0.15; my @now = children(); kill KILL => $now[rand @now] if @now }
        POSIX::_exit(0);
    }
    my @answers = $crowd->parallel($many, 8, sub {
        my $signer = $pairs[ $_[0] ][1];
        $signer->sign_p('Ann')->catch(sub { return undef }) });
    waitpid $pid, 0;
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'httpd works');
    my @said = grep { $answers[$_] && $answers[$_]->code == 200 } 0 .. $#answers;
    is(scalar(grep { $_ && $_->code !~ /^(?:200|503)$/ } @answers), 0, 'each answer is signed, try again, or none');
    diag sprintf "%d of $many were answered with 200", scalar @said if @said == $many || @said < $many / 4;
    is(scalar(grep { shown($pairs[$_][0])->{submitters}[0]{status} ne 'completed' } @said), 0,
        'every signer who got the answer signed has signed');
    my @codes = map { signs($_->[1]) } @pairs;
    is(scalar(grep { !/^(?:200|409)$/ } @codes), 0, 'all other signers can sign again') or diag "@codes";
    is(scalar(grep { !is_sealed($_->[0], 'killed') } @pairs), 0, 'each signature is made once and valid');
    ok(wait_for(sub { !temporary_files() }), 'no temporary file');
};

if (suite->{db} eq 'pgsql') {
    my ($made, $signer) = fresh('away');
    database_stop();
    my $res = $signer->sign;
    is($res->code, 503, 'the database is stopped: the answer is 503');
    like($res->headers->header('Retry-After') // '', qr/^\d+$/, 'the database is stopped: the answer has Retry-After');
    database_start();
    ok(wait_for(sub { $client->get('/signatures')->code == 200 }), 'the database works again');
    is(shown($made)->{submitters}[0]{status}, 'sent', 'nothing has changed');
    is($signer->sign->code, 200, 'the signer can sign');
    ok(is_sealed($made, 'after the database was away'), 'the signature is valid');
}

subtest 'helpers hang' => sub {
    my ($made, $signer) = fresh('hang');
    my @stopped = workers();
    kill STOP => @stopped;
    my @codes   = map { $signer->sign->code } @stopped, 'one more';
    is(scalar(grep { !/^(?:503|200|409)$/ } @codes), 0, "each is answered while they hang: @codes");
    kill CONT => @stopped;
    $signer->sign;
    ok(is_sealed($made, 'after helpers hung'), 'the signer has signed once, validly');
};

subtest 'the stored document was changed' => sub {
    plan skip_all => 't/cluster/s3.t changes objects' if suite->{s3};
    my ($made, $signer) = fresh('changed');
    my $sha256 = $made->{documents}[0]{sha256};
    my ($file) = stored($sha256);
    my $change = sub {
        chmod 0600, $file or die "$file: $!";
        open my $out, '+<', $file or die "$file: $!";
        seek $out, 12, 0;
        print $out shift;
        close $out;
    };
    $change->('X');
    my $res = $signer->sign;
    is_error($res, 503, 'The document could not be sealed, try again later', 'a changed document is not sealed');
    is(shown($made)->{submitters}[0]{status}, 'sent', 'nothing has changed');
    $change->(substr pdf(nonce => "fault $$ changed"), 12, 1);
    is($signer->sign->code, 200, 'the restored document is sealed');
};

subtest 'gc runs while many sign' => sub {
    my @pairs = map { [fresh('gc', $_)] } 1 .. 40;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $status = 0;
        my @gc = ('gc', Sigreq::Here::storage());
        for (1 .. 8) { eval { ctl(@gc); 1 } or do { warn $@; $status = 1 } }
        POSIX::_exit($status);
    }
    my @answers = $crowd->parallel(40, 8, sub { $pairs[ $_[0] ][1]->sign_p('Ann') });
    waitpid $pid, 0;
    is($?, 0, 'sigreqctl gc ran');
    my @codes = map { $answers[$_]->code == 503 ? signs($pairs[$_][1]) : $answers[$_]->code } 0 .. 39;
    is(scalar(grep { $_ != 200 } @codes), 0, 'all signers have signed') or diag "@codes";
    ctl('gc', Sigreq::Here::storage());
    is(scalar(grep { !is_sealed($_->[0], 'gc') } @pairs), 0, 'all documents exist');
    my @without = grep { $client->get("/signatures/$_->[0]{uuid}/certificate")->code != 200 } @pairs;
    is(scalar @without, 0, 'all certificates exist');
};
done_testing;
