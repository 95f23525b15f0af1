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
	if (bpf_map_lookup_elem(in->maps.collecting, &zero, &collected->now))
		return -errno;
	collected->alone = collected->now.period && !instance_ageing_pid(in);
	return 0;
}

static const char *state(const struct collected *collected)
{
	if (collected->alone)
		return "in a period whose agent is gone, until one is started";
	return collected->now.period ? "a period goes on" : "nobody asks now";
}

void collected_print(const struct collected *collected)
{
	const struct xdd_collecting *now = &collected->now;

	if (!collected->there)
		return;
	printf("  collects    %s, room for %" PRIu64 " keys; %" PRIu64 " period%s ended",
	       state(collected), (uint64_t)collected->room, (uint64_t)now->periods,
	       now->periods == 1 ? "" : "s");
	if (now->periods)
		printf(", the last one with %" PRIu64 " key%s", (uint64_t)now->keys,
		       now->keys == 1 ? "" : "s");
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
	return json_pack("{s:b, s:b, s:I, s:I, s:I, s:I, s:I}", "collecting",
			 now->period && !collected->alone, "agent_gone", collected->alone, "room",
			 (json_int_t)collected->room, "periods", (json_int_t)now->periods, "keys",
			 (json_int_t)now->keys, "overflow_packets", (json_int_t)now->overflow,
			 "refused", (json_int_t)now->refused);
}
