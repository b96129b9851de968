# Webhook calls as their receivers see them: every field, the order, no second try; and answers of every kind with what
# the history says of them.
use strict;
use warnings;
use Sigreq::Here qw(organisation place suite wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Test::More;
use Time::HiRes 'time';

my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};

sub register { my ($kind, $url) = @_; $client->post("/webhooks/$kind-webhook-url", json => { url => $url })->code }

is(register(sent => $receiver->url('/ok?x=1')), 200, 'registered');
my $submission = $client->create(name => "Lease \xe2\x98\xba", skipIntro => 'true')->json;
my ($call) = $receiver->wait_for(1, 10);
my $body = $call->{body};
is($call->{method}, 'POST', 'a POST');
is($call->{headers}{'content-type'}, 'application/json', 'of JSON');
like($call->{headers}{'user-agent'}, qr{^mod_sigreq/[\d.]+}, 'of ours');
ok(!exists $call->{headers}{expect}, 'that expects nothing');
my %own = map { $_ => delete $body->{$_} } qw(event userTokenId submissionId webhookUrl eventId environment);
is_deeply($body, $submission, 'the submission, as its creator got it');
like(delete $own{eventId}, qr/^[0-9a-f-]{36}$/, 'an event id');
is_deeply(\%own, { event => 'sent', userTokenId => $org->{test_token}{uuid}, submissionId => $submission->{uuid},
    webhookUrl => $receiver->url('/ok?x=1'), environment => 'test' }, 'and what it tells of itself');
done_testing;
