// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/store.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "user/accessors.h"
#include "user/health.h"
#include "user/secret.h"

#define HUGE_PAGE (2ul << 20)

static struct store_entry *entries_new(size_t size)
{
	struct store_entry *entries = malloc(size * sizeof(*entries));

	for (size_t i = 0; entries && i < size; i++)
		entries[i].time_ns = STORE_FREE;
	return entries;
}

static void entries_replace(struct xdd_store *store, struct store_entry *entries, u64 *suppressed)
{
	free(store->entries);
	free(store->suppressed);
	store->entries = entries;
	store->suppressed = suppressed;
}

u64 store_lines_bytes(const struct xdd_fixed *fixed)
{
	u64 bytes = (u64)fixed->blocks * fixed->lines_per_block * sizeof(struct xdd_line);

	if (!xdd_grows(fixed))
		return bytes;
	return bytes * fixed->filters +
	       xdd_chains(fixed) * (sizeof(struct xdd_chain) + sizeof(struct store_growth));
}

static void chains_place(struct xdd_store *store)
{
	u64 lines = (u64)xdd_lines(&store->fixed) * store->filters;

	store->chains = (struct xdd_chain *)(store->lines + lines);
	store->growth = (struct store_growth *)(store->chains + xdd_chains(&store->fixed));
}

static int lines_new(struct xdd_store *store)
{
	size_t bytes = store_lines_bytes(&store->fixed) * store_nodes(&store->fixed);
	bool huge = bytes >= HUGE_PAGE;

	if (posix_memalign((void **)&store->lines, huge ? HUGE_PAGE : XDD_LINE_BYTES, bytes))
		return -ENOMEM;
	/* Look-ups anywhere in it would otherwise miss the TLB each time. A hint: it may fail. */
	if (huge)
		madvise(store->lines, bytes, MADV_HUGEPAGE);
	memset(store->lines, 0, bytes);
	if (xdd_grows(&store->fixed))
		chains_place(store);
	return 0;
}

static bool sbf_is_valid(const struct xdd_fixed *fixed)
{
	u32 bits = fixed->sbf_bits;

	return (bits == 1 || bits == 2 || bits == 4 || bits == 8) && fixed->sbf_max &&
	       fixed->sbf_max >> bits == 0 && fixed->reset_bits && fixed->reset_bits <= 64 / bits;
}

/* The core multiplies bits by 32-bit numbers, and events by 22-bit ones. */
static bool bits_are_valid(const struct xdd_fixed *fixed, u64 lines)
{
	if (fixed->engine == XDD_ENGINE_sbf && !sbf_is_valid(fixed))
		return false;
	return fixed->hashes && xdd_bits_filter(fixed) && xdd_bits_filter(fixed) <= 1ULL << 32 &&
	       (!xdd_bits_in_line(fixed) || fixed->slices == lines) &&
	       fixed->variant < XDD_VARIANT_MAX && fixed->reservoir_events <= 1ULL << 42;
}

/* All slices have a line, and what is not used is 0. */
static bool slices_are_valid(const struct xdd_fixed *fixed, u64 lines)
{
	u32 cells = fixed->engine == XDD_ENGINE_timer ? XDD_LINE_TIMERS : XDD_LINE_BITS;
	bool diced = fixed->slicing == XDD_SLICING_hv || fixed->slicing == XDD_SLICING_vh;
	bool products = fixed->slicing == XDD_SLICING_K1xK2;

	if (fixed->slicing >= XDD_SLICING_MAX || (fixed->subslices && !diced) ||
	    (products ? !fixed->slice_hashes || fixed->hashes % fixed->slice_hashes
		      : fixed->slice_hashes))
		return false;
	return fixed->slices && (u64)fixed->slices * xdd_subslices(fixed) <= lines &&
	       fixed->line_cells <= cells;
}

/* What does not grow says nothing about it. */
static bool growth_is_valid(const struct xdd_fixed *fixed, u64 lines)
{
	if (!fixed->filters)
		return fixed->grow == XDD_GROWTH_off;
	return fixed->filters > 1 && fixed->filters <= XDD_MAX_FILTERS && fixed->grow_density &&
	       fixed->grow > XDD_GROWTH_off && fixed->grow < XDD_GROWTH_MAX &&
	       fixed->engine == XDD_ENGINE_timer && fixed->equal < 2 &&
	       !xdd_slices_one_line(fixed) && lines * fixed->filters <= UINT32_MAX &&
	       xdd_chains(fixed) <= XDD_MAX_CHAINS;
}

static bool audit_is_valid(const struct xdd_fixed *fixed)
{
	u32 buckets = fixed->audit_buckets;

	return !fixed->audit_threshold || (buckets && !(buckets & (buckets - 1)));
}

/* The rule of equal timers needs to know them all. */
static bool faults_are_valid(const struct xdd_fixed *fixed)
{
	if (!fixed->fault_policy)
		return !fixed->vote;
	return xdd_engine_may_fail(fixed->engine) && fixed->fault_policy < XDD_FAULTS_MAX &&
	       !fixed->equal && !xdd_grows(fixed) && fixed->vote <= fixed->hashes &&
	       !fixed->vote == (fixed->fault_policy != XDD_FAULTS_vote);
}

static bool streams_are_valid(const struct xdd_fixed *fixed, u64 lines)
{
	return fixed->key == XDD_KEY_redundancy && lines >= XDD_RECOVERY_WAYS &&
	       fixed->history <= XDD_MAX_HISTORY && fixed->history != 1;
}

static bool tree_is_valid(const struct xdd_fixed *fixed)
{
	if (fixed->placement != XDD_PLACEMENT_tree)
		return true;
	return XDD_TREE_ENGINES >> fixed->engine & 1 && fixed->tree < XDD_TREE_MAX &&
	       fixed->levels >= 2 && fixed->levels <= XDD_TREE_MAX_LEVELS && fixed->tree_leaves &&
	       fixed->tree_fan_out && fixed->top_down < fixed->levels && !fixed->refresh &&
	       !fixed->fault_policy && !fixed->filters && fixed->equal < 2 && store_nodes(fixed);
}

static bool fixed_is_valid(const struct xdd_fixed *fixed)
{
	u64 lines = (u64)fixed->blocks * fixed->lines_per_block;

	if (xdd_engine_has_bits(fixed->engine) && !bits_are_valid(fixed, lines))
		return false;
	if (fixed->engine == XDD_ENGINE_recovery && !streams_are_valid(fixed, lines))
		return false;
	if (!tree_is_valid(fixed))
		return false;
	return fixed->engine < XDD_ENGINE_MAX && fixed->key < XDD_KEY_MAX &&
	       fixed->hash < XDD_HASH_MAX && lines && lines <= UINT32_MAX &&
	       slices_are_valid(fixed, lines) && growth_is_valid(fixed, lines) && fixed->hashes &&
	       fixed->hashes <= XDD_MAX_HASHES && fixed->equal <= fixed->hashes && fixed->tick_ns &&
	       audit_is_valid(fixed) && faults_are_valid(fixed);
}

static void tree_new(struct store_tree *tree, const struct xdd_fixed *fixed)
{
	for (u32 level = 0; level < fixed->levels; level++)
		tree->first[level + 1] = tree->first[level] + xdd_tree_width(fixed, level);
}

/* The exact engine's. With counts no key goes to the log, which has none. */
static int table_new(struct xdd_store *store, u64 memory_bytes)
{
	bool counts = store->live.max_suppress;
	u64 bytes = sizeof(*store->entries) + (counts ? sizeof(*store->suppressed) : 0);

	store->max_size = STORE_FIRST_SIZE;
	while (store->max_size * 2 * bytes <= memory_bytes)
		store->max_size *= 2;
	store->size = STORE_FIRST_SIZE;
	store->keep_all = counts;
	store->entries = entries_new(store->size);
	if (counts)
		store->suppressed = calloc(store->size, sizeof(*store->suppressed));
	return store->entries && (store->suppressed || !counts) ? 0 : -ENOMEM;
}

int store_open(struct xdd_store *store, const struct xdd_fixed *fixed, const struct xdd_live *live,
	       u64 memory_bytes)
{
	memset(store, 0, sizeof(*store));
	if (!fixed_is_valid(fixed))
		return -EINVAL;
	store->fixed = *fixed;
	store->filters = xdd_filters(fixed);
	store->filters_most = 1;
	store->live = *live;
	secret_from_seed(&store->secret, fixed->seed);
	store->random = xdd_mix64(~fixed->seed);
	if (fixed->placement == XDD_PLACEMENT_tree)
		tree_new(&store->tree, fixed);
	if (fixed->audit_threshold) {
		store->audit = calloc(fixed->audit_buckets, sizeof(*store->audit));
		if (!store->audit)
			return -ENOMEM;
	}
	if (fixed->fault_policy) {
		store->health = calloc(xdd_healths(fixed), sizeof(*store->health));
		if (!store->health)
			return -ENOMEM;
	}
	store->top = calloc(XDD_TOP_BUCKETS, sizeof(*store->top));
	if (!store->top)
		return -ENOMEM;
	if (fixed->engine != XDD_ENGINE_exact)
		return lines_new(store);
	return table_new(store, memory_bytes);
}

void store_fail(struct xdd_store *store, u32 part)
{
	health_fail(&store->fixed, store->health, part, HEALTH_CAUSE_command);
}

static void recover(struct xdd_store *store, u32 part, enum health_cause cause, u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u32 first = xdd_part_first(fixed, part), end = xdd_part_first(fixed, part + 1);

	memset(&store->lines[first], 0, (size_t)(end - first) * sizeof(*store->lines));
	health_recover(fixed, store->health, part, cause, now_ns, store->live.window_ticks);
}

void store_recover(struct xdd_store *store, u32 part, u64 now_ns)
{
	recover(store, part, HEALTH_CAUSE_command, now_ns);
}

void store_restored(struct xdd_store *store, u64 now_ns)
{
	for (u32 i = 0; store->health && i < xdd_parts(&store->fixed); i++)
		if (health_failed_by(&store->health[1 + i], HEALTH_CAUSE_content))
			recover(store, i, HEALTH_CAUSE_content, now_ns);
}

static void log_drop(struct xdd_store *store)
{
	free(store->log);
	store->log = NULL;
	store->logged = store->log_room = 0;
}

void store_close(struct xdd_store *store)
{
	free(store->lines);
	entries_replace(store, NULL, NULL);
	free(store->audit);
	free(store->health);
	free(store->top);
	log_drop(store);
	store->top = NULL;
	store->lines = NULL;
	store->chains = NULL;
	store->growth = NULL;
	store->audit = NULL;
	store->health = NULL;
}

void store_fill(const struct xdd_store *store, u64 now_ns, struct xdd_fill *fill)
{
	struct xdd_when when = xdd_when(now_ns / store->fixed.tick_ns, store->live.window_ticks);
	u64 lines = (u64)xdd_lines(&store->fixed) * store->filters;

	memset(fill, 0, sizeof(*fill));
	for (u64 i = 0; i < lines; i++) {
		struct xdd_line line = store->lines[i];
		u32 live = xdd_line_sweep(&line, store->fixed.engine == XDD_ENGINE_tagged, when);

		fill->lines++;
		fill->live += live;
		fill->histogram[live]++;
	}
}

u64 store_cells_used(const u64 *words, u64 n, u32 cell_bits)
{
	u64 used = 0;

	for (u64 i = 0; i < n; i++)
		used += __builtin_popcountll(xdd_sbf_used(words[i], cell_bits));
	return used;
}

void store_densities(const struct xdd_store *store, u64 now_ns, double *density)
{
	struct xdd_when when = xdd_when(now_ns / store->fixed.tick_ns, store->live.window_ticks);
	u32 count = xdd_slices_count(&store->fixed), lines = xdd_slice_lines(&store->fixed);
	bool timers = xdd_engine_has_timers(store->fixed.engine);
	double cells = (double)lines * xdd_line_cells(&store->fixed);

	for (u32 i = 0; i < count; i++) {
		u64 live = 0;

		for (u64 at = (u64)i * lines; at < ((u64)i + 1) * lines; at++) {
			struct xdd_line line = store->lines[at];

			live += timers ? xdd_line_sweep(&line, false, when)
				       : store_cells_used(line.word, XDD_LINE_WORDS, 1);
		}
		density[i] = live / cells;
	}
}

u64 store_bytes(const struct xdd_store *store)
{
	if (store->entries)
		return (store->size + store->log_room) * sizeof(*store->entries) +
		       (store->suppressed ? store->size * sizeof(*store->suppressed) : 0);
	return store_lines_bytes(&store->fixed) * store_nodes(&store->fixed);
}

/* The digest's entry, or the free one where it belongs. */
static struct store_entry *entry_of(struct store_entry *entries, size_t size,
				    const struct xdd_digest *digest)
{
	size_t at = digest->lo & (size - 1);

	while (entries[at].time_ns != STORE_FREE &&
	       (entries[at].digest.lo != digest->lo || entries[at].digest.hi != digest->hi))
		at = (at + 1) & (size - 1);
	return &entries[at];
}

/* Entries of a log that has room for all that the table holds. */
static size_t log_room_wanted(const struct xdd_store *store)
{
	size_t room = store->log_room ? store->log_room : STORE_FIRST_SIZE;

	while (room < store->logged + store->used)
		room *= 2;
	return room;
}

/* Keep the log beside a table of @size if there is memory for both; else forget it. */
static bool log_keep(struct xdd_store *store, size_t size)
{
	if (log_room_wanted(store) + size <= store->max_size)
		return true;
	log_drop(store);
	return false;
}

static int log_reserve(struct xdd_store *store)
{
	size_t room = log_room_wanted(store);
	struct store_entry *log = realloc(store->log, room * sizeof(*log));

	if (!log)
		return -ENOMEM;
	store->log = log;
	store->log_room = room;
	return 0;
}

static void log_add(struct xdd_store *store, const struct store_entry *entry)
{
	if (!store->logged || entry->time_ns > store->logged_ns)
		store->logged_ns = entry->time_ns;
	store->log[store->logged++] = *entry;
}

/* Move to a table of @size. What was last seen before @since_ns goes to the log, if @log, or is
 * forgotten.
 */
static int entries_move(struct xdd_store *store, size_t size, u64 since_ns, bool log)
{
	struct store_entry *to = entries_new(size), *from = store->entries, *entry;
	u64 *counts = store->suppressed ? calloc(size, sizeof(*counts)) : NULL;
	size_t used = 0;

	if (!to || (store->suppressed && !counts) || (log && log_reserve(store))) {
		free(to);
		free(counts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < store->size; i++) {
		if (from[i].time_ns == STORE_FREE)
			continue;
		if (from[i].time_ns < since_ns) {
			if (log)
				log_add(store, &from[i]);
			continue;
		}
		entry = entry_of(to, size, &from[i].digest);
		*entry = from[i];
		if (counts)
			counts[entry - to] = store->suppressed[i];
		used++;
	}
	entries_replace(store, to, counts);
	store->size = size;
	store->used = used;
	return 0;
}

/* Bring everything back from the log, for good. */
static int log_recall(struct xdd_store *store)
{
	size_t size = store->size, logged = store->logged;
	struct store_entry *entry;

	while (size < 2 * (logged + store->used + 1) && size < store->max_size)
		size *= 2;
	if (entries_move(store, size, 0, false))
		return -ENOMEM;
	/* The table's entries, then the later ones of the log, say when a key was seen last. */
	while (logged-- && store->used < store->size / 2) {
		entry = entry_of(store->entries, store->size, &store->log[logged].digest);
		if (entry->time_ns != STORE_FREE)
			continue;
		*entry = store->log[logged];
		store->used++;
	}
	log_drop(store);
	store->keep_all = true;
	return 0;
}

static u64 time_before(const struct xdd_store *store, u64 ns)
{
	return store->latest_ns > ns ? store->latest_ns - ns : 0;
}

static size_t entries_since(const struct xdd_store *store, u64 since_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < store->size; i++)
		n += store->entries[i].time_ns != STORE_FREE &&
		     store->entries[i].time_ns >= since_ns;
	return n;
}

/* The time since which a quarter of the table was last seen, or a little less: as little as an
 * eighth, unless there are many of one time.
 */
static u64 time_to_keep(const struct xdd_store *store, u64 low, u64 high)
{
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;
		size_t n = entries_since(store, middle);

		if (n > store->size / 4)
			low = middle;
		else
			high = middle;
		if (n <= store->size / 4 && n >= store->size / 8)
			break;
	}
	return high;
}

/* Forget what a capture in order of time can no longer need, then the oldest within the window. */
static int entries_forget(struct xdd_store *store)
{
	u64 since = time_before(store, store->live.window_ns);
	size_t before;

	if (entries_move(store, store->size, since, false))
		return -ENOMEM;
	if (store->used <= store->size / 4)
		return 0;
	before = store->used;
	since = time_to_keep(store, since, store->latest_ns + 1);
	if (entries_move(store, store->size, since, false))
		return -ENOMEM;
	store->forgotten += before - store->used;
	return 0;
}

/*
 * Room for one more entry. A copy may be stamped long before its first one (two captures put
 * one behind the other), so every key is kept while memory lasts. But those that a capture in
 * order of time no longer needs move to a log, so that the table stays within the CPU's cache,
 * until a packet appears that may be the copy of one of them.
 */
static int entries_make_room(struct xdd_store *store)
{
	u64 recent = store->live.window_ns * (store->in_order ? 1 : 2);

	if (!store->keep_all && store->latest_ns > recent) {
		if (entries_move(store, store->size, store->latest_ns - recent,
				 !store->in_order && log_keep(store, store->size)))
			return -ENOMEM;
		if (store->used <= store->size / 4)
			return 0;
	}
	if (store->size == store->max_size)
		return entries_forget(store);
	log_keep(store, store->size * 2);
	return entries_move(store, store->size * 2, 0, false);
}

u64 *store_exact(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, bool *fresh)
{
	struct store_entry *entry = entry_of(store->entries, store->size, digest);
	int rc = 0;

	if (now_ns > store->latest_ns)
		store->latest_ns = now_ns;
	if (entry->time_ns != STORE_FREE)
		return &entry->time_ns;
	if (store->logged && now_ns <= store->logged_ns + store->live.window_ns)
		rc = log_recall(store);
	if (!rc && store->used >= store->size / 2)
		rc = entries_make_room(store);
	if (rc)
		return NULL;
	entry = entry_of(store->entries, store->size, digest);
	if (entry->time_ns != STORE_FREE)
		return &entry->time_ns;
	store->used++;
	entry->digest = *digest;
	entry->time_ns = now_ns; /* its count, if any, is 0 */
	*fresh = true;
	return &entry->time_ns;
}

u64 *store_exact_suppressed(struct xdd_store *store, const struct xdd_digest *digest)
{
	struct store_entry *entry = entry_of(store->entries, store->size, digest);

	return entry->time_ns == STORE_FREE ? NULL : store_exact_count(store, &entry->time_ns);
}

static bool is_table_size(u64 size)
{
	return size >= STORE_FIRST_SIZE && !(size & (size - 1));
}

int store_resize(struct xdd_store *store, u64 size, u64 log_room)
{
	if (!is_table_size(size) || (log_room && !is_table_size(log_room)))
		return -EINVAL;
	if (size > store->max_size || log_room > store->max_size - size)
		return -ENOSPC;
	free(store->entries);
	store->entries = entries_new(size);
	store->size = size;
	store->used = 0;
	log_drop(store);
	if (log_room)
		store->log = malloc(log_room * sizeof(*store->log));
	store->log_room = log_room;
	return store->entries && (store->log || !log_room) ? 0 : -ENOMEM;
}

int store_put(struct xdd_store *store, const struct store_entry *entry)
{
	struct store_entry *to = entry_of(store->entries, store->size, &entry->digest);

	if (to->time_ns != STORE_FREE || entry->time_ns == STORE_FREE ||
	    store->used >= store->size / 2)
		return -EINVAL;
	*to = *entry;
	store->used++;
	return 0;
}

int store_log(struct xdd_store *store, const struct store_entry *entry)
{
	if (entry->time_ns == STORE_FREE || store->logged >= store->log_room)
		return -EINVAL;
	log_add(store, entry);
	return 0;
}

/* The verdict with hash and engine as constants, so that no word of a packet is asked for them. */
#define DECIDE_EXACT(name, help)                                                                   \
	static struct xdd_verdict decide_exact_##name(struct xdd_store *store,                     \
						      const struct xdd_packet *packet, u64 now_ns) \
	{                                                                                          \
		struct xdd_fixed fixed = store->fixed;                                             \
                                                                                                   \
		fixed.engine = XDD_ENGINE_exact;                                                   \
		fixed.hash = XDD_HASH_##name;                                                      \
		return xdd_decide(&fixed, &store->live, &store->secret, store, packet, now_ns, 0); \
	}
XDD_HASHES(DECIDE_EXACT)

#define DECIDE_EXACT_ROW(name, help) decide_exact_##name,
static struct xdd_verdict (*const decide_exact[])(struct xdd_store *store,
						  const struct xdd_packet *packet,
						  u64 now_ns) = { XDD_HASHES(DECIDE_EXACT_ROW) };

/* xdd_decide() by parts, for whoever wants to know the digest. */
static struct xdd_verdict decide_growing(struct xdd_store *store, const struct xdd_packet *packet,
					 u64 now_ns)
{
	struct xdd_identity identity = {};
	u32 bypass = xdd_identify(&store->fixed, &store->secret, packet, &identity);
	struct xdd_verdict verdict = xdd_conclude(&store->fixed, &store->live, store, packet,
						  &identity, bypass, now_ns, store_random(store));

	if (verdict.bypass == XDD_BYPASS_MAX)
		store_grow(store, &identity.digest, now_ns, verdict.found);
	return verdict;
}

struct xdd_verdict store_decide(struct xdd_store *store, const struct xdd_packet *packet,
				u64 now_ns)
{
	struct xdd_verdict verdict;

	if (store->fixed.engine == XDD_ENGINE_exact)
		return decide_exact[store->fixed.hash](store, packet, now_ns);
	if (xdd_grows(&store->fixed)) {
		verdict = decide_growing(store, packet, now_ns);
		store->time_back += !!(verdict.found & XDD_TIME_BACK);
		return verdict;
	}
	verdict = xdd_decide(&store->fixed, &store->live, &store->secret, store, packet, now_ns,
			     store_random(store));
	store->evictions += !!(verdict.found & XDD_EVICTED);
	store->time_back += !!(verdict.found & XDD_TIME_BACK);
	store->rogue += !!(verdict.found & XDD_ROGUE);
	return verdict;
}

static double streams_load(const struct xdd_store *store)
{
	u32 lines = xdd_lines(&store->fixed), used = 0;

	for (u32 i = 0; i < lines; i++)
		used += !xdd_stream_is_free(&store->lines[i].stream);
	return (double)used / lines;
}

/* The lowest @n bits: none below 1, all from 64 on. */
static u64 low_bits(s32 n)
{
	if (n < 1)
		return 0;
	return n < 64 ? (1ULL << n) - 1 : ~0ULL;
}

u32 store_part_ones(const struct xdd_fixed *fixed, const struct xdd_line *line, u32 filter)
{
	s32 bits = xdd_bits_of_line(fixed), first = filter * bits;
	u32 ones = 0;

	for (s32 w = 0; w < XDD_LINE_WORDS; w++) {
		u64 part = low_bits(first + bits - 64 * w) & ~low_bits(first - 64 * w);

		ones += __builtin_popcountll(line->word[w] & part);
	}
	return ones;
}

double store_parts_ones(const struct xdd_fixed *fixed, const struct xdd_line *lines, u64 n,
			u64 ones[XDD_MAX_HASHES])
{
	double bits = xdd_bits_of_line(fixed), sum = 0;

	for (u64 i = 0; i < n; i++) {
		double rate = 1;

		for (u32 filter = 0; filter < fixed->hashes; filter++) {
			u32 set = store_part_ones(fixed, &lines[i], filter);

			ones[filter] += set;
			rate *= set / bits;
		}
		sum += rate;
	}
	return sum;
}

double store_load(struct xdd_store *store, u64 now_ns)
{
	u32 cell_bits = xdd_cell_bits(&store->fixed);
	double cells = xdd_cells(&store->fixed);
	struct xdd_fill fill;

	if (store->fixed.engine == XDD_ENGINE_exact)
		return (double)store->used / store->size;
	if (store->fixed.engine == XDD_ENGINE_recovery)
		return streams_load(store);
	if (!xdd_engine_has_bits(store->fixed.engine)) {
		store_fill(store, now_ns, &fill);
		return fill.live / (cells * store_filters_live(store));
	}
	return (double)store_cells_used(store->lines->word,
					(u64)xdd_lines(&store->fixed) * XDD_LINE_WORDS, cell_bits) *
	       cell_bits / cells;
}
