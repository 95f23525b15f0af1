/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/gaps.h"

#include <errno.h>
#include <math.h>

#define P_BITS 16
#define LEAST_WIDTH (1u << 24)
#define AT_ONCE 16 /* low bits that are written together */

/* Quotients of 2 on average: fewer low bits bring nothing more. */
static void choose(struct gaps *g, u64 range, u64 count)
{
	double density = range ? (double)count / range : 1, stop;

	*g = (struct gaps){ .range = range, .count = count, .width = ~0u, .pending = 1 };
	while (g->low_bits < 63 && density * (2ull << g->low_bits) < .6)
		g->low_bits++;
	/* That a number is among the next 2^low_bits. */
	stop = density < 1 ? -expm1(log1p(-density) * (1ull << g->low_bits)) : 1;
	g->p = (1 - stop) * (1 << P_BITS) + .5;
	if (!g->p)
		g->p = 1;
	if (g->p >= 1 << P_BITS)
		g->p = (1 << P_BITS) - 1;
}

/* Let a byte of g->low go: a carry into those before it is known by now. */
static void shift_out(struct gaps *g)
{
	if (g->low < 0xff000000 || g->low >> 32) {
		u8 carry = g->low >> 32, byte = g->cache;

		for (; g->pending; g->pending--) {
			bytes_put(g->out, byte + carry);
			byte = 0xff;
		}
		g->cache = g->low >> 24;
	}
	g->pending++;
	g->low = (g->low & 0x00ffffff) << 8;
}

static void put_bit(struct gaps *g, bool bit)
{
	u32 bound = (g->width >> P_BITS) * g->p;

	if (bit) {
		g->width = bound;
	} else {
		g->low += bound;
		g->width -= bound;
	}
	for (; g->width < LEAST_WIDTH; g->width <<= 8)
		shift_out(g);
}

static void put_low(struct gaps *g, u64 value, u32 bits)
{
	while (bits) {
		u32 now = bits < AT_ONCE ? bits : AT_ONCE;

		bits -= now;
		g->width >>= now;
		g->low += (u64)g->width * (value >> bits & ((1u << now) - 1));
		for (; g->width < LEAST_WIDTH; g->width <<= 8)
			shift_out(g);
	}
}

void gaps_write(struct gaps *g, u64 range, u64 count, struct bytes *out)
{
	choose(g, range, count);
	g->out = out;
}

void gaps_put(struct gaps *g, u64 number)
{
	u64 gap = number - g->next;

	for (u64 quotient = gap >> g->low_bits; quotient; quotient--)
		put_bit(g, true);
	put_bit(g, false);
	put_low(g, gap, g->low_bits);
	g->next = number + 1;
}

void gaps_end(struct gaps *g)
{
	size_t last = g->out->n;

	for (u32 i = 0; i < 5; i++)
		shift_out(g);
	/* A reader takes what is missing for zeroes. */
	while (g->out->n > last && !g->out->at[g->out->n - 1])
		g->out->n--;
}

static u32 next_byte(struct gaps *g)
{
	u8 byte = 0;

	return bytes_get(&g->in, &byte) ? 0 : byte;
}

void gaps_read(struct gaps *g, u64 range, u64 count, struct bytes_in in)
{
	choose(g, range, count);
	g->in = in;
	for (u32 i = 0; i < 5; i++)
		g->code = g->code << 8 | next_byte(g);
}

static void fill(struct gaps *g)
{
	for (; g->width < LEAST_WIDTH; g->width <<= 8)
		g->code = g->code << 8 | next_byte(g);
}

static bool get_bit(struct gaps *g)
{
	u32 bound = (g->width >> P_BITS) * g->p;
	bool bit = g->code < bound;

	if (bit) {
		g->width = bound;
	} else {
		g->code -= bound;
		g->width -= bound;
	}
	fill(g);
	return bit;
}

static u64 get_low(struct gaps *g, u32 bits)
{
	u64 value = 0;

	while (bits) {
		u32 now = bits < AT_ONCE ? bits : AT_ONCE, part;

		bits -= now;
		g->width >>= now;
		part = g->code / g->width;
		/* Only of what no writer has written. */
		if (part >> now)
			part = (1u << now) - 1;
		g->code -= part * g->width;
		value = value << now | part;
		fill(g);
	}
	return value;
}

int gaps_get(struct gaps *g, u64 *number)
{
	u64 left = g->range - g->next, quotient = 0;

	if (g->next >= g->range)
		return -EBADMSG;
	while (get_bit(g))
		if (++quotient > left >> g->low_bits)
			return -EBADMSG;
	*number = (quotient << g->low_bits | get_low(g, g->low_bits)) + g->next;
	if (*number < g->next || *number >= g->range)
		return -EBADMSG;
	g->next = *number + 1;
	return 0;
}
