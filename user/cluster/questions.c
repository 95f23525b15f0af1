/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/questions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "xdd/replica.h"

/* Keys of a question, once a second: 63 peers look up 32000 then, which takes 3 % of a CPU. */
#define KEYS_MAX 512
#define ASK_EVERY_NS (1000 * MILLISECOND_NS)

/* Of how long a message takes, what its two ways may differ, and of clocks read in turn. */
#define SLACK_NS (5 * MILLISECOND_NS)

/* Questions that are not answered by all. */
#define OPEN_MAX 4

struct question {
	u64 epoch, order; /* 0: none */
	u64 asked_ns;
	u32 n;
	struct xdd_peer_audit about[KEYS_MAX];
	u64 answered; /* by these peers */
};

struct questions {
	const struct instance *in;
	struct ring_buffer *ring;
	struct question open[OPEN_MAX]; /* the newest is open[last] */
	u32 last, n;
	struct xdd_peer_audit next[KEYS_MAX];
	u64 ask_ns;
	u64 way_ns; /* how long a message takes, half of the least there and back */
	struct question_counts counts[XDD_MAX_PEERS];
};

static int take(void *context, void *data, size_t size)
{
	struct questions *q = context;

	if (q->n < KEYS_MAX && size >= sizeof(q->next[0]))
		memcpy(&q->next[q->n++], data, sizeof(q->next[0]));
	return 0;
}

struct questions *questions_open(const struct instance *in)
{
	struct questions *q;

	if (in->maps.peer_audit < 0 || in->maps.audit < 0) {
		errno = ENOENT;
		return NULL;
	}
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->in = in;
	q->way_ns = UINT64_MAX;
	q->ring = ring_buffer__new(in->maps.peer_audit, take, q, NULL);
	if (q->ring)
		return q;
	free(q);
	return NULL;
}

void questions_close(struct questions *q)
{
	if (q)
		ring_buffer__free(q->ring);
	free(q);
}

/* The sample of this second goes with the question. */
static u32 put(struct questions *q, u64 now, u8 *payload)
{
	struct question *question = &q->open[q->last = (q->last + 1) % OPEN_MAX];
	struct wire_ask ask[KEYS_MAX];
	u64 way = q->way_ns == UINT64_MAX ? 0 : q->way_ns;
	u32 n = 0;

	for (u32 i = 0; i < q->n; i++) {
		if (!q->next[i].believed)
			continue;
		ask[n] = (struct wire_ask){ q->next[i].print, now - q->next[i].time_ns + way };
		question->about[n++] = q->next[i];
	}
	question->n = n;
	question->asked_ns = now;
	question->answered = 0;
	q->n = 0;
	return n ? wire_put_asks(payload, ask, n) : 0;
}

size_t questions_ask(struct questions *q, struct wire_self *self, struct wire_time now, u8 *message)
{
	struct wire_head head = { .type = WIRE_AUDIT_ASK, .time_ns = now.wall_ns };
	size_t size;

	ring_buffer__consume(q->ring);
	if (!q->n || now.mono_ns < q->ask_ns)
		return 0;
	q->ask_ns = now.mono_ns + ASK_EVERY_NS;
	head.payload_bytes = put(q, now.mono_ns, message + WIRE_HEADER);
	if (!head.payload_bytes)
		return 0;
	size = wire_seal(self, &head, message);
	q->open[q->last].epoch = self->epoch;
	q->open[q->last].order = self->order;
	return size;
}

static void compare(struct question_counts *counts, bool said, enum wire_answer truth)
{
	if (truth == WIRE_UNKNOWN) {
		counts->unknown++;
		return;
	}
	counts->asked++;
	counts->yes += said;
	counts->fp += said && truth == WIRE_NO;
	counts->fn += !said && truth == WIRE_YES;
}

static struct question *find(struct questions *q, const struct wire_answers *answers)
{
	for (u32 i = 0; i < OPEN_MAX; i++)
		if (q->open[i].order && q->open[i].epoch == answers->epoch &&
		    q->open[i].order == answers->order && q->open[i].n == answers->n)
			return &q->open[i];
	return NULL;
}

int questions_answered(struct questions *q, u32 slot, const u8 *payload, size_t size,
		       struct wire_time now)
{
	struct question *question;
	struct wire_answers answers;
	u64 peer = 1ULL << slot, way;

	if (wire_get_answers(payload, size, &answers) < 0)
		return -EBADMSG;
	question = find(q, &answers);
	if (!question || question->answered & peer)
		return 0; /* too late, or said twice */
	question->answered |= peer;
	way = (now.mono_ns - question->asked_ns) / 2;
	if (way < q->way_ns)
		q->way_ns = way;
	for (u32 i = 0; i < answers.n; i++)
		if (question->about[i].believed & peer)
			compare(&q->counts[slot], question->about[i].said & peer,
				answers.answer[i]);
	return 0;
}

const struct question_counts *questions_counts(const struct questions *q, u32 slot)
{
	return &q->counts[slot];
}

void questions_forget(struct questions *q, u32 slot)
{
	q->counts[slot] = (struct question_counts){};
}

#define ENTRY_MOST (sizeof(struct xdd_audit_bucket) + 64)

/* Bytes of an entry of map `audit`: a bucket behind its lock. 0: it is not to be read. */
static u32 entry_bytes(const struct instance *in)
{
	struct bpf_map_info about = {};
	u32 length = sizeof(about);

	if (bpf_obj_get_info_by_fd(in->maps.audit, &about, &length) ||
	    about.value_size < sizeof(struct xdd_audit_bucket) || about.value_size > ENTRY_MOST)
		return 0;
	return about.value_size;
}

static int read_bucket(const struct instance *in, u32 bytes, u64 print,
		       struct xdd_audit_bucket *bucket)
{
	u32 number = xdd_mix64(print) & (in->fixed.audit_buckets - 1);
	u8 value[ENTRY_MOST];

	if (!bytes)
		return -EPROTO;
	if (bpf_map_lookup_elem_flags(in->maps.audit, &number, value, BPF_F_LOCK))
		return -errno;
	memcpy(bucket, value + bytes - sizeof(*bucket), sizeof(*bucket));
	return 0;
}

static bool is_near(u64 a, u64 b, u64 slack)
{
	return xdd_apart(a, b) <= slack;
}

/* Whether a window that began @at covers @then. */
static enum wire_answer covers(const struct instance *in, u64 at, u64 window_ns, u64 then)
{
	u64 slack = SLACK_NS + in->fixed.tick_ns;

	if (then < at || is_near(then, at, SLACK_NS) || is_near(then, at + window_ns, slack))
		return WIRE_UNKNOWN;
	return then < at + window_ns ? WIRE_YES : WIRE_NO;
}

/* Had this host seen the key of @print at @then, and in its window? @bytes: entry_bytes(). */
static enum wire_answer truth(const struct instance *in, u32 bytes, u64 window_ns, u64 print,
			      u64 then)
{
	struct xdd_audit_bucket bucket;
	u32 i;

	if (!xdd_audit_has_times(&in->fixed) || read_bucket(in, bytes, print, &bucket))
		return WIRE_UNKNOWN;
	i = xdd_audit_find(&bucket, print);
	if (i < XDD_AUDIT_WAYS)
		return bucket.entry[i].unsure ? WIRE_UNKNOWN
					      : covers(in, bucket.entry[i].at, window_ns, then);
	if (bucket.lost && then < bucket.lost + window_ns)
		return WIRE_UNKNOWN;
	return WIRE_NO;
}

size_t questions_answer(const struct instance *in, u64 window_ns, const struct wire_head *asked,
			const u8 *payload, struct wire_self *self, struct wire_time now,
			u8 *message)
{
	struct wire_head head = { .type = WIRE_AUDIT_ANSWER, .time_ns = now.wall_ns };
	struct wire_answers answers = { .epoch = asked->epoch, .order = asked->order };
	struct wire_ask ask[WIRE_ASK_MAX];
	int n = wire_get_asks(payload, asked->payload_bytes, ask);
	u32 bytes;

	if (in->maps.audit < 0 || n <= 0 || n > KEYS_MAX)
		return 0;
	bytes = entry_bytes(in);
	answers.n = n;
	for (int i = 0; i < n; i++)
		answers.answer[i] = ask[i].age_ns > now.mono_ns
					    ? WIRE_UNKNOWN
					    : truth(in, bytes, window_ns, ask[i].print,
						    now.mono_ns - ask[i].age_ns);
	head.payload_bytes = wire_put_answers(message + WIRE_HEADER, &answers);
	return wire_seal(self, &head, message);
}
