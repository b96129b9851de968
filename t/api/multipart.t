# Broken multipart bodies, one row each: a plain refusal, nothing stored, the server goes on. And odd ones that are
# right.
use strict;
use warnings;
use Mojo::JSON 'encode_json';
use Sigreq::Here      qw(organisation is_text nothing_happens);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF 'pdf';
use Test::More;

my $org         = organisation();
my $b           = BOUNDARY;
my $file        = part('file', pdf(), filename => 'a.pdf', type => 'application/pdf');
my $signers     = encode_json(Sigreq::Client::signers());
my @good        = ($file, part('name', 'n'), part('signers', $signers));
my $whole       = multipart(@good);
my $disposition = 'Content-Disposition: form-data; name="name"';
my $pdf_type = "\r\nContent-Type: application/pdf";
my $bad         = 'Malformed multipart body';
sub with_name { multipart($file, part('signers', $signers), @_) }
sub typed     { (headers => { 'Content-Type' => $_[0] }) }

my @rows = (
    # what, body, options, the answer
    ['no bytes',                 '',                             [], $bad],
    ['no delimiter',             'just text',                    [], $bad],
    ['one delimiter',            "--$b",                         [], $bad],
    ['no closing delimiter',     $whole =~ s/--\r\n\z//r,        [], $bad],
    ['cut in the file',          substr($whole, 0, 300),         [], $bad],
    ['cut in the headers',       "--$b\r\nContent-Dispo",        [], $bad],
    ['cut after the headers',    "--$b\r\n$disposition\r\n\r\n", [], $bad],
    ['half a closing delimiter', $whole =~ s/-\r\n\z//r,                    [], $bad],
    ['junk after a delimiter',   $whole =~ s/--\Q$b\E\r\n/--${b}junk\r\n/r, [], $bad],
    ['bare LF for CRLF',         $whole =~ s/\r\n/\n/gr,                    [], $bad],
    ['another boundary',         $whole =~ s/\Q$b\E/other/gr,               [], $bad],
    ['no boundary',              $whole, [typed('multipart/form-data')],                                          $bad],
    ['an empty boundary',        $whole, [typed('multipart/form-data; boundary=')],                               $bad],
    ['an empty quoted boundary', $whole, [typed('multipart/form-data; boundary=""')],                             $bad],
    ['a boundary of 71',         $whole, [typed('multipart/form-data; boundary=' . 'x' x 71)],                    $bad],
    ['an open quote',            $whole, [typed(qq{multipart/form-data; boundary="$b})],                          $bad],
    ['two boundaries',           $whole, [typed("multipart/form-data; boundary=$b; boundary=x")],                 $bad],
    ['no disposition',           with_name(part('', 'n', headers => 'Content-Type: text/plain')),             [], $bad],
    ['no headers at all',        "--$b\r\n\r\nx\r\n--$b--\r\n",                                               [], $bad],
    ['no form-data',     with_name(part('', 'n', headers => 'Content-Disposition: attachment; name="name"')), [], $bad],
    ['no name',          with_name(part('', 'n', headers => 'Content-Disposition: form-data')),               [], $bad],
    ['two names',        with_name(part('', 'n', headers => "$disposition; name=\"x\"")),                     [], $bad],
    ['two dispositions', with_name(part('', 'n', headers => "$disposition\r\n$disposition")),                 [], $bad],
    [   'two file names',
        multipart(
            part('', pdf(), headers => 'Content-Disposition: form-data; name="file"; filename="a"; filename="b"')),
        [],
        $bad],
    [   'an open quote in a header', with_name(part('', 'n', headers => 'Content-Disposition: form-data; name="name')),
        [],                          $bad],
    ['a header without a colon',        with_name(part('', 'n', headers => "$disposition\r\nfoo")),       [], $bad],
    ['a header without a name',         with_name(part('', 'n', headers => "$disposition\r\n: foo")),     [], $bad],
    ['NUL in a header',                 with_name(part('', 'n', headers => "$disposition\0")),            [], $bad],
    ['a control character in a header', with_name(part('', 'n', headers => "$disposition\r\nX-A: \x01")), [], $bad],
    ['9,000 bytes of headers', with_name(part('', 'n', headers => "$disposition\r\nX-A: " . 'a' x 9000)), [], $bad],
    ['endless header',         "--$b\r\nX-A: " . 'a' x 100_000,                                           [], $bad],
    ['200 parts',              multipart(@good, map { part("p$_", 'x') } 1 .. 200),                       [], $bad],
    [   'another charset in filename*',
        multipart(
            part(
                '', pdf(),
                headers =>
                    qq{Content-Disposition: form-data; name="file"; filename*=latin1''a.pdf$pdf_type}
            )),
        [],
        $bad],
    [   'base64', with_name(part('', 'bg==', headers => "$disposition\r\nContent-Transfer-Encoding: base64")), [],
        'Content-Transfer-Encoding is not supported'],
    ['name twice',              multipart(@good, part('name', 'm')),         [], 'name is provided more than once'],
    ['signers twice',           multipart(@good, part('signers', $signers)), [], 'signers is provided more than once'],
    ['NUL in the name',         with_name(part('name', "a\0b")),             [], 'A name must not contain NUL'],
    ['a line end in the name',  with_name(part('name', "a\r\nb")),   [], 'A name must not contain control characters'],
    ['a name that is no UTF-8', with_name(part('name', "\xFF\xFE")), [], 'A name must be UTF-8 text'],
    [   'a file name that is no UTF-8',
        multipart(part('file', pdf(), filename => "\xFF.pdf", type => 'application/pdf'), @good[1, 2]),
        [], 'A file name must be UTF-8 text'],
    [   'a line end in a file name',
        multipart(part('file', pdf(), filename => 'a%0D%0Ab.pdf', type => 'application/pdf'), @good[1, 2]),
        [], 'A file name must not contain control characters'],
    [   'a long file name',
        multipart(part('file', pdf(), filename => 'a' x 300 . '.pdf', type => 'application/pdf'), @good[1, 2]),
        [], 'A file name must have at most 255 characters'],
    ['a long name',        with_name(part('name', 'n' x 501)),          [], 'A name must have at most 500 characters'],
    ['the file as a text', multipart(part('file', pdf()), @good[1, 2]), [], 'At least 1 file must be provided'],
    ['the name as a file', with_name(part('name', 'n', filename => 'n.txt')), [], 'A name must be provided'],
);
nothing_happens(
    $org,
    'broken bodies',
    sub {
        for my $row (@rows) {
            my ($what, $body, $options, $answer) = @$row;
            is_text($org->{live}->create(body => $body, @$options), 400, $answer, $what);
        }
    });

my @fine = (
    ['a preamble and an epilogue',    "preamble\r\n--not it\r\n${whole}epilogue\r\n--$b\r\nmore"],
    ['white space after a delimiter', $whole =~ s/--\Q$b\E\r\n/--$b \t\r\n/gr],
    ['no CRLF at the end',            $whole =~ s/\r\n\z//r],
    ['header names in any case',      $whole =~ s/Content-Disposition: form-data/CONTENT-DISPOSITION:form-data/gr],
    ['a boundary of one character',   $whole =~ s/\Q$b\E/x/gr, typed('multipart/form-data; boundary=x')],
    ['a boundary of 70', $whole =~ s/\Q$b\E/'y' x 70/ger,      typed('multipart/form-data; boundary=' . 'y' x 70)],
    [   'a boundary with punctuation', $whole =~ s/\Q$b\E/a b'()+_,-.\/:=?c/gr,
        typed(q{multipart/form-data; boundary="a b'()+_,-./:=?c"})],
    ['other parts in between',
        multipart(part('x', "\r\n--" . substr($b, 1) . "\r\n"), map { ($_, part('y', '')) } @good)],
    ['the file last',          multipart(@good[1, 2, 0])],
    [   'what looks like a delimiter in the file',
        multipart(
            part(
                'file',              pdf() . "\r\n--$b" =~ s/.\z//r . "\r\n--\r\n\r\r\n-",
                filename => 'a.pdf', type => 'application/pdf'),
            @good[1, 2])],
    [   'an empty file field besides',
        multipart(part('file', '', filename => '', type => 'application/octet-stream'), @good)],
    ['names without quotes', $whole =~ s/name="(\w+)"/name=$1/gr],
    [   'filename*',
        multipart(
            part(
                '', pdf(),
                headers =>
                    qq{Content-Disposition: form-data; name="file"; filename*=UTF-8''a%2Epdf$pdf_type}
            ),
            @good[1, 2])],
);
for my $row (@fine) {
    my ($what, $body, @options) = @$row;
    my $res = $org->{test}->create(body => $body, @options);
    is($res->code, 201, $what) or diag $res->body;
}
my $res = $org->{test}->create(body => $fine[9][1]);
is( $org->{test}->get('/signatures/' . $res->json('/uuid') . '/documents/' . $res->json('/documents/0/uuid'))->body,
    pdf() . "\r\n--$b" =~ s/.\z//r . "\r\n--\r\n\r\r\n-", 'the file arrived byte for byte');
done_testing;
