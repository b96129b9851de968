# The layers' arrows (src/README.md): who may include whose headers, and httpd's headers end at the line.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

# each folder of src/, and what it may include besides itself; an entry with a slash is one header alone
my %allowed = (
    base    => [],
    metrics => [qw(base)],
    model   => [qw(base embed)],
    store   => [qw(model metrics base embed)],
    pdf     => [qw(model metrics base)],
    service => [qw(store pdf model metrics base)],
    jobs    => [qw(store pdf model metrics base embed)],
    http    => [qw(metrics base)],
    conf    => [qw(model base)],
    api     => [qw(http service model base embed)],
    web     => [qw(http service model base embed)],
    run     => [qw(jobs conf store pdf model metrics base)],
    pdfd    => [qw(base pdf/protocol.h)],
    ctl     => [qw(service store pdf/pdf.h model base)],
    ''      => [qw(conf run api web metrics base)],             # mod_sigreq.c
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
ok($seen{$_}, "the layer '$_' has files") for qw(base metrics model store pdf service http conf api run pdfd ctl);
done_testing;
