/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/age/growth.h"

#include <errno.h>

#include <bpf/libbpf.h>

#include "user/clock.h"
#include "user/loader/instance.h"
#include "user/loader/mapped.h"
#include "xdd/tree.h"

/* A CPU that read a chain's state before it changed has written its cells by then. */
#define SETTLED_NS 10000000ull

static size_t chains_bytes(const struct growth *growth)
{
	return (size_t)growth->number * sizeof(*growth->chains);
}

int growth_open(struct growth *growth, const struct instance *instance, bool write)
{
	growth->fixed = &instance->fixed;
	growth->chains = NULL;
	growth->number = 0;
	if (!xdd_grows(growth->fixed))
		return 0;
	growth->number =
		xdd_sites(growth->fixed, libbpf_num_possible_cpus()) * xdd_chains(growth->fixed);
	growth->chains = mapped_open(instance->maps.chains, chains_bytes(growth), write);
	return growth->chains ? 0 : -errno;
}

void growth_close(struct growth *growth)
{
	mapped_close(growth->chains, chains_bytes(growth));
	growth->chains = NULL;
}

void growth_walked(struct growth *growth, u32 site, u64 start_ns)
{
	const struct xdd_fixed *fixed = growth->fixed;
	u32 chains = xdd_chains(fixed), skew = SETTLED_NS / fixed->tick_ns + 1;

	for (u32 i = site * chains; growth->chains && i < (site + 1) * chains; i++) {
		struct xdd_chain *chain = &growth->chains[i];

		chain_shrink(chain, fixed, start_ns / fixed->tick_ns, skew);
		chain_grow(chain, fixed, now_ns() / fixed->tick_ns);
	}
}

void growth_counted(struct growth *growth)
{
	const struct xdd_fixed *fixed = growth->fixed;

	if (fixed->grow != XDD_GROWTH_cardinality)
		return;
	for (u32 i = 0; i < growth->number; i++)
		if (!growth->chains[i].full)
			chain_grow(&growth->chains[i], fixed, now_ns() / fixed->tick_ns);
}
