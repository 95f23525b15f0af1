// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/cluster/columns.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "user/loader/mapped.h"
#include "user/message.h"

void columns_over(struct columns *c, u64 *words, struct xdd_peer_gate *gate, u32 width, u32 shift)
{
	memset(c, 0, sizeof(*c));
	c->words = words;
	c->gate = gate;
	c->peers = -1;
	c->width = width;
	c->shift = shift;
}

static u64 words_of(const struct columns *c)
{
	return ((u64)c->width << c->shift) / 64;
}

static size_t bytes_of(const struct columns *c)
{
	return words_of(c) * sizeof(*c->words);
}

int columns_open(struct columns *c, const struct instance *in, char *err, size_t err_size)
{
	const struct xdd_fixed *fixed = &in->fixed;
	int code;

	if (!fixed->peers || in->maps.replicas < 0 || in->maps.peer_gate < 0)
		return refuse(err, err_size, -ENOENT, "%s holds no replicas: load it with --peers",
			      in->name);
	columns_over(c, NULL, NULL, fixed->peers, fixed->replica_shift);
	c->peers = in->maps.peers;
	c->words = mapped_open(in->maps.replicas, bytes_of(c), true);
	if (c->words)
		c->gate = mapped_open(in->maps.peer_gate, sizeof(*c->gate), true);
	if (c->gate)
		return 0;
	code = -errno;
	columns_close(c);
	return refuse(err, err_size, code, "%s: its replicas cannot be mapped: %m", in->name);
}

void columns_close(struct columns *c)
{
	mapped_close(c->words, bytes_of(c));
	mapped_close(c->gate, sizeof(*c->gate));
	c->words = NULL;
	c->gate = NULL;
}

/* Bits @from of a filter, as many as a word of the replicas has places, each moved to the lowest bit of its
 * place: every bit of it stands for 2^@unfold places. Filters begin at whole words, so none is split.
 */
static u64 spread(const u64 *bits, u64 place, u32 width, u32 unfold)
{
	u32 places = 64 / width;
	u64 word = 0;

	for (u32 i = 0; i < places; i++) {
		u64 bit = (place + i) >> unfold;

		word |= (bits[bit / 64] >> bit % 64 & 1) << i * width;
	}
	return word;
}

/* The lowest bit of each place in a word. */
static u64 lanes(u32 width)
{
	return width == 64 ? 1 : ~0ULL / ((1ULL << width) - 1);
}

/* Clear the bits @mine in @n words: the usual case, since most of a filter is zeros. */
static void clear_words(u64 *words, u64 n, u64 mine)
{
	for (u64 i = 0; i < n; i++)
		if (words[i] & mine)
			mapped_store(&words[i], words[i] & ~mine);
}

/* The words in which the bits of word @from of a filter lie. */
static void set_words(struct columns *c, u32 peer, const u64 *bits, u64 from, u32 unfold)
{
	u32 places = 64 / c->width;
	u64 mine = lanes(c->width) << peer, n = (u64)c->width << unfold;
	u64 *words = c->words + from * n;

	if (!bits[from]) {
		clear_words(words, n, mine);
		return;
	}
	for (u64 i = 0; i < n; i++)
		mapped_store(&words[i],
			     (words[i] & ~mine) |
				     spread(bits, (from * n + i) * places, c->width, unfold)
					     << peer);
}

void columns_set(struct columns *c, u32 peer, const u64 *bits, u32 shift)
{
	for (u64 from = 0; from < (1ULL << shift) / 64; from++)
		set_words(c, peer, bits, from, c->shift - shift);
}

/* The places of one bit of a filter. */
static void flip_run(struct columns *c, u32 peer, u64 bit, u32 unfold)
{
	for (u64 place = bit << unfold; place < (bit + 1) << unfold; place++) {
		u64 at = place * c->width + peer;

		mapped_store(&c->words[at / 64], c->words[at / 64] ^ 1ULL << at % 64);
	}
}

void columns_flip(struct columns *c, u32 peer, const u64 *changed, u32 shift)
{
	for (u64 i = 0; i < (1ULL << shift) / 64; i++)
		for (u64 word = changed[i]; word; word &= word - 1)
			flip_run(c, peer, i * 64 + __builtin_ctzll(word), c->shift - shift);
}

void columns_clear(struct columns *c, u32 peer)
{
	clear_words(c->words, words_of(c), lanes(c->width) << peer);
}

/* A peer that is no longer believed is so before the time is moved. */
void columns_believe(struct columns *c, u64 mask, u64 until_ns)
{
	mapped_store(&c->gate->believed, c->gate->believed & mask);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	mapped_store(&c->gate->until_ns, until_ns);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	mapped_store(&c->gate->believed, mask);
}

void columns_refused(struct columns *c, u64 n, u64 twin_ns)
{
	mapped_store(&c->gate->refused, n);
	mapped_store(&c->gate->twin_ns, twin_ns);
}

int columns_describe(struct columns *c, u32 peer, const struct xdd_peer *about)
{
	return bpf_map_update_elem(c->peers, &peer, about, BPF_ANY) ? -errno : 0;
}
