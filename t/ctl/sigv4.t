# SPDX-License-Identifier: Apache-2.0
# src/blobs/s3/sigv4.c signs generated requests as botocore does. t/unit/s3_sigv4.c has examples that need no botocore.
use strict;
use warnings;
use Test::More;

use constant REQUESTS => 2500;

plan skip_all => 'python3-botocore is not installed'
    if system('/usr/bin/python3 -c "import botocore" 2>/dev/null') != 0;
for my $seed ($ENV{SIGREQ_SEED} // (1 .. 4)) {
    my $said = `/usr/bin/python3 t/tool/sigv4.py build/t/tool/s3sign @{[REQUESTS]} $seed 2>&1`;
    is($?, 0, "the comparison with seed $seed runs");
    my ($last) = $said =~ /^(.*)\n\z/m;
    is($last, REQUESTS . ' equal, 0 differ', REQUESTS . " requests of seed $seed are signed as botocore signs them")
        or diag $said;
}
done_testing;
