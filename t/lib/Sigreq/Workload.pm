# SPDX-License-Identifier: Apache-2.0
# Sigreq::Workload: callers and signers who use a service without a pause, in a process of their own, while the test
# kills what it is made of. Each repeats a request until it is answered with something else than 503. Then `verify`
# compares with the service what was acknowledged.
package Sigreq::Workload;
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use List::Util 'max';
use Mojo::IOLoop;
use Mojo::JSON qw(decode_json encode_json);
use Mojo::Promise;
use POSIX ();
use Sigreq::Client;
use Sigreq::Here 'wait_for';
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of chain_fault pdfsig);
use Sigreq::Suite;
use Time::HiRes 'time';

# new(client => Sigreq::Client, dir => FOLDER, name => of this one, signers => of each submission, width => submissions
# at the same time, most => submissions)
sub new {
    my ($class, %o) = @_;
    my $self = bless { signers => 1, width => 4, most => 1e9, name => 'load', %o }, $class;
    $self->{file} = "$self->{dir}/$self->{name}";
    return $self;
}

# --- the process

sub start {
    my $self = shift;
    $self->{begun} = time;
    delete $self->{read};
    $self->{pid} = fork // die "fork: $!\n";
    return $self if $self->{pid};
    Mojo::IOLoop->reset;
    open $self->{out}, '>', $self->{file} or POSIX::_exit(1);
    $self->{out}->autoflush(1);
    my $done = eval {
        $self->{client} = $self->{client}->with(connections => 0);
        my $wrong;
        Mojo::Promise->all(map { $self->lane } 1 .. $self->{width})->catch(sub { $wrong = shift })->wait;
        die $wrong if defined $wrong;
        1;
    };
    $self->note(died => "$@") if !$done;
    POSIX::_exit(0);
}

sub note { my ($self, %what) = @_; print { $self->{out} } encode_json({ at => time, %what }), "\n"; return }

# One submission after the other, until `stop` or the most.
sub lane {
    my $self = shift;
    return Mojo::Promise->resolve if -e "$self->{file}.stop" || $self->{count}++ >= $self->{most};
    return $self->submission($self->{count})->then(sub { $self->lane });
}

# Sends a request until it is answered with something else than 503, and gives this answer. Everything is written down.
sub until_done {
    my ($self, $what, $request, $doubt) = @_;
    my ($begun, $id, $why) = (time, ++$self->{requests});
    $self->note(sent => $id);
    return $request->()->then(sub { $_[0] }, sub { $why = "$_[0]"; return })->then(sub {
        my $code = $_[0] ? $_[0]->code // 0 : 0;
        $self->note(what => $what, answered => $id, code => $code, took => time - $begun, why => $why);
        return [$_[0], $doubt] if $code != 503 && $code != 0;
        return Mojo::Promise->timer(0.2)->then(sub { $self->until_done($what, $request, 1) });
    });
}

sub submission {
    my ($self, $number) = @_;
    my $client  = $self->{client};
    my $bytes   = pdf(nonce => "$self->{name} $self->{begun} $number");
    my @signers = map { { firstname => "S$_", area => { x => 20 + 130 * ($_ - 1), w => 120 } } } 1 .. $self->{signers};
    my %create  = $client->creation_options(files => [['a.pdf', $bytes]], name => "$self->{name} $number",
        signers => Sigreq::Client::signers(@signers),
        headers => { 'Idempotency-Key' => "$self->{name} $self->{begun} $number" });
    my $create = sub { $client->request_p(POST => '/signatures', %create, unjudged => 1) };
    return $self->until_done(create => $create)->then(sub {
        my $res = $_[0][0];
        return $self->note(wrong => 'create ' . $res->code . ' ' . $res->body) if $res->code != 201;
        my $made = $res->json;
        my %is   = (uuid => $made->{uuid}, document => $made->{documents}[0]{uuid}, size => length $bytes,
            sha256 => sha256_hex($bytes));
        $self->note(created => \%is);
        my $signed = Mojo::Promise->all(map { $self->signature($_) } signers_of($made, connections => 0));
        return $signed->then(sub { $self->note(signed => \%is) });
    });
}

# All signers of a submission sign at the same time. One whose signature may have been stored is told so if it was.
sub signature {
    my ($self, $signer) = @_;
    return $self->until_done(sign => sub { $signer->sign_p })->then(sub {
        my ($res, $doubt) = @{ $_[0] };
        return if $res->code == 200 || ($doubt && $res->code == 409);
        return $self->note(wrong => 'sign ' . $res->code . ' ' . substr $res->body, 0, 200);
    });
}

# --- what it has noted so far, or in all

sub stop {
    my $self = shift;
    Sigreq::Suite::write_file("$self->{file}.stop", '');
    return $self->wait;
}

sub over { my $self = shift; return !$self->{pid} || waitpid($self->{pid}, POSIX::WNOHANG()) && delete $self->{pid} }
sub wait { my $self = shift; my $pid = delete $self->{pid}; waitpid $pid, 0 if $pid; return $self }

# All that it has written. Each call reads what was added since the last one, because tests ask again and again.
sub notes {
    my $self = shift;
    my $read = $self->{read} //= { at => 0, notes => [] };
    open my $file, '<', $self->{file} or return @{ $read->{notes} };
    seek $file, $read->{at}, 0;
    my $added = do { local $/; <$file> } // '';
    my $whole = 1 + rindex $added, "\n";    # the last line may not be complete
    push @{ $read->{notes} }, map { decode_json($_) } split /\n/, substr $added, 0, $whole;
    $read->{at} += $whole;
    return @{ $read->{notes} };
}

sub done  { my $self = shift; return map { $_->{signed}  // () } $self->notes }
sub wrong { my $self = shift; return map { $_->{wrong} // $_->{died} // () } $self->notes }

sub acknowledged {    # when something was
    return map { $_->{at} } grep { ($_->{code} // '') =~ /^20[01]$/ } $_[0]->notes;
}

# Waits until as many as that have been acknowledged since a time.
sub goes_on {
    my ($self, $since, $count) = @_;
    return wait_for(sub { $self->over || $count <= grep { $_ > $since } $self->acknowledged });
}

# Waits until every request that was sent before a time has its answer.
sub answered {
    my ($self, $before) = @_;
    return wait_for(sub {
        my @notes = $self->notes;
        my %open  = map { $_->{sent} => 1 } grep { $_->{sent} && $_->{at} < $before } @notes;
        delete @open{ map { $_->{answered} // () } @notes };
        return !%open;
    });
}

# The longest time without anything acknowledged, of those that begin between two times.
sub silence {
    my ($self, $from, $to) = @_;
    my @times = sort { $a <=> $b } $self->acknowledged;
    my ($before) = grep { $_ <= $from } reverse @times;
    my @at = (max($before // $from, $from), grep { $_ > $from } @times);
    my @gaps = map { $at[$_ + 1] - $at[$_] } grep { $at[$_] <= $to } 0 .. $#at - 1;
    return max(@gaps, 0);
}

sub codes { my %count; $count{ $_->{code} }++ for grep { defined $_->{code} } $_[0]->notes; return \%count }

sub slowest {    # of all requests: (what, seconds, when it was answered)
    my ($slowest) = sort { $b->{took} <=> $a->{took} } grep { defined $_->{took} } $_[0]->notes;
    return ("$slowest->{what}, $slowest->{code}", @{$slowest}{qw(took at)});
}

# --- what the service has of it, by the client of any host: faults, as texts. pdfsig looks at 100 documents at most.

sub verify {
    my ($self, $client) = @_;
    my @done  = $self->done;
    my $every = max(1, int @done / 100);
    return map { $self->faults($client, $done[$_], $_ % $every == 0) } 0 .. $#done;
}

sub faults {
    my ($self, $client, $is, $judge) = @_;
    my $audit = $client->get("/signatures/$is->{uuid}/audit");
    my $file  = $client->get("/signatures/$is->{uuid}/documents/$is->{document}");
    return "$is->{uuid}: " . $audit->code . ' and ' . $file->code if $audit->code != 200 || $file->code != 200;
    my @events = @{ $audit->json->{events} };
    my @signed = grep { $_->{event} eq 'signed' } @events;
    my %by     = map { ($_->{signer} // '') => 1 } @signed;
    my $bytes  = $file->body;
    my @wrong  = chain_fault($audit->json) // ();
    push @wrong, 'signed ' . @signed . ' times by ' . keys %by if @signed != $self->{signers} || keys %by != @signed;
    push @wrong, 'not completed'    if !grep { $_->{event} eq 'completed' } @events;
    push @wrong, 'another document' if sha256_hex(substr $bytes, 0, $is->{size}) ne $is->{sha256};
    push @wrong, 'another hash'     if index(encode_json(\@signed), sha256_hex($bytes)) < 0;
    my $valid = $judge ? pdfsig($bytes)->{valid} : $self->{signers};
    push @wrong, "$valid valid signatures" if $valid != $self->{signers};
    return map {"$is->{uuid}: $_"} @wrong;
}

1;
