# SPDX-License-Identifier: Apache-2.0
# Sigreq::Traces: words that occur nowhere else, and the search for them in files, in many forms.
package Sigreq::Traces;
use strict;
use warnings;
use Encode 'encode';
use Exporter 'import';
use File::Find 'find';
use MIME::Base64 'encode_base64';
use Sigreq::Here qw(suite sql);

our @EXPORT_OK = qw(word pattern patterns found_in not_in files_below database_files vacuum administrator);

my @letters = ('a' .. 'z');
sub word { join '', map { $letters[rand @letters] } 1 .. 14 }    # long enough to be found by nothing else

sub forms {
    my $word = shift;
    my @wide = map { encode($_, $word) } qw(UTF-16LE UTF-16BE);
    my @forms = ($word, @wide, map { (unpack('H*', $_), uc unpack('H*', $_)) } $word, @wide);
    for my $text ($word, @wide) {
        for my $before (0 .. 2) {    # the characters at both ends depend on what is beside the word
            my $encoded = encode_base64(('x' x $before) . $text, '') =~ s/=+\z//r;
            push @forms, substr $encoded, $before ? 2 + $before - 1 : 0, -2;
        }
    }
    push @forms, join('', map { sprintf '%%%02X', ord } split //, $word),
        join('', map { sprintf '%%%02x', ord } split //, $word),
        join('', map { sprintf '\\u%04x', ord } split //, $word),
        join('', map { sprintf '\\u%04X', ord } split //, $word);
    return @forms;
}

sub pattern { my @all = map { quotemeta } map { forms($_) } @_; my $any = join '|', @all; return qr/$any/ }

# Several patterns for many words: Perl searches for the texts of one pattern at the same time, but only if the compiled
# pattern is short (64 KiB of nodes); otherwise it tries one after the other at each byte.
sub patterns { my @words = @_; my @all; push @all, pattern(splice @words, 0, 100) while @words; return @all }

sub found_in {    # the names of what has one of the words. skip: bytes of a file that were there before
    my ($patterns, $files, $skip) = @_;
    my @found;
    for my $name (@$files) {
        open my $in, '<:raw', $name or next;
        seek $in, $skip->{$name} // 0, 0;
        my $bytes = do { local $/; <$in> } // '';
        push @found, map { $bytes =~ $_ ? "$name: $&" : () } ref $patterns eq 'ARRAY' ? @$patterns : $patterns;
    }
    return @found;
}

sub not_in {    # those of the words that no file has. Each file is read once.
    my ($words, $files) = @_;
    my @patterns = patterns(@$words);
    my %found;
    for my $name (@$files) {
        open my $in, '<:raw', $name or next;
        my $bytes = do { local $/; <$in> } // '';
        for my $pattern (@patterns) { $found{$1}++ while $bytes =~ /($pattern)/g }
    }
    return grep {
        !grep { $found{$_} } forms($_)
    } @$words;
}

sub files_below {
    my @found;
    find({ no_chdir => 1, wanted => sub { push @found, $_ if -f } }, grep { -e } @_);
    return @found;
}

sub database_files {
    return files_below(suite->{dir} . '/pg') if suite->{db} eq 'pgsql';
    return glob suite->{params} . '*';
}

sub administrator { suite->{params} =~ s/user=\w+/user=postgres/r }

# As docs/accounts.md says: afterwards the files of the database have nothing that was deleted.
sub vacuum {
    if (suite->{db} eq 'sqlite3') {
        sql('VACUUM');
        sql('PRAGMA wal_checkpoint(TRUNCATE)');
        return;
    }
    my @steps         = ('SELECT pg_switch_wal()', 'CHECKPOINT');
    sql($_, administrator())
        for 'ALTER SYSTEM SET wal_recycle = off', 'SELECT pg_reload_conf()', 'ANALYZE', 'VACUUM FULL', (@steps) x 3;
}

1;
