/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/joint/gaps.h"

/* A table of bits is taken for at most so many bits for each position. */
#define DENSE 128
#define RADIX_BITS 11
#define LENGTH_SHIFT_MAX 56

void joint_set_free(struct joint_set *s)
{
	free(s->at);
	free(s->bits);
	*s = (struct joint_set){ 0 };
}

void joint_sum_free(struct joint_sum *sum)
{
	free(sum->at);
	free(sum->count);
	*sum = (struct joint_sum){ 0 };
}

static bool is_dense(u64 length, u64 n)
{
	return length && length / DENSE <= n;
}

static u64 *table_of(const u64 *at, u64 n, u64 length)
{
	u64 *bits = calloc(length / 64 + 1, sizeof(*bits));

	for (u64 i = 0; bits && i < n; i++)
		bits[at[i] / 64] |= 1ull << at[i] % 64;
	return bits;
}

/* Sort and have each once, by a table of bits. */
static int sort_dense(struct joint_set *s)
{
	u64 *bits = table_of(s->at, s->n, s->length), n = 0;

	if (!bits)
		return -ENOMEM;
	for (u64 word = 0; word <= s->length / 64; word++)
		for (u64 left = bits[word]; left; left &= left - 1)
			s->at[n++] = word * 64 + __builtin_ctzll(left);
	s->n = n;
	free(bits);
	return 0;
}

/* A pass of a sort by the digits of @from at @shift, into @to. */
static void sort_digit(const u64 *from, u64 *to, u64 n, u32 shift)
{
	u64 first[1 << RADIX_BITS] = { 0 }, sum = 0;
	const u64 mask = (1 << RADIX_BITS) - 1;

	for (u64 i = 0; i < n; i++)
		first[from[i] >> shift & mask]++;
	for (u64 digit = 0; digit <= mask; digit++) {
		u64 here = first[digit];

		first[digit] = sum;
		sum += here;
	}
	for (u64 i = 0; i < n; i++)
		to[first[from[i] >> shift & mask]++] = from[i];
}

static int sort_sparse(struct joint_set *s)
{
	u64 *other = malloc(s->n * sizeof(*other)), top = s->length - 1, n = 0;

	if (!other)
		return -ENOMEM;
	for (u32 shift = 0; shift < 64 && top >> shift; shift += RADIX_BITS) {
		u64 *sorted = other;

		sort_digit(s->at, sorted, s->n, shift);
		other = s->at;
		s->at = sorted;
	}
	free(other);
	for (u64 i = 0; i < s->n; i++)
		if (!i || s->at[i] != s->at[i - 1])
			s->at[n++] = s->at[i];
	s->n = n;
	return 0;
}

int joint_set_make(struct joint_set *s, u64 length, u64 *at, u64 n)
{
	int rc = 0;

	*s = (struct joint_set){ .length = length, .n = n, .at = at };
	if (n)
		rc = is_dense(length, n) ? sort_dense(s) : sort_sparse(s);
	if (rc)
		joint_set_free(s);
	return rc;
}

void joint_set_index(struct joint_set *s)
{
	if (!s->bits && is_dense(s->length, s->n))
		s->bits = table_of(s->at, s->n, s->length);
}

bool joint_set_has(const struct joint_set *s, u64 position)
{
	u64 first = 0, end = s->n;

	if (s->bits)
		return s->bits[position / 64] >> position % 64 & 1;
	while (first < end) {
		u64 middle = first + (end - first) / 2;

		if (s->at[middle] < position)
			first = middle + 1;
		else
			end = middle;
	}
	return first < s->n && s->at[first] == position;
}

double joint_set_fill(const struct joint_set *s)
{
	return s->length ? (double)s->n / s->length : 0;
}

/* The positions of a filter that is repeated, in order. */
struct walk {
	const u64 *at;
	u64 n, step, i, left; /* copies left, this one included */
	u64 base;
};

static struct walk walk_of(const struct joint_set *s, u64 length)
{
	u64 copies = s->n ? joint_set_copies(s, length) : 0;

	return (struct walk){ s->at, s->n, s->length, 0, copies, 0 };
}

static bool walk_on(const struct walk *w)
{
	return w->left;
}

static u64 walk_at(const struct walk *w)
{
	return w->base + w->at[w->i];
}

static void walk_step(struct walk *w)
{
	if (++w->i < w->n)
		return;
	w->i = 0;
	w->left--;
	w->base += w->step;
}

static void keep(struct joint_sum *sum, u64 position, u32 count)
{
	sum->at[sum->n] = position;
	sum->count[sum->n++] = count;
}

/* Where nothing new is kept: what is left of @a is what @b has, too. */
static void intersect(struct joint_sum *to, const struct joint_sum *a, struct walk b)
{
	const u64 *at = a->at, *end = a->at + a->n;

	for (; b.left && at < end; b.left--, b.base += b.step) {
		for (u64 i = 0; i < b.n && at < end; i++) {
			u64 position = b.base + b.at[i];

			while (at < end && *at < position)
				at++;
			if (at < end && *at == position)
				keep(to, position, a->count[at - a->at] + 1);
		}
	}
}

static void merge(struct joint_sum *to, const struct joint_sum *a, struct walk b, u32 least,
		  u32 more)
{
	u64 i = 0;

	while (i < a->n || walk_on(&b)) {
		bool in_a = i < a->n && (!walk_on(&b) || a->at[i] <= walk_at(&b));
		bool in_b = walk_on(&b) && (i == a->n || walk_at(&b) <= a->at[i]);
		u32 count = (in_a ? a->count[i] : 0) + in_b;

		if (count + more >= least)
			keep(to, in_a ? a->at[i] : walk_at(&b), count);
		i += in_a;
		if (in_b)
			walk_step(&b);
	}
}

int joint_sum_add(struct joint_sum *sum, const struct joint_set *s, u32 least, u32 more)
{
	u64 copies = s->n ? joint_set_copies(s, sum->length) : 0, most = sum->n;
	struct joint_sum all = { .length = sum->length };

	if (copies > JOINT_ONES_MAX || copies * s->n > JOINT_ONES_MAX)
		return -EBADMSG;
	/* What comes new is dropped at once if too few follow. */
	if (1 + more >= least)
		most += copies * s->n;
	all.at = malloc((most + 1) * sizeof(*all.at));
	all.count = malloc(most + 1);
	if (!all.at || !all.count) {
		joint_sum_free(&all);
		return -ENOMEM;
	}
	if (sum->added && sum->added + more < least)
		intersect(&all, sum, walk_of(s, sum->length));
	else
		merge(&all, sum, walk_of(s, sum->length), least, more);
	all.added = sum->added + 1;
	joint_sum_free(sum);
	*sum = all;
	return 0;
}

void joint_put_bits(struct bytes *b, const struct joint_set *s)
{
	u64 i = 0;

	bytes_put_number(b, s->length);
	for (u64 first = 0; first < s->length; first += 8) {
		u8 byte = 0;

		for (; i < s->n && s->at[i] < first + 8; i++)
			byte |= 1 << (s->at[i] - first);
		bytes_put(b, byte);
	}
}

int joint_get_bits(struct bytes_in *in, struct joint_set *s)
{
	u64 length, n = 0;

	if (bytes_get_number(in, &length) || !length || length > JOINT_LENGTH_MAX ||
	    (length + 7) / 8 != in->n)
		return -EBADMSG;
	for (u64 i = 0; i < in->n; i++)
		n += __builtin_popcount(in->at[i]);
	*s = (struct joint_set){ .length = length, .at = malloc((n + 1) * sizeof(*s->at)) };
	if (!s->at)
		return -ENOMEM;
	for (u64 i = 0; i < in->n; i++)
		for (u32 byte = in->at[i]; byte; byte &= byte - 1)
			s->at[s->n++] = 8 * i + __builtin_ctz(byte);
	if (!s->n || s->at[s->n - 1] < length)
		return 0;
	joint_set_free(s);
	return -EBADMSG;
}

int joint_peek_length(struct bytes_in in, bool gaps, u64 *length)
{
	u8 shift = 0;

	if (!gaps)
		return bytes_get_number(&in, length);
	if (bytes_get(&in, &shift) || shift > LENGTH_SHIFT_MAX)
		return -EBADMSG;
	*length = 1ull << shift;
	return 0;
}

void joint_put_words(struct bytes *b, const u64 *at, u64 n)
{
	bytes_put_number(b, n);
	for (u64 i = 0; i < n; i++)
		bytes_put_word(b, at[i]);
}

int joint_get_words(struct bytes_in *in, struct joint_set *s)
{
	u64 n;

	if (bytes_get_number(in, &n) || n > JOINT_KEYS_MAX || n * 8 != in->n)
		return -EBADMSG;
	*s = (struct joint_set){ .n = n, .at = malloc((n + 1) * sizeof(*s->at)) };
	if (!s->at)
		return -ENOMEM;
	for (u64 i = 0; i < n; i++) {
		bytes_get_word(in, &s->at[i]);
		if (i && s->at[i] <= s->at[i - 1]) {
			joint_set_free(s);
			return -EBADMSG;
		}
	}
	return 0;
}

void joint_put_gaps(struct bytes *b, const struct joint_set *s)
{
	struct gaps g;

	bytes_put(b, __builtin_ctzll(s->length));
	bytes_put_number(b, s->n);
	gaps_write(&g, s->length, s->n, b);
	for (u64 i = 0; i < s->n; i++)
		gaps_put(&g, s->at[i]);
	gaps_end(&g);
}

/* @count positions below @range. */
static int get_positions(struct bytes_in in, u64 range, u64 count, u64 **at)
{
	struct gaps g;
	int rc = 0;

	*at = malloc((count + 1) * sizeof(**at));
	if (!*at)
		return -ENOMEM;
	gaps_read(&g, range, count, in);
	for (u64 i = 0; !rc && i < count; i++)
		rc = gaps_get(&g, &(*at)[i]);
	if (rc) {
		free(*at);
		*at = NULL;
	}
	return rc;
}

int joint_get_gaps(struct bytes_in *in, struct joint_set *s)
{
	u64 count;
	u8 shift;

	/* At least 2 bits each, since at most half of a filter is set: no short message asks for much
	 * memory.
	 */
	if (bytes_get(in, &shift) || bytes_get_number(in, &count) || 1ull << (shift & 63) < count ||
	    shift > LENGTH_SHIFT_MAX || count > 8 * (in->n + 8))
		return -EBADMSG;
	*s = (struct joint_set){ .length = 1ull << shift, .n = count };
	return get_positions(*in, s->length, count, &s->at);
}

/* Calls @take for each position of @own, repeated, that @sum has, with its number among all of them. */
static u64 common(const struct joint_sum *sum, const struct joint_set *own, u64 *ranks)
{
	struct walk w = walk_of(own, sum->length);
	u64 n = 0, rank = 0;

	for (u64 i = 0; i < sum->n && walk_on(&w); rank++, walk_step(&w)) {
		while (i < sum->n && sum->at[i] < walk_at(&w))
			i++;
		if (i < sum->n && sum->at[i] == walk_at(&w))
			ranks[n++] = rank;
	}
	return n;
}

int joint_put_part(struct bytes *b, const struct joint_sum *sum, const struct joint_set *own)
{
	u64 range = own->n * joint_set_copies(own, sum->length), n;
	u64 *ranks = malloc((sum->n + 1) * sizeof(*ranks));
	struct gaps g;

	if (!ranks)
		return -ENOMEM;
	n = common(sum, own, ranks);
	bytes_put(b, __builtin_ctzll(sum->length));
	bytes_put_number(b, n);
	gaps_write(&g, range, n, b);
	for (u64 i = 0; i < n; i++)
		gaps_put(&g, ranks[i]);
	gaps_end(&g);
	free(ranks);
	return 0;
}

int joint_get_part(struct bytes_in *in, const struct joint_set *own, struct joint_set *s)
{
	u64 count, copies;
	u8 shift;
	int rc;

	if (bytes_get(in, &shift) || bytes_get_number(in, &count) || shift > LENGTH_SHIFT_MAX ||
	    1ull << shift < own->length)
		return -EBADMSG;
	*s = (struct joint_set){ .length = 1ull << shift };
	copies = joint_set_copies(own, s->length);
	if ((own->n && copies > JOINT_ONES_MAX / own->n) || count > own->n * copies)
		return -EBADMSG;
	s->n = count;
	rc = get_positions(*in, own->n * copies, count, &s->at);
	for (u64 i = 0; !rc && i < count; i++)
		s->at[i] = s->at[i] / own->n * own->length + own->at[s->at[i] % own->n];
	return rc;
}
