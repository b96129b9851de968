# SPDX-License-Identifier: Apache-2.0
# The same document in many creations at the same time, some of which are refused, while gc runs: every submission that
# was acknowledged can be downloaded.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Basename 'basename';
use POSIX ();
use Sigreq::Here qw(organisation suite ctl collect documents temporary_files wait_for at_once);
use Sigreq::PDF 'pdf';
use Test::More;

my $org       = organisation();
my $quotaless = organisation(quota => 0);
my $crowd     = $org->{test}->crowd;
my $refused   = $quotaless->{live}->crowd;
sub fresh { [['a.pdf', pdf(nonce => "races $$ @_")]] }

sub all_there {    # answers of creations, name
    my ($answers, $name) = @_;
    my @others = map { $_->code . ' ' . $_->body } grep { $_->code != 201 } @$answers;
    is(scalar @others, 0, "$name: all made") or diag join "\n", @others;
    my @bad = grep {
        my $made     = $_->json;
        my $document = $made->{documents}[0];
        my $res      = $org->{test}->get("/signatures/$made->{uuid}/documents/$document->{uuid}");
        $res->code != 200 || sha256_hex($res->body) ne $document->{sha256};
    } grep { $_->code == 201 } @$answers;
    is(scalar @bad, 0, "$name: every document can be downloaded");
}

my $before = documents();
my @answers = $crowd->parallel(40, at_once(20), sub { $crowd->create_p(files => fresh('same')) });
all_there(\@answers, 'the same new document 40 times');
is(scalar documents(), $before + 1, 'it is stored once');

@answers = $crowd->parallel(
    200,
    at_once(16),
    sub {
        my $i     = shift;
        my $files = fresh('refused', int $i / 4);
        $i % 4 == 0 ? $crowd->create_p(files => $files) : $refused->create_p(files => $files);
    });
is(scalar(grep { $answers[$_]->code != 403 } grep { $_ % 4 } 0 .. $#answers), 0, 'no quota: all refused');
all_there([@answers[grep { $_ % 4 == 0 } 0 .. $#answers]], 'kept while others are refused with the same documents');
is(scalar documents(), $before + 1 + 50, 'nothing else is there');

# gc over and over while creations run, of documents that no submission has: they are taken away between any two steps
my @known = map { fresh('gc', $_) } 0 .. 99;
$refused->parallel(50, at_once(8), sub { $refused->create_p(files => $known[ $_[0] ]) });
my $pid = fork // die "fork: $!";
if (!$pid) {
    my $status = 0;
    for (1 .. 15) { eval { collect(); 1 } or do { warn $@; $status = 1 } }
    POSIX::_exit($status);
}
my $create = sub { my $i = shift; $crowd->create_p(files => $known[ $i / 2 ]) };
@answers = $crowd->parallel(200, at_once(8), $create);
waitpid $pid, 0;
is($?, 0, 'sigreqctl gc ran 15 times');
# Without reservations gc may remove the documents of a slow request each time that it stores them.
my @again = grep { $answers[$_]->code == 503 && $answers[$_]->body =~ /Documents cannot be stored/ } 0 .. $#answers;
@answers[@again] = $crowd->parallel(scalar @again, at_once(8), sub { $create->($again[ $_[0] ]) }) if @again;
all_there(\@answers, 'while gc ran');
# a file that was written while gc gave its key up is foreign
my %late = map { $_->{key} => 1 } @{ Sigreq::Here::checked()->{problems} };
is(scalar(grep { !$late{ basename($_) } } documents()), $before + 1 + 50 + 100, 'and nothing else is there');

subtest 'files that are changed, lost or foreign' => sub {
    plan skip_all => 't/cluster/s3.t does this with objects' if suite->{s3};
    my $left = suite->{dir} . '/documents/00';
    mkdir $left;
    my $stranger = "$left/" . '0' x 64 . '.0123456789abcdef';
    open my $file, '>', $stranger or die "$stranger: $!";
    close $file;
    collect();
    ok(-e $stranger, 'a file that the database does not know is left alone');
    my $check = Sigreq::Here::checked();
    is_deeply([map { $_->{problem} } grep { $_->{key} =~ /^0{64}/ } @{ $check->{problems} }], ['foreign'],
        'sigreqctl check tells of it');
    unlink $stranger;
    my $found = Sigreq::Here::checked();
    is_deeply([@$found{qw(missing damaged)}], [0, 0], 'what is stored is what was stored');

    my %foreign = map { $_->{key} => 1 } @{ $found->{problems} };
    my ($damaged, $missing) = grep { !$foreign{ basename($_) } } documents();
    my $aside = suite->{dir} . '/documents/aside';
    my $spoil = sub {    # the first byte; gives what it was
        my ($byte) = @_;
        chmod 0600, $damaged;
        open my $out, '+<', $damaged or die "$damaged: $!";
        read $out, my $was, 1;
        seek $out, 0, 0;
        print $out $byte;
        close $out;
        return $was;
    };
    my $good = $spoil->("\0");
    rename $missing, $aside or die "$missing: $!";
    my %problem = map { $_->{key} => "$_->{problem}: $_->{detail}" } @{ Sigreq::Here::checked()->{problems} };
    like($problem{ basename($damaged) }, qr/^damaged: its SHA-256 is [0-9a-f]{64}$/, 'check finds a changed byte');
    is($problem{ basename($missing) }, 'missing: there is no file', 'check finds a missing file');
    is_deeply([@{ Sigreq::Here::checked('--quick') }{qw(missing damaged)}], [1, 0],
        'check --quick compares sizes alone');
    $spoil->($good);
    rename $aside, $missing or die "$aside: $!";
    is_deeply([@{ Sigreq::Here::checked() }{qw(missing damaged)}], [0, 0], 'mended, all is well');
};
ok(wait_for(sub { !temporary_files() }), 'no temporary file');
done_testing;
