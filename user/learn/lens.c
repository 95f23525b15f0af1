// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lens.h"

#include <string.h>

#define FIELD(name) (1u << XDD_FIELD_##name)

/* What a lens changes: tunnels; recomputed checksums, or none yet where the host leaves them to its
 * NIC; identifications that a firewall rewrites, and its sequence numbers; clamped segment sizes.
 */
static const struct change {
	bool inner, non_ip;
	u32 ignore;
} changes[] = {
	{ .inner = true },
	{ .ignore = FIELD(l4csum) },
	{ .ignore = FIELD(ipid) },
	{ .ignore = FIELD(ipid) | FIELD(l4csum) },
	{ .ignore = FIELD(l4csum) | FIELD(tcp_seq) | FIELD(tcp_ack) },
	{ .ignore = FIELD(l4csum) | FIELD(tcp_opts) },
	{ .inner = true, .ignore = FIELD(ipid) | FIELD(l4csum) },
	{ .non_ip = true },
};
XDD_ASSERT(XDD_ARRAY_SIZE(changes) + 1 == LENSES_MAX, "a lens for each change");

static void apply(struct xdd_fixed *fixed, const struct change *change)
{
	fixed->inner |= change->inner;
	fixed->non_ip_frame |= change->non_ip;
	fixed->changed_fields |= change->ignore;
}

static void add(struct lenses *lenses, const struct xdd_fixed *fixed)
{
	for (u32 i = 0; i < lenses->n; i++)
		if (!memcmp(&lenses->all[i].fixed, fixed, sizeof(*fixed)))
			return;
	lenses->all[lenses->n++].fixed = *fixed;
}

int lenses_open(struct lenses *lenses, const struct xdd_fixed *fixed, u64 memory_bytes)
{
	u64 bytes = memory_bytes / 2;
	int rc = 0;

	memset(lenses, 0, sizeof(*lenses));
	add(lenses, fixed);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(changes); i++) {
		struct xdd_fixed changed = *fixed;

		apply(&changed, &changes[i]);
		add(lenses, &changed);
	}
	for (u32 i = 0; i < lenses->n && !rc; i++) {
		struct lens *lens = &lenses->all[i];

		rc = learn_open(&lens->learn, &lens->fixed, bytes);
		bytes = memory_bytes / 2 / (LENSES_MAX - 1);
	}
	return rc;
}

void lenses_take(struct lenses *lenses, const struct xdd_packet *packet, u64 time_ns, u32 iface)
{
	for (u32 i = 0; i < lenses->n; i++)
		learn_take(&lenses->all[i].learn, packet, time_ns, iface);
}

void lenses_skip(struct lenses *lenses, const struct xdd_packet *packet, u64 time_ns)
{
	for (u32 i = 0; i < lenses->n; i++)
		learn_skip(&lenses->all[i].learn, packet, time_ns);
}

void lenses_close(struct lenses *lenses)
{
	for (u32 i = 0; i < lenses->n; i++)
		learn_close(&lenses->all[i].learn);
}

u64 lens_sure(const struct lens *lens)
{
	const struct learn_count *copies = &lens->learn.windows[LEARN_COPIES].dropped;

	return copies->all - copies->unsure;
}

const struct lens *lenses_best(const struct lenses *lenses)
{
	const struct lens *asked = &lenses->all[0];
	u64 most = 0;

	for (u32 i = 0; i < lenses->n; i++)
		if (lens_sure(&lenses->all[i]) > most)
			most = lens_sure(&lenses->all[i]);
	if (most - lens_sure(asked) <= asked->learn.frames / 1000)
		return asked;
	while (lens_sure(asked) < most - most / LEARN_MISSED)
		asked++;
	return asked;
}
