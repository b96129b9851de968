# SPDX-License-Identifier: Apache-2.0
# The image of `make image`, started as a container engine starts it: its entry point is process 1 in namespaces of its
# own, the root folder is read only, and it has the volumes, /run, /tmp, and the capabilities that engines give.
# There is no engine here. `make test-package` runs this as root.
use strict;
use warnings;
use File::Path 'make_path';
use File::Temp 'tempdir';
use JSON::PP;
use POSIX ();
use Time::HiRes 'sleep';
use Test::More;

plan skip_all => 'it needs root' if $> != 0;
my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } qw(umoci unshare nsenter setpriv curl);
plan skip_all => "not installed: @lacking (tools/deps test-package)" if @lacking;
my $built = ($ENV{O} || 'build') . '/image';
plan skip_all => 'make image has built nothing' if !-e "$built/index.json";
my $dir = tempdir('sigreq-image.XXXXXX', DIR => '/tmp', CLEANUP => 1);
is(system('umoci', 'unpack', '--image', "$built:latest", "$dir/bundle"), 0, 'umoci unpacks the image') or BAIL_OUT('');
my $process = decode_json(slurp("$dir/bundle/config.json"))->{process};
my $root    = "$dir/bundle/rootfs";
like(join(' ', @{ $process->{args} }), qr{^/bin/sh /usr/share/sigreq/container/start$},
    'the entry point is the start script');
my ($config) = grep { ref $_ && $_->{rootfs} } map { eval { decode_json(slurp($_)) } } glob "$built/blobs/sha256/*";
is($config->{config}{StopSignal}, 'SIGWINCH', 'the stop signal ends httpd gracefully');
is_deeply([sort keys %{ $config->{config}{Volumes} }], ['/etc/sigreq', '/var/lib/sigreq'],
    'the volumes are the configuration and the data');
is_deeply([keys %{ $config->{config}{ExposedPorts} }], ['8080/tcp'], 'the port is 8080');
my $started;
END { kill 'KILL', $started->{engine} if $started }

sub slurp { open my $in, '<', $_[0] or return ''; local $/; return scalar(<$in>) // '' }

# Starts a container with these volumes and variables: {engine, pid}; what it says is in the files out and err.
sub start {
    my ($volumes, @variables) = @_;
    make_path("$volumes/data", "$volumes/seal");
    my $way = <<'SH';
set -e
root=$1 volumes=$2; shift 2
ip link set lo up
mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"; mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$volumes/data" "$root/var/lib/sigreq"; mount --bind "$volumes/seal" "$root/etc/sigreq"
caps=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+sys_chroot
exec setpriv --bounding-set="$caps" --no-new-privs chroot "$root" /usr/bin/env -i "$@"
SH
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<', '/dev/null' or die;
        open STDOUT, '>', "$dir/out" or die;
        open STDERR, '>', "$dir/err" or die;
        exec 'unshare', qw(--mount --pid --ipc --uts --net --fork --kill-child sh -c), $way, 'sh', $root, $volumes,
            @{ $process->{env} }, @variables, @{ $process->{args} } or die;
    }
    $started = { engine => $pid, pid => wait_for(sub { slurp("/proc/$pid/task/$pid/children") =~ /(\d+)/ ? $1 : 0 }) };
    return $started;
}

sub wait_for {
    my $condition = shift;
    for (1 .. 1200) {
        my $got = $condition->();
        return $got if $got;
        return 0 if $started && !-e "/proc/$started->{pid}";
        sleep 0.1;
    }
    return 0;
}

# Runs a program in the container, as `podman exec` does: (exit code, what it said).
sub inside {
    my @command = @_;
    open my $from, '-|', 'nsenter', '--target', $started->{pid}, qw(--mount --pid --ipc --uts --net --root --wd=/),
        qw(env -i), @{ $process->{env} }, 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "nsenter: $!\n";
    my $text = do { local $/; <$from> } // '';
    close $from;
    return ($? >> 8, $text);
}

# From outside, in the network of the container: (status, body).
sub ask {
    my ($path, @options) = @_;
    open my $from, '-|', 'nsenter', '--target', $started->{pid}, '--net', qw(curl -s -w), "\n%{http_code}", @options,
        "http://127.0.0.1:8080$path" or die "curl: $!\n";
    my $text = do { local $/; <$from> } // '';
    close $from;
    my ($body, $status) = $text =~ /\A(.*)\n(\d+)\z/s;
    return ($status // 0, $body // '');
}

sub ended { # waits for the end after a signal: its exit code
    kill $_[0], $started->{pid};
    my $engine = $started->{engine};
    undef $started;
    return wait_for(sub { waitpid($engine, POSIX::WNOHANG()) > 0 }) ? $? >> 8 : 'still running';
}

# --- the first start, with empty volumes
start("$dir/one", 'SIGREQ_SEAL_NAME=Our company');
ok(wait_for(sub { (ask('/api/v3/health'))[0] == 200 }),
    'the service is healthy after the first start') or diag slurp("$dir/err");
is(slurp("/proc/$started->{pid}/comm"), "apache2\n", 'process 1 is httpd');
my ($code) = inside('touch', '/usr/written');
isnt($code, 0, 'the root folder is read only');
my $made;
($code, $made) = inside('sigreqctl', '--json', 'org', 'create', 'Our company');
is($code, 0, 'sigreqctl works in the container') or diag $made;
inside(qw(sigreqctl user create), 'Our company', qw(Ann Lee ann@example.org));
($code, $made) = inside(qw(sigreqctl --json token create), 'Our company', qw(ann@example.org production first));
is($code, 0, 'sigreqctl makes a token in the container') or BAIL_OUT($made);
my @bearer = ('-H', 'Authorization: Bearer ' . decode_json($made)->{token});
my $signers = '[{"firstname":"Ann","lastname":"Lee","fields":[{"type":"signature","name":"S","document":"sample.pdf",'
    . '"area":{"x":72,"y":72,"w":180,"h":50,"page":0}}]}]';
my ($status, $body) = ask('/api/v3/signatures', @bearer, '-F', 'file=@t/data/sample.pdf;type=application/pdf', '-F',
    'name=One', '-F', "signers=$signers");
is($status, 201, 'a document can be sent') or diag $body, slurp("$dir/err");
my $created = decode_json($body);
my ($link) = $created->{submitters}[0]{signatureLink} =~ m{(/sign/\S+)};
is((ask($link, '-d', 'action=sign', '-d', 'consent=yes', '-d', 'typed=Ann Lee'))[0], 303, 'the document can be signed');
is((ask("/api/v3/signatures/$created->{uuid}", @bearer))[0], 200, 'the submission can be read');
like(slurp("$dir/out"), qr{"POST /api/v3/signatures HTTP/1\.1" 201}, 'the access log is stdout');
like(slurp("$dir/err"), qr/resuming normal operations/, 'the error log is stderr');
unlike(slurp("$dir/out") . slurp("$dir/err"), qr/\Q$link\E/, 'no log contains the link');
is(ended('WINCH'), 0, 'the container ends gracefully with 0');

# --- again, with the same volumes
start("$dir/one");
ok(wait_for(sub { (ask('/api/v3/health'))[0] == 200 }), 'the container starts again with the same volumes');
is((ask("/api/v3/signatures/$created->{uuid}", @bearer))[0], 200, 'the submission is there after the second start');
is(ended('TERM'), 0, 'the container ends at once with 0');

# --- a link of httpd's user
make_path("$dir/linked/data");
symlink '/etc/sigreq', "$dir/linked/data/documents" or die "symlink: $!\n";
start("$dir/linked", 'SIGREQ_SEAL_NAME=Our company');
ok(wait_for(sub { (ask('/api/v3/health'))[0] }), 'the container starts with a link instead of the folder of documents');
is((stat "$dir/linked/seal")[4], 0, 'the target of the link still belongs to root');
ended('TERM');

# --- a volume without a seal
start("$dir/two");
ok(wait_for(sub { (ask('/api/v3/health'))[0] == 503 }), 'the service is not healthy without a seal');
like(slurp("$dir/err"), qr/SR0400/, 'the log says that the seal is missing');
ended('TERM');
done_testing;
