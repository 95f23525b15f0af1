/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/timeline.h"

#define FIRST_BIN_NS 1000000

static void fold(struct timeline *t)
{
	for (int c = 0; c < TIMELINE_MAX; c++)
		for (u32 i = 0; i < TIMELINE_BINS; i++)
			t->count[c][i] = i < TIMELINE_BINS / 2
						 ? t->count[c][2 * i] + t->count[c][2 * i + 1]
						 : 0;
	t->used = (t->used + 1) / 2;
	t->bin_ns *= 2;
}

void timeline_add(struct timeline *t, u64 time_ns, enum timeline_count count)
{
	u64 since;

	if (!t->bin_ns) {
		t->start_ns = time_ns;
		t->bin_ns = FIRST_BIN_NS;
	}
	since = time_ns > t->start_ns ? time_ns - t->start_ns : 0;
	while (since / t->bin_ns >= TIMELINE_BINS)
		fold(t);
	if (since / t->bin_ns >= t->used)
		t->used = since / t->bin_ns + 1;
	t->count[count][since / t->bin_ns]++;
}

static json_t *counts_json(const u64 *counts, u32 n)
{
	json_t *all = json_array();

	for (u32 i = 0; i < n; i++)
		json_array_append_new(all, json_integer(counts[i]));
	return all;
}

#define TIMELINE_SET(name) \
	json_object_set_new(all, #name, counts_json(t->count[TIMELINE_##name], t->used));

json_t *timeline_json(const struct timeline *t)
{
	json_t *all;

	if (!t->bin_ns)
		return json_null();
	all = json_pack("{s:f}", "bin_seconds", t->bin_ns / 1e9);
	TIMELINE_COUNTS(TIMELINE_SET)
	return all;
}
