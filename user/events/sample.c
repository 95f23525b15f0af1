// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/events/sample.h"

#include <errno.h>
#include <string.h>

#include "user/events/line.h"

#define NANOSECONDS 9 /* if_tsresol */

static int failed(struct sample *s, int code)
{
	if (*s->writer.error)
		return refuse(s->err, sizeof(s->err), code, "%s", s->writer.error);
	return refuse(s->err, sizeof(s->err), code, "%s: cannot read its events: %s",
		      s->reader.in.name, strerror(-code));
}

static u32 iface_of(const struct sample *s, const char *name)
{
	u32 i = 0;

	while (i < s->n_ifaces - 1 && strcmp(s->names[i], name))
		i++;
	return i;
}

static int keep(void *context, const struct xdd_event *event, u64 time_ns, const u8 *bytes)
{
	struct sample *s = context;
	char name[XDD_META_IFNAME], peer[XDD_PEER_NAME], comment[EVENT_TEXT_MAX];
	struct event_line line = {
		.event = event,
		.bytes = bytes,
		.time_ns = time_ns,
		.iface = event_interface(&s->reader.in, event->ifindex, name),
		.peer = event_peer(&s->reader.in, event, peer),
		.fixed = &s->reader.in.fixed,
	};
	struct capture_item item = {
		.kind = CAPTURE_FRAME,
		.iface = &s->ifaces[iface_of(s, name)],
		.data = bytes,
		.len = event->cap_len,
		.wire_len = event->wire_len,
		.ticks = time_ns,
		.time_ns = time_ns,
		.number = s->packets + 1,
		.comment = event_comment(&line, comment),
	};

	s->packets++;
	return capture_writer_put(&s->writer, &item, true);
}

static int put_interface(struct sample *s, const char *name)
{
	struct capture_iface *iface = &s->ifaces[s->n_ifaces];
	struct capture_item item = { .kind = CAPTURE_INTERFACE, .iface = iface };

	memcpy(s->names[s->n_ifaces], name, XDD_META_IFNAME);
	*iface = (struct capture_iface){
		.link = s->reader.in.fixed.link,
		.snaplen = XDD_EVENT_BYTES,
		.number = s->n_ifaces,
		.global = s->n_ifaces,
		.resolution = NANOSECONDS,
		.name = s->names[s->n_ifaces],
	};
	s->n_ifaces++;
	return capture_writer_put(&s->writer, &item, true);
}

static int put_interfaces(struct sample *s)
{
	static const char elsewhere[XDD_META_IFNAME] = "elsewhere";
	int code = 0;

	for (u32 i = 0; !code && i < s->reader.in.ifaces_used; i++)
		code = put_interface(s, s->reader.in.ifaces[i].name);
	return code ?: put_interface(s, elsewhere);
}

int sample_open(struct sample *s, const char *path)
{
	int code;

	memset(s, 0, sizeof(*s));
	code = capture_writer_open(&s->writer, NULL, path, CAPTURE_PCAPNG, s->err, sizeof(s->err));
	s->open = !code;
	return code;
}

int sample_start(struct sample *s, const char *name, u32 rate)
{
	const struct event_want want = {
		.kinds = 1u << XDD_EVENT_duplicate | XDD_EVENT_ACTED_ON,
		.rate = rate,
		.bytes = XDD_EVENT_BYTES,
	};
	int code = event_reader_open(&s->reader, name, &want, keep, s, s->err, sizeof(s->err));

	if (code)
		return code;
	s->started = true;
	code = put_interfaces(s);
	return code ? failed(s, code) : 0;
}

int sample_fd(const struct sample *s)
{
	return s->started ? event_reader_fd(&s->reader) : -1;
}

int sample_read(struct sample *s)
{
	int code;

	/* What was unloaded sends nothing more, but what is there is read. */
	if (instance_is_gone(&s->reader.in))
		event_reader_follow(&s->reader);
	code = event_reader_read(&s->reader);
	if (!code)
		code = capture_writer_flush(&s->writer);
	return code ? failed(s, code) : 0;
}

int sample_finish(struct sample *s)
{
	int code;

	event_reader_stop(&s->reader);
	code = event_reader_read(&s->reader);
	if (!code)
		code = capture_writer_finish(&s->writer);
	if (!code)
		code = capture_writer_publish(&s->writer);
	return code ? failed(s, code) : 0;
}

void sample_close(struct sample *s)
{
	if (s->started) {
		event_reader_stop(&s->reader);
		event_reader_close(&s->reader);
	}
	if (s->open)
		capture_writer_close(&s->writer);
	s->open = s->started = false;
}
