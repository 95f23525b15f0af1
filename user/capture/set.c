/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xdd/config.h>

#include "reader.h"
#include "set.h"
#include "sink.h"

/* Read buffers: together at most 64 MiB, unless records are longer. */
#define ALL_BUFFERS (64u << 20)
#define LARGEST_BUFFER (1u << 20)
#define SMALLEST_BUFFER (64u << 10)

struct capture_set {
	u32 n, n_ifaces;
	struct capture_reader **readers;
	struct capture_item *heads; /* the current item of each reader */
	u32 *heap;		    /* inputs whose head is a frame, by time, then input */
	u32 heap_len;
	u32 unread; /* inputs from here on were not asked for their first frame yet */
	s64 taken;  /* input whose head was returned and has to be replaced, or -1 */
	const char *error;
};

static bool before(const struct capture_set *set, u32 a, u32 b)
{
	s64 time_a = set->heads[a].time_ns, time_b = set->heads[b].time_ns;

	return time_a != time_b ? time_a < time_b : a < b;
}

static void heap_push(struct capture_set *set, u32 input)
{
	u32 at = set->heap_len++;

	for (; at && before(set, input, set->heap[(at - 1) / 2]); at = (at - 1) / 2)
		set->heap[at] = set->heap[(at - 1) / 2];
	set->heap[at] = input;
}

static u32 heap_pop(struct capture_set *set)
{
	u32 top = set->heap[0], last = set->heap[--set->heap_len];
	u32 at = 0, child;

	while ((child = 2 * at + 1) < set->heap_len) {
		if (child + 1 < set->heap_len &&
		    before(set, set->heap[child + 1], set->heap[child]))
			child++;
		if (before(set, last, set->heap[child]))
			break;
		set->heap[at] = set->heap[child];
		at = child;
	}
	set->heap[at] = last;
	return top;
}

static int check_stdin(char **paths, u32 n, char *err, size_t err_size)
{
	u32 i, count = 0;

	for (i = 0; i < n; i++)
		count += !strcmp(paths[i], "-");
	if (count <= 1)
		return 0;
	snprintf(err, err_size, "- (standard input) can be read only once: name it once");
	return -EINVAL;
}

int capture_set_open(struct capture_set **out, char **paths, u32 n, char *err, size_t err_size)
{
	u32 buffer = ALL_BUFFERS / n;
	struct capture_set *set;
	int rc = check_stdin(paths, n, err, err_size);

	if (rc)
		return rc;
	set = calloc(1, sizeof(*set));
	if (set) {
		set->readers = calloc(n, sizeof(*set->readers));
		set->heads = calloc(n, sizeof(*set->heads));
		set->heap = calloc(n, sizeof(*set->heap));
	}
	if (!set || !set->readers || !set->heads || !set->heap) {
		snprintf(err, err_size, "out of memory");
		rc = -ENOMEM;
	}
	buffer = buffer > LARGEST_BUFFER ? LARGEST_BUFFER : buffer;
	buffer = buffer < SMALLEST_BUFFER ? SMALLEST_BUFFER : buffer;
	while (!rc && set->n < n) {
		rc = capture_open(&set->readers[set->n], paths[set->n], buffer, err, err_size);
		set->n += !rc;
	}
	if (rc) {
		capture_set_close(set);
		return rc;
	}
	set->taken = -1;
	*out = set;
	return 0;
}

void capture_set_close(struct capture_set *set)
{
	if (!set)
		return;
	while (set->n)
		capture_close(set->readers[--set->n]);
	free(set->readers);
	free(set->heads);
	free(set->heap);
	free(set);
}

/* Read @input up to its next frame. Returns 1 with that frame in the heap, or 0 at its end;
 * 2 for another item, after which it has to be called again; or a negative errno.
 */
static int advance(struct capture_set *set, u32 input)
{
	struct capture_reader *r = set->readers[input];
	struct capture_item *head = &set->heads[input];
	int rc = capture_next(r, head);

	if (rc < 0)
		set->error = capture_error(r);
	if (rc <= 0)
		return rc;
	head->input = input;
	if (head->kind == CAPTURE_FRAME) {
		heap_push(set, input);
		return 1;
	}
	if (head->kind == CAPTURE_INTERFACE)
		r->ifaces[head->iface->number].global = set->n_ifaces++;
	return 2;
}

int capture_set_next(struct capture_set *set, const struct capture_item **item)
{
	int rc;

	while (set->taken >= 0 || set->unread < set->n) {
		u32 input = set->taken >= 0 ? set->taken : set->unread;

		rc = advance(set, input);
		if (rc == 2) {
			*item = &set->heads[input];
			return 1;
		}
		if (set->taken < 0)
			set->unread++;
		set->taken = -1;
		if (rc < 0)
			return rc;
	}
	if (!set->heap_len)
		return 0;
	set->taken = heap_pop(set);
	*item = &set->heads[set->taken];
	return 1;
}

const char *capture_set_error(const struct capture_set *set)
{
	return set->error;
}

u32 capture_set_size(const struct capture_set *set)
{
	return set->n;
}

enum capture_format capture_set_input_format(const struct capture_set *set, u32 input)
{
	return set->readers[input]->format;
}

enum capture_format capture_set_format(const struct capture_set *set)
{
	const struct capture_reader *first = set->readers[0];
	u32 i;

	if (set->n == 1)
		return first->format;
	for (i = 0; i < set->n; i++) {
		const struct capture_reader *r = set->readers[i];

		if (r->format == CAPTURE_PCAPNG || r->ifaces->link != first->ifaces->link ||
		    r->ifaces->resolution != first->ifaces->resolution)
			return CAPTURE_PCAPNG;
	}
	return CAPTURE_PCAP;
}

u32 capture_set_link(const struct capture_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		if (set->readers[i]->n_ifaces)
			return set->readers[i]->ifaces->link;
	}
	return XDD_LINK_ETHERNET;
}

u32 capture_set_snaplen(const struct capture_set *set)
{
	u32 i, k, largest = 0;

	for (i = 0; i < set->n; i++) {
		for (k = 0; k < set->readers[i]->n_ifaces; k++) {
			u32 snaplen = set->readers[i]->ifaces[k].snaplen;

			if (!snaplen)
				return 0;
			largest = snaplen > largest ? snaplen : largest;
		}
	}
	return largest;
}

static bool finer_than_us(const struct capture_iface *iface)
{
	u8 exponent = iface->resolution & 0x7f;

	/* 2^-n seconds are a whole number of microseconds up to n = 6. */
	return exponent > 6;
}

bool capture_set_finer_than_us(const struct capture_set *set)
{
	u32 i, k;

	for (i = 0; i < set->n; i++) {
		for (k = 0; k < set->readers[i]->n_ifaces; k++) {
			if (finer_than_us(&set->readers[i]->ifaces[k]))
				return true;
		}
	}
	return false;
}

bool capture_set_has_file(const struct capture_set *set, const struct stat *st)
{
	struct stat input;
	u32 i;

	for (i = 0; i < set->n; i++) {
		if (!fstat(set->readers[i]->source.fd, &input) && S_ISREG(input.st_mode) &&
		    same_file(&input, st))
			return true;
	}
	return false;
}

void capture_set_progress(const struct capture_set *set, u64 *done, u64 *total)
{
	bool known = true;
	u32 i;

	*done = *total = 0;
	for (i = 0; i < set->n; i++) {
		*done += set->readers[i]->source.read_bytes;
		*total += set->readers[i]->source.file_bytes;
		known &= set->readers[i]->source.regular;
	}
	if (!known)
		*total = 0;
}

void capture_set_on_idle(struct capture_set *set, void (*idle)(void *context), void *context)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		set->readers[i]->source.idle = idle;
		set->readers[i]->source.idle_context = context;
	}
}
