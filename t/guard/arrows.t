# SPDX-License-Identifier: Apache-2.0
# The dependencies of src/README.md: which folder may include the headers of which other one and use its symbols.
# httpd's headers may be included only above the line. No two files of a folder use each other.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use File::Basename qw(basename);
use Test::More;

# each folder of src/, and what it may include and use besides itself; an entry with a slash is one header alone
my %allowed = (
    base    => [],
    metrics => [qw(base)],
    model   => [qw(base embed)],
    s3      => [qw(metrics base)],
    blobs   => [qw(s3 metrics base)],
    store   => [qw(model metrics base embed)],
    pdf     => [qw(model metrics base)],
    trust   => [qw(pdf metrics base)],
    service => [qw(store blobs pdf trust model metrics base)],
    jobs    => [qw(store pdf model metrics base embed)],
    http    => [qw(metrics base)],
    conf    => [qw(model s3 base)],
    api     => [qw(http service model base embed)],
    web     => [qw(http service model base embed)],
    run     => [qw(jobs conf store blobs s3 pdf trust model metrics base)],
    pdfd    => [qw(base helper/protocol.h pdf/cms.h model/existing.h model/report.h model/warnings.h)],
    signd   => [qw(signer/protocol.h pdf/cms.h base)],
    ctl     => [qw(jobs service store blobs s3 pdf trust model metrics base)],
    ''      => [qw(conf run api web http metrics base service/setup.h)],             # mod_sigreq.c
);
my %knows_httpd = map { $_ => 1 } qw(http conf api web run), '';
my $httpd_header = qr/^(?:httpd|http_\w+|ap_\w+|util_\w+|scoreboard|mpm_common|mod_(?!sigreq)\w+)\.h$/;

my %seen;
for my $file (files('src/*/*.[ch]'), 'mod_sigreq.c') {
    my $folder = $file =~ m{^src/(\w+)/} ? $1 : '';
    $seen{$folder}++;
    my %may = map { $_ => 1 } @{ $allowed{$folder} // [] }, $folder;
    my @wrong;
    my $text = slurp($file);
    while ($text =~ /^\s*#\s*include\s+([<"])([^>"]+)[>"]/mg) {
        my ($quote, $header) = ($1, $2);
        my $layer = $header =~ m{^(\w+)/} ? $1 : undef;
        if ($quote eq '"' && $layer) { push @wrong, $header unless $may{$layer} || $may{$header} }
        elsif ($header eq 'mod_sigreq.h') { push @wrong, $header unless $knows_httpd{$folder} }
        elsif ($header =~ $httpd_header) { push @wrong, $header unless $knows_httpd{$folder} }
        elsif ($quote eq '"') { push @wrong, "$header (name it by its folder)" }
    }
    ok(!@wrong, "$file includes only what is below it") or diag("$file: $_") for join ', ', @wrong;
}
ok($allowed{$_}, "the layer '$_' is in the table of arrows") for sort keys %seen;
ok($seen{$_}, "the layer '$_' has files")
    for qw(base metrics model s3 blobs store pdf trust service http conf api run pdfd signd ctl);

# The same for what is linked: each function and table of ours that an object uses is of a folder that it may use. What
# only passes through a header needs no include of its own and is found here alone. build/symbols is what nm says.
# Files that use each other all the same: a family that was divided because it is long, or a dispatcher and its branches
# that recurse. New ones are not added.
my %known = map { $_ => 1 } 'conf sharing', 'conf writable', 'call mail', 'cms identity', 'idle pool', 'drawing glyphs',
    'drawing ink', 'cache cache_size', 'connection pgsql';

sub folder { $_[0] =~ m{^src/(\w+)/} ? $1 : $_[0] =~ /^sql_/ ? 'store' : '' }    # sql_*: made by tools/sql2c

my (%home, %used);
for (split /\n/, slurp('build/symbols')) {
    my ($file, $kind, $symbol) = m{^build/obj/(\S+)\.o:\S* +([A-Z]) ((?:sr|ctl)_\w+)$} or next;
    if   ($kind eq 'U') { push @{ $used{$file} }, $symbol }
    else                { $home{$symbol} = $file }
}
cmp_ok(scalar keys %home, '>', 500, 'the symbols of the objects were found');
my %uses;    # file → the files of its folder whose symbols it uses
for my $file (sort keys %used) {
    my @may      = @{ $allowed{ folder($file) } };
    my %may      = map { $_ => 1 } @may, folder($file);
    my $declared = join '', map { slurp("src/$_") } grep {m{/}} @may;
    my @wrong    = grep { $home{$_} && !$may{ folder($home{$_}) } && $declared !~ /\b$_\b/ } @{ $used{$file} };
    ok(!@wrong, "$file uses only what is below it") or diag join "\n", map {"$_ of $home{$_}"} @wrong;
    $uses{$file}{ $home{$_} } = 1 for grep { $home{$_} && folder($home{$_}) eq folder($file) } @{ $used{$file} };
}
my @circles;
for my $file (sort keys %uses) {
    for my $other (grep { $_ gt $file && $uses{$_}{$file} } sort keys %{ $uses{$file} }) {
        push @circles, "$file $other" unless $known{ join ' ', map { basename($_) } $file, $other };
    }
}
is(join("\n", @circles), '', 'no two files of a folder use each other');
done_testing;
