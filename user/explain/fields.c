// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "user/capture/bytes.h"
#include "user/identity.h"

#define KINDS_END            \
	{                    \
		.name = NULL \
	}

static const struct field_kind ethernet_kinds[] = {
	{ "eth", "dst", 0, 6, 0, FORM_MAC },
	{ "eth", "src", 6, 6, 0, FORM_MAC },
	{ "eth", "type", 12, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind sll_kinds[] = {
	{ "sll", "packet_type", 0, 2, 0, FORM_DECIMAL },
	{ "sll", "hardware", 2, 2, 0, FORM_DECIMAL },
	{ "sll", "address", 6, 8, 0, FORM_BYTES },
	{ "sll", "type", 14, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind sll2_kinds[] = {
	{ "sll", "type", 0, 2, 0, FORM_HEX },
	{ "sll", "interface", 4, 4, 0, FORM_DECIMAL },
	{ "sll", "hardware", 8, 2, 0, FORM_DECIMAL },
	{ "sll", "packet_type", 10, 1, 0, FORM_DECIMAL },
	{ "sll", "address", 12, 8, 0, FORM_BYTES },
	KINDS_END,
};
static const struct field_kind null_kinds[] = {
	{ "null", "family", 0, 4, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind vlan_kinds[] = {
	{ "vlan", "pcp", 0, 1, 0xe0, FORM_DECIMAL },
	{ "vlan", "dei", 0, 1, 0x10, FORM_DECIMAL },
	{ "vlan", "vid", 0, 2, 0x0fff, FORM_DECIMAL },
	{ "vlan", "type", 2, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind hsr_kinds[] = {
	{ "hsr", "path", 0, 1, 0xf0, FORM_DECIMAL },
	{ "hsr", "size", 0, 2, 0x0fff, FORM_DECIMAL },
	{ "hsr", "sequence", 2, 2, 0, FORM_DECIMAL },
	{ "hsr", "type", 4, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind frer_kinds[] = {
	{ "frer", "reserved", 0, 2, 0, FORM_HEX },
	{ "frer", "sequence", 2, 2, 0, FORM_DECIMAL },
	{ "frer", "type", 4, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind prp_kinds[] = {
	{ "prp", "sequence", 0, 2, 0, FORM_DECIMAL },
	{ "prp", "lan", 2, 1, 0xf0, FORM_HEX },
	{ "prp", "size", 2, 2, 0x0fff, FORM_DECIMAL },
	{ "prp", "suffix", 4, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind stamp_kinds[] = {
	{ "stamp", "subtype", 0, 2, 0, FORM_HEX },
	{ "stamp", "version", 2, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind stamp_time = { "stamp", "time", 0, 0, 0, FORM_BYTES };
static const struct field_kind stamp_type = { "stamp", "type", 0, 2, 0, FORM_HEX };
static const struct field_kind mpls_kinds[] = {
	{ "mpls", "label", 0, 4, 0xfffff000, FORM_DECIMAL },
	{ "mpls", "tc", 0, 4, 0x00000e00, FORM_DECIMAL },
	{ "mpls", "bottom", 0, 4, 0x00000100, FORM_DECIMAL },
	{ "mpls", "ttl", 0, 4, 0x000000ff, FORM_DECIMAL },
	KINDS_END,
};
static const struct field_kind ipv4_kinds[] = {
	{ "ipv4", "version", 0, 1, 0xf0, FORM_DECIMAL },
	{ "ipv4", "ihl", 0, 1, 0x0f, FORM_DECIMAL },
	{ "ipv4", "dscp", 1, 1, 0xfc, FORM_DECIMAL },
	{ "ipv4", "ecn", 1, 1, 0x03, FORM_DECIMAL },
	{ "ipv4", "length", 2, 2, 0, FORM_DECIMAL },
	{ "ipv4", "id", 4, 2, 0, FORM_HEX },
	{ "ipv4", "flags", 6, 1, 0xe0, FORM_HEX },
	{ "ipv4", "offset", 6, 2, 0x1fff, FORM_DECIMAL },
	{ "ipv4", "ttl", 8, 1, 0, FORM_DECIMAL },
	{ "ipv4", "protocol", 9, 1, 0, FORM_DECIMAL },
	{ "ipv4", "checksum", 10, 2, 0, FORM_HEX },
	{ "ipv4", "src", 12, 4, 0, FORM_IPV4 },
	{ "ipv4", "dst", 16, 4, 0, FORM_IPV4 },
	KINDS_END,
};
static const struct field_kind ipv6_kinds[] = {
	{ "ipv6", "version", 0, 1, 0xf0, FORM_DECIMAL },
	{ "ipv6", "dscp", 0, 2, 0x0fc0, FORM_DECIMAL },
	{ "ipv6", "ecn", 0, 2, 0x0030, FORM_DECIMAL },
	{ "ipv6", "flowlabel", 0, 4, 0x000fffff, FORM_HEX },
	{ "ipv6", "length", 4, 2, 0, FORM_DECIMAL },
	{ "ipv6", "next", 6, 1, 0, FORM_DECIMAL },
	{ "ipv6", "hoplimit", 7, 1, 0, FORM_DECIMAL },
	{ "ipv6", "src", 8, 16, 0, FORM_IPV6 },
	{ "ipv6", "dst", 24, 16, 0, FORM_IPV6 },
	KINDS_END,
};
static const struct field_kind tcp_kinds[] = {
	{ "tcp", "sport", 0, 2, 0, FORM_DECIMAL },	{ "tcp", "dport", 2, 2, 0, FORM_DECIMAL },
	{ "tcp", "seq", 4, 4, 0, FORM_DECIMAL },	{ "tcp", "ack", 8, 4, 0, FORM_DECIMAL },
	{ "tcp", "header", 12, 1, 0xf0, FORM_DECIMAL }, { "tcp", "flags", 12, 2, 0x0fff, FORM_HEX },
	{ "tcp", "window", 14, 2, 0, FORM_DECIMAL },	{ "tcp", "checksum", 16, 2, 0, FORM_HEX },
	{ "tcp", "urgent", 18, 2, 0, FORM_DECIMAL },	KINDS_END,
};
static const struct field_kind udp_kinds[] = {
	{ "udp", "sport", 0, 2, 0, FORM_DECIMAL },
	{ "udp", "dport", 2, 2, 0, FORM_DECIMAL },
	{ "udp", "length", 4, 2, 0, FORM_DECIMAL },
	{ "udp", "checksum", 6, 2, 0, FORM_HEX },
	KINDS_END,
};
static const struct field_kind icmp_kinds[] = {
	{ "icmp", "type", 0, 1, 0, FORM_DECIMAL },
	{ "icmp", "code", 1, 1, 0, FORM_DECIMAL },
	{ "icmp", "checksum", 2, 2, 0, FORM_HEX },
	{ "icmp", "rest", 4, 4, 0, FORM_HEX },
	KINDS_END,
};

/* Without a layout of their own: bytes from here to there. */
static const struct field_kind ipv4_options = { "ipv4", "options", 0, 0, 0, FORM_BYTES };
static const struct field_kind ipv6_extensions = { "ipv6", "extensions", 0, 0, 0, FORM_BYTES };
static const struct field_kind tcp_options = { "tcp", "options", 0, 0, 0, FORM_BYTES };
static const struct field_kind tunnel = { "tunnel", "headers", 0, 0, 0, FORM_BYTES };
static const struct field_kind payload = { "ip", "payload", 0, 0, 0, FORM_BYTES };
static const struct field_kind frame_rest = { "frame", "rest", 0, 0, 0, FORM_BYTES };
static const struct field_kind frame_padding = { "frame", "padding", 0, 0, 0, FORM_BYTES };

struct walk {
	const struct xdd_packet *packet;
	struct fields *to;
	u32 off; /* up to here everything is listed */
};

static void add(struct walk *w, const struct field_kind *kind, u32 nth, u32 off, u32 len)
{
	if (!len || off > w->packet->len || len > w->packet->len - off || w->to->n == FIELDS_MAX)
		return;
	w->to->all[w->to->n++] = (struct field){ .kind = kind, .nth = nth, .off = off, .len = len };
}

/* What lies between here and @end, as one field. */
static void add_up_to(struct walk *w, const struct field_kind *kind, u32 nth, u32 end)
{
	if (end <= w->off)
		return;
	add(w, kind, nth, w->off, end - w->off);
	w->off = end;
}

/* A header of @bytes. */
static void add_header(struct walk *w, const struct field_kind *kinds, u32 nth, u32 bytes)
{
	for (; kinds->name; kinds++)
		add(w, kinds, nth, w->off + kinds->at, kinds->len);
	w->off += bytes;
}

static void add_link(struct walk *w)
{
	switch (w->packet->link) {
	case XDD_LINK_ETHERNET:
		add_header(w, ethernet_kinds, 0, 14);
		return;
	case XDD_LINK_SLL:
		add_header(w, sll_kinds, 0, 16);
		return;
	case XDD_LINK_SLL2:
		add_header(w, sll2_kinds, 0, 20);
		return;
	case XDD_LINK_NULL:
	case XDD_LINK_LOOP:
		add_header(w, null_kinds, 0, 4);
		return;
	}
}

/* A big-endian number at @off; 0 beyond the end. */
static u16 be16_at(const struct xdd_packet *packet, u32 off)
{
	return off + 2 <= packet->len ? get16(packet->data + off, true) : 0;
}

/* A switch's time stamp. Returns its length; 0: none that ends before @l3. */
static u32 add_stamp(struct walk *w, u32 l3)
{
	u32 bytes = xdd_stamp_bytes(be16_at(w->packet, w->off), be16_at(w->packet, w->off + 2));
	u32 end = w->off + bytes;

	if (!bytes || end > l3)
		return 0;
	add_header(w, stamp_kinds, 0, 4);
	add_up_to(w, &stamp_time, 0, end - 2);
	add_up_to(w, &stamp_type, 0, end);
	return bytes;
}

/* The @nth tag, of @type. */
static void add_tag(struct walk *w, u16 type, u32 nth)
{
	const struct field_kind *kinds = vlan_kinds;

	if (xdd_is_numbered(type))
		kinds = type == XDD_ETH_HSR ? hsr_kinds : frer_kinds;
	add_header(w, kinds, nth, xdd_tag_bytes(type));
}

/* What is between the link header and @l3: tags, time stamps, then labels of 4 bytes each. */
static void add_tags(struct walk *w, u32 l3)
{
	static const u32 type_at[] = { [XDD_LINK_ETHERNET] = 12, [XDD_LINK_SLL] = 14 };
	u32 link = w->packet->link, nth = 0;
	u16 type = be16_at(w->packet, link < XDD_ARRAY_SIZE(type_at) ? type_at[link] : 0);

	while (w->off + 4 <= l3) {
		if (xdd_tag_bytes(type))
			add_tag(w, type, nth++);
		else if (type != XDD_ETH_STAMP || !add_stamp(w, l3))
			break;
		type = be16_at(w->packet, w->off - 2);
	}
	for (nth = 0; w->off + 4 <= l3; nth++)
		add_header(w, mpls_kinds, nth, 4);
}

static void add_transport(struct walk *w, const struct xdd_layers *layers)
{
	u32 room = layers->end > w->off ? layers->end - w->off : 0, header;

	if (layers->fragment == XDD_FRAGMENT_LATER)
		return;
	if (layers->proto == XDD_PROTO_TCP && room >= 20) {
		header = w->off + (w->packet->data[w->off + 12] >> 4) * 4;
		add_header(w, tcp_kinds, 0, 20);
		add_up_to(w, &tcp_options, 0, header < layers->end ? header : layers->end);
	} else if ((layers->proto == XDD_PROTO_UDP || layers->proto == XDD_PROTO_UDPLITE) &&
		   room >= 8) {
		add_header(w, udp_kinds, 0, 8);
	} else if (xdd_is_icmp(layers->proto) && room >= 8) {
		add_header(w, icmp_kinds, 0, 8);
	}
}

/* The IP header of @layers, the @nth of its version, and what extends it. */
static void add_ip(struct walk *w, const struct xdd_layers *layers, u32 nth)
{
	bool v4 = layers->version == 4;

	if (v4)
		add_header(w, ipv4_kinds, nth, sizeof(struct xdd_ipv4));
	else
		add_header(w, ipv6_kinds, nth, sizeof(struct xdd_ipv6));
	add_up_to(w, v4 ? &ipv4_options : &ipv6_extensions, nth,
		  layers->l4 < layers->end ? layers->l4 : layers->end);
}

/* From an outer IP header to the one that the key is made of, at @l3. */
static struct xdd_layers add_tunnel(const struct xdd_fixed *fixed, struct walk *w,
				    const struct xdd_layers *outer, u32 l3)
{
	struct xdd_layers inner = identity_layers_at(fixed, w->packet, l3);

	add_up_to(w, &tunnel, 0, l3);
	w->off = l3;
	if (inner.version)
		add_ip(w, &inner, inner.version == outer->version);
	return inner;
}

/* What lies behind all that, as @kind; with a trailer of PRP at @trailer, unless that is 0. */
static void add_end(struct walk *w, const struct field_kind *kind, u32 trailer)
{
	if (trailer >= w->off && trailer) {
		add_up_to(w, kind, 0, trailer);
		add_header(w, prp_kinds, 0, XDD_TRAILER_BYTES);
		kind = &frame_padding;
	}
	add_up_to(w, kind, 0, w->packet->len);
}

void fields_of(const struct xdd_fixed *fixed, const struct xdd_packet *packet,
	       struct fields *fields)
{
	struct xdd_layers layers = identity_layers(fixed, packet);
	struct walk w = { .packet = packet, .to = fields };
	u32 l3 = identity_l3(fixed, packet);

	fields->n = 0;
	add_link(&w);
	add_tags(&w, layers.l3);
	if (layers.version)
		add_ip(&w, &layers, 0);
	if (l3 > layers.l3 || (l3 && !layers.version))
		layers = add_tunnel(fixed, &w, &layers, l3);
	if (layers.version) {
		add_transport(&w, &layers);
		add_up_to(&w, &payload, 0, layers.end);
	}
	add_end(&w, layers.version ? &frame_padding : &frame_rest, identity_trailer(packet));
}

const char *field_name(const struct field *field, char text[FIELD_NAME_MAX])
{
	const struct field_kind *kind = field->kind;

	if (field->nth)
		snprintf(text, FIELD_NAME_MAX, "%s[%u].%s", kind->header, field->nth + 1,
			 kind->name);
	else
		snprintf(text, FIELD_NAME_MAX, "%s.%s", kind->header, kind->name);
	return text;
}

/* The number in a field of at most 4 bytes. */
static u32 number_of(const u8 *at, const struct field *field)
{
	u32 value = 0, mask = field->kind->mask;

	for (u32 i = 0; i < field->len; i++)
		value = value << 8 | at[i];
	if (!mask)
		return value;
	return (value & mask) >> __builtin_ctz(mask);
}

static void write_bytes(const u8 *at, u32 len, const char *between, char *text)
{
	const u32 shown = 8;

	*text = 0;
	for (u32 i = 0; i < len && i < shown; i++)
		sprintf(text + strlen(text), "%s%02x", i ? between : "", at[i]);
	if (len > shown)
		sprintf(text + strlen(text), "... (%u bytes)", len);
}

/* Long values are shown from the first byte that differs. */
static u32 skipped(const struct xdd_packet *packet, const struct field *field,
		   const struct xdd_packet *other, const struct field *like)
{
	u32 i = 0;

	if (!like || field->kind->form != FORM_BYTES)
		return 0;
	while (i < field->len && i < like->len &&
	       packet->data[field->off + i] == other->data[like->off + i])
		i++;
	return i < field->len ? i : 0;
}

const char *field_value(const struct xdd_packet *packet, const struct field *field,
			const struct xdd_packet *other, const struct field *like,
			char text[FIELD_VALUE_MAX])
{
	u32 skip = skipped(packet, field, other, like);
	const u8 *at = packet->data + field->off + skip;

	switch (field->kind->form) {
	case FORM_DECIMAL:
		snprintf(text, FIELD_VALUE_MAX, "%u", number_of(at, field));
		break;
	case FORM_HEX:
		snprintf(text, FIELD_VALUE_MAX, "0x%x", number_of(at, field));
		break;
	case FORM_MAC:
		write_bytes(at, field->len, ":", text);
		break;
	case FORM_IPV4:
		inet_ntop(AF_INET, at, text, FIELD_VALUE_MAX);
		break;
	case FORM_IPV6:
		inet_ntop(AF_INET6, at, text, FIELD_VALUE_MAX);
		break;
	case FORM_BYTES:
		snprintf(text, FIELD_VALUE_MAX, skip ? "+%u " : "", skip);
		write_bytes(at, field->len - skip, "", text + strlen(text));
		break;
	}
	return text;
}

static bool is_same_kind(const struct field *a, const struct field *b)
{
	return a->kind == b->kind && a->nth == b->nth;
}

/* The field of @in like @field, most likely the one at @guess; NULL: none. */
static const struct field *find(const struct fields *in, const struct field *field, u32 guess)
{
	if (guess < in->n && is_same_kind(&in->all[guess], field))
		return &in->all[guess];
	for (u32 i = 0; i < in->n; i++)
		if (is_same_kind(&in->all[i], field))
			return &in->all[i];
	return NULL;
}

static bool is_equal(const struct xdd_packet *a, const struct field *in_a,
		     const struct xdd_packet *b, const struct field *in_b)
{
	const u8 *at_a = a->data + in_a->off, *at_b = b->data + in_b->off;

	if (in_a->kind->mask)
		return number_of(at_a, in_a) == number_of(at_b, in_b);
	return in_a->len == in_b->len && !memcmp(at_a, at_b, in_a->len);
}

u32 fields_differ(const struct xdd_packet *a, const struct fields *in_a, const struct xdd_packet *b,
		  const struct fields *in_b, struct field_pair pairs[2 * FIELDS_MAX])
{
	u32 n = 0, guess = 0;

	for (u32 i = 0; i < in_a->n; i++) {
		const struct field *one = &in_a->all[i], *other = find(in_b, one, guess);

		guess = other ? other - in_b->all + 1 : guess;
		if (!other || !is_equal(a, one, b, other))
			pairs[n++] = (struct field_pair){ one, other };
	}
	for (u32 i = 0; i < in_b->n; i++)
		if (!find(in_a, &in_b->all[i], i))
			pairs[n++] = (struct field_pair){ NULL, &in_b->all[i] };
	return n;
}
