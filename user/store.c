// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/store.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/secret.h"

#define STORE_FIRST_SIZE (1u << 14)

static struct store_entry *entries_new(size_t size)
{
	struct store_entry *entries = malloc(size * sizeof(*entries));

	for (size_t i = 0; entries && i < size; i++)
		entries[i].time_ns = STORE_FREE;
	return entries;
}

static int lines_new(struct xdd_store *store)
{
	size_t bytes = (size_t)store->fixed.blocks * store->fixed.lines_per_block *
		       sizeof(struct xdd_line);

	if (posix_memalign((void **)&store->lines, XDD_LINE_BYTES, bytes))
		return -ENOMEM;
	memset(store->lines, 0, bytes);
	return 0;
}

static bool fixed_is_valid(const struct xdd_fixed *fixed)
{
	u64 lines = (u64)fixed->blocks * fixed->lines_per_block;

	return fixed->engine < XDD_ENGINE_MAX && fixed->key < XDD_KEY_MAX &&
	       fixed->hash < XDD_HASH_MAX && lines && lines <= UINT32_MAX && fixed->slices &&
	       fixed->slices <= lines && fixed->hashes && fixed->hashes <= XDD_MAX_HASHES &&
	       fixed->tick_ns;
}

int store_open(struct xdd_store *store, const struct xdd_fixed *fixed, const struct xdd_live *live,
	       u64 memory_bytes)
{
	memset(store, 0, sizeof(*store));
	if (!fixed_is_valid(fixed))
		return -EINVAL;
	store->fixed = *fixed;
	store->live = *live;
	secret_from_seed(&store->secret, fixed->seed);
	if (fixed->engine != XDD_ENGINE_exact)
		return lines_new(store);
	store->max_size = STORE_FIRST_SIZE;
	while (store->max_size * 2 * sizeof(*store->entries) <= memory_bytes)
		store->max_size *= 2;
	store->size = STORE_FIRST_SIZE;
	store->entries = entries_new(store->size);
	return store->entries ? 0 : -ENOMEM;
}

void store_close(struct xdd_store *store)
{
	free(store->lines);
	free(store->entries);
	store->lines = NULL;
	store->entries = NULL;
}

u64 store_bytes(const struct xdd_store *store)
{
	if (store->entries)
		return store->size * sizeof(*store->entries);
	return (u64)store->fixed.blocks * store->fixed.lines_per_block * sizeof(struct xdd_line);
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

/* Move to a table of @size, leaving behind what was last seen before @since_ns. */
static int entries_move(struct xdd_store *store, size_t size, u64 since_ns)
{
	struct store_entry *to = entries_new(size), *from = store->entries;
	size_t used = 0;

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < store->size; i++) {
		if (from[i].time_ns == STORE_FREE || from[i].time_ns < since_ns)
			continue;
		*entry_of(to, size, &from[i].digest) = from[i];
		used++;
	}
	free(from);
	store->entries = to;
	store->size = size;
	store->used = used;
	return 0;
}

/*
 * Room for one more entry. A copy may be stamped long before its first one (two captures put
 * one behind the other), so every key is kept while memory lasts; then those are forgotten
 * that a capture in order of time can no longer need; then those within the window, counted.
 */
static int entries_make_room(struct xdd_store *store)
{
	u64 window = store->live.window_ns, since = 0;
	size_t before = store->used;

	if (store->size < store->max_size)
		return entries_move(store, store->size * 2, 0);
	if (store->latest_ns > window)
		since = store->latest_ns - window;
	if (entries_move(store, store->size, since))
		return -ENOMEM;
	if (store->used <= store->size / 4)
		return 0;
	before = store->used;
	if (entries_move(store, store->size, store->latest_ns - window / 4))
		return -ENOMEM;
	if (store->used > store->size / 4)
		entries_move(store, store->size, STORE_FREE);
	store->forgotten += before - store->used;
	return 0;
}

u64 *store_exact(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, bool *fresh)
{
	struct store_entry *entry = entry_of(store->entries, store->size, digest);

	if (now_ns > store->latest_ns)
		store->latest_ns = now_ns;
	if (entry->time_ns != STORE_FREE)
		return &entry->time_ns;
	if (store->used >= store->size / 2) {
		if (entries_make_room(store))
			return NULL;
		entry = entry_of(store->entries, store->size, digest);
	}
	store->used++;
	entry->digest = *digest;
	entry->time_ns = now_ns;
	*fresh = true;
	return &entry->time_ns;
}

struct xdd_verdict store_decide(struct xdd_store *store, const struct xdd_packet *packet,
				u64 now_ns)
{
	struct xdd_verdict verdict =
		xdd_decide(&store->fixed, &store->live, &store->secret, store, packet, now_ns);

	store->evictions += !!(verdict.found & XDD_EVICTED);
	store->time_back += !!(verdict.found & XDD_TIME_BACK);
	return verdict;
}
