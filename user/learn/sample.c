// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/capture/bytes.h"
#include "user/secret.h"

#define US 1000ull
#define MS (1000 * US)
#define S (1000 * MS)

#define FEWEST_ENTRIES 1024
#define MOST_ENTRIES (1u << 30)
#define NONE (~0u)

const u64 learn_window_ns[LEARN_WINDOWS] = {
	100 * US, 1 * MS,	 2 * MS,   5 * MS,   10 * MS, 20 * MS,
	50 * MS,  LEARN_COPY_NS, 200 * MS, 500 * MS, 1 * S,   2 * S,
};

const u64 learn_step_ns[LEARN_STEPS - 1] = {
	1 * US,	  2 * US,   5 * US, 10 * US, 20 * US, 50 * US, 100 * US, 200 * US,
	500 * US, 1 * MS,   2 * MS, 5 * MS,  10 * MS, 20 * MS, 50 * MS,	 100 * MS,
	200 * MS, 500 * MS, 1 * S,  2 * S,   5 * S,   10 * S,
};

/* A packet, and when it was seen. */
struct learn_entry {
	struct xdd_digest digest;
	u64 last_ns;
	u64 first_ns[LEARN_WINDOWS]; /* when the window of each filter began */
	u64 times;		     /* copies within LEARN_COPY_NS of the first, and that */
	u32 next;		     /* in its chain */
	u32 iface;
	u32 len, wire_len, link;
	u8 head[LEARN_SNAP];
};

int learn_open(struct learn *l, const struct xdd_fixed *fixed, u64 memory_bytes)
{
	u64 n = memory_bytes / (sizeof(*l->entries) + sizeof(*l->chains));

	memset(l, 0, sizeof(*l));
	l->fixed = fixed;
	secret_from_seed(&l->secret, fixed->seed);
	n = n < FEWEST_ENTRIES ? FEWEST_ENTRIES : n > MOST_ENTRIES ? MOST_ENTRIES : n;
	l->n_entries = n;
	for (l->n_chains = 1; l->n_chains * 2 <= l->n_entries; l->n_chains *= 2)
		;
	l->entries = malloc(l->n_entries * sizeof(*l->entries));
	l->chains = malloc(l->n_chains * sizeof(*l->chains));
	if (!l->entries || !l->chains)
		return -ENOMEM;
	for (u32 i = 0; i < l->n_chains; i++)
		l->chains[i] = NONE;
	return 0;
}

void learn_close(struct learn *l)
{
	free(l->entries);
	free(l->chains);
	l->entries = NULL;
	l->chains = NULL;
}

static u64 apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static u32 *chain_of(struct learn *l, const struct xdd_digest *digest)
{
	return &l->chains[digest->lo & (l->n_chains - 1)];
}

static struct learn_entry *find(struct learn *l, const struct xdd_digest *digest)
{
	u32 i = *chain_of(l, digest);

	while (i != NONE && !digest_equal(&l->entries[i].digest, digest))
		i = l->entries[i].next;
	return i == NONE ? NULL : &l->entries[i];
}

/* Take entry @i out of its chain. */
static void forget(struct learn *l, u32 i, u64 time_ns)
{
	const struct learn_entry *e = &l->entries[i];
	u32 *at = chain_of(l, &e->digest);

	while (*at != i)
		at = &l->entries[*at].next;
	*at = e->next;
	for (u32 w = 0; w < LEARN_WINDOWS; w++)
		l->windows[w].forgotten += apart(time_ns, e->first_ns[w]) < learn_window_ns[w];
}

/* What the entry keeps of a frame. */
static void store_head(struct learn_entry *e, const struct xdd_packet *packet, u32 iface)
{
	u32 n = packet->len < LEARN_SNAP ? packet->len : LEARN_SNAP;

	memcpy(e->head, packet->data, n);
	e->len = packet->len;
	e->wire_len = packet->wire_len;
	e->link = packet->link;
	e->iface = iface;
	e->times = 1;
}

static void remember(struct learn *l, const struct xdd_digest *digest,
		     const struct xdd_packet *packet, u64 time_ns, u32 iface)
{
	u32 i = l->next++, *chain;
	struct learn_entry *e = &l->entries[i];

	l->next %= l->n_entries;
	if (l->used == l->n_entries)
		forget(l, i, time_ns);
	else
		l->used++;
	e->digest = *digest;
	e->last_ns = time_ns;
	for (u32 w = 0; w < LEARN_WINDOWS; w++)
		e->first_ns[w] = time_ns;
	store_head(e, packet, iface);
	chain = chain_of(l, digest);
	e->next = *chain;
	*chain = i;
	l->times[1]++;
}

static void count(struct learn_count *c, bool unsure)
{
	c->all++;
	c->unsure += unsure;
}

static void count_step(struct learn *l, u64 ns, bool unsure)
{
	u32 i = 0;

	while (i < LEARN_STEPS - 1 && ns > learn_step_ns[i])
		i++;
	count(&l->steps[i], unsure);
}

/* Ask a filter for each window. */
static void count_windows(struct learn *l, struct learn_entry *e, u64 time_ns, bool unsure)
{
	for (u32 w = 0; w < LEARN_WINDOWS; w++) {
		struct learn_window *window = &l->windows[w];
		u64 ns = apart(time_ns, e->first_ns[w]);

		if (ns > learn_window_ns[w]) {
			e->first_ns[w] = time_ns;
			continue;
		}
		count(&window->dropped, unsure);
		if (ns <= learn_window_ns[w] - learn_window_ns[w] / LEARN_TICKS)
			count(&window->early, unsure);
		if (ns > window->farthest_ns)
			window->farthest_ns = ns;
	}
}

static void count_difference(struct learn *l, const struct field *field)
{
	u32 i;

	for (i = 0; i < l->n_differences; i++)
		if (l->differences[i].kind == field->kind && l->differences[i].nth == field->nth)
			break;
	if (i == LEARN_DIFFERENCES)
		return;
	if (i == l->n_differences)
		l->differences[l->n_differences++] =
			(struct learn_difference){ .kind = field->kind, .nth = field->nth };
	l->differences[i].copies++;
}

static bool is_field(const struct field *field, const char *name)
{
	return !strcmp(field->kind->name, name);
}

/* What is kept of a packet, and its fields. */
struct view {
	struct xdd_packet packet;
	struct fields fields;
	u32 l3; /* of the IP header that the key is made of */
	bool cut;
};

static void view_open(const struct learn *l, struct view *v, const struct xdd_packet *packet)
{
	v->packet = *packet;
	v->cut = packet->len > LEARN_SNAP;
	if (v->cut)
		v->packet.len = LEARN_SNAP;
	v->packet.end = v->packet.data + v->packet.len;
	v->l3 = identity_l3(l->fixed, &v->packet);
	fields_of(l->fixed, &v->packet, &v->fields);
}

/* The VLAN of the innermost tag; 0: none. */
static u16 view_vid(const struct view *v)
{
	u16 vid = 0;

	for (u32 i = 0; i < v->fields.n; i++) {
		const struct field *field = &v->fields.all[i];

		if (is_field(field, "vid"))
			vid = get16(v->packet.data + field->off, true) & 0xfff;
	}
	return vid;
}

static bool is_tunnelled(const struct view *v)
{
	for (u32 i = 0; i < v->fields.n; i++)
		if (!strcmp(v->fields.all[i].kind->header, "tunnel"))
			return true;
	return false;
}

static bool is_address(const struct field *field)
{
	return !strncmp(field->kind->header, "ipv", 3) &&
	       (is_field(field, "src") || is_field(field, "dst"));
}

/* A field that differs: has the packet of the key passed another number of routers? */
static bool is_routed(const struct view *v, const struct field *field)
{
	return field->off >= v->l3 && (is_field(field, "ttl") || is_field(field, "hoplimit"));
}

/* Do the fields differ only because one packet was cut? */
static bool is_cut(const struct view *a, const struct view *b, const struct field_pair *pair)
{
	u32 len;

	if (!(a->cut || b->cut) || !pair->a || !pair->b || pair->a->kind->form != FORM_BYTES)
		return false;
	len = pair->a->len < pair->b->len ? pair->a->len : pair->b->len;
	return !memcmp(a->packet.data + pair->a->off, b->packet.data + pair->b->off, len);
}

static void count_vlans(struct learn *l, u16 first, u16 copy, bool routed)
{
	u32 i = 0;

	l->other_vlan++;
	while (i < l->n_vlans && (l->vlans[i].first != first || l->vlans[i].copy != copy))
		i++;
	if (i == LEARN_VLANS)
		return;
	if (i == l->n_vlans)
		l->vlans[l->n_vlans++] = (struct learn_vlans){ .first = first, .copy = copy };
	l->vlans[i].copies++;
	l->vlans[i].routed += routed;
}

/* Do networks of their own look like this, each a VLAN with the same addresses? Taps before and behind
 * a tag see a packet at about the same time.
 */
static bool is_overlap(const struct view *first, const struct view *copy, u64 apart_ns)
{
	return apart_ns > LEARN_TAPS_NS || (view_vid(first) && view_vid(copy));
}

/* In which fields do the headers of a copy, @apart_ns from its first, and that differ? Returns whether it
 * is unsure that it is a copy; @unsure: it has no identification.
 */
static bool count_differences(struct learn *l, struct learn_entry *e,
			      const struct xdd_packet *packet, u64 apart_ns, bool unsure)
{
	struct xdd_packet kept = { e->head, NULL, NULL, e->len, e->wire_len, e->link };
	struct field_pair pairs[2 * FIELDS_MAX];
	bool vlan = false, routed = false, moved;
	struct view first, copy;
	u32 n, differ = 0;

	view_open(l, &first, &kept);
	view_open(l, &copy, packet);
	moved = is_tunnelled(&first) != is_tunnelled(&copy);
	n = fields_differ(&first.packet, &first.fields, &copy.packet, &copy.fields, pairs);
	for (u32 i = 0; i < n; i++) {
		const struct field *field = pairs[i].a ?: pairs[i].b;
		const struct view *v = pairs[i].a ? &first : &copy;

		if (is_cut(&first, &copy, &pairs[i]))
			continue;
		differ++;
		count_difference(l, field);
		vlan |= is_field(field, "vid");
		routed |= is_routed(v, field);
		moved |= is_address(field);
	}
	if (vlan)
		count_vlans(l, view_vid(&first), view_vid(&copy), routed);
	l->identical += !differ && e->len == packet->len && e->wire_len == packet->wire_len;
	return (unsure || (vlan && is_overlap(&first, &copy, apart_ns))) && !routed && !moved;
}

static u32 times_class(u64 times)
{
	return times < LEARN_TIMES ? times : LEARN_TIMES;
}

/* Returns as count_differences(). */
static bool count_copy(struct learn *l, struct learn_entry *e, const struct xdd_packet *packet,
		       u32 iface, u64 apart_ns, bool unsure)
{
	l->times[times_class(e->times)]--;
	l->times[times_class(++e->times)]++;
	l->most_times = e->times > l->most_times ? e->times : l->most_times;
	l->other_interface += iface != e->iface;
	return count_differences(l, e, packet, apart_ns, unsure);
}

/* A packet that was seen before. */
static void take_again(struct learn *l, struct learn_entry *e, const struct xdd_packet *packet,
		       u64 time_ns, u32 iface, bool unsure)
{
	u64 from_first = apart(time_ns, e->first_ns[LEARN_COPIES]);
	bool copy = from_first <= LEARN_COPY_NS;

	if (copy)
		unsure = count_copy(l, e, packet, iface, from_first, unsure);
	count_step(l, copy ? from_first : apart(time_ns, e->last_ns), unsure);
	count_windows(l, e, time_ns, unsure);
	if (!copy) {
		store_head(e, packet, iface);
		l->times[1]++;
	}
	e->last_ns = time_ns;
}

/* Is there nothing that would tell this packet from an equal one, sent after it? */
static bool is_unsure(const struct learn *l, const struct xdd_packet *packet,
		      const struct xdd_identity *identity)
{
	u32 l3 = identity_l3(l->fixed, packet);
	struct xdd_layers layers;

	if (!identity->key.head.version)
		return true;
	layers = identity_layers_at(l->fixed, packet, l3);
	if (!xdd_field_in(l->fixed, XDD_FIELD_ipid) && layers.fragment == XDD_WHOLE)
		return true;
	if (layers.version == 4)
		return !packet->data[l3 + 4] && !packet->data[l3 + 5];
	return layers.fragment == XDD_WHOLE;
}

static void count_frame(struct learn *l, const struct xdd_packet *packet, u64 time_ns)
{
	if (!l->frames++)
		l->first_ns = time_ns;
	l->bytes += packet->wire_len;
	l->last_ns = time_ns;
}

void learn_take(struct learn *l, const struct xdd_packet *packet, u64 time_ns, u32 iface)
{
	struct xdd_identity identity;
	struct learn_entry *e;
	u32 bypass;

	count_frame(l, packet, time_ns);
	bypass = identity_of(l->fixed, &l->secret, packet, &identity);
	if (bypass != XDD_BYPASS_MAX) {
		l->bypassed[bypass]++;
		return;
	}
	l->compared++;
	e = find(l, &identity.digest);
	if (e)
		take_again(l, e, packet, time_ns, iface, is_unsure(l, packet, &identity));
	else
		remember(l, &identity.digest, packet, time_ns, iface);
}

void learn_skip(struct learn *l, const struct xdd_packet *packet, u64 time_ns)
{
	count_frame(l, packet, time_ns);
	l->bypassed[XDD_BYPASS_filtered]++;
}
