// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/events/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "user/events/reader.h"
#include "user/explain/fields.h"
#include "user/names.h"
#include "user/units.h"
#include "user/utf8.h"

/* What a line says of the packet; empty where it has no such thing. */
struct packet_words {
	char type[FIELD_VALUE_MAX]; /* EtherType */
	char src[FIELD_VALUE_MAX], dst[FIELD_VALUE_MAX];
	char sport[FIELD_VALUE_MAX], dport[FIELD_VALUE_MAX];
	char vid[FIELD_VALUE_MAX];
	const char *transport; /* "udp", or NULL */
};

/* A sample ends before its packet does: what there is of it is read. */
static struct xdd_fixed readable(const struct xdd_fixed *fixed)
{
	struct xdd_fixed cut = *fixed;

	cut.short_capture_ok = 1;
	return cut;
}

static bool is_transport(const char *header)
{
	return !strcmp(header, "udp") || !strcmp(header, "tcp") || !strcmp(header, "icmp");
}

/* Later headers overwrite earlier ones: the packet of the key comes last. */
static void add_word(struct packet_words *words, const struct xdd_packet *packet,
		     const struct field *field)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{ "type", offsetof(struct packet_words, type) },
		{ "src", offsetof(struct packet_words, src) },
		{ "dst", offsetof(struct packet_words, dst) },
		{ "sport", offsetof(struct packet_words, sport) },
		{ "dport", offsetof(struct packet_words, dport) },
		{ "vid", offsetof(struct packet_words, vid) },
	};
	const char *header = field->kind->header;
	bool ethernet = !strcmp(header, "eth");

	if (is_transport(header))
		words->transport = header;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(wanted); i++) {
		if (strcmp(field->kind->name, wanted[i].name) ||
		    (ethernet && strcmp(field->kind->name, "type")) || !strcmp(header, "icmp"))
			continue;
		field_value(packet, field, NULL, NULL, (char *)words + wanted[i].at);
	}
}

static void find_words(const struct event_line *line, struct packet_words *words)
{
	const struct xdd_event *event = line->event;
	struct xdd_packet packet = {
		.data = line->bytes,
		.end = line->bytes + event->cap_len,
		.len = event->cap_len,
		.wire_len = event->wire_len,
		.link = line->fixed->link,
	};
	struct xdd_fixed fixed = readable(line->fixed);
	struct fields fields;

	memset(words, 0, sizeof(*words));
	fields_of(&fixed, &packet, &fields);
	for (u32 i = 0; i < fields.n; i++)
		add_word(words, &packet, &fields.all[i]);
}

static void packet_text(const struct packet_words *words, char *text, size_t size)
{
	bool ports = *words->sport;

	if (*words->src)
		snprintf(text, size, "%s%s%s > %s%s%s%s%s", words->src, ports ? ":" : "",
			 words->sport, words->dst, ports ? ":" : "", words->dport,
			 words->transport ? " " : "", words->transport ?: "");
	else
		snprintf(text, size, "EtherType %s", *words->type ? words->type : "unknown");
}

const char *event_text(const struct event_line *line, char text[EVENT_TEXT_MAX])
{
	time_t second = line->time_ns / XDD_SECOND_NS;
	struct packet_words words;
	char clock[16], packet[320];
	struct tm tm;

	find_words(line, &words);
	packet_text(&words, packet, sizeof(packet));
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&second, &tm));
	snprintf(text, EVENT_TEXT_MAX, "%s.%06u %-12s %s %u bytes %s%s%s%s%s", clock,
		 (u32)(line->time_ns % XDD_SECOND_NS / 1000), event_kind_names[line->event->kind],
		 line->iface, line->event->wire_len, packet, *words.vid ? " vlan " : "", words.vid,
		 line->peer ? " seen by " : "", line->peer ?: "");
	return utf8_mask(text);
}

static json_t *word(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *hex(const u8 *bytes, u32 n)
{
	char text[2 * XDD_EVENT_BYTES + 1];

	for (u32 i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return json_stringn(text, 2 * n);
}

/* The filter's keyed hash is safe only while nobody sees its values. */
static json_t *hidden_key(const struct event_line *line)
{
	u64 key = line->event->key;
	struct xdd_hash hash;
	char text[17];

	if (line->event->kind < XDD_BYPASS_MAX)
		return json_null();
	xdd_hash_start(&hash, XDD_HASH_siphash, false, line->secret, 0);
	xdd_hash_rest(&hash, (const u8 *)&key, (const u8 *)(&key + 1), 0, sizeof(key));
	key = xdd_hash_finish(&hash, XDD_HASH_siphash, false, line->secret).lo;
	snprintf(text, sizeof(text), "%016" PRIx64, (uint64_t)key);
	return json_string(text);
}

/* What was done with the packet. */
static const char *action_of(const struct xdd_event *event)
{
	if (event->kind == XDD_EVENT_duplicate && !event->kept)
		return action_names[event->action];
	if (event->kind == XDD_BYPASS_watch &&
	    (event->action == XDD_WATCH_drop || event->action == XDD_WATCH_select))
		return "drop";
	return "pass";
}

json_t *event_json(const struct event_line *line)
{
	const struct xdd_event *event = line->event;
	bool bypassed = event->kind < XDD_BYPASS_MAX;
	struct packet_words words;

	find_words(line, &words);
	return json_pack("{s:I, s:s, s:s?, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
			 "s:s?, s:o, s:s?}",
			 "time_ns", (json_int_t)line->time_ns, "verdict",
			 bypassed ? "bypassed" : event_kind_names[event->kind], "reason",
			 bypassed ? event_kind_names[event->kind] : NULL, "interface",
			 utf8_json(line->iface), "action", action_of(event), "wire_len",
			 (json_int_t)event->wire_len, "captured", (json_int_t)event->cap_len, "key",
			 hidden_key(line), "ethertype", word(words.type), "vlan", word(words.vid),
			 "src", word(words.src), "dst", word(words.dst), "sport", word(words.sport),
			 "dport", word(words.dport), "transport", words.transport, "bytes",
			 hex(line->bytes, event->cap_len), "peer", line->peer);
}

const char *event_comment(const struct event_line *line, char text[EVENT_TEXT_MAX])
{
	const struct xdd_fixed *fixed = line->fixed;
	char window[UNITS_TEXT_MAX] = "none";

	if (!xdd_engine_has_bits(fixed->engine))
		units_time_word(line->event->window_ns, window);
	snprintf(text, EVENT_TEXT_MAX,
		 "%s: key %s%s, engine %s, window %s, interface %s, action %s%s%s",
		 event_kind_names[line->event->kind], key_names[fixed->key],
		 fixed->inner ? " inside tunnels" : "", engine_names[fixed->engine], window,
		 line->iface, action_names[line->event->action], line->peer ? ", seen by " : "",
		 line->peer ?: "");
	return text;
}
