# SPDX-License-Identifier: Apache-2.0
# Signing through ModSecurity with the Core Rule Set in blocking mode, as packaged by Debian. Drawings are sent as one
# text, images as files. Neither is refused, not even a drawing of 20,000 points.
use strict;
use warnings;
use Digest::SHA 'sha256';
use Mojo::File 'path';
use Sigreq::Here qw(organisation);
use Sigreq::Httpd;
use Sigreq::Signer 'signers_of';
use Test::More;

my $recommended = '/etc/modsecurity/modsecurity.conf-recommended';
my $rules       = '/usr/share/modsecurity-crs/owasp-crs.load';
plan skip_all => 'libapache2-mod-security2 and modsecurity-crs are not installed' unless -e $recommended && -e $rules;

# the packaged configuration, but in blocking mode and without the system's log
my $settings = path($recommended)->slurp =~ s/^SecRuleEngine \K.*/On/mr =~ s/^SecAudit\w+ .*//mgr
    =~ s{^SecUnicodeMapFile \K}{/etc/modsecurity/}mr;
my $httpd = Sigreq::Httpd->new(modules => 'authz_core dbd unique_id security2', server => <<"CONF")->start;
$settings
Include "$rules"
CONF
my $client  = organisation(client => { base => $httpd->base })->{test};
my %browser = (headers => {
    'User-Agent' => 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
    Accept       => 'application/json', 'Accept-Language' => 'en-GB', 'Accept-Encoding' => 'gzip, deflate' });
my $signer  = sub { (signers_of($client->create->json))[0] };
my $post    = sub {
    my ($link, $path, @body) = @_;
    my $tx = $link->{ua}->start($link->transaction(POST => $path, %browser, @body));
    return $tx->error && !$tx->error->{code} ? $tx->error->{message} : $tx->res->code;
};
my $signs = sub { return (json => { action => 'sign', consent => \1, signature => {@_} }) };

sub letters {    # a number as docs/api.md describes it
    my $rest = $_[0] < 0 ? 1 - 2 * $_[0] : 2 * $_[0];
    my $text = '';
    for (; $rest > 15; $rest >>= 4) { $text .= chr(97 + ($rest & 15)) }
    return $text . chr(65 + $rest);
}

# Points as a hand draws them: a few units apart, with varying pressure.
sub drawing {
    my $points = shift;
    my @before = (0, 0, 128);
    return join '.', map {
        my $stroke = $_;
        join '', map {
            my $t  = $_ / 9 + $stroke;
            my @at = (int(2048 + 1900 * sin $t * 0.7), int(800 + 700 * sin $t * 1.3), int(128 + 60 * sin $t * 3));
            my $text = join '', map { letters($at[$_] - $before[$_]) } 0 .. 2;
            @before = @at;
            $text;
        } 1 .. $points / 20;
    } 1 .. 20;
}

my %attack = (action => 'refuse', reason => q{1' or '1'='1' union select * from x});
my $canary = $post->($signer->(), '', json => {%attack});
is($canary, 403, 'the rules are in force');
my @many = (type => 'drawn', width => 500, height => 500, strokes => [[map { [$_, $_] } 1 .. 600]]);
is($post->($signer->(), '', $signs->(@many)), 400, 'they refuse a JSON text of many values');
for my $points (340, 2000, 20_000) {
    my $link    = $signer->();
    my $strokes = drawing($points);
    my %drawn   = (type => 'drawn', width => 4096, height => 1600, strokes => $strokes);
    cmp_ok(length $strokes, '<', 128 * 1024, "$points points are " . length($strokes) . ' bytes');
    is($post->($link, '/preview', json => { signature => {%drawn} }), 200, '… they can be previewed');
    is($post->($link, '', $signs->(%drawn)), 200, '… they can be signed with');
}
for my $kilobytes (20, 200, 900) {
    my $link = $signer->();
    my $rgb  = join '', map { sha256("$kilobytes $_") } 1 .. $kilobytes * 32;
    my $file = sub { return { content => ppm_as_png($rgb), filename => 'signature' } };
    is($post->($link, '/preview', form => { image => $file->() }), 200, "an image of $kilobytes kB can be previewed");
    my %form = (action => 'sign', consent => 'yes', image => $file->());
    is($post->($link, '', form => {%form}), 200, '… they can be signed with');
}
for my $name ("Jean-Fran\x{e7}ois d'\x{c9}t\x{e9}", "O'Lee") {
    is($post->($signer->(), '', $signs->(type => 'typed', text => $name)), 200, 'a name with an apostrophe');
}
done_testing;

# Colours that cannot be compressed, as a PNG of stored blocks.
sub ppm_as_png {
    my $rgb    = shift;
    my $height = int(length($rgb) / 600);
    my $rows   = join '', map { "\0" . substr $rgb, 600 * $_, 600 } 0 .. $height - 1;
    require Compress::Zlib;
    my $chunk = sub { pack('N', length $_[1]) . $_[0] . $_[1] . pack('N', Compress::Zlib::crc32("$_[0]$_[1]")) };
    return "\x89PNG\r\n\x1a\n" . $chunk->(IHDR => pack('NNC5', 200, $height, 8, 2, 0, 0, 0))
        . $chunk->(IDAT => Compress::Zlib::compress($rows)) . $chunk->(IEND => '');
}
