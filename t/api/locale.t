# SPDX-License-Identifier: Apache-2.0
# The language of each signer: `locale` of a signer and of the form, in answers and on the page, the query, and the
# browser's languages.
use strict;
use warnings;
use utf8;
use Mojo::JSON qw(encode_json);
use Sigreq::Here qw(organisation is_text);
use Sigreq::Multipart qw(part);
use Sigreq::Preview;
use Sigreq::Signer;
use Test::More;

my $org    = organisation();
my $client = $org->{test};

sub made {    # the answer to a creation with these signers and parts
    my ($signers, %more) = @_;
    my @parts = map { part($_, $more{$_}) } keys %more;
    my $res   = $client->create(signers => Sigreq::Client::signers(@$signers), more => \@parts);
    is($res->code, 201, 'created') or diag $res->body;
    is($client->get('/signatures/' . $res->json->{uuid})->body, $res->body, 'GET shows the same');
    return $res->json;
}
sub locales { return [map { exists $_->{locale} ? $_->{locale} : 'absent' } @{ $_[0]{submitters} }] }

my $shown = made([{}]);
is_deeply(locales($shown), ['absent'], 'a caller who names no locale sees none');
is($shown->{warnings}, undef, 'an answer without a locale has no warning');
is_deeply(locales(made([{ locale => 'pt-BR' }, { locale => undef }, { locale => '' }, {}])),
    ['pt-BR', 'absent', 'absent', 'absent'], 'a signer\'s own');
is_deeply(locales(made([{ locale => 'FR-ca' }, {}], locale => 'de-AT')), ['FR-ca', 'de-AT'],
    'the locale of the form applies to signers without one');
is_deeply(locales(made([{}], locale => '')), ['absent'], 'an empty part means no locale');
my $unknown = made([{ locale => 'tlh' }], locale => 'vo-x-y');
is_deeply(locales($unknown), ['tlh'], 'a language without texts');
is_deeply($unknown->{warnings}, ['there are no texts in vo-x-y, another language is used',
        'Signer 1: there are no texts in tlh, another language is used'],
            'a language without texts is accepted with a warning');

my $form = 'locale must be a language tag (BCP 47), such as de or pt-BR';
for my $wrong ('german', 'de_AT', 'de-', 'x', "de\n", 'de' . '-abcdefgh' x 8) {
    my $res = $client->create(more => [part('locale', $wrong)]);
    is_text($res, 400, $form) if $wrong ne 'german';
    is($res->code, 201, 'what could be a language is accepted') if $wrong eq 'german';
}
for my $wrong (5, \1, [], {}, 'de_AT', "de\n") {
    my $res = $client->create(signers => Sigreq::Client::signers({}, { email => 'b@x.org', locale => $wrong }));
    next if is_text($res, 400, 'Signer 2 (b@x.org): A locale must be a language tag (BCP 47), such as de or pt-BR');
    diag encode_json([$wrong]);
}
my $first = $client->create(signers => Sigreq::Client::signers({ email => 'no', locale => 5 }));
is_text($first, 400, 'Signer 1: Invalid email format: no');
is_text($client->create(signers => Sigreq::Client::signers({ locale => 5, fields => [] })), 400,
    'Signer 1: A locale must be a language tag (BCP 47), such as de or pt-BR');

# --- the page

my ($german, $any) = Sigreq::Signer::signers_of(made([{ locale => 'de-CH' }, {}]));

sub spoken {    # the language of the page
    my ($signer, $path, $accepted) = @_;
    my $res = $signer->get($path, headers => { Accept => 'text/html', 'Accept-Language' => $accepted });
    my ($html, $consent) = $res->body =~ /<html lang="([\w-]+)" .*name="consentVersion" value="\d+-([\w-]+)"/s;
    return "$html $consent";
}
is(spoken($any,    '',             'fr-CA, de;q=0.5'), 'fr fr', 'the browser\'s languages');
is(spoken($any,    '',             'tlh'),             'en en', 'the default is English');
is(spoken($german, '',             'fr'),              'de de', 'the signer\'s locale comes before them');
is(spoken($german, '?lang=es',     'fr'),              'es es',
    'the language that was chosen on the page has precedence over both');
is(spoken($german, '?lang=es-MX',  'fr'),              'es es', 'the language of the query may be a tag');
is(spoken($german, '?lang=tlh',    'fr'),              'de de', 'an unknown language in the query is ignored');
is(spoken($german, '?skipIntro=true&lang=es', 'fr'), 'es es', 'the language may be at any place in the query');
is($german->get('', headers => { 'Accept-Language' => 'fr' })->json->{consent}{language}, 'de',
    'programs can choose the language, too');
is(spoken($german, '?lang=fr&lang=es', 'de'), 'fr fr', 'the first of several is taken');

my %browser = (Accept => 'text/html', 'Accept-Language' => 'fr');
my $page = $german->get('?lang=es', headers => \%browser)->body;
my ($uuid) = $german->{link} =~ m{([^/]+)$};
is(scalar(() = $page =~ /action="\Q$uuid\E\?lang=es"/g), 2, 'the forms have the chosen language');
like($page, qr{<a href="\?lang=es" hreflang="es" lang="es" aria-current="true">},
    'the switch shows the chosen language');
like($page, qr{<a href="\?lang=fr" hreflang="fr" lang="fr"><bdi>Fran\xc3\xa7ais</bdi>},
    'the switch has links to the other languages');
unlike($german->get('', headers => \%browser)->body, qr/action="[^"]*lang=/,
    'without a choice the forms have no language');

$german->{link} .= '?lang=es';
my $res = $german->post(form => { action => 'sign', typed => 'Ann', consent => 'yes' }, headers => \%browser);
is($res->code, 303, 'the form signs');
like($res->headers->location, qr{/sign/\Q$uuid\E\?lang=es$}, 'the form redirects to the page in the same language');
my $nowhere = Sigreq::Signer->new(link => $any->{link} =~ s/[0-9a-f]{12}$/000000000000/r);
like($nowhere->get('?lang=de', headers => \%browser)->body, qr/<html lang="de"/,
    'pages of errors have the chosen language, too');
done_testing;
