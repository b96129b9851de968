# SPDX-License-Identifier: Apache-2.0
# Sigreq::Lazy: a hash whose members are made when they are read first: each function in it stands for what it returns.
package Sigreq::Lazy;
use strict;
use warnings;
use Tie::Hash;
use parent -norequire, 'Tie::StdHash';

# hash(name => value or function, …)
sub hash {
    my ($class, @members) = @_;
    tie(my %hash, $class);
    %hash = @members;
    return \%hash;
}

sub FETCH {
    my ($self, $name) = @_;
    $self->{$name} = $self->{$name}->() if ref $self->{$name} eq 'CODE';
    return $self->{$name};
}

1;
