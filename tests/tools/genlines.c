// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * genlines LINES DOMAIN [SEED]: lines of 8 to 15 characters for tests and benchmarks, drawn
 * uniformly from DOMAIN different ones, the same for the same arguments. The number of distinct
 * lines goes to stderr.
 */
#include <stdio.h>
#include <stdlib.h>

#include "xdd/hash.h"

static void put(u32 id)
{
	u32 name = id * 0x9E3779B1u; /* odd: no two are the same */

	printf("%08x%.*s\n", name, name & 7, "tuvwxyz");
}

int main(int argc, char **argv)
{
	u64 lines = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	u64 domain = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	u64 seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1, distinct = 0;
	u8 *seen = domain && domain < 1ull << 32 ? calloc(domain, 1) : NULL;

	if (!lines || !seen) {
		fprintf(stderr, "usage: genlines LINES DOMAIN [SEED]\n");
		return 2;
	}
	for (u64 i = 0; i < lines; i++) {
		u32 id = (unsigned __int128)xdd_mix64(seed * XDD_P1 + i * XDD_P2) * domain >> 64;

		distinct += !seen[id];
		seen[id] = 1;
		put(id);
	}
	fprintf(stderr, "%llu\n", (unsigned long long)distinct);
	free(seen);
	return fflush(stdout) ? 1 : 0;
}
