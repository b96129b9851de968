# SPDX-License-Identifier: Apache-2.0
# src/api/openapi.json agrees with the route tables, is strict enough to detect differences, describes everything, and
# its examples are valid.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'code';
use Sigreq::Spec;
use Test::More;

my $file  = 'src/api/openapi.json';
my $judge = Sigreq::Spec->new($file);
my $spec  = $judge->{spec};

my @routes = code('src/api/routes.c') =~ /\{\s*M_(\w+)\s*,\s*"([^"]+)"/g;
my @have;
while (my ($method, $path) = splice @routes, 0, 2) { push @have, "$method $path" if $path ne '/' }    # the page
cmp_ok(scalar @have, '>', 10, 'the route table was found');
# Those of signing links. Of the three forms of a page one is described. Files, logins and links with a slash are for
# browsers.
my ($links) = code('src/web/routes.c') =~ /sr_web_routes\[\] = (.*?)\n\};/s;
my @links = $links =~ /\{\s*M_(\w+)\s*,\s*"([^"]+)"/g;
while (my ($method, $path) = splice @links, 0, 2) {
    next if $path =~ m{^/(?:(?:assets|theme|login)/|embed\.js)|\}\.|\.svg$|/login$|/$};
    push @have, "$method /sign" . $path =~ s{^/\{uuid\}}{/{signer_uuid}}r;
}
push @have, 'GET /view/{viewer_uuid}';    # it says what is below it
my %paths = %{ $spec->{paths} };
my @described;
for my $path (keys %paths) {
    push @described, map { uc($_) . " $path" } grep {/^(?:get|post|delete|put|patch)$/} keys %{ $paths{$path} };
}
is(join("\n", sort @described), join("\n", sort @have), 'the description has the routes, all and alone');

my (%ids, @open, @refs);
walk(
    $spec, '#',
    sub {
        my ($node, $at) = @_;
        push @refs, $node->{'$ref'} if defined $node->{'$ref'} && !ref $node->{'$ref'};
        # a closed object everywhere but in what clients send, and in this document itself
        push @open, $at
            if ($node->{type} // '') eq 'object'
            && $node->{properties}
            && !exists $node->{additionalProperties}
            && $at !~ m{/requestBod|Input$};
    });
is("@open", '', 'every object of an answer is closed');
ok(eval { $judge->resolve({ '$ref' => $_ }); 1 }, "$_ resolves") for uniq(@refs);
is(join(' ', grep {m{/requestBodies/}} @refs), '', 'bodies are inline: some generators miss their type elsewhere');

for my $path (sort keys %paths) {
    for my $method (grep {/^(?:get|post|delete)$/} sort keys %{ $paths{$path} }) {
        my $operation = $paths{$path}{$method};
        ok($operation->{operationId} && !$ids{ $operation->{operationId} }++, "$method $path has an id of its own");
        my %has   = map { $_ => 1 } keys %{ $operation->{responses} };
        my @needs = (
            qw(405 500), $operation->{security} ? () : qw(401 503), $path =~ /uuid/ ? '404' : (),
            $operation->{requestBody} ? qw(400 408 413 415) : ());
        is(join(' ', grep { !$has{$_} } @needs), '', "$method $path: its errors are described");
    }
}

# --- everything is described

my @silent;
walk(
    $spec, '#',
    sub {
        my ($node, $at) = @_;
        return if $at =~ m{/examples?(?:/|$)};
        push @silent, $at if $at =~ m{/(?:get|post|patch|delete)$} && !($node->{summary} && $node->{description});
        push @silent, $at if $at =~ m{/parameters/\w+$} && !$node->{description} && !$node->{'$ref'};
        my $is_member = $at =~ m{^#/components/schemas/.*/properties/\w+$};
        push @silent, $at if $is_member && !$node->{description} && !$node->{'$ref'};
    });
is(join("\n", @silent), '', 'operations, parameters and members have descriptions');

# --- webhooks: the objects of the API, and what a call is about

my ($schemas, $webhooks) = ($spec->{components}{schemas}, $spec->{webhooks});
is(join(' ', sort keys %$webhooks), 'completed refused sent signed test', 'all webhooks are described');
for my $pair ([SubmissionEvent => 'Submission'], [SignerEvent => 'Signer']) {
    my ($event, $object) = map { $schemas->{$_} } @$pair;
    my %of = map { $_ => $event->{properties}{$_} } keys %{ $object->{properties} };
    is_deeply(\%of, $object->{properties}, "$pair->[0] has the members of $pair->[1]");
    my %required = map { $_ => 1 } @{ $event->{required} };
    is(join(' ', grep { !$required{$_} } @{ $object->{required} }), '',
        "$pair->[0] requires the members that $pair->[1] requires");
}

my $examples = 0;
walk(
    $spec, '#',
    sub {
        my ($node, $at) = @_;
        return unless ref $node->{schema};
        my @values =
            (exists $node->{example} ? $node->{example} : (), map { $_->{value} } values %{ $node->{examples} // {} });
        for my $value (@values) {
            $examples++;
            is(join("\n", $judge->errors_of_value($node->{schema}, $value)), '', "$at: the example is valid");
        }
    });
cmp_ok($examples, '>', 10, "$examples examples");
done_testing;

sub walk {
    my ($node, $at, $code) = @_;
    if (ref $node eq 'HASH') {
        $code->($node, $at);
        walk($node->{$_}, "$at/$_", $code) for sort keys %$node;
    } elsif (ref $node eq 'ARRAY') {
        walk($node->[$_], "$at/$_", $code) for 0 .. $#$node;
    }
}

sub uniq {
    my %seen;
    return grep { !$seen{$_}++ } @_;
}
