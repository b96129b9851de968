# SPDX-License-Identifier: Apache-2.0
# All C and C++ files are formatted by clang-format (`make format`).
use strict;
use warnings;
use Test::More;

plan skip_all => 'clang-format-14 is not installed: make deps' if system('command -v clang-format-14 >/dev/null') != 0;
my $said = `tools/lint format 2>&1`;
is($?, 0, 'all files have the style of .clang-format') or diag substr $said, 0, 3000;
like($said, qr/^ok +format/m, 'they were looked at');
done_testing;
