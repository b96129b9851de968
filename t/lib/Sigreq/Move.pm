# SPDX-License-Identifier: Apache-2.0
# Sigreq::Move: a service whose documents are moved from one place to another while it is used, as
# docs/storage.md says it.
package Sigreq::Move;
use strict;
use warnings;
use Exporter 'import';
use Mojo::File;
use Mojo::JSON qw(decode_json encode_json);
use POSIX ();
use Sigreq::Here qw(suite wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Sigreq::Suite;
use Test::More;
use Time::HiRes 'sleep';

our @EXPORT_OK = qw(copy moved);

# sigreqctl documents copy: (exit code, what it said on stdout, on stderr). config => text of a file, more => [options]
sub copy {
    my ($apart, $from, $to, %o) = @_;
    my ($config, $out, $error) = map {"$apart->{dir}/copy.$_"} qw(conf out error);
    Sigreq::Suite::write_file($config, $o{config} // '');
    my @command = (suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', $apart->{params},
        '--config', $config, 'documents', 'copy', $from, $to, @{ $o{more} // ['--json'] });
    my $status = system 'sh', '-c', 'exec "$@" >"$0.out" 2>"$0.error" </dev/null', "$apart->{dir}/copy", @command;
    return ($status & 127 ? "signal $status" : $status >> 8,
        map { Mojo::File::path($_)->slurp } $out, $error);
}

# Gives an httpd other places, gracefully, and waits until no child with the former ones is left.
sub placed {
    my ($httpd, $documents, $also) = @_;
    my %old = map { $_ => 1 } Sigreq::Here::children($httpd->pid);
    @{$httpd}{qw(documents place)} =
        ($documents, join "\n", 'Sigreq On', defined $also ? qq{SigreqDocumentsAlso "$also"} : ());
    Sigreq::Suite::write_file("$httpd->{dir}/httpd.conf", $httpd->conf);
    return $httpd->graceful && wait_for(sub { !grep { $old{$_} } Sigreq::Here::children($httpd->pid) });
}

# Creates, signs, shows and downloads, one after the other, until end_use: a process. It pauses, so that what there is
# to copy does not grow as fast as a slow store copies it.
sub begin_use {
    my ($apart, $httpd) = @_;
    my $used = { file => "$apart->{dir}/used", stop => "$apart->{dir}/stop" };
    unlink @{$used}{qw(file stop)};
    my $pid = fork // die "fork: $!\n";
    return { %$used, pid => $pid } if $pid;
    open my $out, '>>', $used->{file} or die "$used->{file}: $!\n";
    $out->autoflush;
    my ($client, $count, @made) = ($apart->client($httpd), 0);
    while (!-e $used->{stop}) {
        my $done = eval { $count++ % 2 ? again($client, \@made) : one($client, $count, \@made) } // { failed => "$@" };
        print {$out} encode_json($done), "\n";
        sleep 0.2;
    }
    return POSIX::_exit(0);
}

# An earlier submission is downloaded.
sub again {
    my ($client, $made) = @_;
    my $old = $made->[rand @$made] // return { failed => 'nothing was made' };
    my $res = $client->get("/signatures/$old->{uuid}/documents/$old->{documents}[0]{uuid}");
    return $res->code == 200 ? {} : { failed => 'download ' . $res->code . $res->body };
}

# A new one is shown and signed.
sub one {
    my ($client, $count, $made) = @_;
    my $bytes = pdf(nonce => "move $$ $count");
    my $res   = $client->create(files => [['a.pdf', $bytes]]);
    return { failed => 'create ' . $res->code . $res->body } if $res->code != 201;
    my $new = $res->json;
    push @$made, $new;
    my ($signer) = signers_of($new, connections => 0);
    $res = $signer->get('/documents/' . $new->{documents}[0]{uuid} . '/pages/0');
    return { failed => 'show ' . $res->code } if $res->code != 200;
    $res = $signer->sign;
    return { failed => 'sign ' . $res->code . $res->body } if $res->code != 200;
    return { submission => $new->{uuid}, document => $new->{documents}[0]{uuid}, bytes => unpack 'H*', $bytes };
}

# Ends the use: what was done, each a hash
sub end_use {
    my $used = shift;
    Sigreq::Suite::write_file($used->{stop}, '');
    waitpid $used->{pid}, 0;
    return map { decode_json($_) } split /\n/, Mojo::File::path($used->{file})->slurp;
}

# Moves the documents of an httpd that is used meanwhile, and tests that no request failed and nothing is lost.
# config => what sigreqctl needs
sub moved {
    my ($apart, $httpd, $from, $to, %o) = @_;
    my $used = begin_use($apart, $httpd);
    my $lines = sub { return -e $used->{file} ? scalar(() = Mojo::File::path($used->{file})->slurp =~ /\n/g) : 0 };
    my $more  = sub { my $before = $lines->(); return wait_for(sub { $lines->() > $before + 3 }) };
    my $copied = sub {
        my ($code, $said, $error) = copy($apart, $from, $to, config => $o{config});
        is($code, 0, "$_[0] is copied") or diag $said, $error;
        return decode_json($said || '{}');
    };
    $more->();
    ok(placed($httpd, $from, $to), 'httpd also reads the new place');
    $more->();
    my $first = $copied->('what is there');
    cmp_ok($first->{copied}, '>', 3, 'documents, revisions and certificates');
    $more->();
    ok(placed($httpd, $to, $from), 'httpd stores in the new place, and also reads the former one');
    $more->();
    my $second = $copied->('the rest');
    cmp_ok($second->{present}, '>=', $first->{copied}, 'nothing is copied twice');
    is($copied->('nothing')->{copied}, 0, 'everything is there now');
    ok(placed($httpd, $to), 'httpd has the new place alone');
    $more->();
    my @done = end_use($used);
    is_deeply([grep {defined} map { $_->{failed} } @done], [], 'no request has failed');
    my $client = $apart->client($httpd);
    my @wrong  = grep {
        my $res   = $client->get("/signatures/$_->{submission}/documents/$_->{document}");
        my $bytes = pack 'H*', $_->{bytes};
        $res->code != 200 || substr($res->body, 0, length $bytes) ne $bytes || length $res->body <= length $bytes
    } grep { $_->{bytes} } @done;
    is(scalar @wrong, 0, 'everything that was acknowledged is there');
    return;
}

1;
