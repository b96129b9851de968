# SPDX-License-Identifier: Apache-2.0
# The resources of the signing page: its files and their caching, its texts in the reader's language, the version of the
# consent text, the theme, frames, and that no input of others becomes markup.
use strict;
use warnings;
use Compress::Zlib 'memGunzip';
use Mojo::UserAgent;
use Sigreq::Here   qw(place organisation is_error);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of typed);
use Sigreq::Validator ();
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $ua     = Mojo::UserAgent->new;
my $make   = sub {
    my %o = @_;
    my $signers = Sigreq::Client::signers({ email => 'ann@example.org', %{ $o{signer} // {} } });
    return $client->create(files => [['a.pdf', pdf(nonce => rand, pages => 2)]], signers => $signers,
        $o{name} ? (name => $o{name}) : ())->json;
};
my $made   = $make->();
my ($ann)  = signers_of($made);
my %html   = (Accept => 'text/html,*/*;q=0.8');
my $page   = $ann->get('', headers => {%html})->body;
my $fetch  = sub {
    my ($url, %headers) = @_;
    my $tx = $ua->build_tx(GET => $url, { 'Accept-Encoding' => 'identity', %headers });
    $tx->res->content->auto_decompress(0);
    return $ua->start($tx)->res;
};

subtest 'files' => sub {
    my @files = $page =~ /(?:href|src)="(assets\/[^"]+)"/g;
    cmp_ok(scalar @files, '>=', 4, 'style, two scripts, icon');
    my $script = 0;
    for my $file (@files) {
        like($file, qr/-[0-9A-Z]{8}\.\w+$/, "$file: a hash in its name");
        my $plain = $fetch->(place("/sign/$file"));
        is($plain->code, 200, 'the file exists');
        is($plain->headers->cache_control, 'public, max-age=31536000, immutable', 'it may be cached permanently');
        is($plain->headers->header('X-Content-Type-Options'), 'nosniff', 'it has its media type');
        like($plain->headers->content_type, qr{^(?:text/(?:css|javascript); charset=utf-8|image/svg\+xml)$},
            'another type is checked');
        is($plain->headers->content_encoding, undef, 'as it is');
        like($plain->headers->header('Vary'), qr/^Accept-Encoding$/, 'Vary');
        my $gzip = $fetch->(place("/sign/$file"), 'Accept-Encoding' => 'gzip, deflate');
        is($gzip->headers->content_encoding, 'gzip', 'gzip');
        is(memGunzip($gzip->body), $plain->body, 'the content is the same');
        my $brotli = $fetch->(place("/sign/$file"), 'Accept-Encoding' => 'gzip, deflate, br');
        is($brotli->headers->content_encoding, 'br', 'brotli');
        cmp_ok(length $brotli->body, '<', length $plain->body, 'smaller');
        is($fetch->(place("/sign/$file"), 'Accept-Encoding' => 'br;q=0, gzip;q=0.5')->headers->content_encoding,
            'gzip', 'br;q=0 gets no brotli');
        $script += length $gzip->body if $file =~ /\.js$/;
    }
    cmp_ok($script, '<', 60_000, "$script bytes of JavaScript, compressed");
    is($fetch->(place("/sign/assets/$_"))->code, 404, "no $_")
        for 'page.css', 'nothing.js', '..%2fpage.css', 'page-AAAAAAAA.js';
    is($fetch->(place('/deep/er/place/sign/' . $files[0]))->code, 200, 'the files exist at every location');
};

subtest 'embed.js' => sub {
    my $file = $fetch->(place('/sign/embed.js'));
    is($file->code, 200, 'it exists');
    cmp_ok(length $file->body, '<=', 2048, length($file->body) . ' bytes');
    my %have = (
        'Content-Type'                 => 'text/javascript; charset=utf-8',
        'X-Content-Type-Options'       => 'nosniff',
        'Cache-Control'                => 'public, max-age=3600',
        'Cross-Origin-Resource-Policy' => 'cross-origin',
        'Access-Control-Allow-Origin'  => '*',
        'Vary'                         => undef,
    );
    is($file->headers->header($_), $have{$_}, $_) for sort keys %have;
    my $etag = $file->headers->etag;
    like($etag, qr/^"embed-[0-9A-Z]{8}\.js"$/, 'the ETag has the hash');
    is($fetch->(place('/sign/embed.js'), 'If-None-Match' => $etag)->code, 304, 'it has not changed');
    is($fetch->(place('/deep/er/place/sign/embed.js'))->headers->etag, $etag, 'it exists at every location');
    my $other = $fetch->(place('/sign/' . ($page =~ m{(assets/page-[^"]+\.js)})[0]));
    is($other->headers->header('Cross-Origin-Resource-Policy'), 'same-origin', 'other files are not for other sites');
    is($other->headers->header('Access-Control-Allow-Origin'), undef, 'nor readable by them');
};

subtest 'languages' => sub {
    my $lang = sub {
        my $body = $ann->get('', headers => { %html, 'Accept-Language' => shift })->body;
        return ($body =~ /<html lang="(\w+)"/)[0];
    };
    my @rows = (
        ['de', 'de'], ['de-CH, en;q=0.9', 'de'], ['en;q=0.5, fr;q=0.8', 'fr'], ['hu, es;q=0.2', 'es'], ['hu', 'en'],
        ['', 'en'], ['*', 'en'], ['fr;q=0, de;q=0.1', 'de'], ['deutsch', 'en'], [';;,,q=', 'en'], ['ES-mx', 'es']);
    is($lang->($_->[0]), $_->[1], "'$_->[0]'") for @rows;
    my $none = Sigreq::Signer->new(link => place('/sign/x'));
    my $body = $none->get('', headers => { %html, 'Accept-Language' => 'de' })->text;
    like($body, qr/Wir k\x{f6}nnen diesen Vorgang nicht finden/, 'errors are pages, too');
    is_error($none->get(''), 404, 'Not found', 'programs get JSON');
};

subtest 'the consent text' => sub {
    my $state = $ann->get('', headers => { 'Accept-Language' => 'fr' })->json;
    is($state->{consent}{version},  '2-fr', 'the version names the language');
    is($state->{consent}{language}, 'fr',   'the answer has the version, too');
    like($ann->get('', headers => { %html, 'Accept-Language' => 'es' })->body, qr/name="consentVersion" value="2-es"/,
        'the form has the version');
    is_error($ann->post(json => { %{ typed() }, consentVersion => $_->[0] }), 400, $_->[1], $_->[2])
        for ['0-xx', qr/^consentVersion is unknown/, 'an unknown one'],
        [7, qr/^consentVersion must be a string/, 'a number'], ['', qr/^consentVersion is unknown/, 'an empty one'];
    my $signed = sub {
        my ($how, %o) = @_;
        my $made = $make->();
        my ($signer) = signers_of($made);
        my $res = $signer->post(%o);
        ok($res->code == 200 || $res->code == 303, "$how: signed") or diag $res->body;
        my $shown = $client->get("/signatures/$made->{uuid}")->json->{submitters}[0];
        return $shown->{signerInformation}{consent};
    };
    is($signed->('named', json => { %{ typed() }, consentVersion => '1-de' }), '1-de',
        'the version is in the audit trail');
    is($signed->('not named', json => typed(), headers => { 'Accept-Language' => 'es' }), '2-es',
        'the version has the language');
    is($signed->('nothing said', json => typed()), '2-en', 'the default is English');
    my %form = (action => 'sign', typed => 'Ann', consent => 'yes', consentVersion => '1-fr');
    is($signed->('by a form', form => \%form), '1-fr', 'the version of the form is used');
};

subtest 'the page that is linked beside the consent' => sub {
    my $url    = 'https://example.org/esign/2?a=1&b=2';
    my $made   = $make->();
    my ($plain) = signers_of($made);
    my $linked = Sigreq::Signer->new(link => $plain->{link} =~ s{/sign/}{/themed/sign/}r);
    my $terms  = sub {
        my $events = $client->get("/signatures/$_[0]{uuid}/audit")->json->{events};
        my ($event) = grep { $_->{event} eq 'signed' } @$events;
        return $event->{detail}{termsUrl};
    };
    is_deeply([sort keys %{ $plain->state->{consent} }], [qw(language text version)], 'by default there is none');
    unlike($plain->get('', headers => {%html})->body, qr/About electronic signatures/,
        'by default the page has no link');
    is($linked->state->{consent}{termsUrl}, $url, 'with SigreqTermsURL the state has it');
    my $dom = $linked->get('', headers => {%html})->dom;
    is_deeply([map { "$_->{href} $_->{target} $_->{rel}" } @{ $dom->find('.terms a')->to_array }],
        [("$url _blank noopener noreferrer") x 2], 'the last step and the plain form have the link');
    is($dom->at('input[name=termsUrl]')->{value}, $url, 'the form sends the link that was shown');
    is_error($linked->post(json => { %{ typed() }, termsUrl => $_->[0] }), @$_[1 .. 3])
        for ['https://example.org/esign/1', 409, qr/^termsUrl is not the page that is linked now/, 'another page'],
        ['', 409, qr/^termsUrl is not/, 'none, although one is linked'],
        [7, 400, qr/^termsUrl must be a string/, 'a number'];
    is($plain->post(json => { %{ typed() }, termsUrl => $url })->code, 409, 'a page, although none is linked');
    is($linked->post(json => { %{ typed() }, termsUrl => $url })->code, 200, 'the signer signs');
    is($terms->($made), $url, 'the audit trail has the URL');
    my %form = (action => 'sign', typed => 'Ann', consent => 'yes');
    for (['by a form', form => { %form, termsUrl => $url }], ['nothing said', json => typed()]) {
        my ($how, %o) = @$_;
        my $other = $make->();
        my ($signer) = signers_of($other);
        $signer->{link} =~ s{/sign/}{/themed/sign/};
        $signer->post(%o);
        is($terms->($other), $url, "the audit trail has it, $how");
    }
    my $other = $make->();
    (signers_of($other))[0]->sign('Ann');
    is($terms->($other), undef, 'without a link it has none');
};

subtest 'headers' => sub {
    my $headers = $ann->get('', headers => {%html})->headers;
    my $policy = $headers->header('Content-Security-Policy');
    like($policy, qr/^default-src 'none';/, 'by default only own files are allowed');
    unlike($policy, qr/unsafe|\*|https?:|data:|blob:/, 'there is no unsafe-inline');
    like($policy, qr/frame-ancestors 'none'$/, 'the page must not be in a frame');
    like($headers->header('Vary'), qr/Accept-Language/, 'Vary');
    my $themed = Sigreq::Signer->new(link => $ann->{link} =~ s{/sign/}{/themed/sign/}r);
    like($themed->get('', headers => {%html})->headers->header('Content-Security-Policy'),
        qr{frame-ancestors http://127\.0\.0\.1:\* http://localhost:\* http://embedder\.test:\*$},
            'the page may be in frames of allowed sites');
    like($themed->get('/documents/x', headers => {%html})->headers->header('Content-Security-Policy'),
        qr{embedder}, 'errors are pages, too');
    unlike($page, qr/\sstyle=|<style|<script(?! (?:type="module" )?src="assets)|\son\w+="/,
        'there are no inline scripts and styles');
};

subtest 'names' => sub {
    my $evil = q{<script>alert(1)</script>"'&{{consent.text}}{count}};
    my $made = $make->(name => $evil, signer => { firstname => '<b>', lastname => '{{:close}}' });
    my $body = (signers_of($made))[0]->get('', headers => {%html})->body;
    unlike($body, qr/<script>alert|<b>/, 'names do not become markup');
    my $shown = '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;{{consent.text}}{count}';
    like($body, qr/\Q$shown\E/, 'names are shown unchanged');
    like($body, qr/&lt;b&gt; \{\{:close\}\}/, 'placeholders in names are not filled');
};

subtest 'the theme' => sub {
    my $themed = Sigreq::Signer->new(link => $ann->{link} =~ s{/sign/}{/themed/sign/}r);
    my $body   = $themed->get('', headers => {%html})->body;
    my ($logo) = $body =~ /src="(theme\/logo\.svg\?\d+)"/;
    my ($css)  = $body =~ /href="(theme\/theme\.css\?\d+)"/;
    ok($logo && $css, 'logo and style');
    my $res = $fetch->(place("/themed/sign/$css"));
    is($res->code, 200, 'the style');
    like($res->headers->content_type,  qr{^text/css},   'the style has its media type');
    like($res->headers->cache_control, qr/immutable/,   'it may be cached, with its time in the URL');
    like($fetch->(place("/themed/sign/$css" =~ s/\?.*//r))->headers->cache_control, qr/no-cache/,
        'without the time it may not be cached');
    like($fetch->(place("/themed/sign/$logo"))->headers->header('Content-Security-Policy'), qr/default-src 'none'/,
        'a logo must not run scripts');
    is($fetch->(place("/themed/sign/theme/$_"))->code, 404, "no $_") for 'theme.json', '.', '..';
    is($fetch->(place('/sign/theme/theme.css'))->code, 404, 'without a theme there is no style');
    like($body, qr/Harbour &lt;i&gt;&amp; Sons&lt;\/i&gt; asks/, 'the texts of the theme are escaped');
    is($themed->sign('Ann')->code, 200, 'signed at the location with the theme');
    is(Sigreq::Validator::images_in($themed->get('/certificate')->body), 1, 'the certificate shows logo.png');
};
done_testing;
