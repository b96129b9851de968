# SPDX-License-Identifier: Apache-2.0
# Bench::Replay: the statements that the module sends to PostgreSQL for one request, as a script for pgbench, which then
# does the same database work without httpd.
package Bench::Replay;
use strict;
use warnings;
use Bench::Server;

my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

# script(server, host, name, what must be among the statements, CODE that makes one request, how pgbench sets `tail`):
# the file. As PostgreSQL logs them: the same text with the arguments as literals, and uuids that are others in each
# transaction (their last 12 digits are `tail`; pgbench has no other variables). Sent by the simple protocol, which costs
# PostgreSQL a little less than the module's parameters do.
sub script {
    my ($server, $host, $name, $expected, $code, @sets) = @_;
    my $log = $server->cluster->{log};
    my $reload = 'SELECT pg_reload_conf(), pg_sleep(0.5);';
    $server->psql($host->{database}, "ALTER SYSTEM SET log_statement = 'all';\n$reload");
    my $start = -s $log;
    $code->();
    $server->psql($host->{database}, "ALTER SYSTEM RESET log_statement;\n$reload");
    my $said = substr Bench::Server::slurp($log), $start;
    my @statements;
    for my $line (split /\n/, $said) {
        if ($line =~ /LOG:  (?:statement|execute [^:]*): (?:PREPARE \w+ \([^)]*\) AS )?(.*)/) { push @statements, $1 }
        elsif ($line =~ /DETAIL:  parameters: (.*)/) { $statements[-1] = with_literals($statements[-1], $1) }
    }
    # the job thread asks now and then
    @statements = grep { !/pg_reload_conf|ALTER SYSTEM|sigreq\.(?:delivery|job)_/ } @statements;
    "@statements" =~ /$expected/ or die "$name did not call $expected:\n@statements\n";
    # but the uuid of the documents folder, under which contents are looked up
    my ($folder) = Bench::Server::slurp("$server->{dir}/documents.$host->{name}/.database") =~ /\n($uuid)/;
    s/($uuid)/$1 eq $folder ? $1 : substr($1, 0, 24) . ':tail'/ge for @statements;
    s/"key":"[0-9a-f]{64}\.[0-9a-f]{16}"/"key":null/g for @statements;    # a reserved key is good once; the content is there
    return Bench::Server::spew("$server->{dir}/$name.pgbench", join "\n", @sets, map({"$_;"} @statements), '');
}

sub with_literals {
    my ($statement, $parameters) = @_;
    my %literal = $parameters =~ /\$(\d+) = ('(?:[^']|'')*'|NULL)/g;
    $statement =~ s/\$(\d+)/$literal{$1} or die "no parameter $1 in $parameters\n"/ge;
    return $statement;
}

1;
