# SPDX-License-Identifier: Apache-2.0
# A signer whose identity is checked: no route of their link serves anything of the documents, of their names, of the
# request or of other signers without a session of this signer. The routes are those of src/web/routes.c, so a new one
# is tried too. The codes are too long to count as wrong.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Client;
use Sigreq::Here qw(organisation sql suite);
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of typed);
use Test::More;

my $client  = organisation()->{test};
my @secrets = ('Contract 8841', 'annexe-8841.pdf', 'Zebulon', 'Quartermaine', 'words of the sender 8841');
my $code    = 'Open-4711';

sub made {
    my ($when) = @_;
    my $check   = { method => 'code', code => $code, when => $when };
    my $signers = Sigreq::Client::signers({ authentication => $check },
        { firstname => 'Zebulon', lastname => 'Quartermaine', authentication => $check });
    $_->{fields}[0]{document} = 'annexe-8841.pdf' for @$signers;
    my $res = $client->create(name => 'Contract 8841', files => [['annexe-8841.pdf', pdf(nonce => "gate $$ " . rand)]],
        signers => $signers, more => [Sigreq::Multipart::part('metadata', '{"note":"words of the sender 8841"}')]);
    is($res->code, 201, "created: $when") or diag $res->body;
    return $res->json;
}

sub passed {    # a signer with a session
    my ($signer) = @_;
    my $res = $signer->request(POST => '/check', json => { code => $code });
    is($res->code, 200, 'the right code') or diag $res->body;
    return Sigreq::Signer->new(link => $res->json->{url});
}

my ($table) = path(suite->{source} . '/src/web/routes.c')->slurp =~ /\bsr_web_routes\[\] = \{(.*?)^\};/ms;
my @routes = $table =~ /\{M_(\w+), "(\/(?:login\/)?\{uuid\}[^"]*)"/g;
cmp_ok(scalar @routes, '>=', 2 * 11, 'there are routes');
my $made     = made('open');
my $document = $made->{documents}[0]{uuid};

# Sends a request of each kind to each route: {"METHOD ROUTE" => [responses]}
sub walked {
    my ($signer, @only) = @_;
    my %got;
    for (my $i = 0; $i < @routes; $i += 2) {
        my ($method, $route) = @routes[$i, $i + 1];
        next if $route =~ m{^/login/} || (@only && !grep { $_ eq "$method $route" } @only);
        my $way = $route =~ s/^\/\{uuid\}//r =~ s/\{document_uuid\}/$document/r =~ s/\{n\}/0/r;
        my %body = $method eq 'POST' ? (json => { %{ typed() }, code => 'x' x 300, values => {} }) : ();
        $got{"$method $route"} = [map { $signer->request($method, $way, %body, headers => { Accept => $_ }) }
                qw(application/json text/html)];
    }
    return \%got;
}

sub is_shut {
    my ($signer, $name) = @_;
    my $got = walked($signer);
    for my $route (sort keys %$got) {
        my ($json, $html) = @{ $got->{$route} };
        my $may = $route =~ m{/check|/code} ? qr/^(?:200|400|403|409|410|429)$/ : qr/^(?:403|404|410|308)$/;
        like($json->code, $may, "$name: $route, status of JSON");
        like($html->code, $route eq 'GET /{uuid}' ? qr/^(?:200|404|410)$/ : $may, "$name: $route, status of a page");
        for my $res ($json, $html) {
            my $text = $res->headers->to_string . "\n" . $res->body;
            my @seen = grep { $text =~ /\Q$_\E/i } @secrets, '%PDF', $document;
            is("@seen", '', "$name: $route shows nothing");
            unlike($res->headers->content_type // '', qr/image|pdf/, "$name: $route gives no file");
        }
    }
    return;
}

my ($ann, $zeb) = signers_of($made);
my $other = signers_of(made('open'));
sub in { my ($signer, $session) = @_; return Sigreq::Signer->new(link => "$signer->{link}~$session") }
sub session { return $_[0]{link} =~ /~(\w+)$/ ? $1 : undef }

is_shut($ann, 'no session');
is_shut(in($ann, '0' x 32), 'an unknown session');
is_shut(in($ann, session(passed($zeb))), 'a session of another signer');
is_shut(in($ann, session(passed((signers_of(made('open')))[0]))), 'a session of another request');
my $own = Sigreq::Client::signers(map { { authentication => { method => 'code', code => $_ } } } 'First-1', 'Second-2');
my @two = signers_of($client->create(signers => $own)->json);
is($two[0]->request(POST => '/check', json => { code => $_->[0] })->code, $_->[1], $_->[2])
    for ['second2', 403, 'the code of another signer'], ['first1', 200, 'the own code'];
my $session = passed($ann);
my @shown   = map { "GET /{uuid}$_" } '', '/documents/{document_uuid}',
    map { "/documents/{document_uuid}/pages/{n}$_" } '', '.png', '.json';
my $open = walked($session, @shown);
is($open->{$_}[0]->code, 200, "in a session: $_") for @shown;
like($session->get('', headers => { Accept => 'text/html' })->body, qr/Contract 8841/, 'in a session: the page');

my $uuid = $ann->{link} =~ s{.*/}{}r;
my $hour = 3600 * 1_000_000;
for my $limit (['used_at', 2], ['made_at', 12]) {
    my ($column, $hours) = @$limit;
    my $mine = passed($ann);
    sql("UPDATE signer_session SET $column = $column - $hours * $hour + 30000000 WHERE signer_uuid = '$uuid'");
    is($mine->get('')->code, 200, "$column: a session just before its end");
    sql("UPDATE signer_session SET $column = $column - $hours * $hour - 30000000 WHERE signer_uuid = '$uuid'");
    is_shut($mine, "$column: an expired session");
}

my $before = passed($ann);
my %new = (firstname => 'Eve', lastname => 'New', authentication => { method => 'code', code => 'other' });
is($client->post("/signatures/$made->{uuid}/signers/$uuid/replace", json => \%new)->code, 200, 'replaced');
is_shut($before, 'a replaced signer');
is_shut($ann, 'a replaced signer without session');
my ($eve) = signers_of($client->get("/signatures/$made->{uuid}")->json);
is_shut($eve, 'the new signer');
is($eve->request(POST => '/check', json => { code => $code })->code, 403, 'the code of the old signer');

$session = passed($zeb);
is($session->sign->code, 200, 'signed in a session');
is_shut($session, 'after signing');
my $again = passed($zeb);
is($again->get("/documents/$document")->code, 200, 'who passes again after signing gets the document');
is($client->post("/signatures/$made->{uuid}/cancel")->code, 200, 'cancelled');
is_shut($_, 'after cancelling') for $again, $eve;

$made = made('sign');
$document = $made->{documents}[0]{uuid};
($ann) = signers_of($made);
is($ann->get('')->code, 200, 'sign: the state');
is($ann->get("/documents/$document")->code, 200, 'sign: a document');
is($ann->sign->code, 403, 'sign: not without a session');
is($ann->refuse('no')->code, 403, 'sign: no refusal without a session');
is(in($ann, '0' x 32)->sign->code, 403, 'sign: not with an unknown session');
is($client->get("/signatures/$made->{uuid}")->json('/submitters/0/status'), 'opened', 'sign: nothing is signed');
is(passed($ann)->sign->code, 200, 'sign: in a session');
done_testing;
