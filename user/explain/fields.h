/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of a frame by name: link header, tags, IP, transport, payload, and what lies behind.
 *
 * A frame in a frame is read where the key looks: between the outermost IP header and that of the
 * key everything is one field, tunnel.
 */
#ifndef USER_EXPLAIN_FIELDS_H
#define USER_EXPLAIN_FIELDS_H

#include <xdd/config.h>
#include <xdd/packet.h>

/* How a value is written: a number, one in hexadecimal, addresses, bytes. */
enum field_form { FORM_DECIMAL, FORM_HEX, FORM_MAC, FORM_IPV4, FORM_IPV6, FORM_BYTES };

/* A kind of field: "ttl" of "ipv4". */
struct field_kind {
	const char *header;
	const char *name;
	u32 at;	  /* offset in its header */
	u32 len;  /* bytes; 0: as many as there are */
	u32 mask; /* the bits that are its own, of up to 4 bytes in network order; 0: all */
	enum field_form form;
};

struct field {
	const struct field_kind *kind;
	u32 nth; /* which of several such headers: 0, or 1 of an inner tag or IP header, ... */
	u32 off; /* in the frame */
	u32 len;
};

#define FIELDS_MAX 160

struct fields {
	u32 n;
	struct field all[FIELDS_MAX];
};

/* List the fields of @packet as far as it can be read; the key's IP header is as @fixed says. */
void fields_of(const struct xdd_fixed *fixed, const struct xdd_packet *packet,
	       struct fields *fields);

/* "ipv4.ttl", or "ipv4[2].ttl" of the second IPv4 header. Returns @text. */
#define FIELD_NAME_MAX 40
const char *field_name(const struct field *field, char text[FIELD_NAME_MAX]);

/* Its value; of many bytes the first ones, or, as "+20 4242", those from where it differs from
 * @like of @other (NULL: none). Returns @text.
 */
#define FIELD_VALUE_MAX 64
const char *field_value(const struct xdd_packet *packet, const struct field *field,
			const struct xdd_packet *other, const struct field *like,
			char text[FIELD_VALUE_MAX]);

/* The same field in two frames; NULL where one of them lacks it. */
struct field_pair {
	const struct field *a, *b;
};

/* The fields that differ, in the order of the frames, into @pairs (room for 2 * FIELDS_MAX). Returns
 * their number.
 */
u32 fields_differ(const struct xdd_packet *a, const struct fields *in_a, const struct xdd_packet *b,
		  const struct fields *in_b, struct field_pair pairs[2 * FIELDS_MAX]);

#endif
