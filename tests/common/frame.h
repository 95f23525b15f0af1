/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames from a line of words, one a layer: "eth vlan ip4 udp pay:100 pad:4". Types, lengths
 * and the IPv4 checksum are filled in; the builder keeps where everything lies, so that a
 * test's row states only what it expects of the parser.
 *
 *   eth sll sll2 null nullbe loop raw radiotap		the link header, first
 *   vlan qinq qinq91 qinq92 mpls arp stp macsec	behind it
 *   stamp[:VERSION]				a time stamp of 0x10, 64 bits, or 0x20, 48 bits
 *   ip4[:WORDS of options] ip4first ip4later		IPv4, whole and fragments
 *   ip4df[:WORDS]					IPv4 without identification: DF, and it is 0
 *   ip6 hop route dst mobility hip shim ah[:LEN]	IPv6 and extensions (LEN: their length field)
 *   frag[:0|1|2]					whole, first, later
 *   segment[:FLAGS]				TCP with those flags and no options
 *   tcp udp sctp dccp udplite icmp[:TYPE] icmp6[:TYPE] proto:N
 *   pay:BYTES pad:BYTES				inside and behind the IP packet
 *   hsr:NUMBER rtag:NUMBER				tags with a sequence number
 *   rct:NUMBER					trailer of LAN A, behind everything; 0x10000 more: LAN B
 *
 * An IP header, eth, vlan or mpls may also stand behind
 *   gre[:FLAGS]					flags and version as in its first two bytes
 *   erspan1 erspan2 erspan3[:FRAME TYPE, 0x100 with subheader]	behind gre, the last two behind gre:0x1000
 *   udp:PORT and vxlan[:VNI] gpe geneve[:WORDS of options] gtpu[:FLAGS, 4 with extensions]
 *   pppoe ppp cw (control word) vntag etag pbb fabricpath trill
 */
#ifndef TESTS_FRAME_H
#define TESTS_FRAME_H

#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "xdd/tunnel.h"

#define FRAME_MAX 9600
#define FRAME_SPORT 1111
#define FRAME_DPORT 2222

#define FRAME_IPS 8

/* What a layer says of the next one, by bytes: an EtherType is 2, a protocol 1. */
enum { FRAME_LABEL = 3, FRAME_FAMILY, FRAME_GPE, FRAME_PPP };

struct frame_header {
	u32 at;
	u32 bytes;
	u8 version;
};

struct frame {
	u8 byte[FRAME_MAX];
	u32 len;
	u32 link;
	u32 l3;	 /* first IP header; where there is none, behind the tags */
	u32 l4;	 /* behind the IP header and its extensions */
	u32 end; /* of the IP packet */
	u8 version;
	u8 proto;
	bool inner;			   /* what follows lies in a second IP packet */
	struct frame_header ip[FRAME_IPS]; /* all of them, the outermost first */
	u32 ips;
	u32 next_at; /* where the type of what follows is written, in so many bytes */
	u32 next_bytes;
};

struct frame_layer {
	const char *name;
	u16 ethertype; /* its number behind a link header or tag */
	int proto;     /* its number behind an IP header, or -1 */
	void (*add)(struct frame *frame, const struct frame_layer *layer, u32 arg);
	u32 bytes;
};

static inline u8 *frame_grow(struct frame *frame, u32 bytes)
{
	u8 *at = frame->byte + frame->len;

	assert_true(frame->len + bytes <= FRAME_MAX);
	frame->len += bytes;
	return at;
}

static inline void frame_next(struct frame *frame, u32 back, u32 bytes)
{
	frame->next_at = frame->len - back;
	frame->next_bytes = bytes;
}

static inline void frame_put16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* RFC 1071 sum over the IPv4 header @ip, as it would be stored. */
static inline u16 frame_sum(const u8 *ip)
{
	u32 sum = 0;

	for (u32 i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Make the IPv4 headers' checksums right again. */
static inline void frame_fix_sum(struct frame *frame)
{
	for (u32 i = 0; i < frame->ips; i++) {
		u8 *ip = frame->byte + frame->ip[i].at;

		if (frame->ip[i].version != 4)
			continue;
		frame_put16(ip + 10, 0);
		frame_put16(ip + 10, frame_sum(ip));
	}
}

static inline void frame_eth(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 14);

	(void)layer, (void)arg;
	for (u32 i = 0; i < 12; i++)
		at[i] = 0x20 + i;
	if (at == frame->byte)
		frame->link = XDD_LINK_ETHERNET;
	frame_next(frame, 2, 2);
}

static inline void frame_sll(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)arg;
	memset(frame_grow(frame, layer->bytes), 0x11, layer->bytes);
	frame->link = layer->bytes == 16 ? XDD_LINK_SLL : XDD_LINK_SLL2;
	frame_next(frame, layer->bytes == 16 ? 2 : 20, 2);
}

/* The family is written by frame_name(), little-endian (null) or big-endian. */
static inline void frame_null(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)arg;
	memset(frame_grow(frame, 4), 0, 4);
	frame->link = !strcmp(layer->name, "loop") ? XDD_LINK_LOOP : XDD_LINK_NULL;
	frame_next(frame, strcmp(layer->name, "null") ? 1 : 4, FRAME_FAMILY);
}

static inline void frame_raw(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)layer;
	frame->link = arg ? arg : XDD_LINK_RAW;
}

static inline void frame_radiotap(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)layer, (void)arg;
	memset(frame_grow(frame, 32), 8, 32);
	frame->link = 127;
}

static inline void frame_tag(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)layer;
	frame_put16(frame_grow(frame, 4), arg ? arg : 0x2064);
	frame_next(frame, 2, 2);
}

static inline void frame_mpls(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 4);

	(void)layer, (void)arg;
	memcpy(at, "\x01\x23\x4e\x40", 4);
	frame_next(frame, 2, FRAME_LABEL);
}

static inline void frame_bytes(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 bytes = layer->bytes ? layer->bytes : arg;
	u8 *at = frame_grow(frame, bytes);

	for (u32 i = 0; i < bytes; i++)
		at[i] = 0x60 + i + (i >> 8);
	frame->next_bytes = 0;
}

static inline void frame_pad(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	frame->end = frame->len;
	frame_bytes(frame, layer, arg);
}

static inline void frame_ip(struct frame *frame, u8 version, u32 bytes)
{
	assert_true(frame->ips < FRAME_IPS);
	frame->ip[frame->ips].at = frame->len - bytes;
	frame->ip[frame->ips].bytes = bytes;
	frame->ip[frame->ips].version = version;
	frame->ips++;
	frame->inner = frame->version;
	if (frame->inner)
		return;
	frame->version = version;
	frame->l3 = frame->len - bytes;
	frame->l4 = frame->len;
}

static inline void frame_ip4(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 bytes = 20 + 4 * arg;
	u8 *at = frame_grow(frame, bytes);

	memset(at, 1, bytes); /* options are no-operations */
	at[0] = 0x40 | bytes / 4;
	memcpy(at + 1, "\x02\0\0\x12\x34\0\0\x40\xff\0\0\x0a\1\2\3\x0a\4\5\6", 19);
	if (!strcmp(layer->name, "ip4first"))
		frame_put16(at + 6, XDD_IPV4_MORE);
	else if (!strcmp(layer->name, "ip4later"))
		frame_put16(at + 6, 185);
	else if (!strcmp(layer->name, "ip4df"))
		memcpy(at + 4, "\0\0\x40", 3);
	frame_ip(frame, 4, bytes);
	frame_next(frame, bytes - 9, 1);
}

static inline void frame_ip6(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 40);

	(void)layer, (void)arg;
	memcpy(at, "\x60\x21\x23\x45\0\0\xff\x40", 8);
	for (u32 i = 8; i < 40; i++)
		at[i] = 0x80 + i;
	frame_ip(frame, 6, 40);
	frame_next(frame, 34, 1);
}

/* An extension header whose length field is @arg. */
static inline void frame_extension(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 bytes = layer->proto == XDD_PROTO_AH ? 4 * (arg + 2) : 8 * (arg + 1);
	u8 *at = frame_grow(frame, bytes);

	memset(at, 0, bytes);
	at[1] = arg;
	if (!frame->inner)
		frame->l4 = frame->len;
	frame_next(frame, bytes, 1);
}

static inline void frame_fragment(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 8);

	(void)layer;
	memset(at, 0, 8);
	frame_put16(at + 2, arg == XDD_FRAGMENT_FIRST ? 1 : arg == XDD_FRAGMENT_LATER ? 1448 : 0);
	at[7] = 77;
	if (!frame->inner)
		frame->l4 = frame->len;
	frame_next(frame, 8, 1);
}

static inline void frame_transport(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, layer->bytes);

	for (u32 i = 0; i < layer->bytes; i++)
		at[i] = 0xc0 + i;
	if (layer->proto == XDD_PROTO_ICMP || layer->proto == XDD_PROTO_ICMPV6) {
		at[0] = arg;
		at[1] = 0;
	} else {
		frame_put16(at, FRAME_SPORT);
		frame_put16(at + 2, arg ? arg : FRAME_DPORT);
	}
	frame->next_bytes = 0;
}

static inline void frame_segment(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame->byte + frame->len;

	frame_transport(frame, layer, 0);
	at[12] = 5 << 4;
	at[13] = arg;
}

/* proto:N, with nothing of its own */
static inline void frame_proto(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)layer;
	frame->byte[frame->next_at] = arg;
	frame->proto = arg;
	frame->next_bytes = 0;
}

/* Optional fields where the flags say so; a source route has one entry of 8 bytes and its end. */
static inline void frame_gre(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 start = frame->len;

	(void)layer;
	frame_put16(frame_grow(frame, 4), arg);
	if (arg & (XDD_GRE_CHECKSUM | XDD_GRE_ROUTING))
		memset(frame_grow(frame, 4), 0xc5, 4);
	if (arg & XDD_GRE_KEY)
		memcpy(frame_grow(frame, 4), "\1\2\3\4", 4);
	if (arg & XDD_GRE_SEQUENCE)
		memset(frame_grow(frame, 4), 0x5e, 4);
	if (arg & XDD_GRE_VERSION && arg & XDD_GRE_ACK)
		memset(frame_grow(frame, 4), 0xac, 4);
	if (arg & XDD_GRE_ROUTING)
		memcpy(frame_grow(frame, 12), "\10\0\0\4\12\1\1\1\0\0\0\0", 12);
	frame_next(frame, frame->len - start - 2, 2);
}

/* ERSPAN I is nothing but a protocol number. */
static inline void frame_erspan(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, layer->bytes + (arg & 0x100 ? 8 : 0));

	memset(at, 0x40, frame->byte + frame->len - at);
	if (layer->bytes)
		at[0] = layer->bytes == 8 ? 0x10 : 0x20;
	if (layer->bytes == 12) {
		at[10] = arg << 2;
		at[11] = arg >> 8;
	}
	frame->next_bytes = 0;
}

static inline void frame_vxlan(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 8);
	bool gpe = !strcmp(layer->name, "gpe");

	memset(at, 0, 8);
	at[0] = gpe ? 0x0c : 0x08;
	at[5] = arg >> 8;
	at[6] = arg;
	frame_next(frame, 5, gpe ? FRAME_GPE : 0);
}

static inline void frame_geneve(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, 8 + 4 * arg);

	(void)layer;
	memset(at, 0x77, 8 + 4 * arg);
	at[0] = arg;
	at[1] = 0x40;
	frame_next(frame, 6 + 4 * arg, 2);
}

/* With flag 4 an extension header of one word, and one of two. The length says more than
 * there is.
 */
static inline void frame_gtpu(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, arg & 7 ? 12 : 8);

	(void)layer;
	memcpy(at, "\x30\xff\xff\xff\0\0\1\2", 8);
	at[0] |= arg;
	if (arg & 7)
		memset(at + 8, 0, 4);
	if (arg & 4) {
		at[11] = 0x85;
		memcpy(frame_grow(frame, 12), "\1\1\1\xc0\2\2\2\2\2\2\2\0", 12);
	}
	frame->next_bytes = 0;
}

static inline void frame_ppp(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)arg;
	if (layer->bytes == 8)
		memcpy(frame_grow(frame, 8), "\x11\0\0\7\xff\xff\0\0", 8);
	else
		memcpy(frame_grow(frame, 4), "\xff\3\0\0", 4);
	frame_next(frame, 2, FRAME_PPP);
}

/* A tag of @layer->bytes, behind whose EtherType there is one in its last two bytes. */
static inline void frame_long_tag(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)arg;
	memset(frame_grow(frame, layer->bytes), 3, layer->bytes);
	frame_next(frame, 2, 2);
}

/* Of HSR (path 3, whose size nobody checks) or FRER. */
static inline void frame_numbered(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u8 *at = frame_grow(frame, layer->bytes);

	frame_put16(at, layer->ethertype == XDD_ETH_HSR ? 0x3040 : 0);
	frame_put16(at + 2, arg);
	frame_next(frame, 2, 2);
}

static inline void frame_rct(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 l3 = 14;
	u8 *at;

	while (xdd_is_vlan(frame->byte[l3 - 2] << 8 | frame->byte[l3 - 1]))
		l3 += 4;
	if (!frame->end)
		frame->end = frame->len;
	at = frame_grow(frame, layer->bytes);
	frame_put16(at, arg);
	frame_put16(at + 2, (arg >> 16 ? 0xb000 : 0xa000) | (frame->len - l3));
	frame_put16(at + 4, 0x88fb);
	frame->next_bytes = 0;
}

static inline void frame_stamp(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	u32 bytes = arg & 0x20 ? 12 : 14;
	u8 *at = frame_grow(frame, bytes);

	(void)layer;
	memset(at, 9, bytes);
	frame_put16(at, 1);
	frame_put16(at + 2, arg ? arg : 0x10);
	frame_next(frame, 2, 2);
}

/* What an Ethernet header follows without being named. */
static inline void frame_zeros(struct frame *frame, const struct frame_layer *layer, u32 arg)
{
	(void)arg;
	memset(frame_grow(frame, layer->bytes), 0, layer->bytes);
	frame->next_bytes = 0;
}

static const struct frame_layer frame_layers[] = {
	{ "eth", 0x6558, -1, frame_eth, 14 },
	{ "sll", 0, -1, frame_sll, 16 },
	{ "sll2", 0, -1, frame_sll, 20 },
	{ "null", 0, -1, frame_null, 4 },
	{ "nullbe", 0, -1, frame_null, 4 },
	{ "loop", 0, -1, frame_null, 4 },
	{ "raw", 0, -1, frame_raw, 0 },
	{ "radiotap", 0, -1, frame_radiotap, 0 },
	{ "vlan", 0x8100, -1, frame_tag, 4 },
	{ "qinq", 0x88a8, -1, frame_tag, 4 },
	{ "qinq91", 0x9100, -1, frame_tag, 4 },
	{ "qinq92", 0x9200, -1, frame_tag, 4 },
	{ "mpls", 0x8847, 137, frame_mpls, 4 },
	{ "arp", 0x0806, -1, frame_bytes, 28 },
	{ "stp", 38, -1, frame_bytes, 46 },
	{ "ip4", 0x0800, 4, frame_ip4, 20 },
	{ "ip4df", 0x0800, 4, frame_ip4, 20 },
	{ "ip4first", 0x0800, 4, frame_ip4, 20 },
	{ "ip4later", 0x0800, 4, frame_ip4, 20 },
	{ "ip6", 0x86dd, 41, frame_ip6, 40 },
	{ "hop", 0, 0, frame_extension, 8 },
	{ "route", 0, 43, frame_extension, 8 },
	{ "dst", 0, 60, frame_extension, 8 },
	{ "mobility", 0, 135, frame_extension, 8 },
	{ "hip", 0, 139, frame_extension, 8 },
	{ "shim", 0, 140, frame_extension, 8 },
	{ "ah", 0, 51, frame_extension, 8 },
	{ "frag", 0, 44, frame_fragment, 8 },
	{ "tcp", 0, 6, frame_transport, 20 },
	{ "segment", 0, 6, frame_segment, 20 },
	{ "udp", 0, 17, frame_transport, 8 },
	{ "sctp", 0, 132, frame_transport, 12 },
	{ "dccp", 0, 33, frame_transport, 16 },
	{ "udplite", 0, 136, frame_transport, 8 },
	{ "icmp", 0, 1, frame_transport, 8 },
	{ "icmp6", 0, 58, frame_transport, 8 },
	{ "proto", 0, -1, frame_proto, 0 },
	{ "gre", 0, 47, frame_gre, 4 },
	{ "erspan1", 0x88be, -1, frame_erspan, 0 },
	{ "erspan2", 0x88be, -1, frame_erspan, 8 },
	{ "erspan3", 0x22eb, -1, frame_erspan, 12 },
	{ "vxlan", 0, -1, frame_vxlan, 8 },
	{ "gpe", 0, -1, frame_vxlan, 8 },
	{ "geneve", 0, -1, frame_geneve, 8 },
	{ "gtpu", 0, -1, frame_gtpu, 8 },
	{ "pppoe", 0x8864, -1, frame_ppp, 8 },
	{ "ppp", 0x880b, -1, frame_ppp, 4 },
	{ "cw", 0, -1, frame_zeros, 4 },
	{ "vntag", 0x8926, -1, frame_long_tag, 6 },
	{ "etag", 0x893f, -1, frame_long_tag, 8 },
	{ "stamp", 0xd28b, -1, frame_stamp, 0 },
	{ "macsec", 0x88e5, -1, frame_bytes, 40 },
	{ "pbb", 0x88e7, -1, frame_zeros, 4 },
	{ "fabricpath", 0x8903, -1, frame_zeros, 2 },
	{ "trill", 0x22f3, -1, frame_zeros, 6 },
	{ "hsr", 0x892f, -1, frame_numbered, 6 },
	{ "rtag", 0xf1c1, -1, frame_numbered, 6 },
	{ "rct", 0, -1, frame_rct, 6 },
	{ "pay", 0, -1, frame_bytes, 0 },
	{ "pad", 0, -1, frame_pad, 0 },
};

/* Write the number of @layer where the one before it left room. */
static inline void frame_name(struct frame *frame, const struct frame_layer *layer)
{
	u8 *at = frame->byte + frame->next_at;

	switch (frame->next_bytes) {
	case 1:
		if (layer->proto >= 0)
			*at = layer->proto;
		if (layer->proto >= 0 && !frame->inner)
			frame->proto = layer->proto;
		break;
	case 2:
		if (layer->ethertype)
			frame_put16(at, layer->ethertype);
		break;
	case FRAME_LABEL: /* bottom of stack */
		*at |= strcmp(layer->name, "mpls") != 0;
		break;
	case FRAME_FAMILY:
		*at = layer->ethertype == 0x0800 ? 2 : layer->ethertype == 0x86dd ? 30 : 0;
		break;
	case FRAME_GPE:
		*at = layer->ethertype == 0x0800   ? 1
		      : layer->ethertype == 0x86dd ? 2
		      : layer->ethertype == 0x8847 ? 5
						   : 3;
		break;
	case FRAME_PPP:
		frame_put16(at, layer->ethertype == 0x0800   ? 0x21
				: layer->ethertype == 0x86dd ? 0x57
							     : 0x281);
	}
}

/* Let the first @ips IP packets end at @end. */
static inline void frame_set_end(struct frame *frame, u32 ips, u32 end)
{
	for (u32 i = 0; i < ips; i++) {
		u8 *ip = frame->byte + frame->ip[i].at;

		if (frame->ip[i].version == 4)
			frame_put16(ip + 2, end - frame->ip[i].at);
		else
			frame_put16(ip + 4, end - frame->ip[i].at - 40);
	}
	frame_fix_sum(frame);
}

static inline void frame_finish(struct frame *frame)
{
	if (!frame->end)
		frame->end = frame->len;
	frame_set_end(frame, frame->ips, frame->end);
}

/* Build @frame from the words of @spec. */
static inline void frame_build(struct frame *frame, const char *spec)
{
	memset(frame, 0, sizeof(*frame));
	while (*spec) {
		size_t word = strcspn(spec, " "), name = strcspn(spec, " :");
		u32 arg = name < word ? strtoul(spec + name + 1, NULL, 0) : 0, i;

		for (i = 0; i < XDD_ARRAY_SIZE(frame_layers); i++) {
			const struct frame_layer *layer = &frame_layers[i];

			if (strlen(layer->name) != name || strncmp(layer->name, spec, name))
				continue;
			frame_name(frame, layer);
			layer->add(frame, layer, arg);
			break;
		}
		if (i == XDD_ARRAY_SIZE(frame_layers))
			fail_msg("no layer is called %.*s", (int)word, spec);
		spec += word;
		spec += strspn(spec, " ");
	}
	frame_finish(frame);
}

/* The frame as the core takes it. */
static inline struct xdd_packet frame_packet(const struct frame *frame)
{
	struct xdd_packet packet = {
		.data = frame->byte,
		.end = frame->byte + frame->len,
		.len = frame->len,
		.wire_len = frame->len,
		.link = frame->link,
	};

	return packet;
}

/* Give an IP frame an identity of its own: IPv4 identification and source, IPv6 source. */
static inline void frame_number(struct frame *frame, u32 number)
{
	u8 *ip = frame->byte + frame->l3;

	if (frame->version == 4)
		frame_put16(ip + 4, number);
	memcpy(ip + (frame->version == 4 ? 12 : 8), &number, sizeof(number));
	frame_fix_sum(frame);
}

#endif
