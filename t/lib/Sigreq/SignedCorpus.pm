# SPDX-License-Identifier: Apache-2.0
# Sigreq::SignedCorpus: tries public files from upload to signature: a PDF is uploaded for two signers, signed by both,
# downloaded, and checked by validators. An image is used as a signature. Each file gives a row with the result. `make
# corpus-sign` tries all files, `make test` some.
package Sigreq::SignedCorpus;
use strict;
use warnings;
use utf8;
use Digest::SHA 'sha256_hex';
use Exporter 'import';
use List::Util 'max';
use Mojo::Util 'b64_encode';
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Sigreq::Validator qw(pdfsig mutool openssl qpdf_status);
use Time::HiRes 'time';

our @EXPORT_OK = qw(VALIDATORS);

use constant VALIDATORS => qw(pdfsig trusted openssl qpdf mutool prefix sha256 level values);
use constant OWN => 30;    # fields of a form that are filled in

my @names = ('Ann Lee', 'Łukasz Żółć', 'أحمد علي', 'मीरा शर्मा', '王小明');
my @strokes = ([[10, 10], [120, 60], [40, 80]], [[0, 0, 0.1], [60, 99, 0.9], [199, 5, 0.5], [100, 50]], [[5, 5]]);

# new(client => Sigreq::Client, authority => the folder of who issued the seal's certificate (Sigreq::Validator; none:
# no program is asked whether it trusts the certificate), seal => a pattern for the name on that certificate, images =>
# [bytes of images that can be signed with, …], keep => a folder for signed files that a validator does not like,
# long_term => signatures must be B-LT, values => in a document without signatures both people fill in fields: four that
# are added for each, and those that the document has)
sub new { my ($class, %o) = @_; return bless { images => [], %o, crowd => $o{client}->crowd }, $class }

# A request, timed: its answer. What no answer may be is noted in the row; without an answer the file is given up.
sub ask {
    my ($self, $row, $what, $code) = @_;
    my $began = time;
    my $res = eval { $code->() };
    my $error = $@;
    my $took = time - $began;
    @{$row}{qw(seconds slowest)} = ($took, $what) if $took > ($row->{seconds} // -1);
    die "$what: no answer: $error" unless $res;
    push @{ $row->{wrong} }, "$what: " . $res->code . ' ' . substr $res->body, 0, 200 if $res->code >= 500;
    return $res;
}

sub api { # one of the API's, whose answer must be as the description says
    my ($self, $row, $method, $path, %o) = @_;
    my $res = $self->ask($row, "$method " . $path =~ s{/[0-9a-f-]{36}}{/…}gr,
        sub { $self->{crowd}->request($method => $path, %o, unjudged => 1) });
    my @wrong = $self->{crowd}{judge}->check($method, $path =~ s/\?.*//sr, $res);
    push @{ $row->{wrong} }, map {"$method $path: $_"} @wrong;
    return $res;
}

sub create {
    my ($self, $row, $bytes, $signers) = @_;
    my %o = (files => [['a.pdf', $bytes]], signers => $signers);
    return $self->api($row, POST => '/signatures', $self->{crowd}->creation_options(%o));
}

sub person { # a signer with a field in each of these areas
    my ($name, @areas) = @_;
    my @fields = map { { type => 'signature', name => 'Signature', document => 'a.pdf', area => $_ } } @areas;
    return { firstname => $name, lastname => 'Lee', fields => \@fields };
}

sub area { # in the last argument's page, [width, height] as it is shown: fractions of it from its top left corner
    my ($page, $x, $y, $size) = @_;
    my ($w, $h) = @$size;
    return { x => $x * $w, y => $y * $h, w => 0.4 * $w, h => 0.15 * $h, page => $page, origin => 'top-left' };
}

sub two_people { # each on the first page and on the last
    my ($first, $last, $pages) = @_;
    my @people;
    for my $i (0, 1) {
        my $x = 0.06 + 0.45 * $i;
        push @people, person("Signer $i", area(0, $x, 0.1, $first), area($pages - 1, $x, 0.6, $last));
    }
    return \@people;
}

# --- values

sub inspected {
    my ($self, $row, $bytes) = @_;
    my %options = (body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    return $self->api($row, POST => '/documents/inspect', %options)->json // {};
}

# The fields of a form that can be filled in, if their names differ.
sub own_fields {
    my @fields = @_;
    my (%names, @own);
    $names{ $_->{field} }++ for @fields;
    for my $field (grep { $names{ $_->{field} } == 1 && !$_->{readOnly} && !$_->{multiple} } @fields) {
        my @places  = @{ $field->{places}  // [] };
        my %options = map { $_ => 1 } grep {/\S/} @{ $field->{options} // [] };
        my %buttons = map { ($_->{option} // '') => 1 } @places;
        next if $field->{type} eq 'signature' || @places && (keys %buttons != @places || $buttons{''});
        next if $field->{type} eq 'choice'    && (keys %options < 2 || keys %options > 100);
        push @own, $field if @own < OWN;
    }
    return map { { type => $_->{type}, name => 'Own', area => { field => $_->{field} } } } @own;
}

sub add_values {    # to two people, on the first page
    my ($people, $size, @fields) = @_;
    my @added = (
        { type => 'text', name => 'Text', required => \0 }, { type => 'date', name => 'Day' },
        { type => 'checkbox', name => 'Box' },
        { type => 'choice', name => 'Choice', required => \0, options => ['a', 'ß'] });
    for my $i (0, 1) {
        for my $at (0 .. $#added) {
            my $area = area(0, 0.06 + 0.45 * $i, 0.3 + 0.05 * $at, $size);
            @$area{qw(w h)} = (max(120, $area->{w}), max(14, $area->{h} / 5));    # with room for a day in words
            push @{ $people->[$i]{fields} }, { %{ $added[$at] }, document => 'a.pdf', area => $area };
        }
    }
    my @own = own_fields(@fields);
    push @{ $people->[$_ % 2]{fields} }, { %{ $own[$_] }, document => 'a.pdf', required => \0 } for 0 .. $#own;
    return;
}

sub value_of { # what somebody enters
    my ($field) = @_;
    return \1 if $field->{type} eq 'checkbox';
    return $field->{options}[-1] if $field->{type} eq 'choice';
    return substr '7 €', 0, $field->{maxLength};
}

# {number => value} of what the signer enters
sub values_of {
    my ($self, $row, $signer) = @_;
    my %values;
    my $state = $self->ask($row, 'opening', sub { $signer->get('') })->json;
    for my $field (grep { $_->{number} && $_->{type} ne 'date' && !$_->{readOnly} } @{ $state->{fields} }) {
        $values{ $field->{number} } = value_of($field);
    }
    return \%values;
}

# How somebody signs: other files in other ways.
sub signature {
    my ($self, $turn) = @_;
    my @ways = ('typed', 'drawn', @{ $self->{images} } ? 'uploaded' : ());
    my $way = $ways[$turn % @ways];
    my $round = int($turn / @ways);
    return { type => $way, text => $names[$round % @names] } if $way eq 'typed';
    return { type => $way, width => 200, height => 100, strokes => [@strokes[0 .. $round % @strokes]] }
        if $way eq 'drawn';
    return uploaded($self->{images}[$round % @{ $self->{images} }]);
}

sub uploaded { my $bytes = shift; { type => 'uploaded', image => 'data:image/png;base64,' . b64_encode $bytes, '' } }

# What does not fit into its field, which may be tiny, is not entered.
sub sign {
    my ($self, $row, $signer, $signature) = @_;
    my $what   = "signing ($signature->{type})";
    my $values = $row->{values} ? $self->values_of($row, $signer) : {};
    my $again  = sub {
        my %zone = (utcOffset => 0, timeZone => 'UTC');
        my %sent = (action => 'sign', consent => \1, signature => $signature, values => $values, %zone);
        return $self->ask($row, $what, sub { $signer->post(json => \%sent) });
    };
    my $answer = $again->();
    my @faults = $answer->code == 400 ? @{ ($answer->json // {})->{fields} // [] } : ();
    delete @$values{ map { $_->{number} } grep { $_->{code} eq 'fit' } @faults };
    $row->{left_out} += @faults;
    return @faults ? $again->() : $answer;
}

# --- a document

# {file, outcome => refused|accepted|lost, status, message (why refused), wrong => [what must not be], seconds and
# slowest (the request that took longest), rewritten => it was repaired, before => it had signatures,
# doubted => pdfsig trusts a certificate, and then does not know it,
# passed => {validator => 1|0}, said => {validator => what it said}}
sub try_pdf {
    my ($self, $file, $bytes, $turn) = @_;
    my $row = { file => $file, outcome => 'lost', wrong => [], passed => {}, said => {} };
    eval { $self->run_pdf($row, $bytes, $turn); 1 } or push @{ $row->{wrong} }, $@ =~ s/\s+\z//r;
    return $row;
}

sub run_pdf {
    my ($self, $row, $bytes, $turn) = @_;
    my $tiny = { x => 0, y => 0, w => 1, h => 1, page => 0, origin => 'top-left' };
    my $probe = $self->create($row, $bytes, [person('Ann', $tiny)]);
    return refused($row, $probe) if $probe->code != 201;
    my ($first, $last, $pages) = $self->sizes($row, $probe->json);
    my $people    = two_people($first, $last, $pages);
    my $inspected = $self->{values} ? $self->inspected($row, $bytes) : { signatures => 1 };
    $row->{values} = !$inspected->{signatures};
    add_values($people, $first, @{ $inspected->{fields} }) if $row->{values};
    my $res = $self->create($row, $bytes, $people);
    while ($res->body =~ /^Signer (\d), Field (\d+): The (?:text|field) is too (?:long|small)/) {
        splice @{ $people->[$1 - 1]{fields} }, $2 - 1, 1;    # a value that the form has does not fit
        $row->{left_out}++;
        $res = $self->create($row, $bytes, $people);
    }
    return refused($row, $res) if $res->code != 201;
    $row->{outcome} = 'accepted';
    my $made = $res->json;
    my $path = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    my $base = $self->api($row, GET => $path)->body;
    $row->{rewritten} = substr($base, 0, length $bytes) ne $bytes ? 1 : 0;    # what is added comes after it
    my @signers = signers_of($made);
    for my $i (0, 1) {
        my $answer = $self->sign($row, $signers[$i], $self->signature($turn + $i));
        die 'signing: ' . $answer->code . ' ' . substr($answer->body, 0, 200) . "\n" if $answer->code != 200;
    }
    $self->judge($row, $made, $path, $bytes, $base);
}

sub refused { # as it must be: 400 and a text
    my ($row, $res) = @_;
    my $text = $res->body;
    utf8::decode($text);
    @{$row}{qw(outcome status message)} = ('refused', $res->code, $text);
    push @{ $row->{wrong} }, 'refused by ' . $res->code if $res->code != 400;
    push @{ $row->{wrong} }, 'refused without a reason'
        if $text !~ /\S{3}/ || ($res->headers->content_type // '') !~ m{^text/plain};
}

sub sizes { # (size of the first page, of the last one, how many there are), as the signer is told
    my ($self, $row, $made) = @_;
    my ($signer) = signers_of($made);
    my $state = $self->ask($row, 'opening', sub { $signer->get('') })->json;
    my @runs = @{ $state->{documents}[0]{sizes} };
    return ([@{ $runs[0] }[1, 2]], [@{ $runs[-1] }[1, 2]], $made->{documents}[0]{pages});
}

sub judge {
    my ($self, $row, $made, $path, $upload, $base) = @_;
    my $shown = $self->api($row, GET => "/signatures/$made->{uuid}")->json;
    my $get = $self->api($row, GET => $path);
    my $original = $self->api($row, GET => "$path?version=original")->body;
    my $bytes = $get->body;
    my $hash = sha256_hex($bytes);
    my @told = map { $_->{signedDocuments}[0]{sha256} } @{ $shown->{submitters} };
    my $verdict = sub {
        my ($who, $good, $said) = @_;
        $row->{passed}{$who} = $good ? 1 : 0;
        $row->{said}{$who} = $said;
    };
    $verdict->('sha256', $made->{documents}[0]{sha256} eq sha256_hex($upload) && $get->headers->etag eq qq{"$hash"}
            && @told == 2 && !grep({ $_ ne $hash } @told), "$hash is shown as @told");
    my $begins = substr($bytes, 0, length $base) eq $base && length $bytes > length $base;
    $verdict->('prefix', $original eq $upload && $begins, 'the beginning is another');

    my $trust = $self->{authority};
    my ($had, $has) = (pdfsig($upload), pdfsig($bytes, $trust && "$trust/nss"));
    $row->{before} = $had->{signatures};
    # a fault of pdfsig 22.12 (docs/signed-pdf.md), which concerns later signatures by a certificate that it has checked
    $row->{doubted} = $has->{trusted} && $has->{said} =~ /Unknown issue with Certificate/ ? 1 : 0;
    my $plain = $row->{doubted} ? pdfsig($bytes) : $has;
    my $whole = $plain->{last} =~ /- Total document signed/ && $plain->{last} =~ /Signature is Valid/;
    $verdict->('pdfsig', $plain->{valid} == $had->{valid} + 2 && $whole, $plain->{said});
    if ($trust) {
        $verdict->('trusted', $has->{trusted} == 2 || $row->{doubted}, $has->{said});
        my $told = openssl($bytes, "$trust/ca.crt", length $base);
        $verdict->('openssl', $told->{signatures} == 2 && $told->{valid} == 2, $told->{said});
    }
    my @status = map { qpdf_status($_) } $upload, $bytes;
    $verdict->('qpdf', $status[1] <= $status[0], "from $status[0] to $status[1]");
    if (my $told = mutool($bytes, $self->{seal})) {
        # a field for each place: two of each signer
        my $good = $told->{signatures} == 4 && $told->{intact} == 4 && $told->{unchanged} == 2;
        $verdict->('mutool', $good, $told->{said});
    }
    $self->judge_values($row, $verdict, $bytes, $shown) if $row->{values};
    $self->judge_level($row, $verdict, $bytes) if $self->{long_term};
    keep($self->{keep}, $row->{file}, $bytes) if $self->{keep} && failures($row);
}

sub judge_values {    # the fields of the form have the values that the submission has, and cannot be changed
    my ($self, $row, $verdict, $bytes, $shown) = @_;
    my %fields = map { $_->{field} => $_ } @{ $self->inspected($row, $bytes)->{fields} };
    my @wrong;
    for my $said (grep { $_->{area}{field} } map { @{ $_->{fields} } } @{ $shown->{submitters} }) {
        my $field = $fields{ $said->{area}{field} } // {};
        my ($is, $value) = map { $_->{value} // '' } $field, $said;
        push @wrong, "$said->{area}{field}: $is for $value" if !$field->{readOnly} || $is ne $value;
        $row->{own}{ $field->{places} ? 'group' : $said->{type} }++ if $value;
    }
    $verdict->('values', !@wrong, join "\n", @wrong);
    return;
}

sub judge_level {    # the verification page's: both signatures are B-LT
    my ($self, $row, $verdict, $bytes) = @_;
    my %options = (body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    my $res     = $self->api($row, POST => '/verify', %options)->json // {};
    my @said    = map {"$_->{state} $_->{level} $_->{trust}"} grep { $_->{ours} } @{ $res->{signatures} };
    $verdict->('level', "@said" eq 'intact B-LT trusted intact B-LT trusted', join "\n", $res->{conclusion}, @said);
}

sub keep {
    my ($folder, $name, $bytes) = @_;
    open my $file, '>:raw', "$folder/" . $name =~ tr{/}{_}r or die "$folder: $!\n";
    print {$file} $bytes;
}

sub failures { # names of the validators an accepted file does not pass; 'not signed' where it did not come to that
    my $row = shift;
    return () if $row->{outcome} ne 'accepted';
    return 'not signed' unless %{ $row->{passed} };
    return grep { exists $row->{passed}{$_} && !$row->{passed}{$_} } VALIDATORS;
}

# --- an image

# {file, outcome => refused|accepted|lost, message, wrong, seconds, slowest}
sub try_image {
    my ($self, $file, $bytes) = @_;
    my $row = { file => $file, outcome => 'lost', wrong => [] };
    eval { $self->run_image($row, $bytes); 1 } or push @{ $row->{wrong} }, $@ =~ s/\s+\z//r;
    return $row;
}

sub run_image {
    my ($self, $row, $bytes) = @_;
    my $document = pdf(nonce => "image $row->{file}");
    my $made = $self->create($row, $document, [person('Ann', area(0, 0.1, 0.1, [612, 792]))])->json;
    my ($signer) = signers_of($made);
    my $path = "/signatures/$made->{uuid}";
    my $file = "$path/documents/$made->{documents}[0]{uuid}";
    $self->ask($row, 'opening', sub { $signer->get('') });
    my $all = sub { join "\n", map { $self->api($row, GET => $_)->body } $path, "$path/audit", $file };
    my $before = $all->();
    my $res = $self->sign($row, $signer, uploaded($bytes));
    if ($res->code == 200) {
        $row->{outcome} = 'accepted';
        my $told = pdfsig($self->api($row, GET => $file)->body);
        push @{ $row->{wrong} }, "pdfsig: $told->{said}" unless $told->{valid} == 1 && $told->{total} == 1;
        return;
    }
    @{$row}{qw(outcome status message)} = ('refused', $res->code, ($res->json // {})->{message} // '');
    push @{ $row->{wrong} }, 'refused by ' . $res->code if $res->code != 400;
    push @{ $row->{wrong} }, 'refused without a reason' unless $row->{message} =~ /\S{3}/;
    push @{ $row->{wrong} }, 'refused, and yet something changed' if $all->() ne $before;
}

1;
