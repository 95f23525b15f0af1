// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/cluster/occupancy.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/loader/mapped.h"
#include "user/loader/program.h"
#include "user/model/replica.h"
#include "user/words.h"
#include "xdd/growth.h"
#include "xdd/line.h"

#define BATCH 4096	    /* entries of engine exact that are read at once */
#define LINES_PER_CLOCK 256 /* far less than a tick */

/* A walk over a filter. */
struct walk {
	const struct xdd_fixed *fixed;
	u32 shift;
	const u64 *sent; /* or NULL */
	u64 *bits;
	u64 keys, unpublished;
	u64 window_ns;
	struct xdd_when when;
	u64 now_ns;
};

/* The filter's clock. What is written while the walk goes on must not seem to come from far ahead. */
static void look_at_clock(struct walk *w)
{
	bool coarse = w->fixed->clock == XDD_CLOCK_coarse;

	w->now_ns = clock_ns(coarse ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC);
	w->when = xdd_when(w->now_ns / w->fixed->tick_ns, w->when.window_ticks);
}

bool occupancy_can(const struct xdd_fixed *fixed)
{
	bool shared = fixed->placement == XDD_PLACEMENT_shared;

	if (fixed->placement == XDD_PLACEMENT_tree || fixed->scope_iface)
		return false;
	if (fixed->engine == XDD_ENGINE_bloom)
		return shared;
	if (fixed->engine == XDD_ENGINE_exact)
		return !xdd_key_is_flow(fixed->key) && fixed->key != XDD_KEY_redundancy;
	return xdd_engine_has_timers(fixed->engine);
}

static void set(const struct walk *w, u64 at)
{
	u64 place = xdd_replica_place(at, w->shift);

	w->bits[place / 64] |= 1ULL << place % 64;
}

static bool was_sent(const struct walk *w, u64 at)
{
	u64 place = xdd_replica_place(at, w->shift);

	return w->sent && w->sent[place / 64] >> place % 64 & 1;
}

static void add_entry(struct walk *w, struct xdd_entry entry)
{
	bool sent = w->sent;
	u64 at = entry.first;

	for (u32 i = 0; i < w->fixed->replica_hashes; i++, at += entry.step) {
		set(w, at);
		sent = sent && was_sent(w, at);
	}
	w->keys++;
	w->unpublished += !sent;
}

/* The live cells of line @number, whose words as they were are @read. */
static void add_tagged(struct walk *w, const struct xdd_line *read, u32 number,
		       const struct xdd_when *when)
{
	for (u32 i = 0; i < XDD_LINE_WORDS; i++) {
		u64 word = read->word[i] & (i ? ~0ULL : ~0xffffffffULL);

		word = word ? xdd_word_cells(word, when) : 0;
		if ((u32)word)
			add_entry(w, xdd_entry_tagged(number, word));
		if (word >> 32)
			add_entry(w, xdd_entry_tagged(number, word >> 32));
	}
}

static void add_timers(struct walk *w, const struct xdd_line *read, u32 number,
		       const struct xdd_when *when)
{
	for (u32 i = 0; i < xdd_line_cells(w->fixed); i++)
		if (xdd_timer_live(read->timer[i], when))
			set(w, xdd_replica_cell(w->fixed, number, i));
}

static void add_bits(struct walk *w, const struct xdd_line *read, u32 number)
{
	for (u32 i = 0; i < XDD_LINE_WORDS; i++)
		for (u64 word = read->word[i]; word; word &= word - 1)
			set(w, xdd_replica_cell(w->fixed, number, i * 64 + __builtin_ctzll(word)));
}

/* A line that others write meanwhile, as the ager reads it: words of one moment each, the header last. */
static void add_line(struct walk *w, const struct xdd_line *line, u32 number)
{
	struct xdd_when when = w->when;
	struct xdd_line read;
	s32 age;

	xdd_line_read(line, &read);
	if (w->fixed->engine == XDD_ENGINE_bloom) {
		add_bits(w, &read, number);
		return;
	}
	age = xdd_line_age(&read, &when);
	if (xdd_line_is_stale(age))
		return;
	xdd_line_catch_up(age, &when);
	if (w->fixed->engine == XDD_ENGINE_tagged)
		add_tagged(w, &read, number, &when);
	else
		add_timers(w, &read, number, &when);
}

/* Of a filter that grows: as many lines at each place. */
static void add_places(struct walk *w, const struct xdd_line *first, u32 number, u32 n)
{
	u32 filters = xdd_filters(w->fixed);

	for (u32 i = 0; i < n; i++) {
		if (!((number + i) % LINES_PER_CLOCK))
			look_at_clock(w);
		for (u32 filter = 0; filter < filters; filter++)
			add_line(w, &first[(size_t)i * filters + filter], number + i);
	}
}

static int walk_shared(struct walk *w, const struct instance *in)
{
	size_t bytes = (size_t)xdd_lines(w->fixed) * xdd_filters(w->fixed) * XDD_LINE_BYTES;
	const struct xdd_line *lines = mapped_open(in->maps.lines, bytes, false);

	if (!lines)
		return -errno;
	add_places(w, lines, 0, xdd_lines(w->fixed));
	mapped_close(lines, bytes);
	return 0;
}

/* Lines of @first whose header is of a time about now. */
static u32 fresh_lines(const struct walk *w, const struct xdd_line *first, u32 n)
{
	u32 fresh = 0;

	for (u32 i = 0; i < n; i++)
		fresh += !xdd_line_is_stale(xdd_line_age(&first[i], &w->when));
	return fresh;
}

/*
 * The lines of a block of one CPU. They begin at its first 64-byte boundary in the kernel, which is not seen
 * from here: 0 to 7 words behind its start. There the headers are, which are times about now; elsewhere tags
 * and timers are taken for one with a chance of 2^-24.
 */
static const struct xdd_line *block_lines(const struct walk *w, const u64 *block)
{
	u32 n = xdd_filters(w->fixed) * w->fixed->lines_per_block, most = 0;
	const struct xdd_line *found = (const struct xdd_line *)block;

	for (u32 skip = 0; skip < XDD_LINE_WORDS; skip++) {
		const struct xdd_line *lines = (const struct xdd_line *)(block + skip);
		u32 fresh = fresh_lines(w, lines, n);

		if (fresh > most) {
			most = fresh;
			found = lines;
		}
	}
	return most ? found : NULL;
}

/* What one CPU has seen, or another, the host has. */
static int walk_percpu(struct walk *w, const struct instance *in)
{
	u32 cpus = libbpf_num_possible_cpus(), n = w->fixed->lines_per_block;
	u64 *values = malloc((size_t)cpus * XDD_CPU_BLOCK_BYTES);
	int err = values ? 0 : -ENOMEM;

	for (u32 block = 0; !err && block < w->fixed->blocks; block++) {
		if (bpf_map_lookup_elem(in->maps.cpu_blocks, &block, values)) {
			err = -errno;
			break;
		}
		look_at_clock(w);
		for (u32 cpu = 0; cpu < cpus; cpu++) {
			const struct xdd_line *lines =
				block_lines(w, values + cpu * (XDD_CPU_BLOCK_BYTES / 8ul));

			if (lines)
				add_places(w, lines, block * n, n);
		}
	}
	free(values);
	return err;
}

struct batch {
	struct xdd_digest digest[BATCH];
	struct xdd_seen seen[BATCH];
};

static void add_batch(struct walk *w, const struct batch *batch, u32 n)
{
	look_at_clock(w);
	for (u32 i = 0; i < n; i++) {
		u64 time_ns = batch->seen[i].time_ns;

		if (xdd_apart(w->now_ns, time_ns) <= w->window_ns)
			add_entry(w, xdd_entry(batch->digest[i].lo, batch->digest[i].hi));
	}
}

static int walk_exact(struct walk *w, const struct instance *in)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	struct batch *batch = malloc(sizeof(*batch));
	u64 at = 0;
	bool more = batch, first = true;
	int err = batch ? 0 : -ENOMEM;

	while (more) {
		u32 n = BATCH;

		if (bpf_map_lookup_batch(in->maps.digests, first ? NULL : &at, &at, batch->digest,
					 batch->seen, &n, &opts)) {
			more = false;
			err = errno == ENOENT ? 0 : -errno;
		}
		if (!err)
			add_batch(w, batch, n);
		first = false;
	}
	free(batch);
	return err;
}

/* Of cells nobody knows whose they are: as many keys as set so many bits. */
static void estimate_keys(struct walk *w, u64 ones)
{
	double cells = 1ULL << w->shift, known;
	u32 k = w->fixed->replica_hashes;

	known = w->sent ? words_ones_in(w->bits, w->sent, cells / 64) / cells : 0;
	w->keys = model_fill_keys(ones / cells, cells, k);
	w->unpublished = w->keys - model_fill_keys(known, cells, k);
}

int occupancy_read(const struct instance *in, u32 shift, const u64 *sent, u64 *bits,
		   struct occupancy *about)
{
	struct walk w = {
		.fixed = &in->fixed,
		.shift = shift,
		.sent = sent,
		.bits = bits,
		.window_ns = in->live.window_ns,
		.when = { .window_ticks = in->live.window_ticks },
	};
	u64 words = (1ULL << shift) / 64;
	int err;

	if (!occupancy_can(&in->fixed))
		return -EOPNOTSUPP;
	memset(bits, 0, words * sizeof(*bits));
	look_at_clock(&w);
	if (in->fixed.engine == XDD_ENGINE_exact)
		err = walk_exact(&w, in);
	else if (in->fixed.placement == XDD_PLACEMENT_shared)
		err = walk_shared(&w, in);
	else
		err = walk_percpu(&w, in);
	about->ones = words_ones(bits, words);
	if (!err && xdd_engine_is_sliced(in->fixed.engine))
		estimate_keys(&w, about->ones);
	about->keys = w.keys;
	about->unpublished = w.unpublished;
	about->hashes = in->fixed.replica_hashes;
	return err;
}

/* What must be alike of two hosts, and nothing else: the rest is zeros. */
static void alike(const struct xdd_fixed *fixed, struct xdd_fixed *same)
{
	*same = *fixed;
	same->placement = same->clock = same->stripes = 0;
	same->refresh = same->equal = same->fault_policy = same->vote = 0;
	same->tick_ns = 0;
	same->audit_threshold = same->audit_buckets = same->audit_race_ns = 0;
	same->grow_density = same->grow = same->filters = 0;
	same->tree_leaves = same->tree_fan_out = 0;
	same->peers = same->replica_shift = 0;
	same->watch_hashes = same->watch_bits = 0;
	if (fixed->hash != XDD_HASH_xxh64)
		same->seed = 0;
	if (fixed->engine == XDD_ENGINE_exact)
		same->hashes = same->blocks = same->lines_per_block = 0;
}

int occupancy_fingerprint(const struct instance *in, u64 *fingerprint)
{
	struct {
		u64 abi;
		struct xdd_fixed fixed;
		struct xdd_secret secret;
	} all = { .abi = XDD_ABI };
	struct xdd_hash hash;
	int err = program_get_secret(in->maps.rodata, &all.secret);

	if (err)
		return err;
	alike(&in->fixed, &all.fixed);
	xdd_hash_start(&hash, XDD_HASH_siphash, false, &all.secret, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(u64); i++)
		xdd_sip_word(hash.v, ((const u64 *)(const void *)&all)[i]);
	hash.len = sizeof(all);
	*fingerprint = xdd_sip_finish(&hash, false).lo;
	explicit_bzero(&all, sizeof(all));
	return 0;
}
