# SPDX-License-Identifier: Apache-2.0
# SigreqCACertificateFile: the authorities that are trusted instead of the system's, for webhook receivers and for the
# mail server. Only a server with a valid certificate is called and gets the password. Others get no data.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Authority;
use Sigreq::Here qw(suite children wait_for);
use Sigreq::Httpd;
use Sigreq::Mailbox;
use Sigreq::Receiver;
use Sigreq::Suite;
use Test::More;

plan skip_all => 'once is enough: it takes 30 s' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
my $apart = Sigreq::Apart->new;
my $dir   = $apart->{dir};
my ($ours, $others) = map { Sigreq::Authority->new("$dir/$_") } qw(ours others);
my %pair = (
    right    => $ours->issue_server('right',   'IP:127.0.0.1'),
    name     => $ours->issue_server('name',    'DNS:localhost,IP:127.0.0.2'),
    expired  => $ours->issue_server('expired', 'IP:127.0.0.1', -1),
    stranger => $others->issue_server('stranger', 'IP:127.0.0.1'));
my $trusted = "$dir/trusted.crt";
my @allow   = 'SigreqWebhookAllow 127.0.0.0/8';
my $given   = qq{SigreqCACertificateFile "$trusted"};
my $client;

sub trust { Sigreq::Suite::write_file($trusted, join '', map { path($_)->slurp } @_) }

sub serve {    # httpd with these directives for the server
    my @place = (place => "Sigreq On\nSigreqBaseURL https://sign.example.org/e");
    $client = $apart->serve(server => join("\n", @allow, @_), @place);
}

sub row_of {    # what the history says of a creation's one event
    my ($event, %o) = @_;
    my $made  = $client->create(%o)->json;
    my $query = { submissionId => $made->{uuid}, event => $event };
    my @rows;
    wait_for(sub { @rows = @{ $client->get('/webhooks/history', query => $query)->json->{data} } });
    return $rows[0] // {};
}

subtest 'webhooks' => sub {
    my %receiver = map { $_ => Sigreq::Receiver->new(tls => $pair{$_}) } keys %pair;
    my $called   = sub {
        my $url = $receiver{ $_[0] }->url('/ok');
        $client->post('/webhooks/sent-webhook-url', json => { url => $url });
        return row_of('sent');
    };
    my $is_called = sub {
        my ($who, $name) = @_;
        my $before = $receiver{$who}->received;
        my $row    = $called->($who);
        is_deeply([@$row{qw(statusCode error)}], [200, undef], $name);
        is($receiver{$who}->received - $before, 1, "$name: the receiver gets one request");
    };
    my $is_refused = sub {
        my ($who, $name, $words) = @_;
        my $before = $receiver{$who}->received;
        my $row    = $called->($who);
        is($row->{statusCode}, undef, $name);
        like($row->{error}, $words, "$name: the history has the reason");
        is($receiver{$who}->received, $before, "$name: the receiver gets no request");
    };
    trust($ours->file('ca.crt'));
    serve($given);
    $is_called->('right', 'a receiver with a valid certificate is called');
    $is_refused->('name',     'a certificate for another name', qr/subject name|host ?name/i);
    $is_refused->('expired',  'a certificate that has expired',           qr/expired/);
    $is_refused->('stranger', 'a certificate of another authority',       qr/issuer certificate/);

    trust($others->file('ca.crt'));
    $is_called->('right', 'a changed file has no effect before a restart');
    my @before = children($apart->{httpd}->pid);
    $apart->{httpd}->graceful;
    my $renewed = sub {
        my %now = map { $_ => 1 } children($apart->{httpd}->pid);
        return %now && !grep { $now{$_} } @before;
    };
    ok(wait_for($renewed), 'httpd is restarted');
    $is_refused->('right', 'the former authority is not trusted any more', qr/issuer certificate/);
    $is_called->('stranger', 'the new authority is trusted');

    trust($ours->file('ca.key'), map { $_->file('ca.crt') } $others, $ours);
    serve($given);
    $is_called->($_, "one of two authorities: $_") for qw(right stranger);
    serve();
    $is_refused->('right', 'without the directive the system\'s authorities are asked', qr/issuer certificate/);
};

subtest 'mail' => sub {
    my @user = ('us@er', 'pa:ss');
    my %box  = (
        starttls => Sigreq::Mailbox->new(tls => [@{ $pair{right} }, @user]),
        smtps    => Sigreq::Mailbox->new(tls => [@{ $pair{right} }, @user, 'smtps']),
        name     => Sigreq::Mailbox->new(tls => [@{ $pair{name} }, @user]),
        names    => Sigreq::Mailbox->new(tls => [@{ $pair{name} }, @user, 'smtps']));
    my $sent = sub {    # what becomes of a mail by SCHEME, as USER, to whose BOX
        my ($scheme, $user, $box, $directive) = @_;
        my $smtp = "SigreqSMTP $scheme://$user\@127.0.0.1:$box{$box}{port}";
        serve($directive // $given, $smtp, 'SigreqMailFrom sign@x.org');
        return row_of('invitation', sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'p@x.org' }));
    };
    my ($right, $wrong) = ('us%40er:pa%3ass', 'us%40er:wrong');
    trust($ours->file('ca.crt'));
    for my $case (['smtp', 'starttls'], ['smtps', 'smtps']) {
        my ($scheme, $box) = @$case;
        my $row = $sent->($scheme, $right, $box);
        is_deeply([@$row{qw(statusCode error)}], [250, undef], "$scheme: with the password the mail is sent");
        my @mails = $box{$box}->mails;
        is(scalar @mails, 1, "$scheme: one mail is sent");
        is_deeply([map { [@$_{qw(user tls to)}] } @mails], [['us@er', Mojo::JSON::true(), ['p@x.org']]],
            "$scheme: the mail is sent by this user, over TLS");
    }
    my $row = $sent->('smtp', $wrong, 'starttls');
    is($row->{statusCode}, 535, 'a wrong password is refused, as the server says');
    is($row->{success}, Mojo::JSON::false(), 'the history has no success for a wrong password');
    is(scalar $box{starttls}->mails, 1, 'no mail is sent with a wrong password');
    for my $case (['smtp', 'name', $given], ['smtps', 'names', $given], ['smtp', 'starttls', '']) {
        my ($scheme, $box, $directive) = @$case;
        my $what   = $directive ? 'a certificate for another name' : 'a certificate of another authority';
        my $before = $box{$box}->mails;
        $row = $sent->($scheme, $right, $box, $directive);
        is($row->{success}, Mojo::JSON::false(), "$scheme: $what");
        like($row->{error}, $directive ? qr/subject name|host ?name/i : qr/issuer certificate/,
            "$scheme: the history has the reason");
        is(scalar $box{$box}->mails, $before, "$scheme: no mail is sent");
    }
};

subtest 'httpd -t' => sub {
    my $write = sub { Sigreq::Suite::write_file("$dir/$_[0]", $_[1]) };
    my $ca    = path($ours->file('ca.crt'))->slurp;
    my @wrong = (
        ["$dir/none.crt",                                   qr/none\.crt: No such file/],
        [$dir,                                              qr/\Q$dir\E: Is a directory/],
        [$write->('empty', ''),                             qr/empty: it holds no certificate/],
        [$ours->file('ca.key'),                             qr/ca\.key: it holds no certificate/],
        [$write->('half', $ca . substr $ca, 0, -60),        qr/half: certificate 2 in it cannot be read: \w/],
        [$write->('bad', $ca =~ s/^M/A/mr),                 qr/bad: certificate 1 in it cannot be read: \w/],
        [$write->('large', "# a comment\n" x 100_000),      qr/large: it is too large/]);
    my $unreadable = $write->('unreadable', $ca);
    chmod 0, $unreadable;
    push @wrong, [$unreadable, qr/unreadable: Permission denied/];
    for my $case (@wrong) {
        my ($file, $words) = @$case;
        my $httpd = Sigreq::Httpd->new(server => qq{SigreqCACertificateFile "$file"});
        my ($status, $said) = $httpd->test;
        is($status, 0, "reported: $file");
        like($said, qr/SigreqCACertificateFile: /, "the message has the name of the file: $file");
        like($said, $words, "the message has the reason: $file");
        my @lines = grep { !/^Syntax OK/ && /\S/ } split /\n/, $said;
        is(scalar @lines, 1, "the message is one line: $file") or diag $said;
    }
    my @off = (place => 'Sigreq Off', server => "SigreqCACertificateFile $dir/none.crt");
    my ($status, $said) = Sigreq::Httpd->new(@off)->test;
    is($status, 0, 'without a service the directive needs no file') or diag $said;
    ($status, $said) = Sigreq::Httpd->new(place => "Sigreq On\n$given")->test;
    like($said, qr/SigreqCACertificateFile/, 'the directive is accepted for the whole server');
    isnt($status, 0, 'the directive is refused in a location');
};
$apart->stop;
done_testing;
