/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/delta.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "user/leb128.h"

/* The first bit from @at on that is @one; @n if there is none. */
static u64 next_bit(const u64 *bits, u64 n, u64 at, bool one)
{
	while (at < n) {
		u64 word = (one ? bits[at / 64] : ~bits[at / 64]) >> at % 64;

		if (word) {
			at += __builtin_ctzll(word);
			return at < n ? at : n;
		}
		at = (at / 64 + 1) * 64;
	}
	return n;
}

/* Where a message goes. */
struct writer {
	u8 *at; /* NULL: it is only measured */
	size_t used, limit;
};

static bool has_room(const struct writer *w)
{
	return w->used < w->limit;
}

static void put(struct writer *w, u64 length)
{
	u8 coded[LEB128_MAX];
	size_t n = leb128_put(coded, length);

	for (size_t i = 0; i < n; i++, w->used++)
		if (w->at && has_room(w))
			w->at[w->used] = coded[i];
}

static void put_sparse(struct writer *w, const u64 *bits, u64 n)
{
	u64 from = 0, at = next_bit(bits, n, 0, true);

	while (at < n && has_room(w)) {
		put(w, at - from);
		from = at + 1;
		at = next_bit(bits, n, from, true);
	}
}

static void put_runs(struct writer *w, const u64 *bits, u64 n)
{
	bool one = false;
	u64 from = 0;

	while (from < n && has_room(w)) {
		u64 end = next_bit(bits, n, from, !one);

		if (end == n && !one)
			break; /* the zeros at the end go without saying */
		put(w, end - from);
		from = end;
		one = !one;
	}
}

static void put_raw(struct writer *w, const u64 *bits, u64 n)
{
	for (u64 i = 0; i < (n + 7) / 8; i++)
		w->at[w->used++] = bits[i / 8] >> 8 * (i % 8);
}

static void (*const put_form[])(struct writer *w, const u64 *bits, u64 n) = {
	[DELTA_raw] = put_raw,
	[DELTA_sparse] = put_sparse,
	[DELTA_runs] = put_runs,
};

/* The shortest form, and its size. */
static u8 choose_form(const u64 *changed, u64 n, size_t *least)
{
	u8 form = DELTA_raw;

	*least = delta_room(n);
	for (u8 i = DELTA_sparse; i <= DELTA_runs; i++) {
		struct writer measured = { NULL, 1, *least };

		put_form[i](&measured, changed, n);
		if (measured.used < *least) {
			*least = measured.used;
			form = i;
		}
	}
	return form;
}

size_t delta_size(const u64 *changed, u64 n)
{
	size_t least;

	choose_form(changed, n, &least);
	return least;
}

size_t delta_encode(const u64 *changed, u64 n, u8 *to)
{
	size_t least;
	u8 form = choose_form(changed, n, &least);

	to[0] = form;
	put_form[form](&(struct writer){ to, 1, least }, changed, n);
	return least;
}

struct reader {
	const u8 *at, *end;
};

/* A length of at most @most to @length. Returns whether there was one. */
static bool get(struct reader *r, u64 most, u64 *length)
{
	size_t n = leb128_get(r->at, r->end, length);

	r->at += n;
	return n && n < LEB128_MAX && *length <= most;
}

static void set_bits(u64 *bits, u64 from, u64 end)
{
	for (; from < end; from++)
		bits[from / 64] |= 1ULL << from % 64;
}

static bool get_sparse(struct reader *r, u64 *bits, u64 n)
{
	u64 at = 0, zeros;

	for (; r->at < r->end; at++) {
		if (at >= n || !get(r, n - 1 - at, &zeros))
			return false;
		at += zeros;
		set_bits(bits, at, at + 1);
	}
	return true;
}

static bool get_runs(struct reader *r, u64 *bits, u64 n)
{
	u64 at = 0, run;

	for (bool one = false; r->at < r->end; one = !one) {
		if (!get(r, n - at, &run) || (!run && at))
			return false;
		if (one)
			set_bits(bits, at, at + run);
		at += run;
	}
	return true;
}

static bool get_raw(struct reader *r, u64 *bits, u64 n)
{
	u64 bytes = (n + 7) / 8;

	if ((u64)(r->end - r->at) != bytes)
		return false;
	for (u64 i = 0; i < bytes; i++)
		bits[i / 8] |= (u64)r->at[i] << 8 * (i % 8);
	return !(n % 64) || !(bits[n / 64] >> n % 64);
}

int delta_decode(const u8 *from, size_t size, u64 *changed, u64 n)
{
	static bool (*const get_form[])(struct reader * r, u64 * bits, u64 n) = {
		[DELTA_raw] = get_raw,
		[DELTA_sparse] = get_sparse,
		[DELTA_runs] = get_runs,
	};
	struct reader reader = { from + 1, from + size };

	memset(changed, 0, (n + 63) / 64 * sizeof(*changed));
	if (!size || from[0] > DELTA_runs || !get_form[from[0]](&reader, changed, n))
		return -EBADMSG;
	return 0;
}
