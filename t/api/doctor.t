# SPDX-License-Identifier: Apache-2.0
# sigreqctl doctor: a service that works has no line with fail, each fault has one that says what to do, and the options
# send a mail, call a webhook and get a timestamp.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Apart;
use Sigreq::Here 'suite';
use Sigreq::Httpd;
use Sigreq::PKI;
use Sigreq::Receiver;
use Sigreq::TSA;
use Test::More;

my $apart = Sigreq::Apart->new;
my $dir   = $apart->{dir};
my $pki   = Sigreq::PKI->new("$dir/pki");
my $tsa   = Sigreq::TSA->new($pki, 'tsa1');
mkdir "$dir/mail";
my @stamps = ('SigreqTimestamp ' . $tsa->url, 'SigreqTimestampAuthorities "' . $pki->file('authorities.crt') . '"');
my @mail   = ("SigreqSMTP maildir:$dir/mail", 'SigreqMailFrom "Sign <sign@example.org>"');
my $well   = { server => join("\n", @mail, @stamps, 'SigreqWebhookAllow 127.0.0.0/8'),
    place => "Sigreq On\nSigreqBaseURL https://sign.example.org" };

# The exit code, and what it says by the name of the check. httpd need not run.
sub doctor {
    my ($o, @options) = @_;
    my $httpd = Sigreq::Httpd->new(driver => suite->{db}, params => $apart->{params}, %$o);
    local $ENV{SIGREQ_HTTPD} = Sigreq::Httpd::command() . " -f $httpd->{dir}/httpd.conf";
    my @command = (suite->{source} . '/build/sigreqctl', '--json', 'doctor', @options);
    open my $pipe, '-|', @command or die "sigreqctl: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    my $rows  = eval { decode_json($said) } // [];
    my %found = map { $_->{check} => "$_->{state} $_->{detail}" } @$rows;
    return ($? >> 8, \%found);
}

my ($code, $found) = doctor($well);
is($code, 0, 'a service that works') or diag explain $found;
is_deeply([grep { $found->{$_} !~ /^ok / } sort keys %$found], [],
    'a service that works: everything is ok') or diag explain $found;
is(join(' ', sort keys %$found),
    'clock configtest database documents durability links mail seal space timestamp version',
        'a service that works: there is a line for each check');
like($found->{seal}, qr/, \d{4} days left$/, 'the line of the seal has its days');
is_deeply([glob "$dir/mail/*"], [], 'nothing is sent');

subtest 'what is wrong' => sub {
    ($code, $found) = doctor({ %$well, documents => "$dir/absent" });
    is($code, 1, 'no folder of documents');
    like($found->{documents}, qr/^fail .*absent/, 'no folder of documents is a failure');
    like($found->{SR0711},    qr/^fail .*503/,    'what httpd -t says is a failure');
    ($code, $found) = doctor({ %$well, params => suite->{db} eq 'pgsql' ? 'host=/nonexistent' : "$dir/absent.db" });
    is($code, 1, 'no database');
    like($found->{database}, qr/^fail /, 'no database is a failure');
    ok(!$found->{documents}, 'without a database, the documents are not looked at');
    ($code, $found) = doctor({ %$well, place => "Sigreq On\nMisspelt" });
    is($code, 1, 'a configuration that httpd does not accept');
    is(join(' ', keys %$found), 'configtest', 'a wrong configuration is all that is reported');
    like($found->{configtest}, qr/^fail httpd would not start: .*Misspelt/s, 'a wrong configuration is a failure');
    ($code, $found) = doctor({ place => 'Sigreq On' });
    is($code, 0, 'no base URL, mail and timestamps');
    like($found->{links}, qr/^warn .*SigreqBaseURL/,                 'no base URL is a warning');
    like($found->{mail},  qr/^ok no mail is sent: SigreqSMTP/,       'no mail is reported');
    like($found->{timestamp}, qr/^ok signatures have no timestamps/, 'no timestamps are reported');
    ($code, $found) = doctor({ %$well, seal => Sigreq::Httpd::seal(SigreqSeal => "$dir/absent") });
    is($code, 1, 'no key of the seal');
    like($found->{seal}, qr{^fail .*absent/seal}, 'no key of the seal is a failure');
    $pki->issue('short', 'ca', 'seal', until => time + 10 * 86_400);
    my ($certificate, $key) = map { $pki->file("short.$_") } qw(crt key);
    ($code, $found) = doctor({ %$well, seal => "SigreqSealCertificate $certificate\nSigreqSealKey $key" });
    like($found->{seal}, qr/^warn .*\b9 days left: run: sigreqctl seal request/, 'a seal that ends soon');
};
subtest 'mail, webhook and timestamp' => sub {
    my $receiver = Sigreq::Receiver->new;
    my @all = ('--mail', 'ann@example.org', '--webhook', $receiver->url('/ok'), '--ask-timestamp');
    ($code, $found) = doctor($well, @all);
    is($code, 0, 'they work') or diag explain $found;
    my @mails = glob "$dir/mail/*";
    is(scalar @mails, 1, 'a mail');
    my $text = qr/^To: ann\@example\.org\r?\nSubject: Test mail of sigreqctl doctor\r?$/m;
    like(path($mails[0])->slurp, $text, 'the mail is a test');
    my ($call) = $receiver->wait_for(1, '/ok');
    is($call->{body}{event}, 'test', 'a call has the event test');
    like($found->{timestamp}, qr/^ok .*has made one$/, 'a timestamp');
    is($tsa->counts->{tokens}, 1, 'only one timestamp is made');
    ($code, $found) = doctor($well, '--webhook', $receiver->url('/status/500'));
    is($code, 1, 'a receiver that refuses');
    like($found->{webhook}, qr/^fail .*the answer was 500/, 'a receiver that refuses is a failure');
    ($code, $found) = doctor({ %$well, server => join "\n", @mail }, '--webhook', $receiver->url('/ok'));
    like($found->{webhook}, qr/^fail .*the address is loopback/, 'an address that httpd would not call');
    $tsa->mode('refuse');
    ($code, $found) = doctor($well, '--ask-timestamp');
    is("$code " . ($found->{timestamp} =~ /^(fail)/)[0], '1 fail', 'an authority that refuses');
    my $nowhere = "SigreqSMTP smtp://user:secret\@127.0.0.1:1\n$mail[1]";
    ($code, $found) = doctor({ %$well, server => $nowhere }, '--mail', 'ann@example.org');
    is($code, 1, 'no mail server');
    like($found->{mail}, qr{^fail smtp://127\.0\.0\.1:1: }, 'no mail server is a failure, without the password');
};
done_testing;
