# SPDX-License-Identifier: Apache-2.0
# What a document may show or do that is not visible on its pages is in the answer, in the audit trail and, in the
# reader's language, on the signing page. SigreqActiveContent refuse refuses such a document. Other documents have no
# warnings.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Here qw(organisation suite place signed is_text nothing_happens);
use Sigreq::PDF qw(pdf without_end);
use Sigreq::Preview;
use Sigreq::Signer qw(signers_of);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $count  = 0;
sub nonce { "warnings $$ " . suite->{db} . suite->{mpm} . ++$count }
my $script = '/OpenAction<</S/JavaScript/JS(app.alert\(1\))>>';
my @said   = (
    'It contains JavaScript, which can change what a PDF reader shows',
    'It runs an action by itself when it is opened or a page is shown, which can change what a PDF reader shows');
my %area  = (x => 72, y => 72, w => 180, h => 50, page => 0);
my @names = qw(javascript action);

sub on {    # a signer with a field on each
    my @fields = map { +{ type => 'signature', name => 's', document => $_, area => \%area } } @_;
    return Sigreq::Client::signers({ fields => \@fields });
}

my $plain = $client->create(files => [['a.pdf', pdf(nonce => nonce())]]);
ok(!exists $plain->json('/documents/0')->{warnings}, 'a plain document has no warnings');
unlike($plain->body, qr/warnings/, 'the answer has no warnings');

for my $what ('as it is', 'rewritten') {
    my $bytes = pdf(nonce => nonce(), catalog => $script);
    $bytes = without_end($bytes) if $what eq 'rewritten';
    my $made = $client->create(
        files   => [['plain.pdf', pdf(nonce => nonce())], ['script.pdf', $bytes]],
        signers => on('plain.pdf', 'script.pdf'));
    is($made->code, 201, "$what: accepted") or next;
    is_deeply($made->json('/documents/1/warnings'), \@said, "$what: the answer has the warning");
    is_deeply($client->get('/signatures/' . $made->json('/uuid'))->json('/documents'), $made->json('/documents'),
        "$what: GET has the warning");
    my $evidence = $client->get('/signatures/' . $made->json('/uuid') . '/audit')->json('/events/0/detail/documents');
    is_deeply($evidence->[1]{warnings}, \@names, "$what: the audit trail has the warning");
    ok(!exists $evidence->[0]{warnings}, "$what: only that document has the warning");
    my ($signer) = signers_of($made->json);
    my $state = $signer->state;
    is_deeply([map { $_->{warnings} } @{ $state->{documents} }], [undef, \@said], 'the signing page shows the warning');
    for my $language (qw(en de fr es)) {
        my $texts = decode_json(path(suite->{source} . "/src/web/assets/texts/$language.json")->slurp)->{page};
        my %asks  = (Accept => 'text/html', 'Accept-Language' => $language);
        my $page  = $signer->get('', headers => \%asks)->text;
        for my $name (@names) {
            my $text = $texts->{"warning.$name"} =~ s/'/&#39;/gr;
            is(scalar(my @times = $page =~ /\Q$text\E/g), 1,
                "the page has the warning in their language ($language, $name)");
        }
    }
    my $again = $client->create(files => [['script.pdf', $bytes]], signers => on('script.pdf'));
    is($again->json('/documents/0/warnings/0'), $said[0],
        'a known document has the same warnings');
}

# an update of page 1, as anybody can append it
sub altered {
    my ($bytes) = @_;
    my $start  = $bytes =~ /.*startxref\n(\d+)/s ? $1 : die;
    my $root   = $bytes =~ m{.*/Root (\d+ 0 R)}s ? $1 : die;
    my ($page) = $bytes =~ m{.*\n(\d+) 0 obj\n<<[^>]*/Type */Page\b}s or die;
    my $text   = $bytes =~ m{.*\n\Q$page\E 0 obj\n(.*?)\nendobj}s ? $1 : die;
    $text =~ s/>>\s*\z/\/Rotate 90>>/;
    my $xref = length($bytes) + length(my $object = "$page 0 obj\n$text\nendobj\n");
    return $bytes . $object . sprintf "xref\n$page 1\n%010d 00000 n \ntrailer\n<</Size 10000/Root $root/Prev $start>>\n"
        . "startxref\n$xref\n%%%%EOF\n", length $bytes;
}

{   # a document that comes with signatures
    my $seal  = suite->{dir} . '/seal-test';
    my $ann   = signed(pdf(nonce => nonce()), $seal, 'Ann Lee');
    my $again = sub { local $ENV{SIGN_ALIAS} = 'm'; signed($_[0], $seal, 'Mallory') };
    my $said  = sub {
        my $made = $client->create(files => [['a.pdf', $_[0]]]);
        is($made->code, 201, 'accepted');
        return $made->json('/documents/0/warnings');
    };
    is($said->($ann),            undef, 'a signature that covers everything needs no warning');
    is($said->("$ann% more\n"),  undef, 'a comment after the signature needs no warning');
    is($said->($again->($ann)),  undef, 'two signatures need no warning');
    is_deeply($said->(altered($ann)),
        ['It was changed after its last signature: its signatures do not cover all that it shows'],
            'a change after the signature is reported');
    is_deeply($said->($again->(altered($ann))),
        ['It was changed between its signatures, and they do not explain the change: not all cover what it shows'],
        'a change between two signatures is reported');
}

my $strict = $org->{test}->with(base => place('/strict'));
nothing_happens($org, 'where active content is refused', sub {
    my %active = (
        'it contains JavaScript, which can change what a PDF reader shows' => $script,
        'it has other files embedded, which are not among its pages' => '/AF[<</Type/Filespec/F(a)>>]');
    for my $reason (sort keys %active) {
        is_text($strict->create(files => [['a.pdf', pdf(nonce => nonce(), catalog => $active{$reason})]]),
            400, "Document a.pdf cannot be signed: $reason");
    }
});
is($strict->create(files => [['a.pdf', pdf(nonce => nonce())]])->code, 201, 'documents without warnings are accepted');
done_testing;
