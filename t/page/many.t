# Many at once, and many documents: one signer who posts a hundred times signs once; twenty signers of one document all
# sign, and each signature stays valid; what a signer has no field on is not touched.
use strict;
use warnings;
use Sigreq::Here   qw(organisation temporary_files wait_for);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of pdfsig qpdf_check);
use Test::More;

my $org    = organisation();
my $client = $org->{test};

subtest 'one signer, a hundred times at once' => sub {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => "hundred $$")]])->json;
    my ($signer) = signers_of($made);
    my $crowd   = Sigreq::Signer->new(link => $signer->{link}, connections => 0);
    my @answers = $client->parallel(100, 50, sub { $crowd->sign_p('Ann') });
    my %codes;
    $codes{ $_->code }++ for @answers;
    is_deeply(\%codes, { 200 => 1, 409 => 99 }, 'one success');
    my @events = map { $_->{event} } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is(scalar(grep { $_ eq 'signed' } @events), 1, 'one event');
    my $told = pdfsig($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'one signature');
};

subtest 'twenty signers at once' => sub {
    my $place  = sub { { x => 20 + 110 * ($_[0] % 5), y => 30 + 60 * int($_[0] / 5), w => 100, h => 50 } };
    my @people = map { { firstname => "S$_", area => $place->($_) } } 0 .. 19;
    my @files  = (['a.pdf', pdf(nonce => "twenty $$")]);
    my $made   = $client->create(files => \@files, signers => Sigreq::Client::signers(@people))->json;
    my @signers = map { Sigreq::Signer->new(link => $_->{link}, connections => 0) } signers_of($made);
    my @answers = $client->parallel(20, 20, sub { $signers[ $_[0] ]->sign_p("Name $_[0]") });
    is_deeply([map { $_->code } @answers], [(200) x 20], 'all signed');
    my $all = $client->get("/signatures/$made->{uuid}")->json;
    is(scalar(grep { $_->{status} eq 'completed' } @{ $all->{submitters} }), 20, 'all completed');
    my $bytes = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    my $told  = pdfsig($bytes);
    is_deeply([@$told{qw(signatures valid total)}], [20, 20, 1], 'twenty valid signatures') or diag $told->{said};
    is(qpdf_check($bytes), '', 'qpdf --check');
    my @numbers = map { $_->{number} } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is_deeply(\@numbers, [1 .. @numbers], 'no event is missing');
};

subtest 'two documents, and signers of one' => sub {
    my $field = sub {
        my @area = (area => { x => 50, y => 50, w => 100, h => 40, page => 0 });
        return { fields => [map { { type => 'signature', name => 'f', document => $_, @area } } @_] };
    };
    my $made = $client->create(
        files   => [['a.pdf', pdf(nonce => "a $$")], ['b.pdf', pdf(nonce => "b $$")]],
        signers => Sigreq::Client::signers($field->('a.pdf'), $field->('a.pdf', 'b.pdf')))->json;
    my ($one, $two) = signers_of($made);
    is($one->sign->code, 200, 'the first signs');
    my $shown = $client->get("/signatures/$made->{uuid}")->json;
    is_deeply([map { $_->{name} } @{ $shown->{submitters}[0]{signedDocuments} }],
        ['a.pdf'], 'the one he has a field on');
    my ($a, $b) = map { "/signatures/$made->{uuid}/documents/$_->{uuid}" } @{ $made->{documents} };
    is(length $client->get($b)->body, $made->{documents}[1]{size}, 'the other is untouched');
    is($two->sign->code, 200, 'the second signs');
    is(pdfsig($client->get($a)->body)->{valid}, 2, 'two on the one');
    is(pdfsig($client->get($b)->body)->{valid}, 1, 'one on the other');
};
ok(wait_for(sub { !temporary_files() }, 2), 'no temporary file');
done_testing;
