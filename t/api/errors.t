# SPDX-License-Identifier: Apache-2.0
# Every row of the contract's error tables (docs/api.md has them), and the further messages, with exact status and text.
# None of these requests stores or counts anything.
use strict;
use warnings;
use utf8;
use Mojo::File 'path';
use Mojo::JSON qw(encode_json true false);
use Sigreq::Client;
use Sigreq::Here      qw(organisation suite is_text is_error nothing_happens);
use Sigreq::Multipart qw(part multipart);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

my $org       = organisation();
my $quotaless = organisation(quota => 0);
sub signers { Sigreq::Client::signers(@_) }

sub field {
    my %over  = @_;
    my %field = (%{ signers()->[0]{fields}[0] }, %over);
    delete @field{ grep { !defined $over{$_} } keys %over };
    signers({ fields => [\%field] });
}
sub area         { signers({ area => {@_} }) }
sub less         { my ($signer) = @{ signers() }; delete $signer->{ $_[0] }; [$signer] }
sub in_area_less { my ($key)    = @_; my $s = signers(); delete $s->[0]{fields}[0]{area}{$key}; $s }
sub encrypted {
    my $key = '<' . '5A' x 32 . '>';
    pdf(trailer => "/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/O$key/U$key/P -4>>");
}
my $ann  = { email => 'ann@x.org' };
my $good = signers()->[0];

# row of the table => [what is sent, the answer]…
my @rows = (
    'At least 1 file must be provided' => [
        [{ files => undef },                                  'At least 1 file must be provided'],
        [{ files => undef, name => undef, signers => undef }, 'At least 1 file must be provided'],
        [   {   body =>
                    multipart(part('file', '', filename => '', type => 'application/octet-stream'), part('name', 'x'))
            },
            'At least 1 file must be provided'],
    ],
    'Only PDF files are supported' => [
        [{ files => [['a.pdf', pdf(), 'image/png']] }, 'Only PDF files are supported'],
        [{ files => [['a.pdf', pdf(), 'application/octet-stream']] }, 'Only PDF files are supported'],
        [   { body => multipart(part('file', 'no PDF', filename => 'a.pdf'), part('name', 'x')) },
            'Only PDF files are supported'],
        [{ files => [['a.pdf', 'no PDF at all']] },                       'Only PDF files are supported'],
        [{ files => [['a.pdf', '']] },                                    'Only PDF files are supported'],
        [{ files => [['a.pdf', '%PDF-1.7 and then nothing']] },           'Only PDF files are supported'],
        [{ files => [['a.pdf', ' ' x 5000 . pdf()]] },                    'Only PDF files are supported'],
        [{ files => [['a.pdf', pdf()], ['b.pdf', 'no']], name => undef }, 'Only PDF files are supported'],
    ],
    'A name must be provided' => [
        [{ name => undef },                   'A name must be provided'],
        [{ name => '' },                      'A name must be provided'],
        [{ name => " \t " },                  'A name must be provided'],
        [{ name => "\xC2\xA0" },              'A name must be provided'],
        [{ name => undef, signers => undef }, 'A name must be provided'],
    ],
    'A signers must be provided' => [
        [{ signers => undef }, 'A signers must be provided'],
        [{ signers => '' },    'A signers must be provided'],
    ],
    'At least 1 signer must be provided'       => [[{ signers => '[]' }, 'At least 1 signer must be provided']],
    'Signer {n}: A firstname must be provided' => [
        [{ signers => less('firstname') }, 'Signer 1: A firstname must be provided'],
        [{ signers => signers({ firstname => '' }) },   'Signer 1: A firstname must be provided'],
        [{ signers => signers({ firstname => '  ' }) }, 'Signer 1: A firstname must be provided'],
        [{ signers => signers({ firstname => 5 }) },    'Signer 1: A firstname must be provided'],
        [   { signers => signers({}, { firstname => undef, lastname => undef }) },
            'Signer 2: A firstname must be provided'],
        [{ signers => signers({ firstname => '', email => 'ann@x.org' }) }, 'Signer 1: A firstname must be provided'],
    ],
    'Signer {n}: A lastname must be provided' => [
        [{ signers => less('lastname') },                            'Signer 1: A lastname must be provided'],
        [{ signers => signers({}, {}, { lastname => "\x{2003}" }) }, 'Signer 3: A lastname must be provided'],
    ],
    'Signer {n}: An email must be provided when sendEmail is enabled' => [
        [{ sendEmail => 'true' }, 'Signer 1: An email must be provided when sendEmail is enabled'],
        [   { sendEmail => 'true', signers => signers($ann, { email => '' }) },
            'Signer 2: An email must be provided when sendEmail is enabled'],
        [   { sendEmail => 'true', signers => signers($ann, { email => undef }) },
            'Signer 2: An email must be provided when sendEmail is enabled'],
    ],
    'Signer {n}: Invalid email format: {email}' => [
        map { my $bad = $_; [{ signers => signers({ email => $bad }) }, "Signer 1: Invalid email format: $bad"] } 'ann',
        'ann@', '@x.org', 'ann@x', 'ann@x.', 'ann@.', 'a b@x.org', "a\tb\@x.org", "ann\@x.org\n",
        'ann@x@y.org', "ann\x{A0}\@x.org", 'änn@x'],
    'Signer {n} ({email}): Must have at least 1 field' => [
        [{ signers => signers({ %$ann, fields => [] }) }, 'Signer 1 (ann@x.org): Must have at least 1 field'],
        [{ signers => signers({}, { fields => [] }) },    'Signer 2: Must have at least 1 field'],
        [{ signers => less('fields') },                   'Signer 1: Must have at least 1 field'],
        [{ signers => signers({ fields => 'all' }) },     'Signer 1: Must have at least 1 field'],
    ],
    'Signer {n} ..., Field {m}: A type must be provided' => [
        [{ signers => field(type => undef) }, 'Signer 1, Field 1: A type must be provided'],
        [   { signers => signers($ann, { %$ann, fields => [$good->{fields}[0], {}] }) },
            'Signer 2 (ann@x.org), Field 2: A type must be provided'],
    ],
    'Signer {n} ..., Field {m}: A name must be provided' => [
        [{ signers => field(name => undef) }, 'Signer 1, Field 1: A name must be provided'],
        [{ signers => field(name => ' ') },   'Signer 1, Field 1: A name must be provided'],
    ],
    'Signer {n} ..., Field {m}: An area must be provided' => [
        [{ signers => field(area => undef) },        'Signer 1, Field 1: An area must be provided'],
        [{ signers => field(area => [1, 2, 3, 4]) }, 'Signer 1, Field 1: An area must be provided'],
    ],
    'Signer {n} ..., Field {m}: Area x/y coordinate must be a number' => [
        map { [{ signers => $_ }, 'Signer 1, Field 1: Area x/y coordinate must be a number'] } in_area_less('x'),
        in_area_less('y'), area(x => '72'), area(y => undef), area(x => true)],
    'Signer {n} ..., Field {m}: Area width/height must be a positive number' => [
        map { [{ signers => $_ }, 'Signer 1, Field 1: Area width/height must be a positive number'] } in_area_less('w'),
        in_area_less('h'), area(w => 0), area(h => 0), area(w => -1), area(h => '5'), area(w => -0.001)],
    'Signer {n} ..., Field {m}: Area page must be a non-negative integer' => [
        map { [{ signers => $_ }, 'Signer 1, Field 1: Area page must be a non-negative integer'] } in_area_less('page'),
        area(page => -1), area(page => '0'), area(page => 0.5), area(page => undef), area(page => true),
        encode_json(area()) =~ s/"page":0/"page":1.0/r, encode_json(area()) =~ s/"page":0/"page":1e0/r],
    'Document {name} not found' => [
        [{ signers => field(document => 'b.pdf') },  'Document b.pdf not found'],
        [{ signers => field(document => 'A.pdf') },  'Document A.pdf not found'],
        [{ signers => field(document => 'a.pdf ') }, 'Document a.pdf  not found'],
        [{ signers => field(document => '契約.pdf') }, 'Document 契約.pdf not found'],
    ],
    'Index page unknown' => [
        [{ signers => area(page => 1) },          'Index page unknown'],
        [{ signers => area(page => 2147483647) }, 'Index page unknown'],
        [{ signers => area(page => 2147483648) }, 'Index page unknown'],
        [{ signers => area(page => 4294967296) }, 'Index page unknown'],
    ],
    'in the same style' => [
        [{ signers => '{"a":1}' },                    'Signers must be a JSON array: an object was sent'],
        [{ signers => '"x"' },                        'Signers must be a JSON array: a string was sent'],
        [{ signers => 'null' },                       'Signers must be a JSON array: null was sent'],
        [{ signers => '[1]' },                        'Signer 1: Must be an object'],
        [{ signers => [$good, []] },                  'Signer 2: Must be an object'],
        [{ signers => signers({ fields => ['x'] }) }, 'Signer 1, Field 1: Must be an object'],
        [{ signers => field(type => 'stamp') },       'Signer 1, Field 1: Only type signature is supported'],
        [{ signers => field(document => undef) },     'Signer 1, Field 1: A document must be provided'],
        [{ signers => area(origin => 'bottom') },     'Signer 1, Field 1: Area origin must be user-space or top-left'],
        [{ files     => [['a.pdf', pdf()], ['a.pdf', pdf(pages => 2)]] }, 'Document a.pdf is provided more than once'],
        [{ skipIntro => 'yes' },                                          'skipIntro must be true or false'],
        [{ sendEmail => 'on' },                                           'sendEmail must be true or false'],
        [{ skipIntro => '2' },                                            'skipIntro must be true or false'],
    ],
    'documents that are no use' => [
        [{ files => [['a.pdf', encrypted()]] }, 'Document a.pdf is password protected'],
        [{ files => [['b.pdf', pdf()], ['c d.pdf', encrypted()]] }, 'Document c d.pdf is password protected'],
    ],
    'what stands first is told first' => [
        [{ files => [['a.pdf', 'no']], name => '', signers => '' },     'Only PDF files are supported'],
        [{ name => '', signers => '[]' },                               'A name must be provided'],
        [{ signers => signers({ fields => [] }, { firstname => '' }) }, 'Signer 1: Must have at least 1 field'],
        [{ signers => [{ %$good, lastname => '', fields => [{}] }] },   'Signer 1: A lastname must be provided'],
        [{ signers => signers({ email => 'bad', fields => [] }) },      'Signer 1: Invalid email format: bad'],
        [   { signers => signers({ fields => [{ %{ $good->{fields}[0] }, document => 'zzz' }] }, { firstname => '' }) },
            'Signer 2: A firstname must be provided'],
        [   {   signers =>
                    signers({ area => { page => 9 } }, { fields => [{ %{ $good->{fields}[0] }, document => 'zzz' }] })
            },
            'Index page unknown'],
    ],
);

my $log    = path(suite->{dir}, 't/logs/error_log');
my $before = -s $log;
nothing_happens(
    $org,
    'all refusals',
    sub {
        while (my ($row, $cases) = splice @rows, 0, 2) {
            for my $client ('test', 'live') {
                is_text($org->{$client}->create(%{ $_->[0] }), 400, $_->[1], "$client: $row: $_->[1]") for @$cases;
            }
        }
    });

# Texts of the contract with several causes: the header X-Hint says which it is.
my $astray = Sigreq::Client::signers()->[0];
$astray->{fields}[0]{area} = { x => 1, y => 1, width => 50, height => 20, page => 0 };
for my $case (
    [{ files => undef, more => [part('files', pdf(), filename => 'a.pdf')] }, 'unknown form part files'],
    [{ files => undef, more => [part('file', pdf())] }, 'form part file has no file name: it was passed over'],
    [{ files => [["\xc3\xa4.pdf", 'no']] }, '%C3%A4.pdf has no %25PDF- within its first 4096 bytes'],
    [{ files => [['a.pdf', '']] },   'a.pdf is empty'],
    [{ files => [['a.pdf', pdf(), 'application/octet-stream']] },
        'a.pdf is declared as another type than application/pdf'],
    [{ signers => field(document => '/home/a.pdf') }, 'the files are: a.pdf'],
    [{ signers => area(page => 1) },                  'page 1 of a.pdf: it has 1, counted from 0'],
    [{ signers => field(area => [1, 2, 3, 4]) },      'an array was sent'],
    [{ signers => [$astray] },
        'Signer 1, Field 1: unknown member height of its area; Signer 1, Field 1: unknown member width of its area'],
    [{ name => '' }, undef])
{
    my $res  = $org->{test}->create(%{ $case->[0] });
    my $hint = $res->headers->header('X-Hint');
    $hint = join '; ', sort split /; /, $hint if defined $hint;
    is($hint, $case->[1], $res->body . ': the hint') or diag $res->code;
}

# One text for all that is no PDF, by contract: the log tells which of them it was.
my $said = substr $log->slurp, $before;
like($said, qr/SR0101: refused with 400 .*\Q$_\E/, "the log: $_")
    for 'a file is declared as another type than application/pdf', 'a file has no %PDF- within its first 4096 bytes',
    'a file is damaged beyond what the helper can repair';

nothing_happens($org, 'documents that cannot be signed', sub {
    for my $bad (['no pages', pdf(pages => [])], ['an empty page box', pdf(pages => [{ mediabox => [0, 0, 0, 0] }])]) {
        my $res = $org->{test}->create(files => [['a.pdf', $bad->[1]]]);
        is($res->code, 400, $bad->[0]);
        like($res->body, qr/^(?:Document a\.pdf cannot be signed: .|Only PDF files are supported$)/,
            "$bad->[0]: the answer says why");
    }
});

my $res = $org->{test}->with(token => 'sigreq_test_nobody')->get('/signatures');
is_error($res, 401, 'User not founded for this API Token');
nothing_happens(
    $quotaless,
    'no quota',
    sub {
        is_error($quotaless->{live}->create(files => [['a.pdf', pdf(nonce => "quota $$")]]), 403,
            "You've reached the API limit for this plan");
    });
is($quotaless->{test}->create()->code, 201, 'test submissions need no quota');
for my $which (qw(sent signed completed)) {
    is_error($org->{test}->post("/webhooks/$which-webhook-url", json => $_), 400, 'url is required') for { }
    , { url => '' };
    is_error($org->{test}->post("/webhooks/$which-webhook-url"), 400, 'url is required', 'no body: url is required');
}
done_testing;
