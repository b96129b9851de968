# SPDX-License-Identifier: Apache-2.0
# Sigreq::Spec: compares answers with src/api/openapi.json. check() returns what an answer has that the description does
# not allow. The client calls it for every answer of every test, so that the two always agree.
package Sigreq::Spec;
use strict;
use warnings;
use JSON::Validator;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';

my $DIALECT = 'https://json-schema.org/draft/2019-09/schema';

my %loaded;

# The description in a file, which is loaded once for a process.
sub of { my ($class, $file) = @_; return $loaded{$file} //= $class->new($file) }

sub new {
    my ($class, $file) = @_;
    my $spec = decode_json(path($file)->slurp);
    my $self = bless { spec => $spec }, $class;
    # literal paths before those with {…}: /tokens/current before /tokens/{uuid}
    for my $path (sort { ($a =~ tr/{//) <=> ($b =~ tr/{//) } keys %{ $spec->{paths} }) {
        my $pattern = join '', map { /^\{/ ? '[^/]+' : quotemeta } split /(\{\w+\})/, $path;
        push @{ $self->{paths} }, [qr/^$pattern$/, $spec->{paths}{$path}, $path];
    }
    return $self;
}

sub resolve { # follows a $ref
    my ($self, $thing) = @_;
    while (ref $thing eq 'HASH' && $thing->{'$ref'}) {
        my $at = $self->{spec};
        $at = $at->{$_} // die "no $thing->{'$ref'}" for grep { $_ ne '#' } split m{/}, $thing->{'$ref'};
        $thing = $at;
    }
    return $thing;
}

sub operation { # METHOD, path below /api/v3 or /sign/…, without query → the operation, or undef
    my ($self, $method, $path) = @_;
    for my $row (@{ $self->{paths} }) {
        return $row->[1]{ lc($method eq 'HEAD' ? 'GET' : $method) } if $path =~ $row->[0];
    }
    return undef;
}

# Resolves each $ref of the document, once for all schemas in it. Draft 2019-09 also reads the siblings of a $ref.
sub validator {
    my $self = shift;
    return $self->{validator} //= JSON::Validator->new->schema({ %{ $self->{spec} }, '$schema' => $DIALECT })->schema;
}

sub errors_of_value { # schema of this document, value → list of errors
    my ($self, $schema, $value) = @_;
    return map {"$_"} $self->validator->validate($value, $schema);
}

sub errors_of_event { # the body of a webhook's call → list of errors
    my ($self, $body) = @_;
    my $webhook = $self->{spec}{webhooks}{ $body->{event} // '' } or return 'no such event is described';
    return $self->errors_of_value($webhook->{post}{requestBody}{content}{'application/json'}{schema}, $body);
}

# Every answer has the id of its request.
sub errors_of_id {
    my ($self, $res) = @_;
    my $id = $res->headers->header('X-Request-Id') // return 'header X-Request-Id is missing';
    my $schema = $self->resolve({ '$ref' => '#/components/headers/RequestId' })->{schema};
    return map {"header X-Request-Id: $_"} $self->errors_of_value($schema, $id);
}

# The answers HTTP itself defines for every resource, which no operation lists.
sub general {
    my ($self, $method, $status) = @_;
    return { content => {} } if $method eq 'OPTIONS' && $status == 204;
    return $self->resolve({ '$ref' => '#/components/responses/MethodNotAllowed' }) if $status == 405;
    my $error = $self->{spec}{components}{schemas}{Error};
    return { content => { 'application/json' => { schema => $error } } } if $status == 404;
    return undef;
}

# METHOD, path below /api/v3, answer (Mojo::Message::Response or alike) → list of what is wrong
sub check {
    my ($self, $method, $path, $res) = @_;
    my ($status, $type) = ($res->code, $res->headers->content_type // '');
    my $operation = $self->operation($method, $path);
    my $answer = $operation ? $self->resolve($operation->{responses}{$status}) : $self->general($method, $status);
    return "status $status is not described" unless $answer;

    my @wrong = $self->errors_of_id($res);
    for my $name (sort keys %{ $answer->{headers} // {} }) {
        my $header = $self->resolve($answer->{headers}{$name});
        my $value = $res->headers->header($name);
        push @wrong, "header $name is missing" if !defined $value && $header->{required};
        push @wrong, map {"header $name: $_"} $self->errors_of_value($header->{schema}, $value) if defined $value;
    }
    my $content = $answer->{content} // {};
    if ($method eq 'HEAD' || !%$content) {
        push @wrong, 'a body where there is none' if length $res->body;
        return @wrong;
    }
    my ($media) = $type =~ m{^([\w/+.-]+)};
    my $described = $content->{ $media // '' } or return @wrong, "content type '$type' is not described";
    push @wrong, "content type '$type'" if $media eq 'text/plain' && $type ne 'text/plain; charset=utf-8';
    if ($media eq 'application/json') {
        my $value = eval { decode_json($res->body) };
        return @wrong, "no JSON: $@" if $@;
        push @wrong, $self->errors_of_value($described->{schema}, $value);
    } elsif ($media eq 'text/plain') {
        my $text = $res->body;
        push @wrong, 'no UTF-8' unless utf8::decode($text);
        push @wrong, $self->errors_of_value($described->{schema}, $text);
    }
    return @wrong;
}

1;
