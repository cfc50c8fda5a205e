#!/usr/bin/perl
# Perl with its own modules only: one message a line.
# Usage: perl.pl URL…
use strict;
use warnings;
use IPC::Open2;
use JSON::PP;

my $json = JSON::PP->new->utf8;    # writes one line
my $pid  = open2(my $from, my $to, $ENV{HALCYON_BIN} // 'halcyon');
$to->autoflush(1);
my $id = 0;

# Calls a method and waits for its answer: (result, error), one of them undefined.
sub call {
    my ($method, $params) = @_;
    print {$to} $json->encode({ jsonrpc => '2.0', id => ++$id, method => $method, params => $params }), "\n";
    my $line = <$from> // die "The server has ended.\n";
    my $answer = $json->decode($line);
    return ($answer->{result}, $answer->{error});
}

for my $url (@ARGV) {
    my ($image, $error) = call('retrieve', { url => $url });
    print $error ? "error $error->{data}{name}\n" : join(' ', @$image{qw(width height cacheType path)}) . "\n";
}
close $to;    # the end of its input ends the server
waitpid $pid, 0;
exit $? >> 8;
