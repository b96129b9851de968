# SPDX-License-Identifier: Apache-2.0
# jansson's loops over objects and arrays find the next member from their own variables. So no body of such a loop
# assigns to the key or the index, and none removes a member of what it goes through (json_object_foreach_safe can).
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files code);
use Test::More;

my $balanced = qr/(\((?:[^()]++|(?-1))*+\))/;
my $block    = qr/(\{(?:[^{}]++|(?-1))*+\})/;

# The faults of a text: the variable that is assigned, or the call that removes.
sub faults_of {
    my $text = shift;
    my ($loops, @faults) = (0);
    while ($text =~ /\bjson_(?:object|array)_foreach(_safe)?\s*$balanced/g) {
        my ($safe, $head) = ($1, $2);
        my ($body) = substr($text, pos $text) =~ /\A\s*(?:$block|[^;]*;)/ ? $& : '';
        my ($over, @names) = split /\s*,\s*/, substr $head, 1, -1;
        my $key = $names[ $safe && @names > 2 ? 1 : 0 ];
        $over =~ s/\A\(json_t \*\)//;
        $loops++;
        my ($named, $change) = (qr/\Q$key\E\b/, qr/\+\+|--/);
        push @faults, "$key ="
            if $body =~ /(?<![\w.>*])$named\s*(?:[-+*\/|&]?=(?!=)|$change)|$change$named|&$named/;
        push @faults, $1
            if !$safe && $body =~ /\b(json_(?:object|array)_(?:del|remove|clear)\w*)\(\s*(?:\(json_t \*\))?\Q$over\E\b/;
    }
    return ($loops, @faults);
}

my $head = 'json_object_foreach ((json_t *)object, key, value)';
my @tries = (
    ['key = shorter(key);',                         'key ='],
    ['{ if (x) { y(); } key = NULL; }',             'key ='],
    ['move(&key);',                                 'key ='],
    ['json_object_del(object, key);',               'json_object_del'],
    ['{ f(value); json_object_clear(object); }',    'json_object_clear'],
    ['if (key == other) f(key);'],
    ['{ const char *shown = f(key); row.key = shown; }'],
    ['json_object_del(other, key);'],
);
for my $try (@tries) {
    my ($body, @expected) = @$try;
    is_deeply([faults_of("$head $body")], [1, @expected], $body);
}
is_deeply([faults_of('json_object_foreach_safe (object, n, key, value) json_object_del(object, key);')], [1], 'safe');

my $all = 0;
for my $file (files('src/**/*.c', 'src/**/*.cc', 'src/**/*.h', 'mod_sigreq.c', 't/unit/*.[ch]', 't/fuzz/*.[ch]')) {
    my ($loops, @faults) = faults_of(code($file));
    $all += $loops;
    is_deeply(\@faults, [], "$file changes nothing that its loops go on from") if $loops;
}
cmp_ok($all, '>', 20, "$all loops");
done_testing;
