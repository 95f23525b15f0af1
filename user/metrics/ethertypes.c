// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/metrics/ethertypes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is seen on mirror ports (IEEE 802 numbers). */
static const struct {
	u32 type;
	const char *name;
} known[] = {
	{ 0, "802.3" },		  { XDD_ETH_ARP, "ARP" }, { 0x22f0, "AVTP" },  { 0x8035, "RARP" },
	{ XDD_ETH_MPLS, "MPLS" }, { 0x8863, "PPPoE-D" },  { 0x8864, "PPPoE" }, { 0x888e, "EAPOL" },
	{ 0x8892, "PROFINET" },	  { 0x88a4, "EtherCAT" }, { 0x88b8, "GOOSE" }, { 0x88ba, "SV" },
	{ 0x88cc, "LLDP" },	  { 0x88e5, "MACsec" },	  { 0x88f7, "PTP" },   { 0x8809, "LACP" },
	{ 0x8902, "CFM" },	  { 0x8906, "FCoE" },	  { 0x88fb, "PRP" },   { 0x892f, "HSR" },
	{ 0xf1c1, "FRER" },
};

const char *ethertype_text(u32 type, char text[ETHERTYPE_TEXT_MAX])
{
	snprintf(text, ETHERTYPE_TEXT_MAX, "0x%04x", type);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(known); i++)
		if (known[i].type == type)
			snprintf(text, ETHERTYPE_TEXT_MAX, "%s", known[i].name);
	return text;
}

static int by_packets(const void *a, const void *b)
{
	const struct xdd_type_count *one = a, *other = b;

	if (one->packets != other->packets)
		return one->packets < other->packets ? 1 : -1;
	return one->type < other->type ? -1 : 1;
}

/* Add @row to the @n of @rows. Returns their number. */
static u32 add_row(struct xdd_type_count *rows, u32 n, const struct xdd_type_count *row)
{
	u32 i = 0;

	while (i < n && rows[i].type != row->type)
		i++;
	if (i == n)
		rows[i] = (struct xdd_type_count){ .type = row->type };
	rows[i].packets += row->packets;
	return i == n ? n + 1 : n;
}

int ethertypes_add(const struct xdd_ethertypes *tables, u32 n, struct ethertypes *types)
{
	struct xdd_type_count *rows = calloc((size_t)n * XDD_ETHERTYPE_ROWS, sizeof(*rows));
	u32 used = 0;

	memset(types, 0, sizeof(*types));
	if (!rows)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < n; cpu++) {
		types->other += tables[cpu].other;
		for (u32 i = 0; i < XDD_ETHERTYPE_ROWS; i++)
			if (tables[cpu].row[i].packets)
				used = add_row(rows, used, &tables[cpu].row[i]);
	}
	qsort(rows, used, sizeof(*rows), by_packets);
	types->n = used < XDD_ETHERTYPE_ROWS ? used : XDD_ETHERTYPE_ROWS;
	memcpy(types->row, rows, types->n * sizeof(*rows));
	for (u32 i = types->n; i < used; i++)
		types->other += rows[i].packets;
	free(rows);
	return 0;
}

int ethertypes_read(int map_fd, struct ethertypes *types)
{
	int cpus = libbpf_num_possible_cpus(), err;
	struct xdd_ethertypes *tables;
	u32 zero = 0;

	if (cpus < 0)
		return cpus;
	tables = calloc(cpus, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	err = bpf_map_lookup_elem(map_fd, &zero, tables) ? -errno : 0;
	if (!err)
		err = ethertypes_add(tables, cpus, types);
	free(tables);
	return err;
}

static void add_entry(json_t *all, const char *type, u64 packets)
{
	json_array_append_new(all, json_pack("{s:s, s:I}", "ethertype", type, "packets",
					     (json_int_t)packets));
}

json_t *ethertypes_json(const struct ethertypes *types)
{
	json_t *all = json_array();
	char type[ETHERTYPE_TEXT_MAX];

	for (u32 i = 0; i < types->n; i++) {
		snprintf(type, sizeof(type), types->row[i].type ? "0x%04x" : "802.3",
			 types->row[i].type);
		add_entry(all, type, types->row[i].packets);
	}
	if (types->other)
		add_entry(all, "other", types->other);
	return all;
}
