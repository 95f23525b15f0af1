// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/metrics/collected.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int collected_read(const struct instance *in, struct collected *collected)
{
	const u32 zero = 0;

	*collected = (struct collected){ .there = in->fixed.collect_keys != 0,
					 .room = in->fixed.collect_keys };
	if (!collected->there)
		return 0;
	return bpf_map_lookup_elem(in->maps.collecting, &zero, &collected->now) ? -errno : 0;
}

void collected_print(const struct collected *collected)
{
	const struct xdd_collecting *now = &collected->now;

	if (!collected->there)
		return;
	printf("  collects    %s, room for %" PRIu64 " keys; %" PRIu64 " periods ended",
	       now->period ? "a period goes on" : "nobody asks now", (uint64_t)collected->room,
	       (uint64_t)now->periods);
	if (now->periods)
		printf(", the last one with %" PRIu64 " keys", (uint64_t)now->keys);
	printf("\n");
	if (now->overflow)
		printf("              no room for the keys of %" PRIu64
		       " packets: --collect more\n",
		       (uint64_t)now->overflow);
	if (now->refused)
		printf("              %" PRIu64
		       " questions refused: damaged, or of someone without "
		       "the same --secret-file\n",
		       (uint64_t)now->refused);
}

json_t *collected_json(const struct collected *collected)
{
	const struct xdd_collecting *now = &collected->now;

	if (!collected->there)
		return json_null();
	return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I}", "collecting", now->period != 0, "room",
			 (json_int_t)collected->room, "periods", (json_int_t)now->periods, "keys",
			 (json_int_t)now->keys, "overflow_packets", (json_int_t)now->overflow,
			 "refused", (json_int_t)now->refused);
}
