// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * simulate RECORDS DISTINCT: what simulate.sh compares `xdp-dedup simulate` with, engine rlbsbf of
 * 512 MiB with k = 2. Each line: nanoseconds of this thread's time per record, and what they are.
 *   plain         draw a record, ask the truth and the filter, count; then the next one
 *   plain-4k      the same over memory without huge pages, as malloc() gives it
 *   filter-plain  the filter's part of it, batch_ask_plain()
 *   filter        the same by batch_ask()
 *   reads         two words read at random places of the memory: no decision takes less without
 *                 fetching ahead
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "user/accessors.h"
#include "user/batch.h"
#include "user/stream.h"

#define LINES (512u << 20 >> 6)

enum work { PLAIN, PLAIN_4K, FILTER_PLAIN, FILTER, READS };

struct loop {
	u64 records;
	struct stream stream;
	struct truth truth;
	struct xdd_store store;
	u64 sum; /* what was found */
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int loop_open(struct loop *loop, u64 records, double distinct)
{
	const struct xdd_fixed fixed = { .engine = XDD_ENGINE_rlbsbf,
					 .placement = XDD_PLACEMENT_percpu,
					 .hashes = 2,
					 .slices = 1,
					 .blocks = LINES,
					 .lines_per_block = 1,
					 .tick_ns = 1 };
	const struct xdd_live live = { .abi = XDD_ABI, .window_ticks = 1 };
	u64 domain = stream_domain(records, distinct);

	*loop = (struct loop){ .records = records };
	stream_open(&loop->stream, domain, 0, 1);
	if (truth_open(&loop->truth, domain, 0))
		return -1;
	return store_open(&loop->store, &fixed, &live, 0);
}

static void loop_close(struct loop *loop)
{
	store_close(&loop->store);
	truth_close(&loop->truth);
}

static u64 key_of(struct loop *loop, u64 id)
{
	return xdd_mix64(id ^ loop->stream.seed);
}

static double run_plain(struct loop *loop)
{
	struct xdd_store *store = &loop->store;
	double start = cpu_ns();

	for (u64 i = 0; i < loop->records; i++) {
		u64 id = stream_next(&loop->stream);
		struct xdd_identity identity = { .digest.lo = key_of(loop, id) };
		bool copy = truth_ask(&loop->truth, id, i + 1);
		u32 found =
			xdd_ask(&store->fixed, store, &identity, i + 1, 1, 1, store_random(store));

		loop->sum += copy != (found & XDD_SEEN);
	}
	return cpu_ns() - start;
}

static double run_filter(struct loop *loop, bool plain)
{
	struct xdd_digest digests[BATCH_MAX];
	u64 times_ns[BATCH_MAX] = {}; /* rlbsbf asks for none */
	bool seen[BATCH_MAX];
	double spent = 0, start;

	for (u64 done = 0, n; done < loop->records; done += n) {
		n = loop->records - done < BATCH_MAX ? loop->records - done : BATCH_MAX;
		for (u32 i = 0; i < n; i++)
			digests[i].lo = digests[i].hi = key_of(loop, stream_next(&loop->stream));
		start = cpu_ns();
		if (plain)
			batch_ask_plain(&loop->store, digests, times_ns, n, seen);
		else
			batch_ask(&loop->store, digests, times_ns, n, seen);
		spent += cpu_ns() - start;
	}
	return spent;
}

static double run_reads(struct loop *loop)
{
	double start = cpu_ns();
	u32 rest;

	for (u64 i = 0; i < loop->records; i++) {
		u64 draw = xdd_mix64(i);

		loop->sum += loop->store.lines[xdd_range(draw >> 32, LINES, &rest)].word[0];
		loop->sum += loop->store.lines[xdd_range(draw, LINES, &rest)].word[0];
	}
	return cpu_ns() - start;
}

/* One measurement in memory of its own. Returns 0 or -1. */
static int measure(const char *name, enum work work, u64 records, double distinct)
{
	struct loop loop;
	double ns;

	prctl(PR_SET_THP_DISABLE, work == PLAIN_4K, 0, 0, 0);
	if (loop_open(&loop, records, distinct))
		return -1;
	if (work == READS)
		ns = run_reads(&loop);
	else if (work == PLAIN || work == PLAIN_4K)
		ns = run_plain(&loop);
	else
		ns = run_filter(&loop, work == FILTER_PLAIN);
	printf("%.2f %s\n", ns / records, name);
	/* Without a use of it the compiler might leave work out. */
	xdd_opaque(loop.sum);
	loop_close(&loop);
	return 0;
}

int main(int argc, char **argv)
{
	u64 records = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	double distinct = argc == 3 ? strtod(argv[2], NULL) : 0;

	if (!records || !(distinct > 0 && distinct < 1)) {
		fprintf(stderr, "usage: simulate RECORDS DISTINCT\n");
		return 2;
	}
	if (measure("plain", PLAIN, records, distinct) ||
	    measure("plain-4k", PLAIN_4K, records, distinct) ||
	    measure("filter-plain", FILTER_PLAIN, records, distinct) ||
	    measure("filter", FILTER, records, distinct) ||
	    measure("reads", READS, records, distinct)) {
		fprintf(stderr, "simulate: not enough memory: 1 GiB is needed\n");
		return 1;
	}
	return 0;
}
