# SPDX-License-Identifier: Apache-2.0
# Sigreq::Mailbox: a mail server for tests (t/tool/smtpd.py), and the parts of the mails that it got. It ends with the
# object.
package Sigreq::Mailbox;
use strict;
use warnings;
use Encode 'decode';
use File::Temp 'tempfile';
use IPC::Open2;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use MIME::Base64 'decode_base64';
use Sigreq::Here 'suite';

# new(tls => [certificate, key, user, password, 'smtps' or nothing])
sub new {
    my ($class, %o) = @_;
    my ($file, $name) = tempfile(UNLINK => 0, TMPDIR => 1);
    my @command = ('/usr/bin/python3', suite->{source} . '/t/tool/smtpd.py', $name, @{ $o{tls} // [] });
    my $self = bless { file => $name, owner => $$ }, $class;
    $self->{pid} = open2(my $out, $self->{in}, @command);
    chomp($self->{port} = <$out> // die "the mail server did not start (python3-aiosmtpd?)\n");
    return $self;
}

sub mails {    # {from, to, tls, user, headers => {name => value}, text, html, raw}
    my $self = shift;
    my @lines = path($self->{file})->slurp =~ /^(.*)\n/mg;    # without one that is being written
    return map { taken_apart(decode_json($_)) } @lines;
}

sub taken_apart {
    my $mail = shift;
    my $raw  = $mail->{raw} = decode_base64(delete $mail->{data});
    my ($head, $body) = split /\r\n\r\n/, $raw, 2;
    $mail->{head} = $head;
    $head =~ s/\r\n(?=[ \t])//g;
    for my $line (split /\r\n/, $head) {
        my ($name, $value) = $line =~ /^([A-Za-z-]+): ?(.*)$/ or die "no header: $line\n";
        push @{ $mail->{headers}{ lc $name } }, decode('MIME-Header', $value);
    }
    for my $type (qw(plain html)) {
        my $headers = "Content-Type: text/$type; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n";
        my ($part) = $body =~ /\Q$headers\E(.*?)--/s or next;
        $mail->{$type} = decode('UTF-8', decode_base64($part)) =~ s/\r\n/\n/gr;
    }
    return $mail;
}

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$;
    local $?;
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
    unlink $self->{file};
}

1;
