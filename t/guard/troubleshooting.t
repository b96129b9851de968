# SPDX-License-Identifier: Apache-2.0
# docs/troubleshooting.md has an entry for every tag of the error log, and for no other.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my (%tags, %told);
for my $file (files('src/**/*.c'), 'mod_sigreq.c') {
    $tags{$_} = 1 for slurp($file) =~ /"(SR\d{4}):/g;
}
cmp_ok(scalar keys %tags, '>', 10, 'the tags were found');
my ($table) = slurp('docs/troubleshooting.md') =~ /^## Tags of the error log\n(.*)/ms or BAIL_OUT('no section of tags');
for my $entry (split /^- /m, $table =~ s/\A.*?^- //smr) {
    my ($names, $text) = $entry =~ /^\*\*(SR\d{4}(?:, SR\d{4})*)\*\* (\(.+)/s
        or fail("tags and text: $entry"), next;
    like($text, qr/^\((?:[a-z, ]+|lines? of `sigreq-signd`)\): ./, "$names: a level and a text");
    $told{$_}++ for $names =~ /SR\d{4}/g;
}
is(join(' ', sort keys %told), join(' ', sort keys %tags), 'the page has every tag, and no other');
is(join(' ', grep { $told{$_} > 1 } sort keys %told), '', 'the page has no tag twice');
done_testing;
