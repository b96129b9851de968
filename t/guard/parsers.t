# SPDX-License-Identifier: Apache-2.0
# The parsers of foreign signatures are linked into the helper, but neither into the module, nor into sigreqctl, nor
# into sigreq-signd, which has the keys of the seals. An object of a static library is linked if something refers to it.
# The module parses what it has made itself, and what a configured authority sends: the functions for that are used by
# these files alone.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source 'slurp';
use Test::More;

my %trusted = (
    d2i_CMS_ContentInfo => ['src/cms/inspect', 'src/cms/stamped'],    # the second one reads what cms.c has made
    X509_verify_cert    => [qw(src/cms/chain src/cms/revocation src/authorities/proof_chain src/authorities/rfc3161)],
);
my $parsers = join '|',
    qw(sr_cms_check(?:_all)? sr_cms_inspect sr_cms_chain_judge CMS_SignerInfo_verify d2i_TS_TST_INFO);
for my $program ('build/mod_sigreq.so', 'build/sigreqctl') {
    my $names = `nm $program`;
    like($names, qr/ sr_cms_is_our_seal$/m, "$program compares signatures");
    ok($names !~ m{ (?:$parsers)(?:@.*)?$}m, 'and parses none');
}
unlike(`nm build/sigreq-signd`, qr{ (?:$parsers)(?:@.*)?$}m, 'the program that has the key parses none');
like(`nm build/sigreq-pdfd`, qr/ sr_cms_check$/m, 'the helper does');
my $symbols = slurp('build/symbols');
for my $function (sort keys %trusted) {
    my %users = map { $_ => 1 } $symbols =~ m{^build/obj/(\S+)\.o:\S* +U $function$}mg;
    delete @users{ @{ $trusted{$function} } };
    is(join(' ', sort keys %users), '', "$function is used by no other file");
}
done_testing;
