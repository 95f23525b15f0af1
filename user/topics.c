/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topics.h"

#include <string.h>

#include <xdd/config.h>

#include "names.h"

static void print_names(FILE *to, const char *title, const char *const *names,
			const char *const *help)
{
	fprintf(to, "%s\n", title);
	for (int i = 0; names[i]; i++)
		fprintf(to, "  %-12s %s\n", names[i], help[i]);
}

static void topic_engines(FILE *to)
{
	print_names(to, "--engine: the filter that is asked \"seen in the window?\"", engine_names,
		    engine_help);
	print_names(to, "\n--key: the bytes that make two packets the same", key_names, key_help);
	print_names(to, "\n--hash: what turns a key into cells", hash_names, hash_help);
	print_names(to, "\n--slicing: how --engine timer is cut", slicing_names, slicing_help);
	print_names(to, "\n--placement: who shares a filter", placement_names, placement_help);
	print_names(to, "\n--clock: what tells the time", clock_names, clock_help);
	print_names(to, "\n--action: what happens to duplicates", action_names, action_help);
	fprintf(to,
		"\nA false positive is a first copy that is called duplicate, a false negative a\n"
		"duplicate that is called first. tagged errs on about 5 packets in ten\n"
		"million at its capacity, and may let a copy through when a line is full; timer "
		"has\n"
		"the rate that its size gives it; exact does not err. tagged and timer forget a\n"
		"packet within the last tick of the window, exact at its end. The others have no\n"
		"window: they are for long streams, and xdp-dedup simulate shows what they "
		"mistake\n"
		"and miss.\n");
}

/* The fields that are compared by default, or the others. */
static void print_fields(FILE *to, bool by_default)
{
	for (int i = 0; field_names[i]; i++) {
		char name[16];

		if ((XDD_DEFAULT_FIELDS >> i & 1) != by_default)
			continue;
		snprintf(name, sizeof(name), "%s", field_names[i]);
		for (char *c = name; *c; c++)
			if (*c == '_')
				*c = '-';
		fprintf(to, "  %-12s %s\n", name, field_help[i]);
	}
}

#define PRINT_TUNNEL(name, ports, help) print_tunnel(to, #name, help, (const u16[4])ports);
static void print_tunnel(FILE *to, const char *name, const char *help, const u16 ports[4])
{
	fprintf(to, "  %-8s %-32s", name, help);
	for (int i = 0; i < 4 && ports[i]; i++)
		fprintf(to, " %u", ports[i]);
	fputc('\n', to);
}

static void topic_tunnels(FILE *to)
{
	fprintf(to, "--inner compares the innermost IP packet instead of the outermost, up to 4 "
		    "inside each\nother and 40 headers in all. Over UDP, and on which ports unless "
		    "--tunnel-port says others:\n");
	XDD_TUNNELS(PRINT_TUNNEL)
	fprintf(to,
		"Without ports: IP in IP; GRE with any flags, also of version 1 (PPTP), NVGRE, "
		"ERSPAN I, II\n"
		"and III; MPLS, with Ethernet behind the labels if neither 4 nor 6 comes first; "
		"PPPoE; and\n"
		"what switches put before Ethernet: VN-Tag, 802.1BR, PBB, FabricPath, TRILL.\n"
		"Not read: ESP, L2TP, LISP, GUE, NSH, MACsec, compressed or encrypted PPP.\n\n"
		"What is no IP inside, is cut, or has a wrong header leaves the last packet that "
		"was whole as\n"
		"what is compared, and is counted (inner_truncated, inner_malformed, "
		"inner_unsupported). An\n"
		"outer fragment is compared as it is. --vni key: packets of different VNIs, GRE "
		"keys or TEIDs\n"
		"(those of the innermost tunnel that has one) are different, and so is one that "
		"is in no tunnel.\n");
}

static void topic_policy(FILE *to)
{
	fprintf(to,
		"Two packets are the same if their IP packets are, except in fields that the way "
		"changes.\n\nFields that --ignore takes out of --key packet:\n");
	print_fields(to, true);
	fprintf(to, "Fields that --include adds to it:\n");
	print_fields(to, false);
	fprintf(to,
		"\nAn ignored field of the transport header is found behind extension headers, "
		"too, "
		"if it lies in\nthe first 1024 bytes behind the IP header, but not in later "
		"fragments. "
		"The lengths always tell\npackets apart, and so do addresses, protocol, ports and "
		"payload.\n\n"
		"--payload BYTES  compares only so many bytes behind the IP header\n"
		"--vlan key       packets in different VLANs are different: all tags of the "
		"Ethernet "
		"header that\n                 is nearest to the packet, identifiers only; 0 is no "
		"tag\n"
		"--vlan map:A=B   the same, and VLAN A counts as B, or as no tag where B is 0\n"
		"--scope          interface: only copies on the same interface, or in files the "
		"same "
		"pcapng\n                 interface or input\n"
		"--non-ip frame   frames without IP are compared from the EtherType on, without "
		"tags "
		"and, of\n                 ARP and 802.3 lengths, without padding; those to "
		"01:80:c2:00:00:00 up to 0f,\n                 which end at the next switch, "
		"always pass\n");
}

static void topic_cluster(FILE *to)
{
	fprintf(to, "An instance works on one machine. All its interfaces share one filter, so "
		    "copies that\n"
		    "arrive on different interfaces are found: xdp-dedup load eth0 eth1. This "
		    "version has\n"
		    "no commands that join the filters of several machines.\n");
}

static void topic_papers(FILE *to)
{
	fprintf(to,
		"Koloniari, Ntarmos, Pitoura, Souravlias: One is Enough: Distributed Filtering "
		"for\n"
		"Duplicate Elimination (2011).\n"
		"  --engine timer   Bloom filters whose cells are timers; a first copy starts the\n"
		"                   window and a duplicate does not extend it (section 4)\n"
		"  --slicing        horizontal and vertical slices\n"
		"  --capacity       with --engine timer: m = -k n / ln(1 - P^(1/k)) cells\n"
		"Bera, Dutta, Narang, Bhattacherjee: biased sampling Bloom filters (2012).\n"
		"  --engine sbf, rsbf, bsbf, bsbfsd, rlbsbf; --variant, --p-star, --sbf-p\n"
		"  simulate         its streams; rsbf by default as its tables were made\n"
		"--engine tagged is ours: a horizontal slice of one cache line, with tags.\n");
}

struct topic {
	const char *name, *summary;
	void (*print)(FILE *to);
};

#define TOPIC_ROW(name, summary) { #name, summary, topic_##name },
static const struct topic topics[] = { TOPICS(TOPIC_ROW){ .name = NULL } };

bool topic_print(FILE *to, const char *name)
{
	for (const struct topic *t = topics; t->name; t++) {
		if (strcmp(t->name, name))
			continue;
		t->print(to);
		return true;
	}
	return false;
}

void topics_list(FILE *to)
{
	for (const struct topic *t = topics; t->name; t++)
		fprintf(to, "  xdp-dedup help %-10s %s\n", t->name, t->summary);
}
