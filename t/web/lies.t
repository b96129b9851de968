# SPDX-License-Identifier: Apache-2.0
# A PDF helper that a document has taken over forges responses to a real httpd: t/tool/liar.c is between httpd and the
# real helper and changes the updates that should be appended. Each forged response is refused and named in the log,
# nothing is stored, and the signer can sign when the helper works correctly again. t/unit/pdf_lies.c has all forged
# responses. Here are some of each kind.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Here   qw(suite is_error is_text);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of pdfsig);
use Test::More;

my $build = suite->{source} . '/build';
my $apart = Sigreq::Apart->new;
my ($helper, $lie) = map {"$apart->{dir}/$_"} qw(helper lie);
sub use_helper { path($helper)->spurt("#!/bin/sh\nexec @_\n"); chmod 0755, $helper }
sub lie_of       { path($lie)->spurt(map {"$_\n"} @_) }
use_helper("$build/t/tool/liar $build/sigreq-pdfd $lie");
my $client = $apart->serve(helper => $helper);
my $httpd  = $apart->{httpd};

sub stored { return join "\n", sort map {"$_"} path("$httpd->{dir}/documents")->list_tree->each }

sub refusals {
    my @found = $httpd->log =~ /asked to (\w+, a worker gave an update that is refused: .*)/g;
    return @found;
}

# Objects: 1 the catalog, 2 the page tree, 4 the content of the page, 5 the page; 6 and 7 are for forged responses.
# After preparing: 8 the empty appearance, 9 the field of Ann, 10 that of Bob, 11 the form.
sub document {
    return pdf(
        nonce   => "lies $$ @_",
        objects => [
            Sigreq::PDF::stream_of('BT /F 18 Tf 72 72 Td (1,000,000 euro) Tj ET'),
            '<</S/JavaScript/JS(app.alert\(1\))>>'
        ]);
}

sub creation {
    my @two = Sigreq::Client::signers({}, { firstname => 'Bob', area => { y => 200 } });
    return $client->create(files => [['a.pdf', document(@_)]], signers => @two);
}

my $page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents 6 0 R';
my @prepared = (
    ['an object that nobody needs', 'prepare', 'add', 12, '', "$page>>"],
    ['a page more', 'prepare', 'add', 2, '', '<</Type/Pages/Count 2/Kids[5 0 R 5 0 R]/MediaBox[0 0 612 792]>>'],
    ['another catalog', 'prepare', 'trailer', 0, '/Root 1 0 R', '/Root 7 0 R'],
    ['more after the end', 'prepare', 'end', 0, '', '4 0 obj null endobj'],
);
my @confirmed = ( # what can be told with the document alone, by another worker
    ['JavaScript in the catalog', 'prepare', 'object', 1, '/Pages 2 0 R', '/Pages 2 0 R /OpenAction 7 0 R'],
    ['another content of the page', 'prepare', 'object', 5, '/Contents 4 0 R', '/Contents 6 0 R'],
);
my @filled = (
    ['an object that nobody needs', 'fill', 'add', 99, '', "$page>>"],
    ['the page with another content', 'fill', 'add', 5, '', "$page/Annots[9 0 R 10 0 R]>>"],
    ['JavaScript in the catalog', 'fill', 'add', 1, '',
        '<</Type/Catalog/Pages 2 0 R/OpenAction 7 0 R/AcroForm 11 0 R>>'],
    ['a field that does something', 'fill', 'object', 9, '/FT /Sig', '/FT /Sig /A 7 0 R'],
    ['more after the end', 'fill', 'end', 0, '', '4 0 obj null endobj'],
);

subtest 'a document is uploaded' => sub {
    lie_of();
    is(creation('new')->code, 201, 'with a correct helper the submission is created');
    for my $row (@prepared) {
        my ($name, @lie) = @$row;
        my ($before, @said) = (stored(), refusals());
        lie_of(@lie);
        my $answer = creation($name);
        is_text($answer, 400, 'Document a.pdf cannot be signed: it made the PDF helper send an invalid answer', $name);
        is(stored(), $before, "nothing is stored after: $name");
        my @now = refusals();
        is(scalar @now, @said + 1, 'the log says why the document was refused: ' . ($now[-1] // ''));
        lie_of();
        is(creation($name)->code, 201, 'the same document is accepted when the helper is correct again');
    }
};

subtest 'a document is signed' => sub {
    lie_of();
    my $made   = creation('signed')->json;
    my $shown  = sub { $client->get("/signatures/$made->{uuid}" . shift) };
    my $path   = "/documents/$made->{documents}[0]{uuid}";
    my @before = ($shown->('')->body, $shown->($path)->body, stored());
    my ($ann, $bob) = signers_of($made, connections => 0);
    for my $row (@prepared, @confirmed, @filled) {
        my ($name, @lie) = @$row;
        my @said = refusals();
        lie_of(@lie);
        my $answer = $ann->sign;
        is_error($answer, 503, 'The document could not be sealed, try again later', "$lie[0]: $name");
        like($answer->headers->header('Retry-After') // '', qr/^\d+$/, 'the refusal has Retry-After');
        my @now = refusals();
        is(scalar @now, @said + 1, 'the log says why the signature was refused: ' . ($now[-1] // ''));
        is_deeply([$shown->('')->body, $shown->($path)->body, stored()], \@before,
            'nothing has changed after the refusal');
    }
    my @events = map { $_->{event} } @{ $shown->('/audit')->json->{events} };
    is_deeply([grep { $_ eq 'signed' } @events], [], 'the audit trail has no signature');
    use_helper("$build/sigreq-pdfd");
    is($_->sign->code, 200, 'the true helper is back: a signer signs') for $ann, $bob;
    my $told = pdfsig(my $signed = $shown->($path)->body);
    is_deeply([@{$told}{qw(signatures valid total)}], [2, 2, 1], 'both signatures are valid') or diag $told->{said};
    is(substr($signed, 0, length $before[1]), $before[1], 'the upload is a prefix of the document');
    unlike(substr($signed, length $before[1]), qr/JavaScript|OpenAction|Contents 6 0 R/,
        'the document has nothing of the forged responses');
    is($shown->('/certificate')->code, 200, 'the certificate of completion exists');
};
$apart->stop;
done_testing;
