// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "user/names.h"
#include "user/units.h"

/* Where a field lies in both frames: "14", or "18/14". */
static void offsets_text(const struct field *a, const struct field *b, char text[32])
{
	char one[12] = "-", other[12] = "-";

	if (a)
		snprintf(one, sizeof(one), "%u", a->off);
	if (b)
		snprintf(other, sizeof(other), "%u", b->off);
	if (!strcmp(one, other))
		strcpy(text, one);
	else
		snprintf(text, 32, "%s/%s", one, other);
}

static const char *value_text(const struct explained_frame *frame, const struct field *field,
			      const struct explained_frame *other, const struct field *like,
			      char text[FIELD_VALUE_MAX])
{
	return field ? field_value(&frame->packet, field, other ? &other->packet : NULL, like, text)
		     : "-";
}

static void print_row(const struct explanation *e, const struct field *a, const struct field *b,
		      const char *verdict, FILE *to)
{
	char name[FIELD_NAME_MAX], at[32], one[FIELD_VALUE_MAX], other[FIELD_VALUE_MAX];

	offsets_text(a, b, at);
	fprintf(to, "%-9s %-20s %-32s %-32s %s\n", at, field_name(a ?: b, name),
		value_text(&e->a, a, &e->b, b, one), value_text(&e->b, b, &e->a, a, other),
		verdict);
}

static const struct explained_pair *pair_of(const struct explanation *e, const struct field *a)
{
	for (u32 i = 0; i < e->n_pairs; i++)
		if (e->pairs[i].fields.a == a)
			return &e->pairs[i];
	return NULL;
}

static const char *verdict_of(const struct explanation *e, const struct explained_pair *pair)
{
	if (!e->have_keys)
		return "differs";
	return pair->ignored ? "differs, ignored" : "differs, in the key";
}

/* The field of @b that is like @a of the other frame, and equal. */
static const struct field *twin_of(const struct explained_frame *b, const struct field *a)
{
	for (u32 i = 0; i < b->fields.n; i++)
		if (b->fields.all[i].kind == a->kind && b->fields.all[i].nth == a->nth)
			return &b->fields.all[i];
	return NULL;
}

/* What is in the key or differs, in the order of the frames. */
static void print_fields(const struct explanation *e, FILE *to)
{
	char title[2][32];

	snprintf(title[0], sizeof(title[0]), "frame %" PRIu64, (uint64_t)e->a.item.number);
	snprintf(title[1], sizeof(title[1]), "frame %" PRIu64, (uint64_t)e->b.item.number);
	fprintf(to, "%-9s %-20s %-32s %s\n", "offset", "field", title[0], title[1]);
	for (u32 i = 0; i < e->a.fields.n; i++) {
		const struct field *a = &e->a.fields.all[i];
		const struct explained_pair *pair = pair_of(e, a);

		if (pair)
			print_row(e, a, pair->fields.b, verdict_of(e, pair), to);
		else if (e->a.in_key[i])
			print_row(e, a, twin_of(&e->b, a), "in the key", to);
	}
	for (u32 i = 0; i < e->n_pairs; i++)
		if (!e->pairs[i].fields.a)
			print_row(e, NULL, e->pairs[i].fields.b, verdict_of(e, &e->pairs[i]), to);
}

/* The smallest number of whole milliseconds that @ns fits in. */
static u64 window_for(u64 ns)
{
	return (ns + 999999) / 1000000 ?: 1;
}

static void print_verdict(const struct explanation *e, FILE *to)
{
	char apart[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX], longer[UNITS_TEXT_MAX];
	const struct derived *d = e->derived;
	u64 a = e->a.item.number, b = e->b.item.number;

	units_time_text(e->apart_ns, apart);
	units_time_text(d->live.window_ns, window);
	if (!e->have_keys)
		fprintf(to, "no verdict: the filter is not asked about a frame without a key\n");
	else if (!e->same)
		fprintf(to, "different keys: both frames are kept (key %s)\n",
			key_names[d->fixed.key]);
	else if (e->in_window)
		fprintf(to,
			"the same key, %s apart: frame %" PRIu64 " is a copy of frame %" PRIu64
			" (key %s, window %s)\n",
			apart, (uint64_t)(a > b ? a : b), (uint64_t)(a > b ? b : a),
			key_names[d->fixed.key], window);
	else
		fprintf(to,
			"the same key, but %s apart: both frames are kept (key %s, window %s); "
			"--window %s would find a copy\n",
			apart, key_names[d->fixed.key], window,
			units_time_word(window_for(e->apart_ns) * 1000000, longer));
}

/* The options that would turn the verdict on the keys. */
static void print_choices(const struct explanation *e, FILE *to)
{
	const char *before = e->same ? "different keys by: " : "the same key by: ";

	for (u32 i = 0; i < e->n_choices; i++) {
		if (!e->choices[i].has_key || e->choices[i].same == e->same)
			continue;
		fprintf(to, "%s%s", before, e->choices[i].option);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', to);
}

void explain_print(const struct explanation *e, FILE *to)
{
	print_fields(e, to);
	print_verdict(e, to);
	print_choices(e, to);
}

static json_t *json_offset(const struct field *field)
{
	return field ? json_integer(field->off) : json_null();
}

static json_t *json_value(const struct explained_frame *frame, const struct field *field,
			  const struct explained_frame *other, const struct field *like)
{
	char text[FIELD_VALUE_MAX];

	return field ? json_string(value_text(frame, field, other, like, text)) : json_null();
}

static json_t *json_key(const struct explained_frame *frame)
{
	char name[FIELD_NAME_MAX];
	json_t *key = json_array();

	for (u32 i = 0; i < frame->fields.n; i++) {
		const struct field *field = &frame->fields.all[i];

		if (frame->in_key[i])
			json_array_append_new(key,
					      json_pack("{s:s, s:i, s:i, s:o}", "field",
							field_name(field, name), "offset",
							field->off, "bytes", field->len, "value",
							json_value(frame, field, NULL, NULL)));
	}
	return key;
}

static json_t *json_frame(const struct explained_frame *frame)
{
	const struct xdd_digest *digest = &frame->identity.digest;
	bool has_key = frame->bypass == XDD_BYPASS_MAX;
	char hex[36];

	snprintf(hex, sizeof(hex), "%016" PRIx64 "%016" PRIx64, (uint64_t)digest->hi,
		 (uint64_t)digest->lo);
	return json_pack("{s:I, s:I, s:i, s:i, s:i, s:s?, s:s?, s:o}", "number", frame->item.number,
			 "time_ns", frame->item.time_ns, "interface", frame->item.iface->number,
			 "captured", frame->packet.len, "bytes", frame->packet.wire_len, "bypassed",
			 has_key ? NULL : explain_bypass_name(frame->bypass), "digest",
			 has_key ? hex : NULL, "key", json_key(frame));
}

static json_t *json_pair(const struct explanation *e, const struct explained_pair *pair)
{
	const struct field *a = pair->fields.a, *b = pair->fields.b;
	char name[FIELD_NAME_MAX];

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "field", field_name(a ?: b, name),
			 "offset_a", json_offset(a), "offset_b", json_offset(b), "a",
			 json_value(&e->a, a, &e->b, b), "b", json_value(&e->b, b, &e->a, a),
			 "ignored", e->have_keys ? json_boolean(pair->ignored) : json_null());
}

static json_t *json_choices(const struct explanation *e, bool same)
{
	json_t *options = json_array();

	for (u32 i = 0; i < e->n_choices; i++)
		if (e->choices[i].has_key && e->choices[i].same == same)
			json_array_append_new(options, json_string(e->choices[i].option));
	return options;
}

json_t *explain_json(const struct explanation *e)
{
	json_t *differs = json_array();

	for (u32 i = 0; i < e->n_pairs; i++)
		json_array_append_new(differs, json_pair(e, &e->pairs[i]));
	return json_pack("{s:s, s:s, s:o, s:b, s:I, s:I, s:[o, o], s:o, s:o, s:o}", "file", e->path,
			 "key", key_names[e->derived->fixed.key], "same_key",
			 e->have_keys ? json_boolean(e->same) : json_null(), "in_window",
			 e->in_window, "apart_ns", e->apart_ns, "window_ns",
			 e->derived->live.window_ns, "frames", json_frame(&e->a), json_frame(&e->b),
			 "differs", differs, "same_key_by", json_choices(e, true),
			 "different_keys_by", json_choices(e, false));
}
