# The signing page's texts: every language says all that English says, with the same places to be filled in; the pieces
# of HTML and the script ask for nothing that is not there, and nothing is there that nobody asks for.
use strict;
use warnings;
use JSON::PP ();
use lib 't/lib';
use Sigreq::Source qw(slurp);
use Test::More;

my $assets = 'src/page/assets';
my %texts  = map { (m{(\w+)\.json$})[0] => JSON::PP->new->utf8->decode(slurp($_)) } glob "$assets/texts/*.json";
my @codes  = slurp('src/page/texts.c') =~ /languages\[\] = \{([^}]*)\}/ ? $1 =~ /"(\w+)"/g : ();
is_deeply([sort keys %texts], [sort @codes], 'a catalogue for each language that is chosen from');

sub places { my $entry = shift; return join ' ', sort map {/\{([\w.]+)\}/g} ref $entry ? $entry->{other} : $entry }

for my $part ('page', 'script') {
    my $english = $texts{en}{$part};
    for my $code (grep { $_ ne 'en' } sort keys %texts) {
        my $other = $texts{$code}{$part};
        is_deeply([sort keys %$other], [sort keys %$english], "$code, $part: the same keys");
        is(join("\n", map {"$_: " . places($other->{$_} // '')} sort keys %$english),
            join("\n", map {"$_: " . places($english->{$_})} sort keys %$english), "$code, $part: the same places");
        ok(!(grep { ref ne 'HASH' ? !length : join(' ', sort keys %$_) ne 'one other' } values %$other),
            "$code, $part: each says something");
    }
}

my $html   = join '', map { slurp($_) } glob "$assets/html/*.html";
my $script = join '', map { slurp($_) } glob "$assets/js/*.js";
my %asked  = map { $_ => 1 } $html =~ /\{\{:([\w.]+)\}\}/g;
my @warnings = slurp('src/model/warnings.def') =~ /^SR_WARNING\(\w+, "([\w-]+)"/gm;
ok(@warnings > 5, 'there are warnings');
$asked{"warning.$_"} = 1 for @warnings;
$asked{$_} = 1 for 'brand', map { ("$_.title", "$_.text") } qw(404 409 503 other);    # by html.c
is_deeply([sort keys %asked], [sort keys %{ $texts{en}{page} }], 'the HTML and html.c ask for all of them, no others');
my @unused = grep { $script !~ /'\Q$_\E'/ } sort keys %{ $texts{en}{script} };
is("@unused", '', 'the script uses all of its texts');
my @unknown = grep { !exists $texts{en}{script}{$_} } $script =~ /\btext\('([\w.]+)'/g;
is("@unknown", '', 'and no others');
ok($texts{$_}{dir} =~ /^(?:ltr|rtl)$/, "$_: a direction") for sort keys %texts;
unlike($html, qr/\sstyle=|<style|<script(?! (?:type="module" )?src=)|\son\w+=/, 'no script and no style in the HTML');
done_testing;
