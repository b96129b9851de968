# SPDX-License-Identifier: Apache-2.0
# The caption under a signature: the form part and the member of a field, the answers that show it, and refusals. The
# preview and the sealed document have the same text, in the signer's language.
use strict;
use warnings;
use utf8;
use Digest::SHA 'sha256_hex';
use Encode 'decode_utf8';
use Mojo::File 'tempfile';
use Sigreq::Here qw(organisation is_text);
use Sigreq::Multipart qw(part);
use Sigreq::Preview;
use Sigreq::Signer;
use Test::More;

my $client = organisation()->{test};
my %area   = (x => 72, y => 72, w => 180, h => 50, page => 0);

sub field { +{ type => 'signature', name => 'Signature', document => 'a.pdf', area => {%area}, @_ } }

sub creation {    # a signer with these fields, and this form part
    my ($fields, $part, %signer) = @_;
    my $signers = Sigreq::Client::signers({ fields => $fields, %signer });
    return $client->create(signers => $signers, more => defined $part ? [part('caption', $part)] : []);
}

sub made {
    my $res = creation(@_);
    is($res->code, 201, 'created') or diag $res->body;
    is($client->get('/signatures/' . $res->json->{uuid})->body, $res->body, 'GET shows the same');
    return $res->json;
}
sub captions { return [map { $_->{caption} // 'absent' } @{ $_[0]{submitters}[0]{fields} }] }

my $plain = made([field()]);
is_deeply(captions($plain), ['absent'], 'a caller who sends no caption sees none');
is($plain->{warnings}, undef, 'an answer without captions has no warning');
my $empty = made([field(), field(caption => undef)], '');
is_deeply(captions($empty), ['absent', 'absent'], 'an empty part and null mean no caption');
my $mixed = made([field(), field(caption => 'id'), field(caption => ''), field(caption => undef)], 'name, date');
is_deeply(captions($mixed), ['name,date', 'id', '', 'name,date'], 'the form\'s is that of fields without their own');
my %low = (area => { %area, h => 15.9 });
my $low = made([field(caption => 'name'), field(caption => 'name', %low), field(%low), field(caption => '', %low)]);
is_deeply($low->{warnings}, ['Signer 1, Field 2: the area is too low for a caption'],
    'a field that is too low for a caption');

my $rule = 'caption must be name, date or id, or several of them separated by commas';
is_text(creation([field()], $_), 400, $rule) for 'Name', 'name,name', 'name;id', 'signature', ',', "name\n";
is_text(creation([field(), field(caption => $_)], undef, email => 'a@x.org'),
    400, "Signer 1 (a\@x.org), Field 2: A $rule") for 'time', 5, \1, ['name'], {}, 'name,';
is_text(creation([field(caption => 'x', area => { %area, page => -1 })]),
    400, 'Signer 1, Field 1: Area page must be a non-negative integer');

# --- what is seen and what is sealed

sub sealed_text {    # of the only document of a signer
    my ($signer, $uuid) = @_;
    my $file = tempfile->spurt($signer->get("/documents/$uuid")->body);
    is(scalar(() = `pdfsig -nocert $file` =~ /Signature is Valid/g), 2, 'pdfsig: both signatures are valid');
    return decode_utf8(`pdftotext -raw -enc UTF-8 $file -`);
}

sub ask { my ($signer, $path, %o) = @_; return $signer->request(POST => $path, json => { %o })->json }

my @zone = (timeZone => 'Pacific/Auckland', utcOffset => 13 * 60);
my ($day, $month, $year) = (gmtime(time + 13 * 3600))[3, 4, 5];
my %months = (
    de => [qw(Januar Februar März April Mai Juni Juli August September Oktober November Dezember)],
    fr => [qw(janvier février mars avril mai juin juillet août septembre octobre novembre décembre)]);
my %date = (de => "$day. $months{de}[$month] " . ($year + 1900), fr => "$day $months{fr}[$month] " . ($year + 1900));

for my $case (['the locale', 'de', { locale => 'de-AT' }, '1-en'], ['the text agreed to', 'fr', {}, '2-fr']) {
    my ($how, $language, $more, $version) = @$case;
    my $made = made([field(), field(caption => 'id', area => { %area, y => 200 })], 'name,date', %$more);
    my ($signer) = Sigreq::Signer::signers_of($made);
    my $state = $signer->state;
    my @heights = map { sprintf '%d: %.0f', $_->{caption}{number}, $_->{caption}{height} } @{ $state->{fields} };
    is_deeply(\@heights, ['0: 16', '1: 16'], "the language of $how: the state says which caption is where");
    my %sent = (signature => { type => 'typed', text => 'Ann' }, consentVersion => $version, @zone);
    my $preview = ask($signer, '/preview', %sent);
    is(scalar @{ $preview->{captions} }, 2, 'the preview draws both captions');
    cmp_ok($preview->{captions}[0]{width}, '>', 2 * $preview->{captions}[1]{width},
        'one caption is longer than the other');
    is(ask($signer, '', action => 'sign', consent => \1, %sent)->{state}, 'completed', 'signed');
    my $text = sealed_text($signer, $made->{documents}[0]{uuid});
    like($text, qr/^\QAnn Lee · $date{$language}\E$/m, 'the sealed document has name and date');
    my $id = substr sha256_hex($made->{submitters}[0]{uuid}), 0, 8;
    like($text, qr/^$id$/m, 'the other field has the identifier');
    my $file = tempfile->spurt($signer->get("/documents/$made->{documents}[0]{uuid}")->body);
    like(`pdfsig -nocert $file 2>&1` . $file->slurp, qr/Signature_$id/,
        'the name of the field begins with the identifier');
}

subtest 'without captions' => sub {
    my ($signer) = Sigreq::Signer::signers_of($plain);
    my %sent = (signature => { type => 'typed', text => 'Ann' });
    ok(!exists $signer->state->{fields}[0]{caption}, 'the state has no caption');
    ok(!exists ask($signer, '/preview', %sent)->{captions}, 'the preview has no caption');
    is(ask($signer, '', action => 'sign', consent => \1, %sent)->{state}, 'completed', 'signed');
    my $sealed = $signer->get("/documents/$plain->{documents}[0]{uuid}")->body;
    unlike($sealed, qr/ActualText|Helvetica\/Enc/, 'the document has no caption');
};
done_testing;
