# SPDX-License-Identifier: Apache-2.0
# Columns are the truth (docs/decisions/0014-records-are-the-truth.md): neither C nor SQL searches JSON text for states
# or links, and only the renderers know the names of the members of the API's submission.
use strict;
use warnings;
use lib 't/lib';
use JSON::PP 'decode_json';
use Sigreq::Source qw(files slurp code);
use Test::More;

my %renderers = map { ("src/model/$_" => 1) } qw(submission.c fields.c signing_representation.c authentication.c);
my %others    = (                                    # of the audit trail, and of the state of the placement page
    'src/service/signing/sign.c' => 'signatureType',
    'src/web/place.c'            => 'placementExpiresAt',
    map { ($_ => 'userAgent') } qw(src/model/event.c src/model/completion.c src/service/signing/open.c)
);

# Members of the schemas of a submission that no other JSON of ours has: those of more than one word.
my $schemas = decode_json(slurp('src/api/openapi.json'))->{components}{schemas};
my %members;
sub collect {
    my ($schema) = @_;
    return map { collect($_) } @$schema if ref $schema eq 'ARRAY';
    return if ref $schema ne 'HASH';
    my $properties = $schema->{properties} // {};
    /[a-z][A-Z]/ && ($members{$_} = 1) for keys %$properties;
    collect($_) for values %$properties, grep {ref} @$schema{qw(items allOf anyOf oneOf)};
    collect($schemas->{$1}) if ($schema->{'$ref'} // '') =~ m{/schemas/(\w+)$};
    return;
}
collect($schemas->{Submission});
delete @members{qw(createdAt updatedAt revokedAt)};    # which tokens and events have too
delete @members{qw(expiresAt externalId redirectUrl readOnly maxLength pageFrom ifMissing replyTo signatureTypes)}
    ;    # which requests have too
ok($members{$_}, "$_ is a member") for qw(signatureLink signedDocuments signerInformation refusalReason);
my $names = join '|', sort keys %members;

# A search in text for a piece of JSON: what is looked for has a quote in it.
my $search = qr/\b\w*(?:strstr|strcasestr|memmem|strmatch)\w*\s*\([^;]*?"(?:[^"\\]|\\.)*\\"/;
my @files = files('src/{model,service,api,web,jobs,http,run,store}/*.c');
cmp_ok(scalar @files, '>', 80, 'there are files');
for my $file (@files) {
    my $text = code($file);
    next if $file eq 'src/store/connection.c';    # hides values in messages of PostgreSQL
    unlike($text, $search, "$file searches no JSON text");
    next if $renderers{$file};
    my @known = grep { $_ ne ($others{$file} // '') } $text =~ /"($names)"/g;
    is("@known", '', "$file knows no member of the answer");
}
like('strstr(view, "\":\"/sign/")', $search, 'a search is found');
unlike('strstr(path, "/sign/")', $search, 'another one is not');

# In SQL the representation is given out and replaced, and nothing is taken out of it.
my @sql = files('src/store/*/*.sql');
cmp_ok(scalar @sql, '>', 10, 'there are SQL files');
for my $file (@sql) {
    my $text = slurp($file) =~ s/--.*//gr;
    unlike($text, qr/\brepresentation\s*(?:->|::json|\bLIKE\b)|json\w*\(\s*(?:\w+\.)?representation\b/i,
        "$file looks into no representation");
    unlike($text, qr/(?:strpos|instr|position|substr)\w*\(\s*(?:\w+\.)?representation\b/i, "$file searches none");
}
done_testing;
