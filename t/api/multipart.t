# SPDX-License-Identifier: Apache-2.0
# Broken multipart bodies, one row each: they are refused, nothing is stored, and the server works. Also unusual bodies
# that are valid.
use strict;
use warnings;
use Mojo::JSON 'encode_json';
use Sigreq::Here      qw(organisation is_text is_error nothing_happens);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $org         = organisation();
my $b           = BOUNDARY;
my $file        = part('file', pdf(), filename => 'a.pdf', type => 'application/pdf');
my $signers     = encode_json(Sigreq::Client::signers());
my @good        = ($file, part('name', 'n'), part('signers', $signers));
my $whole       = multipart(@good);
my $disposition = 'Content-Disposition: form-data; name="name"';
my $pdf_type = "\r\nContent-Type: application/pdf";
sub with_name { multipart($file, part('signers', $signers), @_) }
sub typed     { (headers => { 'Content-Type' => $_[0] }) }

# The reasons of "Malformed multipart body: …", by row.
my %why = (
    'it ends before its closing boundary' =>
        ['no bytes', 'no delimiter', 'one delimiter', 'no closing delimiter', 'cut in the file',
        'cut in the headers', 'cut after the headers', 'half a closing delimiter', 'another boundary'],
    'a boundary is followed by something other than a line end' =>
        ['junk after a delimiter', 'bare LF for CRLF'],
    'the Content-Type of the request has no boundary' =>
        ['no boundary'],
    'a parameter without a value' =>
        ['an empty boundary'],
    'the boundary must have 1 to 70 characters, and no space at its end' =>
        ['an empty quoted boundary', 'a boundary of 71'],
    'an unterminated quoted value' =>
        ['an open quote', 'an open quote in a header'],
    'a parameter given twice' =>
        ['two boundaries'],
    'a part without Content-Disposition' =>
        ['no disposition', 'no headers at all'],
    'the Content-Disposition of a part is not form-data' =>
        ['no form-data'],
    'a part without a name' =>
        ['no name'],
    'a part with two names' =>
        ['two names'],
    'a part with two Content-Disposition headers' =>
        ['two dispositions'],
    'a part with two file names' =>
        ['two file names'],
    'a header line of a part without a name and a colon' =>
        ['a header without a colon', 'a header without a name'],
    'NUL in the headers of a part' =>
        ['NUL in a header'],
    'a control character in the headers of a part' =>
        ['a control character in a header'],
    'the headers of a part are longer than 8192 bytes' =>
        ['9,000 bytes of headers', 'endless header'],
    'too many parts' =>
        ['200 parts'],
    'filename* must begin with UTF-8\'\' (RFC 5987)' =>
        ['another charset in filename*'],
);
my %malformed;
for my $reason (keys %why) { $malformed{$_} = "Malformed multipart body: $reason" for @{ $why{$reason} } }

my @rows = (
    # what, body, options, the answer
    ['no bytes',                 '',                             []],
    ['no delimiter',             'just text',                    []],
    ['one delimiter',            "--$b",                         []],
    ['no closing delimiter',     $whole =~ s/--\r\n\z//r,        []],
    ['cut in the file',          substr($whole, 0, 300),         []],
    ['cut in the headers',       "--$b\r\nContent-Dispo",        []],
    ['cut after the headers',    "--$b\r\n$disposition\r\n\r\n", []],
    ['half a closing delimiter', $whole =~ s/-\r\n\z//r,                    []],
    ['junk after a delimiter',   $whole =~ s/--\Q$b\E\r\n/--${b}junk\r\n/r, []],
    ['bare LF for CRLF',         $whole =~ s/\r\n/\n/gr,                    []],
    ['another boundary',         $whole =~ s/\Q$b\E/other/gr,               []],
    ['no boundary',              $whole, [typed('multipart/form-data')]],
    ['an empty boundary',        $whole, [typed('multipart/form-data; boundary=')]],
    ['an empty quoted boundary', $whole, [typed('multipart/form-data; boundary=""')]],
    ['a boundary of 71',         $whole, [typed('multipart/form-data; boundary=' . 'x' x 71)]],
    ['an open quote',            $whole, [typed(qq{multipart/form-data; boundary="$b})]],
    ['two boundaries',           $whole, [typed("multipart/form-data; boundary=$b; boundary=x")]],
    ['no disposition',           with_name(part('', 'n', headers => 'Content-Type: text/plain')),             []],
    ['no headers at all',        "--$b\r\n\r\nx\r\n--$b--\r\n",                                               []],
    ['no form-data',     with_name(part('', 'n', headers => 'Content-Disposition: attachment; name="name"')), []],
    ['no name',          with_name(part('', 'n', headers => 'Content-Disposition: form-data')),               []],
    ['two names',        with_name(part('', 'n', headers => "$disposition; name=\"x\"")),                     []],
    ['two dispositions', with_name(part('', 'n', headers => "$disposition\r\n$disposition")),                 []],
    [   'two file names',
        multipart(
            part('', pdf(), headers => 'Content-Disposition: form-data; name="file"; filename="a"; filename="b"')),
        []],
    [   'an open quote in a header', with_name(part('', 'n', headers => 'Content-Disposition: form-data; name="name')),
        []],
    ['a header without a colon',        with_name(part('', 'n', headers => "$disposition\r\nfoo")),       []],
    ['a header without a name',         with_name(part('', 'n', headers => "$disposition\r\n: foo")),     []],
    ['NUL in a header',                 with_name(part('', 'n', headers => "$disposition\0")),            []],
    ['a control character in a header', with_name(part('', 'n', headers => "$disposition\r\nX-A: \x01")), []],
    ['9,000 bytes of headers', with_name(part('', 'n', headers => "$disposition\r\nX-A: " . 'a' x 9000)), []],
    ['endless header',         "--$b\r\nX-A: " . 'a' x 100_000,                                           []],
    ['200 parts',              multipart(@good, map { part("p$_", 'x') } 1 .. 200),                       []],
    [   'another charset in filename*',
        multipart(
            part(
                '', pdf(),
                headers =>
                    qq{Content-Disposition: form-data; name="file"; filename*=latin1''a.pdf$pdf_type}
            )),
        []],
    [   'base64', with_name(part('', 'bg==', headers => "$disposition\r\nContent-Transfer-Encoding: base64")), [],
        'Content-Transfer-Encoding is not supported'],
    ['name twice',              multipart(@good, part('name', 'm')),         [], 'name is provided more than once'],
    ['signers twice',           multipart(@good, part('signers', $signers)), [], 'signers is provided more than once'],
    ['NUL in the name',         with_name(part('name', "a\0b")),             [], 'name must not contain NUL'],
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
            is_text($org->{live}->create(body => $body, @$options), 400, $answer // $malformed{$what}, $what);
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
    [   'a file without a type',
        multipart(part('file', pdf(), filename => 'a.pdf'), @good[1, 2])],
    [   'a file with an empty type',
        multipart(part('file', pdf(), filename => 'a.pdf', type => ''), @good[1, 2])],
    [   'signers as a file',
        multipart(@good[0, 1], part('signers', $signers, filename => 'signers.json', type => 'application/json'))],
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

# --- a file without a declared type is judged by its content

sub of_type { multipart(part('file', $_[1], filename => 'a.pdf', type => $_[0]), @good[1, 2]) }
is_text($org->{test}->create(body => of_type(@$_)), 400, 'Only PDF files are supported', $_->[2])
    for [undef, 'no PDF', 'no type, and no PDF'], ['', 'no PDF', 'an empty type, and no PDF'],
    ['application/octet-stream', pdf(), 'another type, whatever it holds'], ['text/plain', pdf(), 'text/plain'];

# --- encoded bodies

my $coded = sub { $org->{test}->create(body => $whole, headers => { 'Content-Encoding' => $_[0] }) };
my $gzip  = $coded->('gzip');
is_error($gzip, 415, 'Content-Encoding is not supported: send the body as it is', 'gzip');
is($gzip->headers->header('Accept-Encoding'), 'identity', 'Accept-Encoding lists what is supported');
is($coded->('identity')->code, 201, 'identity is accepted');
is_error($org->{test}->post('/tokens', json => { name => 'x' }, headers => { 'Content-Encoding' => 'br' }),
    415, qr/^Content-Encoding/, 'br of a JSON body is refused');
done_testing;
