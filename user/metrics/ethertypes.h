/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What passed as not_ip, by EtherType: map `ethertypes`, added up over the CPUs. */
#ifndef USER_METRICS_ETHERTYPES_H
#define USER_METRICS_ETHERTYPES_H

#include <jansson.h>

#include <xdd/ethertypes.h>

struct ethertypes {
	u32 n;
	struct xdd_type_count row[XDD_ETHERTYPE_ROWS]; /* the commonest first */
	u64 other;				       /* of types that have no row */
};

/* Read @map_fd. Returns 0 or a negative errno. */
int ethertypes_read(int map_fd, struct ethertypes *types);

/* Add up @n tables; the rows that are left over when all are taken are `other`. Returns 0 or -ENOMEM. */
int ethertypes_add(const struct xdd_ethertypes *tables, u32 n, struct ethertypes *types);

/* Entries {ethertype, packets}: "0x88cc", "802.3" (a length), and last "other" if there are any. */
json_t *ethertypes_json(const struct ethertypes *types);

/* "LLDP", "0x1234". Returns @text. */
#define ETHERTYPE_TEXT_MAX 16
const char *ethertype_text(u32 type, char text[ETHERTYPE_TEXT_MAX]);

#endif
