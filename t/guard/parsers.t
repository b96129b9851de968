# SPDX-License-Identifier: Apache-2.0
# The parsers of foreign signatures are linked into the helper, but neither into the module, which has the key of the
# seal, nor into sigreqctl. An object of a static library is linked if something refers to it.
use strict;
use warnings;
use Test::More;

my @parsers = qw(sr_cms_check d2i_CMS_ContentInfo CMS_SignerInfo_verify d2i_TS_TST_INFO X509_verify_cert);
my $parsers = join "|", @parsers;
for my $program ('build/mod_sigreq.so', 'build/sigreqctl') {
    my $names = `nm $program`;
    like($names, qr/ sr_cms_match$/m, "$program compares signatures");
    unlike($names, qr{ (?:$parsers)(?:@.*)?$}m, 'and parses none');
}
like(`nm build/sigreq-pdfd`, qr/ sr_cms_check$/m, 'the helper does');
done_testing;
