/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topics.h"

#include <string.h>

#include "names.h"

static void print_names(FILE *to, const char *title, const char *const *names,
			const char *const *help)
{
	fprintf(to, "%s\n", title);
	for (int i = 0; names[i]; i++)
		fprintf(to, "  %-12s %s\n", names[i], help[i]);
}

static void topic_engines(FILE *to)
{
	print_names(to, "--engine: the filter that is asked \"seen in the window?\"", engine_names,
		    engine_help);
	print_names(to, "\n--key: the bytes that make two packets the same", key_names, key_help);
	print_names(to, "\n--hash: what turns a key into cells", hash_names, hash_help);
	print_names(to, "\n--slicing: how --engine timer is cut", slicing_names, slicing_help);
	print_names(to, "\n--placement: who shares a filter", placement_names, placement_help);
	print_names(to, "\n--clock: what tells the time", clock_names, clock_help);
	print_names(to, "\n--action: what happens to duplicates", action_names, action_help);
	fprintf(to,
		"\nA false positive is a first copy that is called duplicate, a false negative a\n"
		"duplicate that is called first. tagged errs on about 5 packets in ten\n"
		"million at its capacity, and may let a copy through when a line is full; timer "
		"has\n"
		"the rate that its size gives it; exact does not err. tagged and timer forget a\n"
		"packet within the last tick of the window, exact at its end. The others have no\n"
		"window: they are for long streams, and xdp-dedup simulate shows what they "
		"mistake\n"
		"and miss.\n");
}

static void topic_copies(FILE *to)
{
	fprintf(to,
		"Two packets with the same key, at most a window apart, are copies; the first one "
		"is kept.\n"
		"\n"
		"learn FILE|IFACE   looks at a sample and takes nothing away: how many equal "
		"packets "
		"there\n"
		"                   are, how far apart, in which fields they differ, and what each "
		"of\n"
		"                   several windows would drop. Equal packets up to 100 ms apart "
		"count as\n"
		"                   copies, later ones as sent again. Unsure are those without "
		"identification\n"
		"                   (IPv4 with 0, IPv6 without fragment header) and with the same "
		"TTL: a\n"
		"                   host may have sent them twice. The advice is the shortest "
		"window "
		"from\n"
		"                   1 ms on that finds all but one in 200 copies, by those "
		"that are\n"
		"                   sure if there are any.\n"
		"explain FILE A B   says of two frames, numbered from 1, which fields are in the "
		"key, "
		"which\n"
		"                   differ, and which options would turn the verdict. It does not "
		"know what\n"
		"                   a key is: it changes each field and asks the filter's own code "
		"again.\n"
		"pcap --pairs FILE  lists each copy with its first as CSV. A filter does not know "
		"the "
		"first:\n"
		"                   this keeps, beside it, 48 bytes or more for each packet of a "
		"window. A\n"
		"                   copy without a first is an error of the filter.\n");
}

static void topic_cluster(FILE *to)
{
	fprintf(to, "An instance works on one machine. All its interfaces share one filter, so "
		    "copies that\n"
		    "arrive on different interfaces are found: xdp-dedup load eth0 eth1. This "
		    "version has\n"
		    "no commands that join the filters of several machines.\n");
}

static void topic_papers(FILE *to)
{
	fprintf(to,
		"Koloniari, Ntarmos, Pitoura, Souravlias: One is Enough: Distributed Filtering "
		"for\n"
		"Duplicate Elimination (2011).\n"
		"  --engine timer   Bloom filters whose cells are timers; a first copy starts the\n"
		"                   window and a duplicate does not extend it (section 4)\n"
		"  --slicing        horizontal and vertical slices\n"
		"  --capacity       with --engine timer: m = -k n / ln(1 - P^(1/k)) cells\n"
		"Bera, Dutta, Narang, Bhattacherjee: biased sampling Bloom filters (2012).\n"
		"  --engine sbf, rsbf, bsbf, bsbfsd, rlbsbf; --variant, --p-star, --sbf-p\n"
		"  simulate         its streams; rsbf by default as its tables were made; see help "
		"streams\n"
		"--engine tagged is ours: a horizontal slice of one cache line, with tags.\n");
}

static void topic_streams(FILE *to)
{
	fprintf(to,
		"xdp-dedup simulate runs a stream of events through an engine and counts what it "
		"gets\n"
		"wrong. Without --trace the events are numbers, independent of each other, uniform "
		"or\n"
		"zipf:ALPHA.\n"
		"\n"
		"Rates\n"
		"  fpr, fnr    FP/(FP+TN) of the distinct events, FN/(FN+TP) of the copies\n"
		"  fpr_joint, fnr_joint    the same of all records (bera-2012 eq. 3.3, 3.4)\n"
		"  load        share of the cells in use\n"
		"  load_model  what the model expects of as many new keys (sbf and rsbf: of a "
		"uniform\n"
		"              stream)\n"
		"  load_model_copies       bsbf, bsbfsd, rlbsbf: with the copies too that were "
		"forgotten\n"
		"              and inserted again, as many as there were\n"
		"\n"
		"Windows\n"
		"  Engines with a window take --window-records N, the last N records, or --window "
		"TIME\n"
		"  with --rate N or the times of a trace. tagged and timer count ticks: an event "
		"is "
		"a\n"
		"  copy if fewer ticks have begun since it was last distinct than a window has, so "
		"the\n"
		"  window ends up to a tick early. Their fpr and fnr are against that definition.\n"
		"  given_fpr and given_fnr are against the window as it was given: copies in its "
		"last\n"
		"  tick that pass are false negatives, and as each begins a window of its own, "
		"events\n"
		"  in it are false positives. More --ticks make both smaller.\n"
		"\n"
		"Traces\n"
		"  An event a line, any bytes; or columns, if the first line names them (event, "
		"and "
		"time\n"
		"  or producer) or --trace-columns does: producer,event,time. Other names are "
		"skipped.\n"
		"  CSV: a column with commas or quotes is quoted. Times are seconds with up to 9\n"
		"  decimals or have a unit, and do not step back. Only the event decides what is a "
		"copy.\n"
		"  gzip is recognised. A trace is read into memory: 12 bytes an event.\n");
}

struct topic {
	const char *name, *summary;
	void (*print)(FILE *to);
};

#define TOPIC_ROW(name, summary) { #name, summary, topic_##name },
static const struct topic topics[] = { TOPICS(TOPIC_ROW){ .name = NULL } };

bool topic_print(FILE *to, const char *name)
{
	for (const struct topic *t = topics; t->name; t++) {
		if (strcmp(t->name, name))
			continue;
		t->print(to);
		return true;
	}
	return false;
}

void topics_list(FILE *to)
{
	for (const struct topic *t = topics; t->name; t++)
		fprintf(to, "  xdp-dedup help %-10s %s\n", t->name, t->summary);
}
