/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the events of a loaded instance: its only reader switches them on, takes them out of the
 * ring buffer and switches them off again. A reader that was killed leaves them on, at most so many
 * a second, until the next one; what the ring buffer has no room for is counted as lost.
 */
#ifndef USER_EVENTS_READER_H
#define USER_EVENTS_READER_H

#include <xdd/event.h>

#include "user/loader/instance.h"
#include "xdd/replica.h"

struct ring_buffer;

/* What is wanted. */
struct event_want {
	u32 kinds; /* bits by enum xdd_event_kind */
	u32 rate;  /* at most so many a second, from 1 */
	u32 bytes; /* of the frame, 1..XDD_EVENT_BYTES */
};

/* An event and the first event->cap_len bytes of its frame; @time_ns: since 1970. Whoever takes it
 * returns 0, or a negative errno to end reading.
 */
typedef int event_take(void *context, const struct xdd_event *event, u64 time_ns, const u8 *bytes);

/* Since the reader was opened. */
struct event_counts {
	u64 sent;
	u64 limited; /* not sent: enough for that second */
	u64 lost;    /* not sent: the ring buffer was full */
};

struct event_reader {
	struct instance in;
	struct ring_buffer *ring;
	struct event_counts before;
	event_take *take;
	void *context;
	s64 since_1970_ns; /* of the filter's clock's zero */
};

/* Become the reader of instance @name. Returns 0, and then event_reader_close() is due; or with a line
 * in @err a negative errno: -EBUSY: another process reads its events, or as instance_open().
 */
int event_reader_open(struct event_reader *r, const char *name, const struct event_want *want,
		      event_take *take, void *context, char *err, size_t err_size);

/* Readable while there are events. */
int event_reader_fd(const struct event_reader *r);

/* Take what is there. Returns 0, or what event_take() or the kernel said. */
int event_reader_read(struct event_reader *r);

/* After instance_is_gone(&r->in): go on with the filter that `set --restart` has put in its place.
 * Returns 0, or -ENOENT: it was unloaded, or loaded anew.
 */
int event_reader_follow(struct event_reader *r);

/* Returns 0 or a negative errno. */
int event_reader_counts(const struct event_reader *r, struct event_counts *counts);

/* Switch off, but not yet close: what is there can be read, nothing more comes. */
void event_reader_stop(struct event_reader *r);
void event_reader_close(struct event_reader *r);

/* Which peer had seen the packet of @event. Returns @name, or NULL: none had. */
const char *event_peer(const struct instance *in, const struct xdd_event *event,
		       char name[XDD_PEER_NAME]);

/* Which interface an event came in by. Returns @name, "if7" if it is none of the instance's. */
const char *event_interface(const struct instance *in, u32 ifindex, char name[XDD_META_IFNAME]);

#endif
