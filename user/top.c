// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/top.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
	const struct top_key *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

static int by_packets(const void *a, const void *b)
{
	const struct top_key *left = a, *right = b;

	if (left->packets != right->packets)
		return left->packets < right->packets ? 1 : -1;
	return by_key(a, b);
}

/* All keys that are described, in order of packets; returns their number. */
static size_t collect(const struct xdd_top *buckets, size_t n, struct top_key *keys)
{
	size_t used = 0, merged = 0;

	for (size_t i = 0; i < n * XDD_TOP_WAYS; i++) {
		const struct xdd_top *top = &buckets[i / XDD_TOP_WAYS];
		u32 way = i % XDD_TOP_WAYS;

		if (top->packets[way] < 2)
			continue;
		keys[used].key = top->key[way];
		keys[used].packets = top->packets[way];
		keys[used++].about = top->about[way];
	}
	qsort(keys, used, sizeof(*keys), by_key);
	for (size_t i = 0; i < used; i++) {
		if (merged && keys[merged - 1].key == keys[i].key)
			keys[merged - 1].packets += keys[i].packets;
		else
			keys[merged++] = keys[i];
	}
	qsort(keys, merged, sizeof(*keys), by_packets);
	return merged;
}

int top_merge(const struct xdd_top *buckets, size_t n, struct top *top)
{
	struct top_key *keys = calloc(n, XDD_TOP_WAYS * sizeof(*keys));
	size_t used;

	top->used = 0;
	if (!keys)
		return -ENOMEM;
	used = collect(buckets, n, keys);
	while (top->used < TOP_KEYS && top->used < used) {
		top->key[top->used] = keys[top->used];
		top->used++;
	}
	free(keys);
	return 0;
}

#define ADDRESS_MAX INET6_ADDRSTRLEN

static const char *mac_text(const u8 *mac, char text[ADDRESS_MAX])
{
	snprintf(text, ADDRESS_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	return text;
}

/* The source (@which 0) or the destination (1). */
static const char *address_text(const struct xdd_about *about, u32 which, char text[ADDRESS_MAX])
{
	if (about->version == 4)
		return inet_ntop(AF_INET, &about->v4[which], text, ADDRESS_MAX);
	if (about->version == 6)
		return inet_ntop(AF_INET6, &about->v6[2 * which], text, ADDRESS_MAX);
	return mac_text(&about->macs[which ? 0 : 6], text);
}

static bool has_ports(u8 proto)
{
	return proto == XDD_PROTO_TCP || proto == XDD_PROTO_UDP || proto == XDD_PROTO_UDPLITE ||
	       proto == XDD_PROTO_DCCP || proto == XDD_PROTO_SCTP;
}

/* Whether keys of @kind have the source (@which 0), or the destination (1). */
static bool has_address(u32 kind, u32 which)
{
	return kind != (which ? XDD_KEY_src : XDD_KEY_dst);
}

/* Whether they have a protocol. */
static bool has_proto(u32 kind)
{
	return kind == XDD_KEY_packet || kind == XDD_KEY_flow || kind == XDD_KEY_biflow;
}

/* One end: address, and port if there is one; "any" where the key has no such address. */
static void end_text(const struct xdd_about *about, u32 kind, u32 which, FILE *to)
{
	bool port = about->version && has_proto(kind) && has_ports(about->proto);
	bool brackets = port && about->version == 6;
	char text[ADDRESS_MAX];

	if (about->version && !has_address(kind, which)) {
		fputs("any", to);
		return;
	}
	fprintf(to, "%s%s%s", brackets ? "[" : "", address_text(about, which, text),
		brackets ? "]" : "");
	if (port)
		fprintf(to, ":%u", ntohs(which ? about->dport : about->sport));
}

static void what_text(const struct xdd_about *about, u32 kind, FILE *to)
{
	static const struct {
		u8 proto;
		const char *name;
	} known[] = {
		{ XDD_PROTO_TCP, "TCP" },	   { XDD_PROTO_UDP, "UDP" },
		{ XDD_PROTO_ICMP, "ICMP" },	   { XDD_PROTO_ICMPV6, "ICMPv6" },
		{ XDD_PROTO_UDPLITE, "UDP-Lite" }, { XDD_PROTO_DCCP, "DCCP" },
		{ XDD_PROTO_SCTP, "SCTP" },
	};

	if (!about->version) {
		fprintf(to, about->ethertype == XDD_ETH_ARP ? ", ARP" : ", EtherType 0x%04x",
			about->ethertype);
		return;
	}
	if (!has_proto(kind))
		return;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(known); i++) {
		if (known[i].proto != about->proto)
			continue;
		fprintf(to, ", %s", known[i].name);
		return;
	}
	fprintf(to, ", protocol %u", about->proto);
}

const char *top_text(const struct xdd_about *about, u32 kind, char text[TOP_TEXT_MAX])
{
	FILE *to;

	snprintf(text, TOP_TEXT_MAX, "no IP, no Ethernet");
	if (!about->version && !about->ethertype)
		return text;
	to = fmemopen(text, TOP_TEXT_MAX, "w");
	if (!to)
		return text;
	end_text(about, kind, 0, to);
	fputs(" > ", to);
	end_text(about, kind, 1, to);
	what_text(about, kind, to);
	fclose(to);
	return text;
}

void top_print(const struct top *top, u32 kind, u32 most, const char *indent, FILE *to)
{
	char text[TOP_TEXT_MAX];

	for (u32 i = 0; i < top->used && i < most; i++)
		fprintf(to, "%s%10" PRIu64 "  %s\n", indent, (uint64_t)top->key[i].packets,
			top_text(&top->key[i].about, kind, text));
}

static void add_end(json_t *one, const struct xdd_about *about, u32 kind, u32 which)
{
	char text[ADDRESS_MAX];

	if (about->version && !has_address(kind, which))
		return;
	json_object_set_new(one, which ? "destination" : "source",
			    json_string(address_text(about, which, text)));
	if (about->version && has_proto(kind) && has_ports(about->proto))
		json_object_set_new(one, which ? "destination_port" : "source_port",
				    json_integer(ntohs(which ? about->dport : about->sport)));
}

static json_t *key_json(const struct top_key *key, u32 kind)
{
	const struct xdd_about *about = &key->about;
	json_t *one = json_pack("{s:I}", "packets", (json_int_t)key->packets);

	if (about->version && has_proto(kind))
		json_object_set_new(one, "protocol", json_integer(about->proto));
	if (!about->version && about->ethertype)
		json_object_set_new(one, "ethertype", json_integer(about->ethertype));
	if (about->version || about->ethertype) {
		add_end(one, about, kind, 0);
		add_end(one, about, kind, 1);
	}
	return one;
}

json_t *top_json(const struct top *top, u32 kind)
{
	json_t *all = json_array();

	for (u32 i = 0; i < top->used; i++)
		json_array_append_new(all, key_json(&top->key[i], kind));
	return all;
}
