// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * simulate's work, rlbsbf with 512 MiB and k = 2, one record after the other: draw it, ask the
 * truth, ask the filter, count. The baseline of simulate.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/accessors.h"
#include "user/batch.h"
#include "user/stream.h"

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
	u64 records = strtoull(argv[1], 0, 0);
	double distinct = atof(argv[2]);
	u32 mode = atoi(argv[3]);
	u64 domain = stream_domain(records, distinct);
	struct stream stream;
	struct truth truth;
	struct xdd_store store;
	struct xdd_fixed fixed = {.engine = XDD_ENGINE_rlbsbf, .hashes = 2, .blocks = 8 << 20, .lines_per_block = 1, .slices = 1, .tick_ns = 1, .placement = XDD_PLACEMENT_percpu, .seed = 1};
	struct xdd_live live = {.abi = XDD_ABI, .window_ticks = 1, .window_ns = STORE_FOREVER_NS };
	u64 fp = 0, fn = 0, nd = 0, n;
	static u64 ids[BATCH_MAX];
	static struct xdd_digest digests[BATCH_MAX];
	static bool seen[BATCH_MAX];
	double t0, td = 0, ta = 0, tj = 0;
	(void)argc;
	stream_open(&stream, domain, 0, 1);
	truth_open(&truth, domain, 0);
	memset(truth.seen, 1, domain / 8); memset(truth.seen, 0, domain / 8);
	if (store_open(&store, &fixed, &live, 1 << 20)) return 1;
	if (mode == 9) { /* pure random access bound */
		u64 acc = 0;
		t0 = cpu();
		for (u64 i = 0; i < records; i++) {
			u64 r = xdd_mix64(i);
			acc += store.lines[(r >> 32) * (8 << 20) >> 32].word[0];
			acc += store.lines[(r & 0xffffffff) * (8 << 20) >> 32].word[0];
		}
		printf("reads %.1f ns/record of 2 lines (%llu)\n", (cpu() - t0) / records * 1e9, acc);
		return 0;
	}
	t0 = cpu();
	u64 B = mode & 1 ? BATCH_MAX : 1;
	for (u64 done = 0; done < records; done += n) {
		double a = 0, b = 0, c = 0;
		n = records - done < B ? records - done : B;
		if (B > 1) a = cpu();
		for (u32 i = 0; i < n; i++) {
			ids[i] = stream_next(&stream);
			if (B > 1) truth_fetch(&truth, ids[i]);
			digests[i].lo = xdd_mix64(ids[i] ^ stream.seed);
		}
		if (B > 1) b = cpu();
		if (B > 1)
			batch_ask(&store, digests, n, 1 + done, seen);
		else {
			struct xdd_identity id;
			id.digest = digests[0];
			seen[0] = xdd_ask(&store.fixed, &store, &id, 1 + done, 1, 1, store_random(&store)) & XDD_SEEN;
		}
		if (B > 1) c = cpu();
		for (u32 i = 0; i < n; i++) {
			bool copy = truth_ask(&truth, ids[i], done + i + 1);
			nd += !copy;
			fp += !copy && seen[i];
			fn += copy && !seen[i];
		}
		if (B > 1) td += b - a, ta += c - b, tj += cpu() - c;
	}
	t0 = cpu() - t0;
	printf("mode %u distinct %.2f: %.1f ns/record %.1f M/s  draw %.1f ask %.1f judge %.1f  distinct %llu fp %llu fn %llu\n", mode, distinct, t0 / records * 1e9, records / t0 / 1e6,
	       td / records * 1e9, ta / records * 1e9, tj / records * 1e9, nd, fp, fn);
}
