# SPDX-License-Identifier: Apache-2.0
# What sigreqctl verify --trust says of documents with timestamps and validation data that others have made, today and
# in the years after their certificates have ended. PDFBox with Bouncy Castle must say the same of each signature: that
# it is intact, and that its chain is trusted at the time that is proved. The documents are not in this repository:
# $SIGREQ_SAMPLES names their folder.
use strict;
use warnings;
use lib 't/lib';
use JSON::PP      'decode_json';
use Sigreq::Clock qw(clock_missing clocked);
use Sigreq::Judge qw(java_judge);
use Test::More;
use Time::Local 'timegm';

my $samples = $ENV{SIGREQ_SAMPLES} // plan skip_all => 'SIGREQ_SAMPLES names no folder with the sample documents';
plan skip_all => "the sample documents are not in $samples (SIGREQ_SAMPLES)" unless -e "$samples/roots.crt";
plan skip_all => clock_missing() if clock_missing();

# the day, the document, the conclusion, the level of its signatures and the trust in them, the trust in its timestamps
my @cases = (
    ['2026-11-30', 'by-the-module-t',    'signed', 'B-T',   'trusted',   undef],
    ['2026-11-30', 'by-the-module-lta',  'signed', 'B-LTA', 'trusted',   'trusted'],
    ['2026-11-30', 'e3',                 'signed', 'B-LT',  'trusted',   undef],
    ['2026-11-30', 'e3a',                'signed', 'B-LTA', 'trusted',   'trusted'],
    ['2028-12-01', 'by-the-module-lta',  'signed', 'B-LTA', 'trusted',   'trusted'],
    ['2030-01-01', 'by-the-module-lta',  'signed', 'B-LTA', 'untrusted', 'untrusted'],
    ['2030-01-01', 'renewed-2028',       'signed', 'B-LTA', 'trusted',   'trusted'],
    ['2049-01-01', 'renewed-until-2048', 'signed', 'B-LTA', 'trusted',   'trusted'],
);

sub verified {    # by sigreqctl on that day
    my ($day, $file) = @_;
    my @words = ('verify', $file, '--helper', 'build/sigreq-pdfd', '--trust', "$samples/roots.crt", '--json');
    my ($year, $month, $of_month) = split /-/, $day;
    my $said = clocked(sub {
        open my $pipe, '-|', 'build/sigreqctl', @words or die "sigreqctl: $!\n";
        local $/ = undef;
        return <$pipe>;
    }, timegm(0, 0, 0, $of_month, $month - 1, $year) - time);
    return decode_json($said);
}

# One process of Java for all documents of a day.
my %java;
for my $day (map { $_->[0] } @cases) {
    next if $java{$day};
    my @files = map {"$samples/$_->[1].pdf"} grep { $_->[0] eq $day } @cases;
    $java{$day} = java_judge({ roots => "$samples/roots.crt", at => "${day}T00:00:00Z" }, @files);
}

for my $case (@cases) {
    my ($day, $name, $conclusion, $level, $trust, $stamps) = @$case;
    my $file = "$samples/$name.pdf";
    my $said = verified($day, $file);
    my %rows = (signature => [], timestamp => []);
    push @{ $rows{ $_->{kind} } }, $_ for @{ $said->{signatures} };
    is($said->{conclusion}, $conclusion, "the conclusion about $name on $day is $conclusion");
    is_deeply([map { "$_->{level} $_->{trust}" } @{ $rows{signature} }],
        [("$level $trust") x @{ $rows{signature} }], "the signatures of $name on $day are $level and $trust");
    is_deeply([map { $_->{trust} } @{ $rows{timestamp} }], [($stamps) x @{ $rows{timestamp} }],
        "the timestamps of $name on $day have the expected trust");
    my %others = map { $_->{field} => $_ } @{ $java{$day}{$file}{signatures} };
    for my $one (@{ $said->{signatures} }) {
        my $other = $others{ $one->{field} };
        is($one->{state} eq 'intact' ? 1 : 0, $other->{intact} ? 1 : 0,
            "PDFBox agrees on $name on $day whether $one->{field} is intact");
        is($one->{trust} eq 'trusted' ? 1 : 0, $other->{chain} eq 'ok' ? 1 : 0,
            "PDFBox agrees on $name on $day whether $one->{field} is trusted");
    }
}
done_testing;
