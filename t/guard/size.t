# SPDX-License-Identifier: Apache-2.0
# No file has more than 500 lines, no function more than 60, no line more than 120 characters. Each file begins with a
# comment that describes it. The line of the licence, which licence.t checks, does not count.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files sources slurp code);
use Test::More;

my @scripts = grep { -T && slurp($_) =~ /\A#!/ } glob
    'tools/* tools/*/* t/run t/TEST.PL .ci/run t/package/* debian/* debian/tests/* conf/container/*';
my @others = (@scripts,
    files('t/*/*.t', 't/lib/*/*.pm', 't/unit/*.[ch]', 't/fuzz/*.[ch]', 'src/store/*/*.sql', 'conf/schema/*/*.sql',
        'src/web/assets/*/*.js', 'src/web/assets/js/*/*.js',
        'src/web/assets/*/*.css', 't/browser/*.mjs', 'tools/bench/*.mjs'));
for my $file (sources(), @others) {
    my @lines = grep { !/SPDX-License-Identifier: / } split /\n/, slurp($file);
    cmp_ok(scalar @lines, '<=', 500, "$file: length");
    my @long = grep { my $line = $lines[$_]; utf8::decode($line); length $line > 120 } 0 .. $#lines;
    ok(!@long, "$file: line width") or diag("$file: line " . join ', ', map { $_ + 1 } @long) unless $file =~ /\.sql$/;
    my $opening = join "\n", @lines[0 .. ($#lines < 2 ? $#lines : 2)];
    like($opening, qr{^(?:/[*/]|#|--) ?\S.{15}}m, "$file: opens with what it is") unless $file =~ m{^conf/schema};
}

my $functions = 0;
for my $file (grep {/\.c$/} sources(), files('t/unit/*.c', 't/fuzz/*.c')) {
    my @lines = split /\n/, code($file);
    my ($start, $name);
    for my $i (0 .. $#lines) {
        ($start, $name) = ($i, $lines[ $i - 1 ] =~ /(\w+)\(/ ? $1 : $lines[ $i - 1 ]) if $lines[$i] eq '{';
        next unless defined $start && $lines[$i] eq '}';
        $functions++;
        cmp_ok($i - $start + 1, '<=', 60, "$file: $name()") if $i - $start + 1 > 60;
        undef $start;
    }
}
cmp_ok($functions, '>', 100, "$functions functions measured");
done_testing;
