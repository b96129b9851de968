# SPDX-License-Identifier: Apache-2.0
# Sigreq::Shape: compiles the JSON schemas of src/api/openapi.json to functions that are ten times faster than
# JSON::Validator, which needs a millisecond for a submission: half of the processor time of the tests' own processes.
# A function never accepts a value that JSON::Validator refuses (t/guard/openapi.t compares both). What it refuses,
# JSON::Validator has to judge.
package Sigreq::Shape;
use strict;
use warnings;
use JSON::Validator::Formats;
use JSON::Validator::Util 'is_num';

my %known = map { $_ => 1 } qw($ref allOf oneOf type enum const additionalProperties items properties required
    maximum minimum exclusiveMinimum maxItems minItems maxLength minLength pattern format
    default deprecated description example examples title);
my %untyped = (    # how values of a type are recognised, and keywords that do not concern values of other types
    array  => [sub { return ref $_[0] eq 'ARRAY' }, qw(items maxItems minItems)],
    number => [\&is_number, qw(maximum minimum exclusiveMinimum)],
    object => [sub { return ref $_[0] eq 'HASH' }, qw(additionalProperties properties required)],
    string => [\&is_text, qw(maxLength minLength pattern format)]);
my %formats = ('date-time' => 'date_time', uri => 'uri', uuid => 'uuid');

# new(CODE that resolves a reference)
sub new { my ($class, $resolve) = @_; return bless { resolve => $resolve, compiled => {} }, $class }

# A function of a value: true if the schema allows the value. Dies if the schema has what this module does not know.
sub compiled {
    my ($self, $schema) = @_;
    return $self->{compiled}{$schema} //= $self->function($schema);
}

sub function {
    my ($self, $schema) = @_;
    my @unknown = grep { !$known{$_} } keys %$schema;
    die "unknown: @unknown\n" if @unknown;
    if (my $ref = $schema->{'$ref'}) {
        die "more than $ref\n" if grep { !/^(?:\$ref|description|example|examples)$/ } keys %$schema;
        return $self->compiled($self->{resolve}->($schema));
    }
    my @all = map { $self->compiled($_) } @{ $schema->{allOf} // [] };
    push @all, $self->typed($schema);
    push @all, values_of(@{ $schema->{enum} }) if $schema->{enum};
    push @all, values_of($schema->{const}) if exists $schema->{const};
    push @all, one_of(map { $self->compiled($_) } @{ $schema->{oneOf} }) if $schema->{oneOf};
    return $all[0] if @all == 1;
    return sub { for my $fits (@all) { $fits->($_[0]) or return 0 } 1 };
}

sub typed {
    my ($self, $schema) = @_;
    if (my $type = $schema->{type}) {
        my @functions = map { $self->can("of_$_") // die "unknown type $_\n" } ref $type ? @$type : $type;
        return any_of(map { $_->($self, $schema) } @functions);
    }
    return map { $self->untyped($_, $schema) } keys %untyped;
}

sub untyped {    # what the keywords for values of one type say, of all values
    my ($self, $type, $schema) = @_;
    my ($is, @keywords) = @{ $untyped{$type} };
    return if !grep { exists $schema->{$_} } @keywords;
    my $function = $self->can("of_$type")->($self, $schema);
    return sub { return !$is->($_[0]) || $function->($_[0]) };
}

sub any_of {
    my @types = @_;
    return $types[0] if @types == 1;
    return sub { for my $fits (@types) { return 1 if $fits->($_[0]) } 0 };
}

sub one_of {
    my @schemas = @_;
    return sub { my $value = shift; return 1 == grep { $_->($value) } @schemas };
}

sub values_of {    # texts, and null
    die "neither text nor null\n" if grep {ref} @_;
    my %values = map { defined $_ ? ($_ => 1) : () } @_;
    my $null = grep { !defined } @_;
    return sub { return defined $_[0] ? !ref $_[0] && $values{ $_[0] } : $null };
}

sub of_null { return sub { return !defined $_[0] } }
sub of_boolean { return sub { return ref $_[0] eq 'JSON::PP::Boolean' } }

sub is_number { return defined $_[0] && !ref $_[0] && is_num($_[0]) }
sub is_text   { return defined $_[0] && !ref $_[0] && !is_num($_[0]) }

sub of_number {
    my ($self, $schema) = @_;
    my ($most, $least, $more) = @$schema{qw(maximum minimum exclusiveMinimum)};
    die "a number with a format\n" if exists $schema->{format};
    return sub {
        my $value = shift;
        return
               is_number($value)
            && (!defined $most  || $value <= $most)
            && (!defined $least || $value >= $least)
            && (!defined $more  || $value > $more);
    };
}

sub of_integer {
    my $number = of_number(@_);
    return sub { return $number->($_[0]) && $_[0] =~ /^-?\d+\z/ };
}

sub of_string {
    my ($self, $schema) = @_;
    my ($most, $least, $pattern, $format) = @$schema{qw(maxLength minLength pattern format)};
    my $check = defined $format && JSON::Validator::Formats->can('check_' . ($formats{$format} // die "$format\n"));
    my $regex = defined $pattern && qr/$pattern/;
    return sub {
        my $value = shift;
        return
               is_text($value)
            && (!defined $most  || length $value <= $most)
            && (!defined $least || length $value >= $least)
            && (!$regex || $value =~ $regex)
            && (!$check || !$check->($value));
    };
}

sub of_array {
    my ($self, $schema) = @_;
    my ($most, $least) = @$schema{qw(maxItems minItems)};
    my $item = $schema->{items} && $self->compiled($schema->{items});
    return sub {
        my $value = shift;
        return 0 if ref $value ne 'ARRAY' || defined $most && @$value > $most || defined $least && @$value < $least;
        return 1 if !$item;
        for my $one (@$value) { $item->($one) or return 0 }
        return 1;
    };
}

sub of_object {
    my ($self, $schema) = @_;
    my @required = @{ $schema->{required} // [] };
    my %members = map { $_ => $self->compiled($schema->{properties}{$_}) } keys %{ $schema->{properties} // {} };
    my $others = $schema->{additionalProperties} // {};
    $others = ref $others eq 'HASH' ? $self->compiled($others) : $others ? sub { 1 } : undef;
    return sub {
        my $value = shift;
        return 0 if ref $value ne 'HASH';
        for my $name (@required)    { return 0 if !exists $value->{$name} }
        for my $name (keys %$value) { ($members{$name} // $others // return 0)->($value->{$name}) or return 0 }
        return 1;
    };
}

1;
