# SPDX-License-Identifier: Apache-2.0
# docs/tutorial.md: its commands run word for word, in one bash, on a server that was started like `make run`, and print
# what the page shows. So do the commands of README, and those that `make run` prints.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Here qw(suite wait_for);
use Sigreq::Running;
use Sigreq::Suite;
use Test::More;

my $tree = suite->{source};
my $text = path($tree, 'docs/tutorial.md')->slurp;
my (@blocks, $section);
for my $part (split /^(?=## |```)/m, $text) {
    $section = $1 if $part =~ /^## (.*)/;
    if    ($part =~ /\A```sh\n(.*)\z/s)   { push @blocks, { section => $section, commands => $1, shown => '' } }
    elsif ($part =~ /\A```text\n(.*)\z/s) { $blocks[-1]{shown} = $1 }
}
cmp_ok(scalar @blocks, '>', 15, 'the page has commands');

# a folder like that of the page's reader: run/ of the server, the build and the files of the tree
my $server = Sigreq::Running->new(source => $tree, db => suite->{db})->start;
like(readlink '/proc/' . $server->child . '/exe', qr/apache2|httpd/, 'the tools for public files find its child');
my $folder = tempdir(CLEANUP => 1);
symlink $server->{state}, "$folder/run" or die "run: $!\n";
symlink "$tree/$_", "$folder/$_" or die "$_: $!\n" for qw(build t tools);
$ENV{RECEIVER} = Sigreq::Suite::free_port();

# A file for what each block prints, and one when it is over: the receiver of the page keeps an open pipe open.
my $script = "set -m\ncd $folder\n";
$script .= "{\n$blocks[$_]{commands}} > $folder/out.$_ 2>&1\ntouch $folder/done.$_\n" for 0 .. $#blocks;
Sigreq::Suite::write_file("$folder/script", $script);
my $pid = fork // die "fork: $!\n";
if (!$pid) {
    setpgrp;
    open STDIN, '<', '/dev/null';
    exec 'bash', "$folder/script" or die "bash: $!\n";
}

for my $i (0 .. $#blocks) {
    my $block = $blocks[$i];
    last unless ok(wait_for(sub { -e "$folder/done.$i" }), "$block->{section}: block $i ends");
    my $pattern = join '.*', map {quotemeta} split /\xe2\x80\xa6/, $block->{shown}, -1;
    my $said = path("$folder/out.$i")->slurp;
    $said =~ s/^\[\d+\].*\n//mg;    # bash tells of its jobs
    like($said, qr/\A$pattern\z/, "$block->{section}: block $i prints what the page shows") || diag $said;
}
kill TERM => -$pid;
waitpid $pid, 0;

sub pasted {    # into a bash in this folder: what it prints
    my ($where, $commands) = @_;
    Sigreq::Suite::write_file("$folder/pasted", "cd $where\n$commands");
    return qx(bash $folder/pasted 2>&1);
}
my ($try) = path($tree, 'README')->slurp =~ /^Try it\n-+\n(.*?)^\S[^\n]*\n-+$/ms;
my $signed = qr/^completed\n.*signed\.pdf: signed: /m;
like(pasted($folder, join '', grep { !/make run$/ } $try =~ /^    (.*\n)/mg), $signed, 'the commands of README sign');
my ($told) = path($server->{state}, 'said')->slurp =~ /^Try it[^\n]*\n(.*?)^Figures/ms;
like(pasted('/', $told), $signed, 'so do those that `make run` prints');
my $front = qx(curl -sS $server->{BASE_URL}/);
like($front, qr/<a href="\Q$server->{DEMO_LINK}\E">/, 'the page at / of `make run` has the link of the demo');
unlike($server->log, qr/AH10159/, 'httpd has threads enough');
my $env = "$server->{state}/env";
$ENV{SIGREQ_KEEP} = 1;
$server->stop;
ok(!-e $env, 'when the server has ended, nothing says that it is there');
system 'rm', '-rf', $server->{state};
done_testing;
