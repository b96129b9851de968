# SPDX-License-Identifier: Apache-2.0
# GET <location>/api/v3/: the description of the API for people. Its examples run as they are shown.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Mojo::UserAgent;
use Mojo::Util 'encode';
use Sigreq::Here qw(organisation place suite);
use Sigreq::PDF 'pdf';
use Sigreq::Suite;
use Test::More;

my $agent = Mojo::UserAgent->new(max_redirects => 0);
my $page  = $agent->get(place('/api/v3/'))->result;
is($page->code,                   200,                        'the page needs no token');
is($page->headers->content_type, 'text/html; charset=utf-8', 'the page is HTML');
my $policy = $page->headers->header('Content-Security-Policy');
like($policy, qr/^default-src 'none'; style-src 'sha256-[^ ]+'; base-uri 'none'; form-action 'none'; /,
    'nothing is loaded');
unlike($page->body, qr/<script|<link|<img|\ssrc=|\sstyle=/, 'the page has no scripts, and nothing that is loaded');
my $moved = $agent->get(place('/api/v3'))->result;
is($moved->code,              303,               'without the slash');
is($moved->headers->location, place('/api/v3/'), 'without the slash, the address is given');
is($agent->head(place('/api/v3/'), { 'Accept-Encoding' => 'identity' })->result->headers->content_length,
    length $page->body, 'HEAD has the length');
is($agent->post(place('/api/v3/'))->result->code, 405, 'POST is another method');

my $dom  = $page->dom;
my $spec = decode_json(path(suite->{source}, 'src/api/openapi.json')->slurp);
my @ids  = map { $_->{operationId} // () } grep { ref eq 'HASH' } map { values %$_ } values %{ $spec->{paths} };
my $operations = $dom->find('.operation:not(.webhook)');
is(join(' ', sort @{ $operations->map(attr => 'id') }), join(' ', sort @ids), 'each operation is there');
is(join(' ', map { $_->at('h3 code')->text } @{ $dom->find('.webhook') }), 'sent signed refused completed test',
    'and each webhook');
my %anchors = map { $_ => 1 } @{ $dom->find('[id]')->map(attr => 'id') };
my @links   = grep {/^#/} @{ $dom->find('a[href]')->map(attr => 'href') };
cmp_ok(scalar @links, '>', scalar @ids, 'the contents have links');
is(join(' ', grep { !$anchors{ s/^#//r } } @links), '', 'all links of the contents lead somewhere');

# --- the examples

my %runs = (
    Shell      => ['bash', 'sh'],  Python => ['python3', 'py'],
    JavaScript => ['node', 'mjs'], PHP    => ['php', 'php'], Perl => ['perl', 'pl']);
my $org    = organisation();
my $folder = tempdir(CLEANUP => 1);
Sigreq::Suite::write_file("$folder/lease.pdf", pdf());

sub run {    # the example of an operation, with more variables of the environment: what it prints
    my ($language, $operation, %more) = @_;
    my $shown = $dom->find("#$operation .examples details")->first(sub { $_->at('summary')->text eq $language });
    my ($program, $suffix) = @{ $runs{$language} };
    my $file = "$folder/example.$suffix";
    Sigreq::Suite::write_file($file, encode('UTF-8', $shown->at('pre')->text));
    local %ENV = (%ENV, BASE_URL => place() =~ s{/$}{}r, TOKEN => $org->{test}{token}, %more);
    my $said = qx(cd $folder && $program $file 2>&1);
    is($?, 0, "$language: $operation") or diag $said;
    return $said;
}

for my $language (sort keys %runs) {
SKIP: {
        my $program = $runs{$language}[0];
        skip "$language: $program is not installed", 1 if system("command -v $program >/dev/null");
        my $made = eval { decode_json(run($language, 'createSignature')) } // {};
        is($made->{name}, 'Lease of flat 4', "$language: the example prints the submission");
        my %one = (UUID => $made->{uuid}, DOCUMENT_UUID => $made->{documents}[0]{uuid});
        run($language, 'getDocument', %one);
        is(path($folder, 'document.pdf')->slurp, pdf(), "$language: the example saves the document");
        rename "$folder/document.pdf", "$folder/signed.pdf" or die "document.pdf: $!\n";
        like(run($language, 'verifyDocument'), qr/"signatures":\[\]/, "$language: the document has no signatures");
        like(run($language, 'getSigning', SIGNER_UUID => $made->{submitters}[0]{uuid}), qr/"state":"opened"/,
            "$language: the link is opened");
        run($language, 'cancelSignature', %one);
        my $status = $org->{test}->get("/signatures/$one{UUID}")->json('/status');
        is($status, 'cancelled', "$language: the submission is cancelled");
        like(run($language, 'getHealth'), qr/"status"/, "$language: the health check needs no token");
    }
}
done_testing;
