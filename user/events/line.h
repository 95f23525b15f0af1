/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event as a line: for a person, as JSON, as the comment of a packet. */
#ifndef USER_EVENTS_LINE_H
#define USER_EVENTS_LINE_H

#include <jansson.h>

#include <xdd/config.h>
#include <xdd/event.h>
#include <xdd/hash.h>

/* An event and what it takes to name what is in it. */
struct event_line {
	const struct xdd_event *event;
	const u8 *bytes; /* of the frame, event->cap_len */
	u64 time_ns;	 /* since 1970 */
	const char *iface;
	const char *peer; /* that had seen it, or NULL */
	const struct xdd_fixed *fixed;
	const struct xdd_secret *secret; /* hides the filter's hash, which must not be known: the
					  * same key is shown as the same number under it */
};

#define EVENT_TEXT_MAX 512

/* "12:00:00.000001 duplicate    eth0 114 192.0.2.1:9 > 192.0.2.2:9 udp". Returns @text. */
const char *event_text(const struct event_line *line, char text[EVENT_TEXT_MAX]);

/* NULL: no memory. */
json_t *event_json(const struct event_line *line);

/* The rule that made it a duplicate: "duplicate: key packet, engine tagged, window 20ms, interface
 * eth0, action drop". Returns @text.
 */
const char *event_comment(const struct event_line *line, char text[EVENT_TEXT_MAX]);

#endif
