# SPDX-License-Identifier: Apache-2.0
# Sigreq::Once: files and folders that take long to make, and that the processes of one t/run share.
package Sigreq::Once;
use strict;
use warnings;
use Exporter 'import';
use Fcntl 'LOCK_EX';

our @EXPORT_OK = 'made_once';

# made_once(PATH, CODE): PATH, which CODE has made as the path that is its argument, unless it was made before. Other
# processes wait until it is complete.
sub made_once {
    my ($path, $make) = @_;
    open my $lock, '>>', "$path.lock" or die "$path.lock: $!\n";
    flock $lock, LOCK_EX or die "$path.lock: $!\n";
    return $path if -e $path;
    $make->("$path.new");
    rename "$path.new", $path or die "$path: $!\n";
    return $path;
}

1;
