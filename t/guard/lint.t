# SPDX-License-Identifier: Apache-2.0
# tools/lint: a bad file fails the check for its language, and a good one passes it. clang-tidy compiles every file, and
# clang's warnings are errors. If a finding is not a mistake, the source names the check and the reason.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Path 'make_path';
use File::Temp 'tempdir';
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my %programs = (
    format => 'clang-format-14', tidy   => 'clang-tidy-14', shell => 'shellcheck',
    perl   => 'perlcritic',      python => 'pyflakes3');
my %files    = (    # the file, what passes, what fails
    format => ['src/a.c', "int a;\n", "int  a;\n"],
    tidy   => ['src/a.c', "int a;\n", "int b(char *c);\nint b(char *c) { return c == c; }\n"],
    shell  => ['tools/a', "#!/bin/sh\necho\n", "#!/bin/sh\necho \$1\n"],
    perl   => ['t/a.t',   "use strict;\nuse warnings;\nprint 1;\n", "print 1;\n"],
    python => ['t/a.py',  "import sys\nprint(sys.argv)\n", "import sys\n"],
    javascript => ['t/a.mjs', "export const a = 1\n", "let a = 1\n"],
);

my $here = abs_path('.');
for my $check (sort keys %files) {
    SKIP: {
        skip "$programs{$check} is not installed", 3
            if $programs{$check} && system("command -v $programs{$check} >/dev/null") != 0;
        skip '`make lint` has not installed eslint', 3 if $check eq 'javascript' && !-e 'build/npm/lint/installed';
        my ($name, $good, $bad) = @{ $files{$check} };
        my $tree = tree($name);
        is((lint($tree, $name, $good, $check))[0], 0, "$check: a good file passes");
        my ($status, $said) = lint($tree, $name, $bad, $check);
        is($status, 1, "$check: a bad file fails");
        like($said, qr/\Q$name\E.*^FAILED $check /ms, "$check: the bad file is named");
    }
}
SKIP: {
    skip 'clang-tidy-14 is not installed', 1 if system('command -v clang-tidy-14 >/dev/null') != 0;
    my $name = 'src/a.c';
    my ($status, $said) = lint(tree($name), $name, "int a(void);\nint a(void) { int b; return 0; }\n", 'tidy');
    like($said, qr/unused variable 'b'/, 'tidy: a warning of clang is an error');
}

is(system('make', '-s', 'compile_commands.json'), 0, 'make compile_commands.json');
my %compiled = map { $_ => 1 } slurp('compile_commands.json') =~ /"file"\s*:\s*"([^"]+)"/g;
my @sources = files('mod_sigreq.c', 'src/**/*.c', 'src/**/*.cc', 't/{unit,tool,fuzz,speed}/*.c');
cmp_ok(scalar @sources, '>', 400, 'there are sources');
is(join(' ', grep { !$compiled{$_} } @sources), '', 'clang-tidy gets all sources');

is(system("tools/lint nothing 2>/dev/null") >> 8, 2, 'an unknown check is an error');

my (@found, @without);
for my $file ('mod_sigreq.c', files('include/*.h', 'src/**/*.c', 'src/**/*.h', 'src/**/*.cc', 't/*/*.[ch]')) {
    push @found, map {"$file: $_"} grep {/NOLINT/} split /\n/, slurp($file);
}
@without = grep { !/NOLINT(?:NEXTLINE)?\([a-z0-9-]+\): ./ } @found;
cmp_ok(scalar @found, '>', 10, 'some findings are no mistakes');
is("@without", '', 'each NOLINT says why');
done_testing;

sub write_file { open my $file, '>', $_[0] or die "$_[0]: $!\n"; print $file $_[1]; close $file or die "$_[0]: $!\n" }

sub tree { # one that has this file alone, and what configures the checks
    my $name = shift;
    my $tree = tempdir(CLEANUP => 1);
    make_path(map {"$tree/$_"} qw(.ci conf debian src t/lint tools build));
    system('cp', '.clang-format', '.clang-tidy', '.perlcriticrc', '.shellcheckrc', $tree) == 0
        && system('cp', 'tools/lint', "$tree/tools/") == 0
        && system('cp', 't/lint/eslint.config.mjs', "$tree/t/lint/") == 0
        or die "copy failed\n";
    symlink "$here/build/npm", "$tree/build/npm" or die "symlink: $!\n";
    write_file("$tree/compile_commands.json",
        qq([{"directory": "$tree", "command": "gcc -Wall -c -o build/a.o $name", "file": "$name"}]));
    return $tree;
}

sub lint {
    my ($tree, $name, $text, $check) = @_;
    write_file("$tree/$name", $text);
    my $said = `'$tree/tools/lint' $check 2>&1`;
    return ($? >> 8, $said);
}
