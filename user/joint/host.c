/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/message.h"

void host_open(struct host *h, const struct host_ops *ops, void *to)
{
	*h = (struct host){ .ops = ops, .to = to };
}

static void end_session(struct host *h)
{
	if (*h->coordinator)
		h->ops->stop(h->to);
	if (h->opened)
		joint_monitor_close(&h->monitor);
	h->opened = false;
	h->answered = false;
	*h->coordinator = 0;
	inbox_free(&h->in);
}

void host_close(struct host *h)
{
	end_session(h);
	bytes_free(&h->out.message);
}

static int answer_start(struct host *h, struct bytes *out, char *err, size_t err_size)
{
	u64 about[2] = {};
	int rc;

	if (order_get_start(&h->in.message, &h->start))
		return -EBADMSG;
	rc = h->ops->start(h->to, h->session, h->start.watch, &about[0], &about[1], err, err_size);
	return rc ?: order_put(out, ORDER_STARTED, about, 2);
}

static int answer_end(struct host *h, struct bytes *out, char *err, size_t err_size)
{
	u64 *digests = NULL, n = 0;
	int rc = h->ops->end(h->to, &digests, &n, &h->overflow, err, err_size);

	if (!rc) {
		h->opened = true;
		rc = joint_monitor_open(&h->monitor, &h->start.plan, h->start.id, digests, n);
	}
	free(digests);
	return rc ?: order_put(out, ORDER_SEEN, (u64[]){ n, h->overflow }, 2);
}

static int answer_round(struct host *h, const struct bytes *in, struct bytes *out)
{
	struct joint_monitor *m = &h->monitor;
	int rc = joint_monitor_round(m, in, out);

	if (rc || !m->done)
		return rc;
	return order_put(out, ORDER_LEFT, (u64[]){ m->n, m->hashes, m->lookups }, 3);
}

static int answer_load(struct host *h, bool truly, struct bytes *out, char *err, size_t err_size)
{
	u64 added = 0;
	int rc = h->ops->load(h->to, h->start.watch, h->monitor.keys, h->monitor.n, truly, &added,
			      err, err_size);

	return rc ?: order_put(out, ORDER_LOADED, &added, 1);
}

static int answer_show(struct host *h, struct bytes *out)
{
	char text[ORDER_TEXT_MAX];

	bytes_start(out, ORDER_SHOWN, 0);
	bytes_put_number(out, h->monitor.n);
	for (u64 i = 0; i < h->monitor.n; i++) {
		h->ops->describe(h->to, h->monitor.from[i], h->monitor.keys[i], text, sizeof(text));
		bytes_put_word(out, h->monitor.keys[i]);
		order_put_text(out, text);
	}
	return bytes_end(out);
}

/* Questions behind the first two: only what is due is answered. */
static int answer_later(struct host *h, struct bytes *out, char *err, size_t err_size)
{
	const struct bytes *in = &h->in.message;
	u64 truly;

	if (!h->opened)
		return -EBADMSG;
	if (!h->monitor.step && !order_get(in, ORDER_BEGIN, NULL, 0))
		return answer_round(h, NULL, out);
	if (!h->monitor.done)
		return answer_round(h, in, out);
	if (*h->start.watch && !order_get(in, ORDER_LOAD, &truly, 1))
		return answer_load(h, truly, out, err, err_size);
	return order_get(in, ORDER_SHOW, NULL, 0) ?: answer_show(h, out);
}

static int answer(struct host *h, struct bytes *out, char *err, size_t err_size)
{
	if (!h->in.step)
		return answer_start(h, out, err, err_size);
	if (h->in.step == 1 && !order_get(&h->in.message, ORDER_END, NULL, 0))
		return answer_end(h, out, err, err_size);
	return answer_later(h, out, err, err_size);
}

/* The question is whole. */
static int take_question(struct host *h, u64 now_ns)
{
	char err[ORDER_TEXT_MAX] = "";
	int rc = answer(h, &h->out.message, err, sizeof(err));

	if (rc == -EBADMSG && !*err) { /* as if it had not come */
		inbox_expect(&h->in, h->session, h->in.step);
		return rc;
	}
	if (rc && !*err)
		snprintf(err, sizeof(err), "%s", strerror(-rc));
	if (rc)
		order_put_refused(&h->out.message, err);
	h->step = h->in.step;
	h->answered = true;
	outbox_begin(&h->out, h->session, h->step);
	outbox_send(&h->out, h->ops->emit, h->to, 0, now_ns);
	inbox_expect(&h->in, h->session, h->step + 1);
	return 0;
}

/* Say no to who is not in a session, without having one. */
static void refuse_session(struct host *h, const char *from, u64 session, const char *why)
{
	struct outbox out = {};
	char before[HOST_NAME_MAX_BYTES];

	strcpy(before, h->coordinator);
	snprintf(h->coordinator, sizeof(h->coordinator), "%s", from);
	if (!order_put_refused(&out.message, why)) {
		outbox_begin(&out, session, 0);
		outbox_send(&out, h->ops->emit, h->to, 0, 0);
	}
	bytes_free(&out.message);
	strcpy(h->coordinator, before);
}

/* Returns whether @from may begin @session: what was said before, or is said again by others, begins nothing. */
static bool may_begin(struct host *h, const char *from, u64 session, u64 now_ns, u64 wall_ns)
{
	u64 left = h->gone_ns > now_ns ? h->gone_ns - now_ns : 0;
	char why[ORDER_TEXT_MAX];

	if (session <= h->session)
		return false;
	if (session > wall_ns + HOST_CLOCKS_NS || wall_ns > session + HOST_CLOCKS_NS) {
		refuse_session(h, from, session,
			       "its clock is more than 30 s away from the coordinator's");
		return false;
	}
	if (!*h->coordinator || !strcmp(h->coordinator, from))
		return true;
	snprintf(why, sizeof(why),
		 "it is a monitor of %s: ask again when that is over, or in %" PRIu64
		 " s if that is gone",
		 h->coordinator, (uint64_t)(left / XDD_SECOND_NS + 1));
	refuse_session(h, from, session, why);
	return false;
}

static void begin(struct host *h, const char *from, u64 session)
{
	end_session(h);
	snprintf(h->coordinator, sizeof(h->coordinator), "%s", from);
	h->session = session;
	h->start = (struct order_start){};
	inbox_expect(&h->in, session, 0);
}

static void host_hear(struct host *h, u64 now_ns)
{
	h->gone_ns = now_ns + HOST_SILENCE_NS;
}

int host_take(struct host *h, const char *from, const struct part *part, u64 now_ns, u64 wall_ns)
{
	bool ours = part->session == h->session && !strcmp(from, h->coordinator);
	int rc;

	if (!ours && !part->step && may_begin(h, from, part->session, now_ns, wall_ns)) {
		begin(h, from, part->session);
		ours = true;
	}
	if (!ours)
		return 0;
	if (part->step == STEP_STOP) {
		end_session(h);
		return 0;
	}
	if (part->step == STEP_BEAT) {
		host_hear(h, now_ns);
		h->ops->emit(h->to, 0, part); /* so is this one */
		return 0;
	}
	if (h->answered && part->step == h->step && !part->number &&
	    now_ns - h->out.sent_ns >= PART_AGAIN_NS / 2)
		outbox_begin(&h->out, h->session, h->step); /* it did not get there */
	rc = inbox_take(&h->in, part);
	if (rc == 1)
		rc = take_question(h, now_ns);
	host_hear(h, now_ns);
	return rc;
}

u64 host_step(struct host *h, u64 now_ns)
{
	if (!*h->coordinator)
		return UINT64_MAX;
	if (now_ns >= h->gone_ns) {
		end_session(h);
		return UINT64_MAX;
	}
	if (h->answered && !outbox_send(&h->out, h->ops->emit, h->to, 0, now_ns))
		return now_ns + PART_FULL_NS;
	return h->gone_ns;
}
