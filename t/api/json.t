# SPDX-License-Identifier: Apache-2.0
# Invalid or unusual JSON: the message of the value concerned, never a 5xx, and nothing is stored.
use strict;
use warnings;
use Sigreq::Here qw(organisation is_text is_error nothing_happens);
use Mojo::JSON 'encode_json';
use Sigreq::Preview;
use Test::More;

my $org  = organisation();
my $good = encode_json(Sigreq::Client::signers());
sub in_area { my ($key, $text) = @_; $good =~ s/"$key":\d+/"$key":$text/r }
my $not_array = qr/^Signers must be a JSON array: ./;
my $xy        = 'Signer 1, Field 1: Area x/y coordinate must be a number';
my $wh        = 'Signer 1, Field 1: Area width/height must be a positive number';
my $page      = 'Signer 1, Field 1: Area page must be a non-negative integer';

my @rows = (
    ['no JSON', 'signers', $not_array], ['an open array', '[', $not_array], ['a comma too many', "[{},]", $not_array],
    ['two values',    "$good []",  $not_array], ['a comment', "/* x */ $good", $not_array],
    ['single quotes', "[{'a':1}]", $not_array],
    ['NaN', '[NaN]', $not_array], ['Infinity', '[-Infinity]', $not_array], ['a bare word', '[yes]', $not_array],
    ['two byte order marks', "\xEF\xBB\xBF" x 2 . $good, $not_array],
    ['UTF-16',            join('', map {"$_\0"} split //, $good), $not_array],
    ['NUL after it',      "$good\0",                              $not_array], ['NUL before it', "\0$good", $not_array],
    ['invalid UTF-8', $good =~ s/Ann/A\xFFn/r, $not_array], ['overlong UTF-8', $good =~ s/Ann/A\xC0\xAFn/r, $not_array],
    ['a surrogate in UTF-8',            $good =~ s/Ann/A\xED\xA0\x80n/r,                      $not_array],
    ['a lone surrogate escape',         $good =~ s/Ann/A\\ud800n/r,                           $not_array],
    ['a control character in a string', $good =~ s/Ann/A\x01n/r,                              $not_array],
    ['a line end in a string',          $good =~ s/Ann/A\nn/r,                                $not_array],
    ['a bad escape',                    $good =~ s/Ann/A\\xn/r,                               $not_array],
    ['a duplicate key',                 $good =~ s/\[\{/[{"firstname":"B","firstname":"C",/r, $not_array],
    ['depth 65', '[' x 65 . ']' x 65, $not_array], ['depth 100,000', '[' x 100_000 . ']' x 100_000,         $not_array],
    ['an open depth of a million', '[' x 1_000_000,   $not_array], ['objects in objects', '{"a":' x 50_000, $not_array],
    ['a leading zero',          in_area(x => '012'),  $not_array], ['a plus sign', in_area(x => '+1'),      $not_array],
    ['hexadecimal',             in_area(x => '0x10'), $not_array], ['1e400',       in_area(x => '1e400'),   qr/./],
    ['-1e400',                  in_area(y    => '-1e400'),                qr/./],
    ['10^400 as an integer',    in_area(w    => '1' . '0' x 400),         qr/./],
    ['an integer over 64 bits', in_area(page => '18446744073709551616'),  qr/./],
    ['minus that',              in_area(page => '-18446744073709551616'), qr/./],
    ['null for x',              in_area(x    => 'null'), $xy], ['true for y', in_area(y => 'true'), $xy],
    ['text for w',              in_area(w    => '"5"'),  $wh],
    ['an array for h',          in_area(h    => '[5]'),  $wh], ['zero for w', in_area(w => '0'), $wh],
    ['minus zero for h',        in_area(h    => '-0.0'), $wh],
    ['a real for page',    in_area(page => '1.5'), $page], ['minus zero point one', in_area(page => '-0.1'), $page],
    ['a NUL in firstname', $good =~ s/Ann/A\\u0000n/r, qr/./],
    [   'a control character in firstname', $good =~ s/Ann/A\\u0007n/r,
        'Signer 1: A firstname must not contain control characters'],
    ['a long firstname', $good =~ s/Ann/'A' x 501/er, 'Signer 1: A firstname must have at most 500 characters'],
    [   'a long email', $good =~ s/"firstname"/'"email":"' . 'a' x 250 . '@x.org","firstname"'/er,
        'Signer 1: An email must have at most 254 characters'],
);
nothing_happens(
    $org,
    'bad signers',
    sub {
        for my $row (@rows) {
            my ($what, $text, $answer) = @$row;
            my $res = $org->{live}->create(signers => $text);
            if (!ref $answer) { is_text($res, 400, $answer, $what); next }
            is($res->code, 400, $what) or diag $res->body;
            like($res->body, $answer, "$what: the message has the reason");
            unlike($res->body, qr/[\x00-\x1f\x7f]/, "$what: the message is one line");
        }
    });
like($org->{test}->create(signers => "[\n\n  oops")->body, qr/line 3/, 'the message has the line');

is($org->{test}->create(signers => $_->[1])->code, 201, "$_->[0] is fine")
    for ['white space around', " \r\n\t$good \n"], ['a byte order mark', "\xEF\xBB\xBF$good"],
    ['an unknown key', $good =~ s/\[\{/[{"phone":"+1",/r], ['escapes', $good =~ s/Ann/\\u0041nn \\ud83d\\ude00/r],
    ['a real for x',   in_area(x => '1.5e1')], ['a negative y', in_area(y => '-3000.25')],
    ['a tiny w',       in_area(w => '1e-300')],
    ['a huge x', in_area(x => '1e300')], ['key order', $good =~ s/"page":0,?//r =~ s/"w"/"page":0,"w"/r =~ s/,\}/}/gr];

# the JSON endpoints
my %tails = ('/tokens' => 'name', '/webhooks/sent-webhook-url' => 'url');
for my $path (sort keys %tails) {
    my %json = (headers => { 'Content-Type' => 'application/json' });
    my $post = sub { $org->{test}->request(POST => $path, %json, body => $_[0]) };
    my $before = $org->{test}->get('/tokens')->body;
    is_error($post->($_), 400, qr/^The body must be a JSON object/, "$path: " . substr $_, 0, 20)
        for '{', '[]', '"x"', 'null', '{"a":1,"a":2}', "{}\0", "{\"$tails{$path}\":\"\xFF\"}", '[' x 70,
        '{"a":' x 5000, "\xFE\xFF\0{\0}";
    is_error($post->('{"x":"' . 'y' x 70_000 . '"}'), 413, qr/65536/, "$path: too many values are refused");
    is_error($post->("{\"$tails{$path}\":$_}"), 400, qr/^(?:name|url) is/, "$path: $_") for 5, 'true', '[]', '{}', '""';
    is($org->{test}->get('/tokens')->body, $before, "$path: nothing changed");
}
done_testing;
