# SPDX-License-Identifier: Apache-2.0
# A document that cannot be sealed is refused at the upload, with the reason. A document that can be repaired is
# rewritten once, and the upload is kept unchanged. The results are stored and need no further request to a helper.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Client;
use Sigreq::Here qw(organisation suite collect documents stored reports workers end_workers is_text nothing_happens);
use Sigreq::PDF qw(pdf repairable without_end);
use Sigreq::Preview;
use Test::More;

my $org    = organisation();
my $client = $org->{test}->crowd;
my $count  = 0;
sub nonce { "prove $$ " . suite->{db} . suite->{mpm} . ++$count }

sub size_of { my ($name) = stored(@_); return $name && length Sigreq::Here::stored_bytes($name) }
sub report { decode_json(path((reports(shift))[0])->slurp) }

sub signers_on {    # one signer with a field on each of these pages of a.pdf
    my @pages = @_;
    return Sigreq::Client::signers(
        {   fields => [
                map {
                    +{  type => 'signature', name => "f$_", document => 'a.pdf',
                        area => { x => 72, y => 72, w => 180, h => 50, page => $_ } }
                } @pages] });
}

sub post {
    my ($bytes, @pages) = @_;
    return $client->create(files => [['a.pdf', $bytes]], signers => signers_on(@pages ? @pages : 0));
}

# Runs CODE, and checks that no helper got a request: there were none before, and there are none afterwards.
sub asks_nobody {
    my ($name, $code) = @_;
    end_workers();
    $code->();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is(scalar(my @now = workers()), 0, "$name: no helper got a request");
}

# the annotations of its second page cannot be read, which is noticed only if a field is added there
sub damaged_inside {
    return pdf(
        nonce   => nonce(),
        pages   => [{}, { more => '/Annots 8 0 R' }],
        objects => ['[9 0 R', '<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Border[0 0 0]>>'],
        @_);
}
my $signature = '<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<00>';

subtest 'the results of a document are stored' => sub {
    my $bytes  = pdf(nonce => nonce(), pages => 3);
    my $before = documents();
    my $made   = post($bytes, 0);
    is($made->code, 201, 'a new document');
    my $sha256 = $made->json('/documents/0/sha256');
    is_deeply(report($sha256)->{prepared}, [0], 'the report of a new document has the prepared page');
    asks_nobody('the same page', sub { is(post($bytes, 0)->code, 201, 'the same page once more') });
    is(post($bytes, 2)->code, 201, 'a field on another page');
    ok(scalar(my @now = workers()), 'a field on another page needs a helper');
    is_deeply(report($sha256)->{prepared}, [0, 2], 'the report of the document has the other page then');
    asks_nobody('both pages', sub { is(post($bytes, 2, 0, 2)->code, 201, 'both pages') });
    is_text(post($bytes, 3), 400, 'Index page unknown');
    is(documents(), $before + 1, 'the document is stored once');

    my $long = pdf(nonce => nonce(), pages => 70);
    is(post($long, 0 .. 69)->code, 201, 'a document with 70 pages');
    my $known = report(post($long, 69)->json('/documents/0/sha256'))->{prepared};
    is_deeply($known, [0 .. 63], 'the report of 70 pages has 64 prepared pages');
    is(post($long, 69)->code, 201, 'fields on other pages are accepted');
};

subtest 'many fields, many documents' => sub {
    my @files   = map { ["d$_.pdf", pdf(nonce => nonce(), pages => 2)] } 1 .. 5;
    my @signers = map {
        my $signer = $_;
        +{  firstname => "S$signer", lastname => 'X',
            fields    => [
                map {
                    my $document = $_->[0];
                    map {
                        +{  type => 'signature', name => 'f', document => $document,
                            area => { x => 10 * $signer, y => 10, w => 9, h => 9, page => $_ } }
                    } 0, 1
                } @files] }
    } 1 .. 20;
    my $made = $client->create(files => \@files, signers => \@signers);
    is($made->code, 201, '200 fields on 10 pages');
    is_deeply(report($_->{sha256})->{prepared}, [0, 1], "$_->{name} is known") for @{ $made->json('/documents') };
    my $same = pdf(nonce => nonce(), pages => 2);
    my $twin = $client->create(
        files   => [['b.pdf', $same], ['a.pdf', $same]],
        signers => [@{ signers_on(1) }]);
    is($twin->code, 201, 'one content under two names, one of them without fields');
    is_deeply(report($twin->json('/documents/0/sha256'))->{rewritten}, undef,
        'content without fields is not rewritten');
};

my %repairable = repairable();
for my $what (sort keys %repairable) {
    subtest "repaired: $what" => sub {
        my $bytes  = $repairable{$what}->(nonce(), inherit => { mediabox => [0, 0, 400, 300], rotate => 90 });
        my $before = documents();
        my $made   = post($bytes);
        is($made->code, 201, 'accepted') or return diag $made->body;
        my $document = $made->json('/documents/0');
        my $rewritten = report($document->{sha256})->{rewritten};
        ok($rewritten, 'the document was rewritten') or return;
        is(documents(),                             $before + 2,      'two files are stored');
        is(size_of($rewritten->{sha256}),           $rewritten->{size}, 'the rewritten document has this size');
        is($document->{size},                       length $bytes,    'the answer has the size of the upload');
        isnt($rewritten->{sha256}, $document->{sha256}, 'the rewritten document is another file');
        is_deeply(report($rewritten->{sha256})->{prepared}, [0],
            'the report of the rewritten document has the prepared page');
        ok(!report($rewritten->{sha256})->{normalise}, 'the rewritten document need not be rewritten');
        is_deeply($made->json('/submitters/0/fields/0/rect'), [72, 72, 252, 122], 'the field has its place in the PDF');
        is($made->json('/submitters/0/fields/0/percent/w'), 16.6667, 'the field has its place on the displayed page');
        my $original =
            $client->get('/signatures/' . $made->json('/uuid') . "/documents/$document->{uuid}?version=original");
        ok($original->body eq $bytes, 'the original is the upload, byte for byte');
        asks_nobody('seen before', sub { is(post($bytes)->code, 201, 'and once more') });
        is(documents(), $before + 2, 'no other file is stored');
        collect();
        ok(stored($_) == 1 && reports($_) == 1, 'gc keeps both files') for $document->{sha256}, $rewritten->{sha256};

        return if suite->{s3};    # a lost object is in the cache: t/cluster/s3.t
        # A drawn form has the time, so the document that is made again may have another content. Then the file is put
        # back, because its row in blob is kept, and later test files of this server count missing files.
        my ($lost) = stored($rewritten->{sha256});
        my $aside = path(suite->{dir}, 'aside')->to_string;
        rename $lost, $aside or die "$lost: $!\n";
        unlink reports($rewritten->{sha256});
        is(post($bytes)->code, 201, 'the document is accepted after its rewritten form was lost');
        is(size_of($rewritten->{sha256}), $rewritten->{size},
            'the rewritten document is made again') if $what !~ /drawn/;
        stored($rewritten->{sha256}) ? unlink $aside : rename $aside, $lost;
    };
}

subtest 'the same damaged document many times at the same time' => sub {
    for my $what (sort keys %repairable) {
        my $bytes   = $repairable{$what}->(nonce());
        my @answers = $client->parallel(8, 8, sub { $client->create_p(files => [['a.pdf', $bytes]]) });
        is_deeply([map { $_->code } @answers], [(201) x 8], "$what: all creations are accepted");
        collect();
        my @shown = map {
            $client->get('/signatures/' . $_->json('/uuid') . '/documents/' . $_->json('/documents/0/uuid'))
        } @answers;
        is_deeply([map { $_->code } @shown], [(200) x 8], 'each document has a rewritten one');
        is(scalar(grep { $_->body eq $bytes } @shown), 0, 'the rewritten documents differ from the upload');
        asks_nobody('afterwards', sub { is(post($bytes)->code, 201, 'the rewritten document is known afterwards') });
    }
};

subtest 'encrypted' => sub {
    my $file = path(suite->{dir}, "plain-$$.pdf")->spurt(pdf(nonce => nonce()));
    my $with = sub {
        my $out = path(suite->{dir}, "encrypted-$$.pdf");
        system('qpdf', '--allow-weak-crypto', '--encrypt', @_, '--', $file, $out) == 0 or die "qpdf\n";
        return post($out->slurp);
    };
    is_text($with->('user', 'owner', 256), 400, 'Document a.pdf is password protected',
        'a document that needs a password is refused');
    is_text($with->('', 'owner', @$_), 400,
        'Document a.pdf does not permit signing: its permissions allow neither signing nor filling in forms', "@$_")
        for [128, '--modify=none'], [256, '--modify=assembly'];
    is($with->('', 'owner', @$_)->code, 201, "@$_") for [256], [128, '--use-aes=y'], [40], [256, '--modify=form'];
    my $encrypted = 'it is encrypted, though it opens without a password; save it without encryption';
    $file->spurt(pdf(nonce => nonce(), catalog => '/AcroForm<</Fields[]/NeedAppearances true>>'));
    is_text($with->('', 'owner', 256), 400, "Document a.pdf cannot be signed: $encrypted",
        'an encrypted document that must be rewritten is refused');
};

subtest 'damage that is found later' => sub {
    my $bytes  = damaged_inside();
    my $before = documents();
    my $first  = post($bytes, 0);
    is($first->code, 201, 'fields on a page that can be read are accepted');
    my $sha256 = $first->json('/documents/0/sha256');
    ok(!report($sha256)->{rewritten}, 'the document is not rewritten');
    is(post($bytes, 0, 1)->code, 201, 'fields on the damaged page are accepted');
    my $rewritten = report($sha256)->{rewritten} // return fail('the document is rewritten');
    is_deeply(report($rewritten->{sha256})->{prepared}, [0, 1], 'both pages of the rewritten document are prepared');
    is(documents(), $before + 2, 'the rewritten document is stored');
    asks_nobody('known', sub { is(post($bytes, 1, 0)->code, 201, 'and once more') });
};

subtest 'a document without fields is not sealed and not rewritten' => sub {
    my $bytes  = $repairable{'no end'}->(nonce());
    my $before = documents();
    is($client->create(files => [['a.pdf', pdf(nonce => nonce())], ['b.pdf', $bytes]])->code, 201,
        'a damaged document without fields is accepted');
    is(documents(), $before + 2, 'it is not rewritten');
    is(post($bytes)->code, 201, 'the same document with a field is accepted');
    is(documents(), $before + 3, 'a document with a field is rewritten');
};

my %refused = (
    'certified' => [
        'it is certified, and its certification allows no new signature fields',
        pdf(nonce => nonce(), catalog => '/Perms<</DocMDP 6 0 R>>', objects => ["$signature>>"])],
    'signed and without end' => [
        'it is signed already and damaged: repairing it would break its signatures',
        without_end(
            pdf(nonce   => nonce(),
                catalog => '/AcroForm<</Fields[6 0 R]/SigFlags 3>>',
                objects => ['<</FT/Sig/T(s)/V 7 0 R>>', "$signature>>"]))],
    'signed and damaged inside' => [
        'it is signed already and damaged: repairing it would break its signatures',
        damaged_inside(
            pages   => [{ more => '/Annots 10 0 R' }, {}],
            catalog => '/AcroForm<</Fields[8 0 R]/SigFlags 3>>',
            objects => ['<</FT/Sig/T(s)/V 9 0 R>>', "$signature>>", '[11 0 R', '<<>>'])],
);
nothing_happens($org, 'refusals', sub {
    is_text(post($refused{$_}[1]), 400, "Document a.pdf cannot be signed: $refused{$_}[0]", $_) for sort keys %refused;
    my $key = '<' . '5A' x 32 . '>';
    is_text(post(pdf(trailer => "/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/O$key/U$key/P -4>>")),
        400, 'Document a.pdf is password protected');
    is_text(post($refused{'signed and damaged inside'}[1], 2), 400, 'Index page unknown',
        'an error of pages comes first');
    is_text(
        $client->create(
            files   => [['b.pdf', $refused{'signed and damaged inside'}[1]]],
            signers => signers_on(0)),
        400, 'Document a.pdf not found', 'an error of documents comes first');
});
my $poor = organisation(quota => 0);
nothing_happens($poor, 'no quota for a document that had to be repaired', sub {
    is($poor->{live}->create(files => [['a.pdf', $_->(nonce())]])->code, 403, 'refused') for values %repairable;
});

subtest 'a report that cannot be used' => sub {
    my $bytes = $repairable{'no end'}->(nonce());
    my $made  = post($bytes);
    my $known = path((reports($made->json('/documents/0/sha256')))[0]);
    my $good  = $known->slurp;
    for my $bad ('', '{', $good =~ s/"version":\d+/"version":1/r, $good =~ s/"size":\d+/"size":0/r) {
        unlink $known;
        open my $file, '>', $known or die "$known: $!\n";
        print {$file} $bad;
        close $file;
        is(post($bytes)->code, 201, "is made again: '" . substr($bad, 0, 30) . "'");
        is($known->slurp, $good, 'the report is the same as before');
    }
};
done_testing;
