# SPDX-License-Identifier: Apache-2.0
# Sigreq::Multipart: makes bodies of multipart/form-data, with exact bytes.
package Sigreq::Multipart;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(multipart part BOUNDARY);

use constant BOUNDARY => '----sigreqtest7MA4YWxkTrZu0gW';

# part(name, body, filename => …, type => …, headers => "raw header lines without the last CRLF")
sub part {
    my ($name, $body, %o) = @_;
    my $headers = $o{headers} // do {
        my $line = qq{Content-Disposition: form-data; name="$name"};
        $line .= qq{; filename="$o{filename}"} if defined $o{filename};
        $line .= "\r\nContent-Type: $o{type}" if defined $o{type};
        $line;
    };
    return "$headers\r\n\r\n$body";
}

# The whole body of some parts.
sub multipart { join('', map { '--' . BOUNDARY . "\r\n$_\r\n" } @_) . '--' . BOUNDARY . "--\r\n" }

1;
