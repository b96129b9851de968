# SPDX-License-Identifier: Apache-2.0
# Sigreq::Firewall: the configuration of ModSecurity with the OWASP Core Rule Set in blocking mode, as Debian packages
# both, with the exclusions that conf/modsecurity.conf ships. The test libraries put it in front of an httpd.
package Sigreq::Firewall;
use strict;
use warnings;
use Mojo::File 'path';

my $recommended = '/etc/modsecurity/modsecurity.conf-recommended';
my $rules       = '/usr/share/modsecurity-crs/owasp-crs.load';

use constant MODULES => qw(unique_id security2);

sub missing {    # what is not installed, or nothing
    return -e $recommended && -e $rules ? undef : 'libapache2-mod-security2 and modsecurity-crs are not installed';
}

# directives(source => the tree, dir => a folder for its files, paranoia => 1, shipped => 1): text for the server.
# shipped => 0 leaves our exclusions out.
sub directives {
    my %o = (paranoia => 1, shipped => 1, @_);
    my $settings = path($recommended)->slurp =~ s/^SecRuleEngine \K.*/On/mr
        =~ s{^SecUnicodeMapFile \K}{/etc/modsecurity/}mr
        =~ s{^(Sec(?:Tmp|Data)Dir) .*}{$1 "$o{dir}"}mgr =~ s{^SecAuditLog \K.*}{"$o{dir}/audit_log"}mr;
    # the test suites have services at many locations
    my $own = $o{shipped} ? qq{Define SIGREQ_LOCATION "/(?:.*/)?"\nInclude "$o{source}/conf/modsecurity.conf"\n} : '';
    # the tests ask for figures by address and without Accept
    $own .= 'SecRule REQUEST_FILENAME "@streq /metrics" '
        . qq{"id:98510,phase:1,pass,t:none,nolog,ctl:ruleRemoveById=920350"\n};
    my $level = join ',', map {"setvar:tx.${_}paranoia_level=$o{paranoia}"} '', 'blocking_';
    return qq{$settings\n${own}SecAction "id:900000,phase:1,pass,t:none,nolog,$level"\nInclude "$rules"\n};
}

# What the audit log of a folder has.
sub audit_log { my $file = "$_[0]/audit_log"; return -e $file ? path($file)->slurp : '' }

1;
