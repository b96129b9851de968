# SPDX-License-Identifier: Apache-2.0
# The texts of pages and mail. Every language has all texts of English, with the same placeholders and the plural
# categories of CLDR, and with its own words and punctuation. The HTML templates, the script and the mail use only texts
# that exist, and all texts are used.
use strict;
use warnings;
use utf8;
use JSON::PP ();
use lib 't/lib';
use Sigreq::Source qw(slurp);
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $assets = 'src/web/assets';
my %texts  = map { (m{([\w-]+)\.json$})[0] => JSON::PP->new->utf8->decode(slurp($_)) } glob "$assets/texts/*.json";
my %tag    = slurp('src/model/languages.def') =~ /^SR_LANGUAGE\("([^"]+)", "([^"]+)"/mg;
is_deeply([sort keys %texts], [sort keys %tag], 'a catalogue for each language of languages.def');
my @consents = slurp('src/model/consent.c') =~ /^ {4}\{"([\w-]+)", "\d+-\1",$/mg;
my %consents = map { $_ => 1 } @consents;
is_deeply([sort keys %consents], [sort keys %tag], 'there is a text of consent for each language of languages.def');

for my $what (qw(dates plurals)) {
    my $generated = `node tools/cldr.mjs $what`;
    is($generated, slurp("src/model/$what.def"), "src/model/$what.def is what `make languages` generates");
}
my $node = 'for (const tag of process.argv.slice(1)) console.log(tag, ...new Intl.PluralRules(tag).resolvedOptions()'
    . '.pluralCategories.sort())';
open my $out, '-|', 'node', '-e', $node, sort values %tag or die "node: $!\n";
my %categories = map { /^(\S+) (.*)$/ ? ($1 => $2) : () } <$out>;
close $out or die "node: $?\n";

sub forms  { my $entry = shift; return ref $entry ? values %$entry : $entry // '' }
sub places { return join ' ', sort $_[0] =~ /\{([\w.]+)\}/g }

# How a language quotes.
my %quotes = (map({ ($_ => ['“', '”']) } qw(en pt-BR tr zh-Hans)),
    map({ ($_ => ['«', '»']) } qw(ar el es fr it nb pt uk)), map({ ($_ => ['„', '“']) } qw(cs de)),
    map({ ($_ => ['„', '”']) } qw(pl ro)),
    map({ ($_ => ['”', '”']) } qw(fi he sv)), da => ['»', '«'], ja => ['「', '」'], nl => ['‘', '’']);

# What a text has wrong in form, whatever it says.
sub fault {
    my ($code, $text) = @_;
    return 'says nothing'             if !length $text;
    return 'white space at an end'    if $text =~ /^\s|\s$/;
    return 'two spaces'               if $text =~ /\s\s/;
    return 'straight quotes'          if $text =~ /["']/;
    return 'three dots'               if $text =~ /\.\.\./;
    return 'a space before …'         if $text =~ /\s…/;
    return 'markup'                   if $text =~ /[<>]|&\w+;/;
    return 'English'                  if $code ne 'en' && $text =~ /\b(?:the|your|please|with|has been)\b/i;
    return 'a plain space before : ; ? ! »' if $code eq 'fr' && ($text =~ / [:;?!»]|[^\s\x{a0}\x{202f}:][?!»;]|« /);
    my ($open, $close) = @{ $quotes{$code} };
    (my $rest = $text) =~ s/$open[^“”„«»‘「」]+?$close//g;
    return 'quotes of another language' if $rest =~ /[“”„«»‘「」]/;
    return;
}

# What readers have refused: phrases that were translated word by word, are too technical, or say more than is so.
# "Aufgehoben" also means annulled.
my %refused = (
    en => ['refuse', 'read and sign', 'all signed', 'next field', 'leads nowhere', 'that did not work', 'anew',
        'nothing was changed', 'no image that', 'asks you to sign', 'yours alone', 'need not answer', 'somebody else',
        'not available at the moment', 'nothing left to sign', 'with the next step', 'in all places', 'you have signed',
        'whoever'],
    de => ['aufgehoben', 'nicht unterschreiben', 'bittet um die Unterschrift', 'wer Sie gebeten hat', 'zurücknehmen',
        'nötig', 'tippen', 'durchsichtig', 'für alle geschlossen', 'wie eine von Hand', 'Art meines Browsers'],
    fr => ['saisir', 'votre nom, comme signature', 'reçoivent votre signature', 'achèvement', 'nulle part',
        'tout est signé', 'n’engage à rien', 'case d’accord', 'rien n’est perdu', 'je veux que',
        'le type de mon navigateur'],
    es => ['tiene ahora su firma', 'firma puesta', 'reciben su firma', 'pide a ', 'no firmar', 'ha rechazado firmar',
        'cerrado para todos', 'a ninguna parte', 'mejor sobre', 'podrá firmar ya'],
);
for my $code (sort keys %refused) {
    my @texts = map { forms($_) } map { ref $_ ? values %$_ : () } values %{ $texts{$code} };
    cmp_ok(scalar @texts, '>', 200, "$code: its texts");
    my @found = grep { my $phrase = $_; grep {/\Q$phrase\E/i} @texts } @{ $refused{$code} };
    is(join(', ', @found), '', "$code: no phrase that native readers have refused");
}
isnt($texts{de}{page}{'draw.undo'}, $texts{de}{page}{back}, 'de: to undo is not to go back');

# Words that are the same in both languages, or that nothing need be said of.
my %same = map { my ($code, @keys) = split; map { ("$code $_" => 1) } @keys } split /\n/, <<'END';
de test zoom browser check.label state new.viewer
de placing.format placing.name placing.option placing.text
da new.viewer
de new.viewer
nb new.viewer
sv new.viewer
es zoom verify.units no
fr brand test check.label plain.place verify.change.page zoom place documents identification pages signature from
fr mail.invitation request.copies new.documents
fr production signatures actions placing.document placing.format placing.page placing.signature placing.where
it privacy test zoom browser email no
nl privacy test check.label verify.intact zoom browser from state state.open placing.details placing.document
cs test placing.text
da test upload zoom browser from state check.httpd mail.invitation request.administrator request.order request.send
el email
nb test zoom from state request.administrator request.send
pl test request.administrator
ro test zoom browser request.administrator placing.document placing.format
sv test from state
tr test
pt zoom verify.units
pt-BR zoom from verify.units check.httpd
END

for my $part ('page', 'script', 'place', 'desk', 'mail', 'certificate') {
    my $english = $texts{en}{$part};
    for my $code (sort keys %texts) {
        my $other = $texts{$code}{$part};
        is_deeply([sort keys %$other], [sort keys %$english], "$code, $part: the same keys");
        my (@places, @categories, @faults, @untold);
        for my $key (sort keys %$english) {
            my ($entry, $origin) = ($other->{$key} // '', $english->{$key});
            my $want = places(ref $origin ? $origin->{other} : $origin);
            for my $form (ref $entry ? sort keys %$entry : '') {
                my $text = $form ? $entry->{$form} : $entry;
                my $fault = fault($code, $text);
                push @faults, "$key $form: $fault" if $fault;
                # one, two and none can be said in words
                my $may = $want =~ s/\bcount\b ?//r =~ s/ $//r;
                my $is = places($text);
                push @places, "$key $form" if $is ne $want && !($form =~ /^(?:zero|one|two)$/ && $is eq $may);
            }
            my $forms = ref $entry ? join ' ', sort keys %$entry : '';
            push @categories, $key if $forms ne (ref $origin ? $categories{ $tag{$code} } : '');
            push @untold, $key
                if $code ne 'en' && !$same{"$code $key"} && join('', forms($entry)) eq join('', forms($origin));
        }
        is("@places",     '', "$code, $part: the same places");
        is("@categories", '', "$code, $part: the plural categories of the language");
        is(join("\n", @faults), '', "$code, $part: punctuation");
        is("@untold", '', "$code, $part: nothing is left in English");
    }
}
my %rtl = map { $_ => 1 } qw(ar he);
is($texts{$_}{dir}, $rtl{$_} ? 'rtl' : 'ltr', "$_: its direction") for sort keys %texts;
ok(fault(@$_), "a fault is found: $_->[1]") for ['en', ''], ['en', 'a "b"'], ['de', 'the end'], ['fr', 'Quoi ?'],
    ['fr', 'Quoi?'], ['en', 'Wait ...'], ['en', 'Wait …'], ['de', '«a»'], ['de', '„a”'], ['sv', '„a”'],
    ['es', '“a”'], ['da', '«a»'], ['he', '”a“'], ['nl', '‘a'], ['en', '<b>'];
ok(!fault('fr', "« a » : b\x{202f}?" =~ s/ (?=[»:])|(?<=«) /\x{a0}/gr), 'no fault is found in correct French');

# --- who asks for them

my ($desk, $html) = map { join '', map { slurp($_) } @$_ } [grep {/desk_/} glob "$assets/html/*.html"],
    [grep { !/desk_/ } glob "$assets/html/*.html"];
my $script = join '', map { slurp($_) } glob "$assets/js/*.js $assets/js/*/*.js";
my %asked  = map { $_ => 1 } $html =~ /\{\{:([\w.]+)\}\}/g;
my @warnings = slurp('src/report/warnings.def') =~ /^SR_WARNING\(\w+, "([\w-]+)"/gm;
ok(@warnings > 5, 'there are warnings');
$asked{"warning.$_"} = 1 for @warnings;
$asked{$_} = 1 for 'front.title', 'brand', 'view.ended', 'placing.ended',    # by C
    map { ("$_.title", "$_.text") } qw(404 409 410 503 other);
my @findings = map {"verify.$_"} qw(signed extended validation changed broken unchecked incomparable unsigned),
    qw(encrypted refused unreadable);
$asked{$_} = 1 for 'verify.title', (map {"verify.$_"} qw(units none empty large many busy failed)),    # by verify.c
    map { ("$_.title", "$_.text") } @findings;
my %place = %{ $texts{en}{place} };    # of the placement page: its HTML and its script share them
my @both  = grep { exists $texts{en}{page}{$_} || exists $texts{en}{script}{$_} } sort keys %place;
is("@both", '', 'a text of the placement page has a name of its own');
is_deeply([grep { !$place{$_} } sort keys %asked], [sort keys %{ $texts{en}{page} }],
    'the HTML and html.c ask for all of them, no others');
my @unused = grep { $script !~ /'\Q$_\E'/ && !($place{$_} && $asked{$_}) }
    sort keys %{ $texts{en}{script} }, sort keys %place;
is("@unused", '', 'the script uses all of its texts');
my $desk_c = join '', map { slurp($_) } glob 'src/desk/*.c';
my %wanted = map { $_ => 1 } $desk =~ /\{\{:([\w.]+)\}\}/g, $desk_c =~ /"((?:\w+\.)+\w+)"/g,
    map({"state.$_"} qw(draft open completed refused cancelled expired deleted));
my ($all_events) = slurp('src/api/openapi.json') =~ /"(drafted".*?)\]/s;    # the page of a request puts keys together
$wanted{"event.$_"} = $wanted{"signer.$_"} = 1 for $all_events =~ /(\w+)"/g, qw(created draft waiting sent reminded);
$wanted{"check.$_"} = 1 for qw(code hook caller httpd pending passed locked new.code new.hook new.httpd);
$wanted{"mail.$_"}  = 1 for qw(invitation reminder copy view);
$wanted{"result.$_"} = 1 for qw(delivered failed running);
$wanted{"done.$_"} = 1 for $desk_c =~ /"(\w+)", change_/g, $desk_c =~ /sr_desk_done\([^;]*"(\w+)"\)/g;
my @unwanted = grep { !$wanted{$_} } sort keys %{ $texts{en}{desk} };
is("@unwanted", '', 'the desk uses all of its texts');
my @lacking = grep { !exists $texts{en}{desk}{$_} && !exists $texts{en}{page}{$_} } $desk =~ /\{\{:([\w.]+)\}\}/g;
is("@lacking", '', 'and no others');
my $completion = slurp('src/model/completion.c') . slurp('src/model/identified.c');
my @kinds      = map {"event.$_"} qw(created due opened signed refused completed extended replaced reminded),
    qw(codeSent codeFailed authenticated authenticationChanged admitted unlocked viewed revoked);
my @said       = grep { exists $texts{en}{certificate}{$_} } $completion =~ /"([\w.]+)"/g, @kinds;
is_deeply([sort keys %{ { map { $_ => 1 } @said } }], [sort keys %{ $texts{en}{certificate} }],
    'the certificate of completion uses all of its texts');
my @unsaid = grep { !exists $texts{en}{certificate}{$_} }
    $completion =~ /\b(?:label|word|label_with|add_note)\((?:rows, )?work, (?:\d, )?"([\w.]+)"/g;
is("@unsaid", '', 'and no others');
my @unknown = grep { !exists $texts{en}{script}{$_} && !$place{$_} } $script =~ /\btext\('([\w.]+)'/g;
is("@unknown", '', 'and no others');
my $mail = join '', map { slurp("src/jobs/mail.$_") } 'txt', 'html';
my %said = map { $_ => 1 } $mail =~ /\{\{:([\w.]+)\}\}/g, 'test', 'from', 'code.text',
    qw(reminder.own deadline.sign here.sign what.sign);    # by letter.c
delete @said{qw(pages privacy request)};    # the page's
is_deeply([sort keys %said], [sort keys %{ $texts{en}{mail} }], 'the mail has all of its texts, and no others');
$html .= $desk;
ok($html !~ /<svg(?![^>]* width="\d+")/, 'without style sheets, no drawing fills the window');
unlike($html, qr/\sstyle=|<style|<script(?! (?:type="module" )?src=)|\son\w+=/, 'no script and no style in the HTML');
done_testing;
