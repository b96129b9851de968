# SPDX-License-Identifier: Apache-2.0
# The man pages, docs/directives.md and the completion for bash have every command, option and directive, and
# conf/sigreq.conf is inert as it is installed: a2enmod changes nothing that httpd serves.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(slurp code);
use Test::More;

my $commands = code('src/ctl/commands.c');
my %option   = code('src/ctl/option_rows.c') =~ /\[(OPTION_\w+)\]\s*=\s*\{\s*"([\w-]+)"/g;
my @command;
while ($commands =~ /\{\s*"(\w+)",\s*"(\w*)",\s*\w+,\s*-?\d+,\s*\{([^}]*)\}/g) {
    my ($words, $ids) = (join(' ', grep {length} $1, $2), $3);
    push @command, [$words, map { "--$option{$_}" } grep { $option{$_} } $ids =~ /OPTION_\w+/g];
}
cmp_ok(scalar @command, '>', 30, 'the table of commands was found');

my $manual = manual('sigreqctl');
my %section = map { /\A(.+?)\n(.*)\z/s ? ($1 => $2) : () } split /^\.S[SH] /m, $manual;
for (@command) {
    my ($words, @options) = @$_;
    my $text = ($section{"sigreqctl $words"} // '') =~ s/\\-/-/gr;
    my @lacks = grep { $text !~ /^\\fB\Q$_\E\\fR/m } @options;
    ok(length $text && !@lacks, "sigreqctl(8) has $words with its options") or diag "it lacks @lacks";
}

my $directives = code('src/settings/directives.def');
my @names      = $directives =~ /^SR_DIRECTIVE\(\s*\w+,\s*\w+,\s*(\w+)/mg;
my @listed     = manual('mod_sigreq') =~ /^\.B (Sigreq\w*)$/mg;
is("@listed", "@names", 'mod_sigreq(8) has every directive, in the order of the table');
like(manual('mod_sigreq'), qr{^Default: \\fB\Q/usr/lib/sigreq/sigreq\E\\-pdfd\\fR$}m,
    'mod_sigreq(8) has the default of SigreqHelper');

is(slurp('docs/directives.md'), `PREFIX=/usr tools/manual directives`,
    'docs/directives.md is up to date (tools/manual directives >docs/directives.md)');

is(slurp('README.md'), `tools/manual readme`, 'README.md is README (tools/manual readme >README.md)');

SKIP: {
    skip 'mandoc is not installed', 2 if system('command -v mandoc >/dev/null') != 0;
    for my $page (qw(sigreqctl mod_sigreq)) {
        # a page that is built from a table has no date of its own
        my @faults = grep { !/missing date/ } split /\n/, `mandoc -T lint -W warning build/manual/$page.8`;
        is("@faults", '', "$page(8) is well formed");
    }
}

# What bash would offer after these words, the last of which is being typed.
sub offered {
    my $script = '. build/manual/sigreqctl; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sigreqctl;'
        . ' echo "${COMPREPLY[@]}"';
    open my $from, '-|', 'bash', '-c', $script, 'bash', 'sigreqctl', @_ or die "bash: $!\n";
    chomp(my $said = join '', <$from>);
    close $from or die "the completion failed\n";
    return $said;
}
my ($every) = slurp('build/manual/sigreqctl') =~ /'db init'\) words='([^']*)'/;
for (@command) {
    my ($words, @options) = @$_;
    is(offered(split(/ /, $words), '--'), join(' ', @options, $every), "bash completes the options of $words");
}
is(offered('or'),                                             'org',           'groups are completed');
is(offered('org', 'del'),                                     'delete',        'and verbs');
is(offered('token', 'create', 'A', 'b@example.org', '--env'), '--environment', 'options after words');
is(offered('token', 'create', '--environment', ''),           'test production', 'values that are one of several');
is(offered('verify', '--trust', 'CHANG'),                     'CHANGES',       'files');
is(offered('seal', 'show', '--folder', 'conf/sch'),           'conf/schema',   'folders');
is(offered('org', 'create', '--name', ''),                    '',              'and no text');

my @active = grep { /\S/ && !/^\s*#/ } split /\n/, slurp('conf/sigreq.conf');
is("@active", '', 'conf/sigreq.conf has no line that is active');
my ($smallest) = slurp('conf/sigreq.conf') =~ /\A(.*?)\n#\n# Before the first start/s;
like($smallest, qr/^#$_\s/m, "the smallest configuration has $_")
    for qw(DBDriver DBDParams SigreqDocuments SigreqSealCertificate SigreqSealKey <Location);
done_testing;

# As it is installed, which is what the tool prints.
sub manual {
    my $page = slurp("build/manual/$_[0].8");
    my $made = `PREFIX=/usr tools/manual $_[0]`;
    is($page, $made, "$_[0](8) is up to date");
    return $page;
}
