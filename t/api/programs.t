# SPDX-License-Identifier: Apache-2.0
# docs/programs.md: its programs in each language, as they are shown: `send` prints links, both signers sign, one after
# entering a code, and `follow` reads the event feed and downloads what was signed. It is killed and started again: it
# continues after the cursor that it has stored, or from the oldest event if the service does not accept this cursor.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Here qw(organisation place suite wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::Signer;
use Sigreq::Suite;
use Test::More;

my %runs = (
    Python => [[qw(/usr/bin/python3 -c), 'import requests'], '/usr/bin/python3'],
    JavaScript => [[qw(node --version)], 'node'],
    PHP        => [[qw(php -r), 'exit(function_exists("curl_init") ? 0 : 1);'], 'php'],
    Perl       => [[qw(perl -MMojolicious -e 1)], 'perl']);

my (%programs, $language);
for my $part (split /^(?=## |`[\w.]+`[,:]|`[\w.]+`, |```$)/m, path(suite->{source}, 'docs/programs.md')->slurp) {
    $language = $1 if $part =~ /^## (.*)/;
    $programs{$language}{$1} = $2 if $part =~ /^`([\w.]+)`.*\n```\w+\n(.*)\z/s;
}
is(join(' ', map { "$_: " . keys %{ $programs{$_} } } sort keys %programs), 'JavaScript: 2 PHP: 2 Perl: 2 Python: 2',
    'the page has two programs in each language');

for my $name (sort keys %programs) {
SKIP: {
        my ($there, $program) = @{ $runs{$name} };
        skip "$name: not installed", 1
            if system('sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', @$there) != 0;
        try($name, $program);
    }
}
SKIP: {
    skip 'Python: not installed', 1
        if system('sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', @{ $runs{Python}[0] }) != 0;
    mirrors(path(suite->{source}, 'docs/programs.md')->slurp =~ /^`mirror\.py`.*?^```python\n(.*?)^```$/ms);
}
done_testing;

sub mirrors {
    my ($program) = @_;
    my $folder    = tempdir(CLEANUP => 1);
    my $client    = organisation()->{test};
    local %ENV = (%ENV, BASE_URL => place() =~ s{/$}{}r, TOKEN => $client->{token});
    Sigreq::Suite::write_file("$folder/mirror.py", $program);
    my $kept = sub {
        is(system("cd $folder && /usr/bin/python3 mirror.py >said 2>&1"), 0, "mirror.py: $_[0]")
            or diag path($folder, 'said')->slurp;
        return { map { m{/([^/]+)\.json$} => decode_json(path($_)->slurp) } glob "$folder/mirror/*.json" };
    };
    my @made = map { $client->create->json } 1 .. 3;
    is_deeply($kept->('the first run'), { map { $_->{uuid} => $_ } @made }, 'the first run has all submissions');
    my $path = "/signatures/$made[0]{uuid}";
    my $cancelled = $client->post("$path/cancel")->json;
    is($kept->('the next run')->{ $made[0]{uuid} }{updatedAt}, $cancelled->{updatedAt},
        'the next run has what was changed');
    $client->delete($path);
    is_deeply([sort keys %{ $kept->('after a deletion') }], [sort map { $_->{uuid} } @made[1, 2]],
        'the copy does not have what was deleted');
    return;
}

sub started {    # follow, in a process of its own, which writes to the file `said`
    my ($folder, $program) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    chdir $folder or die "$folder: $!\n";
    open STDOUT, '>', 'said'    or die "said: $!\n";
    open STDERR, '>&', \*STDOUT or die "said: $!\n";
    exec $program, glob 'follow.*' or die "$program: $!\n";
}

sub try {
    my ($name, $program) = @_;
    my $folder = tempdir(CLEANUP => 1);
    Sigreq::Suite::write_file("$folder/$_", $programs{$name}{$_}) for keys %{ $programs{$name} };
    Sigreq::Suite::write_file("$folder/lease.pdf",
        pdf(pages => [{ content => 'BT /F 12 Tf 72 72 Td (Tenant) Tj 228 0 Td (Landlord) Tj ET' }]));
    my $client = organisation()->{test};
    local %ENV = (%ENV, BASE_URL => place() =~ s{/$}{}r, TOKEN => $client->{token}, CODE => '4711-KX');

    my ($send) = grep {/^send/} keys %{ $programs{$name} };
    my ($said, @links);    # a busy machine answers 503, and `send` ends
    wait_for(sub {
        $said  = qx(cd $folder && $program $send 2>&1);
        @links = $said =~ /^(?:Ann Lee|Ben Roe): (\S+)$/mg;
        return @links || $said !~ /503/;
    });
    is(scalar @links, 2, "$name: two links are printed") or diag $said;
    $links[1] = Sigreq::Signer->new(link => $links[1])
        ->request(POST => '/check', json => { code => '4711 kx' })->json('/url');
    ok($links[1], 'the code is accepted');

    my $pid   = started($folder, $program);
    my $heard = sub { path($folder, 'said')->slurp };
    my $hears = sub { my $what = shift; ok(wait_for(sub { $heard->() =~ /^$what$/m }), $_[0]) or diag $heard->() };
    for my $link (@links) {
        ok(wait_for(sub { Sigreq::Signer->new(link => $link)->sign('A name')->code == 200 }), 'a signer signs');
    }
    my ($made) = @{ $client->get('/signatures')->json->{data} };
    my $file   = path($folder, "$made->{documents}[0]{uuid}.pdf");
    my $sha256 = $made->{submitters}[0]{signedDocuments}[0]{sha256};
    ok(wait_for(sub { -e $file && sha256_hex($file->slurp) eq $sha256 }), 'the signed document is saved')
        or diag $heard->();
    my @of = $heard->() =~ /^(submission\.sent|signer\.signed|submission\.completed)$/mg;
    is("@of", 'submission.sent signer.signed signer.signed submission.completed', 'all events came, in their order');

    ok(wait_for(sub { my $kept = path($folder, 'cursor'); -e $kept && $kept->slurp =~ /\S/ }), 'the cursor is stored');
    my $next = $client->get('/events', query => { after => 'now' })->json->{next};
    ok(wait_for(sub { path($folder, 'cursor')->slurp eq $next }), 'it is the cursor after the last event');
    my $end = sub { kill KILL => $pid; waitpid $pid, 0 };
    $end->();
    $pid = started($folder, $program);
    $client->post('/signatures/' . $client->create->json->{uuid} . '/cancel');
    $hears->('submission\.cancelled', 'after a kill it continues');
    unlike($heard->(), qr/completed/, 'what it has done is not repeated');
    $end->();
    Sigreq::Suite::write_file("$folder/cursor", $next =~ s/-.*/-00000000/r);
    $pid = started($folder, $program);
    $hears->('submission\.completed', 'after 410 it begins again, with the oldest event');
    $end->();
    return;
}
