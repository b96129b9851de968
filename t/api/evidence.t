# SPDX-License-Identifier: Apache-2.0
# sigreqctl check --evidence finds rows that were changed, lost or added beside the service, and nothing else. In a
# database of its own, into which each fault is planted by SQL.
use strict;
use warnings;
use Mojo::JSON 'decode_json';
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite sql wait_for);
use Sigreq::Signer;
use Test::More;

my $apart = Sigreq::Apart->new;
my $dir   = $apart->{dir};
my $pgsql = suite->{db} eq 'pgsql';
mkdir "$dir/mail";
my $client = $apart->serve(
    server => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org",
    place  =>
      "Sigreq On\nSigreqBaseURL https://sign.example.org\nSigreqExpiry 30d"
);
$client->post( "/webhooks/$_-webhook-url",
    json => { url => 'http://127.0.0.1:1/in' } )
  for qw(sent signed completed);

my $made = 0;

sub created
{    # with addresses of its own, because invitations to one address are limited
    $made++;
    my $res = $client->create(
        sendEmail => 'true',
        signers   => Sigreq::Client::signers(
            map { { email => "$_$made\@example.org" } } qw(ann bob)
        ),
        @_
    );
    is( $res->code, 201, 'created' ) or diag $res->body;
    return $res->json;
}

sub signers {
    return map {
        Sigreq::Signer->new(
            link => $apart->{httpd}->base . "/sign/$_->{uuid}" )
    } @{ $_[0]{submitters} };
}

sub signs {
    is( $_->post( json => Sigreq::Signer::typed('Ann') )->code, 200, 'signs' )
      for @_;
    return;
}

# A submission in each state. The first and the last one have the first and the last call of each webhook.
sub closed { my $made = created(); signs( signers($made) ); return $made }

sub refused {
    my $made = created();
    is(
        ( signers($made) )[1]
          ->post( json => { action => 'refuse', reason => 'No' } )->code,
        200, 'refuses'
    );
    return $made;
}
my @first    = ( closed(), refused() );
my $complete = closed();

# Ann has a value of the caller, and Bob one that Bob enters.
sub with_values {
    my $people = Sigreq::Client::signers(
        map { { email => "$_$made-values\@example.org" } } qw(ann bob) );
    for my $person (@$people) {
        my ($field) = @{ $person->{fields} };
        push @{ $person->{fields} },
          {
            %$field,
            type => 'text',
            name => 'Rent',
            area => { %{ $field->{area} }, y => $field->{area}{y} + 100 }
          };
    }
    $people->[0]{fields}[1]{value} = '950,00';
    return created( signers => $people );
}
my $valued = with_values();
is(
    ( signers($valued) )[1]->post(
        json =>
          { %{ Sigreq::Signer::typed('Bob') }, values => { 2 => 'Berlin' } }
    )->code,
    200,
    'signs with a value'
);

# Ann's identity is to be checked by a code. She may have passed the check, and then signed.
sub with_check {
    my ( $passes, $signs ) = @_;
    my $made = created(
        signers => Sigreq::Client::signers(
            {
                email          => "ann$made-check\@example.org",
                authentication => { method => 'code', code => '4711-KX' }
            }
        )
    );
    my ($ann) = signers($made);
    return $made if !$passes;
    my $url =
      $ann->request( POST => '/check', json => { code => '4711 kx' } )
      ->json('/url');
    signs( Sigreq::Signer->new( link => "$ann->{link}~" . $url =~ s/.*~//r ) )
      if $signs;
    return $made;
}
my ( $checked, $unpassed ) = ( with_check( 1, 1 ), with_check() );
with_check(1);
my $open     = created();
my $refused  = refused();
my $waiting  = created();
signs( ( signers($waiting) )[0] );
my $replaced = created();
$client->post(
"/signatures/$replaced->{uuid}/signers/$replaced->{submitters}[0]{uuid}/replace",
    json =>
      { firstname => 'New', lastname => 'One', email => 'new@example.org' }
);
my $cancelled = created();
$client->post( "/signatures/$cancelled->{uuid}/cancel",
    json => { reason => 'Mistake' } );
my $expired = created();
sql( "UPDATE submission SET expires_at = 1 WHERE uuid = '$expired->{uuid}'",
    $apart->{params} );
is( $client->get("/signatures/$expired->{uuid}")->json->{status},
    'expired', 'expired' );
my $held = closed();
$apart->ctl( 'submission', 'hold',    $held->{uuid},    'Court' );
$apart->ctl( 'submission', 'hold',    $refused->{uuid}, 'Court' );
$apart->ctl( 'submission', 'release', $refused->{uuid} );
my $deleted = closed();
is( $client->delete("/signatures/$deleted->{uuid}")->code, 204, 'deleted' );
$client->request(
    PATCH => "/signatures/$open->{uuid}",
    json  => { expiresAt => '2099-01-01T00:00:00Z' }
);
my @last = ( closed(), refused() );
wait_for(
    sub {
        !sql( q(SELECT count(*) FROM job WHERE state <> 'done'),
            $apart->{params} );
    }
);
my $documents = "$apart->{httpd}{dir}/documents";
my $httpd     = $apart->{httpd};    # whose folder lives as long as this

# Somebody with the database removes the check, signs, and puts the check back. Afterwards the submission is deleted.
my $bypassed = with_check();
my $ann      = "WHERE uuid = '$bypassed->{submitters}[0]{uuid}'";
my $stored =
  sql( "SELECT authentication FROM signer $ann", $apart->{params} );
sql( "UPDATE signer SET authentication = NULL $ann", $apart->{params} );
signs( signers($bypassed) );
sql( "UPDATE signer SET authentication = '$stored' $ann", $apart->{params} );
is_deeply(
    [
        map { $_->{detail} =~ s/[0-9a-f]{8}/X/r }
          @{ ( check('--evidence') )[1]{problems} }
    ],
    ['signer X has acted without a check of their identity'],
    'a signature without the check is found'
);
is( $client->delete("/signatures/$bypassed->{uuid}")->code, 204, 'deleted' );
$apart->stop;

sub check {    # the exit code and the problems
    my @command = (
        suite->{source} . '/build/sigreqctl', '--json',
        '--driver',                           suite->{db},
        '--params',                           $apart->{params},
        'check',                              '--documents',
        $documents,                           @_
    );
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    my $report = decode_json( do { local $/; <$pipe> } );
    close $pipe;
    return ( $? >> 8, $report );
}

my ( $code, $report ) = check('--evidence');
is( $code, 0, 'untouched data' ) or diag explain $report->{problems};
is_deeply(
    [ @$report{qw(evidence problems)} ],
    [ 0, [] ],
    'nothing is found'
);
is(
    $report->{submissions},
    sql( 'SELECT count(*) FROM submission', $apart->{params} ),
    'all submissions were checked'
);
is_deeply( [ grep { exists( ( check() )[1]{$_} ) } qw(evidence submissions) ],
    [], 'without the option nothing is compared' );

# Plants a fault, looks for it, and removes it again: the statements run on a copy of the database.
my $whole = $apart->{params};

sub copy {
    return Sigreq::Apart::make_database(
        "TEMPLATE " . ( $whole =~ /dbname=(\S+)/ )[0] )
      if $pgsql;
    system( 'cp', $whole, "$dir/copy.db" ) == 0 or die;
    return "$dir/copy.db";
}

sub finds {
    my ( $what, $expected, @statements ) = @_;
    local $apart->{params} = copy();
    sql(
          $pgsql
        ? $_ =~
s/\b(event|job|document|revision|signer|submission|timer) /sigreq.$1 /r
        : $_,
        $apart->{params}
    ) for @statements;
    return is( ( check() )[0], 0, "$what: check alone sees nothing" )
      if !$expected;
    my ( $exit, $found ) = check('--evidence');
    is( $exit, 1, "$what: found" );
    my @said = map { "$_->{key}: $_->{detail}" } @{ $found->{problems} };
    ok( scalar( grep { /$expected/ } @said ), "$what: the fault is named" )
      or diag explain \@said;
    is( $found->{evidence}, scalar @said, "$what: the faults are counted" );
    return;
}
my $rows =
"submission_id = (SELECT id FROM submission WHERE uuid = '$complete->{uuid}')";
my $one      = $complete->{uuid};
my $document = $complete->{documents}[0]{uuid};
finds(
    'a revision is deleted',
    qr/^$one: the revisions of document $document are not/,
    "DELETE FROM revision WHERE document_uuid = '$document' AND number = 2"
);
my $prepared = $valued->{documents}[0]{uuid};
finds(
    'the fields with values of a document are deleted',
    qr/^$valued->{uuid}: the revisions of document $prepared are not/,
    "DELETE FROM revision WHERE document_uuid = '$prepared' AND number = 1"
);
finds(
    'a document is deleted',
    qr/^$one: document $document is missing/,
    "DELETE FROM document WHERE uuid = '$document'"
);
finds(
    'an event is deleted',
    qr/^$one: event 2: its number is wrong/,
    "DELETE FROM event WHERE $rows AND number = 2"
);
finds(
    'the last event is deleted',
    qr/^$one: it has \d+ events instead of/,
"DELETE FROM event WHERE $rows AND number = (SELECT events FROM submission WHERE uuid = '$one')"
);
finds(
    'a webhook call is deleted',
    qr/^$one: the history has 1 of 2 calls of signed/,
"DELETE FROM job WHERE id = (SELECT min(id) FROM job WHERE $rows AND event = 'signed')"
);
finds(
    'an invitation is deleted',
    qr/^$one: the history has 1 of 2 calls of invitation/,
"DELETE FROM job WHERE id = (SELECT min(id) FROM job WHERE $rows AND event = 'invitation')"
);
finds(
    'the timer of a deadline is deleted',
    qr/^$open->{uuid}: nothing ends it/,
    "DELETE FROM timer WHERE " . $rows =~ s/$complete->{uuid}/$open->{uuid}/r
);
finds(
    'an event is changed',
    qr/^$one: event 1: its hash does not match/,
"UPDATE event SET body = replace(body, 'created', 'crested') WHERE $rows AND number = 1"
);
finds(
    'a personal value is changed',
    qr/^$one: event 1: the value of detail\.signers\.0\.email does not match/,
"UPDATE event SET personal = replace(personal, 'example.org', 'example.net') WHERE $rows AND number = 1"
);
finds(
    'a personal value is removed',
    qr/^$one: event 1: the value of \S+ is missing/,
    "UPDATE event SET personal = NULL WHERE $rows AND number = 1"
);
finds(
    'the address of a signer is changed',
    qr/^$one: signer [0-9a-f]{8} has another email/,
"UPDATE signer SET email = 'eve\@example.org' WHERE uuid = '$complete->{submitters}[0]{uuid}'"
);
for my $row ( [ 0, '950,00', 'the caller' ], [ 1, 'Berlin', 'the signer' ] ) {
    my $uuid = $valued->{submitters}[ $row->[0] ]{uuid};
    finds(
        "a value of $row->[2] is changed",
        qr/^$valued->{uuid}: signer [0-9a-f]{8} has other values of fields/,
"UPDATE signer SET fields = replace(fields, '$row->[1]', '1') WHERE uuid = '$uuid'"
    );
}
my $with_check = "WHERE uuid = '$checked->{submitters}[0]{uuid}'";
finds(
    'the check of a signer is removed',
    qr/^$checked->{uuid}: signer [0-9a-f]{8} is not checked as the events say/,
    "UPDATE signer SET authentication = NULL $with_check"
);
finds(
    'the check of a signer is another one',
    qr/^$checked->{uuid}: signer [0-9a-f]{8} is not checked as the events say/,
"UPDATE signer SET authentication = replace(authentication, '\"code\"', '\"caller\"') $with_check"
);
finds(
    'a check is passed by hand',
    qr/^$unpassed->{uuid}: signer [0-9a-f]{8} has passed a check that is in no event/,
    "UPDATE signer SET authentication = '{\"method\":\"code\",\"passed_at\":1}' "
      . "WHERE uuid = '$unpassed->{submitters}[0]{uuid}'"
);
finds(
    'a signer is set back',
    qr/^$one: signer [0-9a-f]{8} is sent, but the events say completed/,
"UPDATE signer SET state = 'sent' WHERE uuid = '$complete->{submitters}[0]{uuid}'"
);
finds(
    'a state is changed',
    qr/^$refused->{uuid}: it is completed, but the events say refused/,
    "UPDATE submission SET state = 'completed' WHERE uuid = '$refused->{uuid}'"
);
finds(
    'the outcome of a deleted one is changed',
    qr/^$deleted->{uuid}: its outcome is not/,
    "UPDATE submission SET outcome = 'refused' WHERE uuid = '$deleted->{uuid}'"
);
finds(
    'a certificate is forgotten',
    qr/^$one: its certificate of completion is not/,
'UPDATE submission SET certificate_sha256 = NULL, certificate_key = NULL, certificate_size = NULL'
      . " WHERE uuid = '$one'"
);
finds(
    'a hold is forgotten',
    qr/^$held->{uuid}: its legal hold is not/,
"UPDATE submission SET held_at = NULL, hold_reason = NULL WHERE uuid = '$held->{uuid}'"
);
finds(
    'an open submission is gone',
    qr/^timer: 1 rows? belongs? to no submission/,
    "DELETE FROM submission WHERE uuid = '$open->{uuid}'"
);
finds(
    'a completed submission is gone',
    $pgsql ? undef : qr/^event: \d+ rows belong to no submission/,
    "DELETE FROM submission WHERE uuid = '$one'"
);

done_testing;
