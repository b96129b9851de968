# SPDX-License-Identifier: Apache-2.0
# The updates of t/unit/pdf_entries.c through a server: signed documents with such an update are sent to POST /verify
# and uploaded. None that shows something else is called signed, and none that readers would repair is accepted.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Drawn 'same_pictures';
use Sigreq::Here qw(organisation suite);
use Sigreq::Preview;
use Test::More;

my $client = organisation()->{test};
my $folder = tempdir('sigreq-entries.XXXXXX', TMPDIR => 1, CLEANUP => 1);
open my $made, '-|', suite->{source} . '/build/t/pdf_entries', $folder or die "pdf_entries: $!\n";
my $said = do { local $/; <$made> };
close $made or die "pdf_entries: $said\n";

sub verify {
    my ($bytes) = @_;
    return $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' })->json;
}

sub upload {
    my ($bytes) = @_;
    my $area = { x => 50, y => 50, w => 90, h => 40, page => 0 };
    my %signer = (firstname => 'Ann', lastname => 'Lee',
        fields => [{ type => 'signature', name => 'f', document => 'a.pdf', area => $area }]);
    return $client->create(files => [['a.pdf', $bytes]], signers => [\%signer]);
}

my %count;
for my $file (sort glob "$folder/*.pdf") {
    my ($name, $kind) = $file =~ m{((\w+)-[^/]+)[.]pdf$};
    my $bytes   = path($file)->slurp;
    my $found   = verify($bytes);
    my $changes = join '; ', map { @{ $_->{changes} // ['unknown'] } } @{ $found->{signatures} };
    my $res     = upload($bytes);
    my $warned  = join '; ', map { @{ $_->{warnings} // [] } } $res->code == 201 ? @{ $res->json->{documents} } : ();
    $count{$kind}++;
    is($found->{conclusion}, 'extended', "$name: something was added");
    if ($kind eq 'sound') {
        is($changes, '', "$name: no change");
        same_pictures($file, $found);
        is($res->code, 201, "$name: it is accepted") or diag $res->body;
        is($warned, '', "$name: no warning");
    } else {
        isnt($changes, '', "$name: a change");
        ok($res->code == 400 || ($kind eq 'replaces' && $warned =~ /changed after its last signature/),
            "$name: it is refused" . ($kind eq 'replaces' ? ', or there is a warning' : ''))
            or diag $res->code, ' ', $warned;
    }
}
is_deeply([sort keys %count], [qw(replaces sound wrong)], 'documents of all kinds');
done_testing;
