# SPDX-License-Identifier: Apache-2.0
# Which helper process reads which document. t/tool/liar.c, which forges nothing here, reports which process got a
# request. A process that has read a document then reads only documents of the same organisation and environment. Pages
# of a document are shown by processes that have read no other document. Additions to a document are confirmed by a
# process that has read no other document.
use strict;
use warnings;
use List::Util   qw(any uniq);
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Here   'suite';
use Sigreq::PDF    'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $build = suite->{source} . '/build';
my $apart = Sigreq::Apart->new;
my ($helper, $lie) = map {"$apart->{dir}/$_"} qw(helper lie);
path($helper)->spurt("#!/bin/sh\nexec $build/t/tool/liar $build/sigreq-pdfd $lie\n");
chmod 0755, $helper;
path("$lie.asked")->spurt('');
chmod 0666, "$lie.asked";

my @ann = ('--firstname', 'Ann', '--lastname', 'Roe', '--email', 'ann@y.org');
$apart->ctl('org',  'create', '--name',         'Other');
$apart->ctl('user', 'create', '--organization', 'Other', @ann);
my %token = (test => $apart->{token});
$token{live} = token('Apart', 'ann@x.org', 'production');
$token{other} = token('Other', 'ann@y.org', 'test');

sub token {
    my ($organization, $user, $environment) = @_;
    my @of = ('--organization', $organization, '--user', $user, '--environment', $environment, '--name', 't');
    return $apart->ctl('token', 'create', @of)->{token};
}

my $number = 0;
sub document { return ["d$number.pdf", pdf(pages => 2, nonce => "helpers $$ " . suite->{mpm} . ++$number)] }

# Returns the result of the code, and [process, operation] of each request to a helper meanwhile.
sub asked_by(&) {    ## no critic (ProhibitSubroutinePrototypes): it is called with a block
    my $code = shift;
    path("$lie.asked")->spurt('');
    my $answer = $code->();
    return ($answer, map { [split ' '] } split /\n/, path("$lie.asked")->slurp);
}

sub pids { my $op = shift; return uniq map { $_->[0] } grep { ($_->[1] // '') =~ /^(?:$op)$/ } @_ }
sub shared { my ($first, $second) = @_; return grep { my $pid = $_; any { $_ == $pid } @$second } @$first }

sub create {
    my ($client, $who, @files) = @_;
    @files = (document(), document()) unless @files;
    my $caller = $client->with(token => $token{$who});
    my ($answer, @asked) = asked_by { $caller->create(files => \@files, signers => signer_of(@files)) };
    is($answer->code, 201, "$who: created") or diag $answer->body;
    return ($answer->json, pids('.*', @asked));
}

sub signer_of {    # one who signs all
    my $field  = Sigreq::Client::signers()->[0]{fields}[0];
    my @fields = map { +{ %$field, document => $_->[0] } } @_;
    return Sigreq::Client::signers({ fields => \@fields });
}

subtest 'processes that are reused' => sub {
    my $client = $apart->serve(helper => $helper);
    my %pids;
    my $made;
    for my $round (1, 2, 3) {
        for my $who (qw(test live other)) {
            my ($json, @pids) = create($client, $who);
            $made //= $json;
            $pids{$who}{$_}++ for @pids;
        }
    }
    my @who = sort keys %pids;
    for my $i (0 .. $#who - 1) {
        for my $j ($i + 1 .. $#who) {
            my @both = shared([keys %{ $pids{ $who[$i] } }], [keys %{ $pids{ $who[$j] } }]);
            is_deeply(\@both, [], "$who[$i] and $who[$j] share no process");
        }
    }
    my ($ann) = signers_of($made, connections => 0);
    my ($page, @shown) = asked_by { $ann->get("/documents/$made->{documents}[0]{uuid}/pages/0.png?width=200") };
    is($page->code, 200, 'a page of a document is shown');
    my ($other, @then) = asked_by { $ann->get("/documents/$made->{documents}[1]{uuid}/pages/0.png?width=200") };
    is($other->code, 200, 'a page of another document of the submission is shown');
    my @read = map { keys %$_ } values %pids;
    ok(@shown && @then, 'each page was made by a request to a helper');
    is_deeply([shared([pids('.*', @shown)], [@read, pids('.*', @then)])], [], 'each page was made by another process');
    my ($signed, @sign) = asked_by { $ann->sign };
    is($signed->code, 200, 'both documents are signed');
    my @confirm = pids('confirm', @sign);
    is(scalar @confirm, 2, 'two processes have confirmed the additions to the documents');
    my @all = (@read, map { pids('.*', $_) } [@shown], [@then]);
    is_deeply([shared(\@confirm, [@read, pids('.*', @shown), pids('.*', @then), pids('prepare|fill|compose', @sign)])],
        [], 'these processes had no other requests');
    is_deeply([shared([pids('compose', @sign)], [@read, pids('.*', @shown), pids('.*', @then)])],
        [], 'the certificate is written by a process that has read no document');
};

sub confirming { # a submission of these documents is signed: the processes that confirmed, in their order
    my ($client, @files) = @_;
    my ($made)   = create($client, 'test', @files);
    my ($signer) = signers_of($made, connections => 0);
    my ($signed, @asked) = asked_by { $signer->sign };
    is($signed->code, 200, 'signed');
    return map { $_->[0] } grep { ($_->[1] // '') eq 'confirm' } @asked;
}

subtest 'documents in several submissions' => sub {
    my $one_child = suite->{mpm} eq 'prefork' ? "StartServers 1\nMaxRequestWorkers 1\nKeepAlive Off" : '';
    my $client = $apart->serve(helper => $helper, server => $one_child);    # each child has helpers of its own
    my ($one, $two, $three) = map { document() } 1 .. 3;
    my @first  = confirming($client, $one, $two);
    my @second = confirming($client, $one, $three);
    is(scalar uniq(@first), 2, 'two documents are confirmed by two processes');
    is(scalar(shared(\@first, \@second)), 1, 'the known document is read by the process that has read it before');
    is(scalar uniq(@first, @second), 3, 'the new document is read by another process');
};

subtest 'a process that forges a response' => sub {
    my $client = $apart->serve(helper => $helper);
    my ($made) = create($client, 'test');
    my ($ann)  = signers_of($made, connections => 0);
    path($lie)->spurt(map {"$_\n"} 'prepare', 'object', 1, '/Pages 2 0 R', '/Pages 2 0 R /OpenAction 3 0 R');
    my ($refused, @asked) = asked_by { $ann->sign };
    path($lie)->spurt('');
    is($refused->code, 503, 'a forged addition is refused by the process that confirms');
    my @liars = pids('prepare|confirm', @asked);
    is(scalar @liars, 2, 'this process got a request');
    my ($signed, @then) = asked_by { $ann->sign };
    is($signed->code, 200, 'the next attempt succeeds');
    is_deeply([shared(\@liars, [pids('.*', @then)])], [], 'other processes were used for it');
};

subtest 'SigreqHelperKeep Off' => sub {
    my $client = $apart->serve(helper => $helper, server => 'SigreqHelperKeep Off');
    my (undef, @first)  = create($client, 'test');
    my (undef, @second) = create($client, 'test');
    ok(@first && @second, 'helpers got requests');
    is_deeply([shared(\@first, \@second)], [], 'no process has two requests');
};
$apart->stop;
done_testing;
