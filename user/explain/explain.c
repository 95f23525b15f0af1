// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/capture/packet.h"
#include "user/policy.h"
#include "user/secret.h"

#define BYPASS_NAME(name, help) #name,
#define BYPASS_HELP(name, help) help,
static const char *const bypass_names[] = { XDD_BYPASSES(BYPASS_NAME) };
static const char *const bypass_help[] = { XDD_BYPASSES(BYPASS_HELP) };

const char *explain_bypass_name(u32 bypass)
{
	return bypass_names[bypass];
}

const char *explain_bypass_help(u32 bypass)
{
	return bypass_help[bypass];
}

/* A frame of which bytes may be changed, and what the core says of it. */
struct probe {
	struct xdd_fixed fixed;
	const struct xdd_secret *secret;
	const struct xdd_identity *known;
	struct xdd_packet packet;
	u32 l3; /* where the key's IP header lies; 0: it has none */
	u8 *bytes;
};

static int probe_open(struct probe *p, const struct explanation *e,
		      const struct explained_frame *frame)
{
	p->fixed = e->derived->fixed;
	p->fixed.verify_checksum = 0; /* a changed header has a wrong one */
	p->secret = &e->secret;
	p->known = &frame->identity;
	p->packet = frame->packet;
	p->bytes = malloc(frame->packet.len ?: 1);
	if (!p->bytes)
		return -ENOMEM;
	memcpy(p->bytes, frame->packet.data, frame->packet.len);
	p->packet.data = p->bytes;
	p->packet.end = p->bytes + p->packet.len;
	p->l3 = identity_l3(&p->fixed, &p->packet);
	return 0;
}

/* Has a change of @field altered the key? A packet that cannot be read any more is another one. But
 * before the IP header are types, which say where it lies: they are no part of the key.
 */
static bool probe_differs(const struct probe *p, const struct field *field)
{
	struct xdd_identity identity;
	u32 bypass = identity_of(&p->fixed, p->secret, &p->packet, &identity);

	if (field->off < p->l3 &&
	    (bypass != XDD_BYPASS_MAX || identity_l3(&p->fixed, &p->packet) != p->l3))
		return false;
	return bypass != XDD_BYPASS_MAX || !digest_equal(&identity.digest, &p->known->digest);
}

/* Does the key change with byte @i of @field, if @bits of it do? */
static bool probe_byte(struct probe *p, const struct field *field, u32 i, u8 bits)
{
	bool differs;

	p->bytes[field->off + i] ^= bits;
	differs = probe_differs(p, field);
	p->bytes[field->off + i] ^= bits;
	return differs;
}

/* Is the field in the key? Its first byte and its last one tell; but of what is around the packet, such
 * as a tunnel's header, the key may have a part in the middle.
 */
static bool probe_field(struct probe *p, const struct field *field)
{
	u32 last = field->len - 1, mask = field->kind->mask;
	u32 step = field->off < p->l3 || !last ? 1 : last;

	for (u32 i = 0; i < field->len && !mask; i += step)
		if (probe_byte(p, field, i, 1))
			return true;
	for (u32 i = 0; i < field->len && mask; i++) {
		u8 bits = mask >> 8 * (last - i);

		if (bits && probe_byte(p, field, i, bits & -bits))
			return true;
	}
	return false;
}

/* Does the key change where @from of @packet takes the place of @field, which is as long? */
static bool probe_exchange(struct probe *p, const struct field *field,
			   const struct xdd_packet *packet, const struct field *from)
{
	u8 *at = p->bytes + field->off;
	const u8 *other = packet->data + from->off;
	u8 *kept = malloc(field->len);
	bool differs;

	if (!kept)
		return true;
	memcpy(kept, at, field->len);
	for (u32 i = 0; i < field->len; i++) {
		u32 mask = field->kind->mask ? field->kind->mask >> 8 * (field->len - 1 - i) : 0xff;

		at[i] = (at[i] & ~mask) | (other[i] & mask);
	}
	differs = probe_differs(p, field);
	memcpy(at, kept, field->len);
	free(kept);
	return differs;
}

/* Would the keys be the same if only @pair differed? A field that one frame lacks, or that is longer
 * in one, is judged by changing it where it is.
 */
static bool is_ignored(const struct explanation *e, struct probe *p, const struct field_pair *pair)
{
	const struct explained_frame *a = &e->a, *b = &e->b;

	if (e->same)
		return true;
	if (pair->a && pair->b && pair->a->len == pair->b->len)
		return !probe_exchange(p, pair->a, &b->packet, pair->b);
	if (pair->a && a->in_key[pair->a - a->fields.all])
		return false;
	return !pair->b || !b->in_key[pair->b - b->fields.all];
}

static int explain_frame(struct explanation *e, struct explained_frame *frame)
{
	const struct xdd_fixed *fixed = &e->derived->fixed;
	struct probe probe;
	int rc;

	frame->packet = capture_packet(&frame->item);
	frame->bypass = identity_of(fixed, &e->secret, &frame->packet, &frame->identity);
	fields_of(fixed, &frame->packet, &frame->fields);
	if (frame->bypass != XDD_BYPASS_MAX)
		return 0;
	rc = probe_open(&probe, e, frame);
	for (u32 i = 0; i < frame->fields.n && !rc; i++)
		frame->in_key[i] = probe_field(&probe, &frame->fields.all[i]);
	free(probe.bytes);
	return rc;
}

static int compare(struct explanation *e)
{
	struct field_pair pairs[2 * FIELDS_MAX];
	struct probe probe;
	int rc = probe_open(&probe, e, &e->a);

	if (rc)
		return rc;
	e->n_pairs = fields_differ(&e->a.packet, &e->a.fields, &e->b.packet, &e->b.fields, pairs);
	for (u32 i = 0; i < e->n_pairs; i++) {
		e->pairs[i].fields = pairs[i];
		e->pairs[i].ignored = e->have_keys && is_ignored(e, &probe, &pairs[i]);
	}
	free(probe.bytes);
	return 0;
}

/* Options that change what a key is made of: a field of the configuration, and its value. */
#define SETTING(field) offsetof(struct xdd_fixed, field), sizeof(((struct xdd_fixed *)0)->field)
static const struct {
	const char *option;
	size_t at, size;
	u64 value;
} settings[] = {
	{ "--key packet", SETTING(key), XDD_KEY_packet },
	{ "--key frame", SETTING(key), XDD_KEY_frame },
	{ "--key redundancy", SETTING(key), XDD_KEY_redundancy },
	{ "--key flow", SETTING(key), XDD_KEY_flow },
	{ "--key biflow", SETTING(key), XDD_KEY_biflow },
	{ "--key srcdst", SETTING(key), XDD_KEY_srcdst },
	{ "--key src", SETTING(key), XDD_KEY_src },
	{ "--key dst", SETTING(key), XDD_KEY_dst },
	{ "--inner", SETTING(inner), 1 },
	{ "--vni key", SETTING(vni_key), 1 },
	{ "--vni ignore", SETTING(vni_key), 0 },
	{ "--vlan key", SETTING(vlan_key), 1 },
	{ "--vlan ignore", SETTING(vlan_key), 0 },
	{ "--scope interface", SETTING(scope_iface), 1 },
	{ "--scope all", SETTING(scope_iface), 0 },
	{ "--non-ip frame", SETTING(non_ip_frame), 1 },
	{ "--payload all", SETTING(payload_bytes), 0 },
	{ "--payload 64", SETTING(payload_bytes), 64 },
	{ "--verify-checksum", SETTING(verify_checksum), 1 },
};
XDD_ASSERT(XDD_ARRAY_SIZE(settings) + XDD_FIELD_MAX <= EXPLAIN_CHOICES_MAX, "room for each choice");

static struct explained_choice try_choice(const struct explanation *e, const char *option,
					  const struct xdd_fixed *fixed)
{
	struct explained_choice choice;
	struct xdd_identity a, b;

	snprintf(choice.option, sizeof(choice.option), "%s", option);
	choice.has_key = identity_of(fixed, &e->secret, &e->a.packet, &a) == XDD_BYPASS_MAX &&
			 identity_of(fixed, &e->secret, &e->b.packet, &b) == XDD_BYPASS_MAX;
	choice.same = choice.has_key && digest_equal(&a.digest, &b.digest);
	return choice;
}

/* The host is little-endian (types.h): a value's first bytes are those of a narrower field. */
static void try_settings(struct explanation *e)
{
	for (u32 i = 0; i < XDD_ARRAY_SIZE(settings); i++) {
		struct xdd_fixed other = e->derived->fixed;

		memcpy((u8 *)&other + settings[i].at, &settings[i].value, settings[i].size);
		e->choices[e->n_choices++] = try_choice(e, settings[i].option, &other);
	}
}

/* Each field of the packet key taken out, or put in. */
static void try_fields(struct explanation *e)
{
	for (u32 field = 0; field < XDD_FIELD_MAX; field++) {
		struct xdd_fixed other = e->derived->fixed;
		char option[32], word[POLICY_FIELD_MAX];

		snprintf(option, sizeof(option), "--%s %s",
			 xdd_field_in(&other, field) ? "ignore" : "include",
			 policy_field(field, word));
		other.changed_fields ^= 1u << field;
		e->choices[e->n_choices++] = try_choice(e, option, &other);
	}
}

int explain(struct explanation *e)
{
	const struct derived *d = e->derived;
	s64 apart = e->a.item.time_ns - e->b.item.time_ns;
	int rc;

	secret_from_seed(&e->secret, d->fixed.seed);
	rc = explain_frame(e, &e->a);
	if (!rc)
		rc = explain_frame(e, &e->b);
	e->have_keys = e->a.bypass == XDD_BYPASS_MAX && e->b.bypass == XDD_BYPASS_MAX;
	e->same = e->have_keys && digest_equal(&e->a.identity.digest, &e->b.identity.digest);
	if (!rc)
		rc = compare(e);
	if (rc)
		return rc;
	try_settings(e);
	try_fields(e);
	e->apart_ns = apart < 0 ? -(u64)apart : (u64)apart;
	e->in_window = e->apart_ns <= d->live.window_ns;
	return 0;
}
