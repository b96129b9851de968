# SPDX-License-Identifier: Apache-2.0
# src/api/openapi.json agrees with the route table, is strict enough to detect differences, and its examples are valid.
use strict;
use warnings;
use lib 't/lib';
use Mojo::JSON     qw(decode_json);
use Sigreq::Source qw(slurp code);
use Sigreq::Spec;
use Test::More;

my $file  = 'src/api/openapi.json';
my $spec  = decode_json(slurp($file));
my $judge = Sigreq::Spec->new($file);

my @routes = code('src/api/routes.c') =~ /\{\s*M_(\w+)\s*,\s*"([^"]+)"/g;
my @have;
while (my ($method, $path) = splice @routes, 0, 2) { push @have, "$method $path" if $path ne '/' }    # the page
cmp_ok(scalar @have, '>', 10, 'the route table was found');
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

for my $path (sort keys %paths) {
    for my $method (grep {/^(?:get|post|delete)$/} sort keys %{ $paths{$path} }) {
        my $operation = $paths{$path}{$method};
        ok($operation->{operationId} && !$ids{ $operation->{operationId} }++, "$method $path has an id of its own");
        my %has   = map { $_ => 1 } keys %{ $operation->{responses} };
        my @needs = (
            '500', $operation->{security} ? () : qw(401 503), $operation->{requestBody} ? qw(400 408 413 415) : (),
            $path =~ /uuid/ ? '404' : ());
        is(join(' ', grep { !$has{$_} } @needs), '', "$method $path: its errors are described");
    }
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
