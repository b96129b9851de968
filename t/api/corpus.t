# SPDX-License-Identifier: Apache-2.0
# Public files, sent as documents, as signers and as raw bodies: no answer is 5xx, each comes within 3 s, and no child
# exits.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Here qw(organisation suite children);
use Test::More;

my $corpus = $ENV{SIGREQ_CORPUS} or plan skip_all => 'SIGREQ_CORPUS names no folder of public files';
plan skip_all => 'once is enough: SQLite on event' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
my $org      = organisation();
my $client   = $org->{test};
my @children = children();

sub try_files {
    my ($what, $pattern, $code) = @_;
    my @files = grep {-f} glob "$corpus/$pattern";
    die "$corpus/$pattern: no files\n" unless @files;
    my (%codes, @wrong);
    for my $file (@files) {
        my $res = eval { $code->(path($file)->slurp, $file) };
        my $status = $res ? $res->code : "none ($@)";
        $codes{$status}++;
        push @wrong, ($file =~ s{^\Q$corpus/}{}r) . ": $status" if $status !~ /^[24]\d\d$/;
    }
    is(join("\n", @wrong), '', "$what: " . join ', ', scalar(@files) . ' files',
        map { "$codes{$_} × $_" =~ s/×/x/r } sort keys %codes);
}

sub as_document { my $bytes = shift; $client->create(files => [['a.pdf', $bytes]]) }
try_files("$_ as documents", "$_/*", \&as_document) for 'pdf/qpdf', 'pdf/pdf101', 'png/pngsuite', 'json/JSONTestSuite';
try_files('pdf/pdf.js as documents',       'pdf/pdf.js/*',         \&as_document);
try_files('json/JSONTestSuite as signers', 'json/JSONTestSuite/*', sub { $client->create(signers => $_[0]) });
try_files(
    'json/JSONTestSuite as a JSON body',
    'json/JSONTestSuite/*',
    sub {
        $client->request(POST => '/tokens', headers => { 'Content-Type' => 'application/json' }, body => $_[0]);
    });
try_files(
    'multipart/python-multipart as a body',
    'multipart/python-multipart/*.http',
    sub {
        my ($body) = @_;
        my $boundary = $body =~ /^--([^\r\n]+)/ ? $1 : 'boundary';
        $client->create(body => $body,
            headers => { 'Content-Type' => qq{multipart/form-data; boundary="} . ($boundary =~ s/["\\]//gr) . '"' });
    });
try_files('pdf/qpdf as a body', 'pdf/qpdf/*', sub { $client->create(body => $_[0]) });

# a JSON text that must be refused is no signers; one that must parse is refused for what it says, if at all
for my $file (glob "$corpus/json/JSONTestSuite/[ny]_*.json") {
    my $body   = $client->create(signers => path($file)->slurp)->body;
    my $parsed = $body !~ /^(?:Signers must be a JSON array|A signers must be provided)/
        || $body =~ /(?:an object|a string|a number|true|false|null) was sent$/;
    my ($kind) = $file =~ m{/([ny])_};
    ok($kind eq 'n' ? !$parsed : 1, $file =~ s{.*/}{}r) or diag $body if $kind eq 'n';
}
is(join(' ', children()), join(' ', @children), 'no child exited');
done_testing;
