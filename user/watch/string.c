// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/string.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "user/accessors.h"

/* Slots are added by so many, or by an eighth. */
#define SLOTS_STEP 4

#define LINE_BITS 512 /* of the processor's cache */

void *memory_map(u64 bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* Updates go to random places: a page table's worth of small pages would cost as much. */
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

void memory_unmap(void *at, u64 bytes)
{
	if (at)
		munmap(at, bytes);
}

int pool_open(struct page_pool *pool, u32 pages)
{
	*pool = (struct page_pool){ .pages = pages };
	pool->page = memory_map((u64)pages * sizeof(*pool->page));
	return pool->page ? 0 : -ENOMEM;
}

void pool_close(struct page_pool *pool)
{
	memory_unmap(pool->page, (u64)pool->pages * sizeof(*pool->page));
	*pool = (struct page_pool){};
}

static u32 page_take(struct page_pool *pool)
{
	u32 taken;

	if (!pool->free)
		return pool->used++;
	taken = pool->free - 1;
	pool->free = pool->page[taken].word[0];
	pool->page[taken].word[0] = 0;
	return taken;
}

static void page_give_back(struct page_pool *pool, u32 page)
{
	pool->page[page].word[0] = pool->free;
	pool->free = page + 1;
}

/* Ones of bits @from and up to @end, both 0..PAGE_BITS, of a page's memory. */
COUNTS_ONES static u32 memory_ones(const struct page *page, u32 from, u32 end)
{
	u32 first = from / 64, last = end / 64;
	u64 head = ~0ull << from % 64, tail = (1ull << end % 64) - 1;
	u32 ones;

	if (first == last)
		return tail ? __builtin_popcountll(page->word[first] & head & tail) : 0;
	ones = __builtin_popcountll(page->word[first] & head);
	for (u32 i = first + 1; i < last; i++)
		ones += __builtin_popcountll(page->word[i]);
	return tail ? ones + __builtin_popcountll(page->word[last] & tail) : ones;
}

/* Ones of @n bits from bit @from of the memory on, around its end. */
static u32 around_ones(struct page_pool *pool, const struct page *page, u32 from, u32 n)
{
	u32 end = from + n;

	pool->ranked += n / 64 + 1;
	if (end <= PAGE_BITS)
		return memory_ones(page, from, end);
	return memory_ones(page, from, PAGE_BITS) + memory_ones(page, 0, end - PAGE_BITS);
}

static bool memory_get(const struct page *page, u32 at)
{
	return page->word[at / 64] >> at % 64 & 1;
}

static void memory_put(struct page *page, u32 at, bool bit)
{
	u64 *word = &page->word[at / 64], mask = 1ull << at % 64;

	*word = bit ? *word | mask : *word & ~mask;
}

/* A mask of the @n bits from bit @from of a word on; @from + @n is at most 64, @n not 0. */
static u64 bits_of_word(u32 from, u32 n)
{
	return ~0ull >> (64 - n) << from;
}

/* Move @n bits from bit @from of a word on one up: @in comes in below. Returns the bit that leaves. */
static u64 word_up(u64 *word, u32 from, u32 n, u64 in)
{
	u64 mask = bits_of_word(from, n), old = *word & mask;

	*word ^= old ^ ((old << 1 | in << from) & mask);
	return old >> (from + n - 1);
}

/* The same one down: @in comes in above. */
static u64 word_down(u64 *word, u32 from, u32 n, u64 in)
{
	u64 mask = bits_of_word(from, n), old = *word & mask;

	*word ^= old ^ ((old >> 1 & mask) | in << (from + n - 1));
	return old >> from & 1;
}

/*
 * Move the @n bits from bit @from of the memory on one up, around its end: @from becomes 0, and
 * what was behind them is overwritten.
 */
static void move_up(struct page_pool *pool, struct page *page, u32 from, u32 n)
{
	u32 w = from / 64, bit = from % 64, left = n + 1;
	u32 some = left < 64 - bit ? left : 64 - bit;
	u64 carry, old;

	pool->moved += (bit + left + 63) / 64;
	carry = word_up(&page->word[w], bit, some, 0);
	for (left -= some; left >= 64; left -= 64) {
		w = (w + 1) % PAGE_WORDS;
		old = page->word[w];
		page->word[w] = old << 1 | carry;
		carry = old >> 63;
	}
	if (left)
		word_up(&page->word[(w + 1) % PAGE_WORDS], 0, left, carry);
}

/* Move the @n bits behind bit @from of the memory one down: the last of them becomes 0, and what was
 * at @from is overwritten.
 */
static void move_down(struct page_pool *pool, struct page *page, u32 from, u32 n)
{
	u32 last = (from + n) % PAGE_BITS, w = last / 64, end = last % 64 + 1, left = n + 1;
	u32 some = left < end ? left : end;
	u64 carry, old;

	pool->moved += (64 - end + left + 63) / 64;
	carry = word_down(&page->word[w], end - some, some, 0);
	for (left -= some; left >= 64; left -= 64) {
		w = (w + PAGE_WORDS - 1) % PAGE_WORDS;
		old = page->word[w];
		page->word[w] = old >> 1 | carry << 63;
		carry = old & 1;
	}
	if (left)
		word_down(&page->word[(w + PAGE_WORDS - 1) % PAGE_WORDS], 64 - left, left, carry);
}

int string_reserve(struct string *s, u64 more)
{
	u64 needed = (s->bits + more + PAGE_BITS - 1) / PAGE_BITS;
	struct string_slot *slot;
	u32 room = s->room;

	if (needed <= room)
		return 0;
	while (room < needed)
		room += room / 8 > SLOTS_STEP ? room / 8 : SLOTS_STEP;
	slot = realloc(s->slot, room * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	s->slot = slot;
	s->room = room;
	return 0;
}

/* Bit of the memory of @slot's page where its bit @at is. */
static u32 memory_of(const struct string_slot *slot, u32 at)
{
	return (slot->first + at) % PAGE_BITS;
}

bool string_get(const struct page_pool *pool, const struct string *s, u64 at)
{
	const struct string_slot *slot = &s->slot[at / PAGE_BITS];

	return memory_get(&pool->page[slot->page], memory_of(slot, at % PAGE_BITS));
}

void string_put(struct page_pool *pool, struct string *s, u64 at, bool bit)
{
	struct string_slot *slot = &s->slot[at / PAGE_BITS];
	struct page *page = &pool->page[slot->page];
	u32 there = memory_of(slot, at % PAGE_BITS);

	slot->ones += bit - memory_get(page, there);
	memory_put(page, there, bit);
}

u64 string_rank(struct page_pool *pool, const struct string *s, u64 at)
{
	u32 in = at % PAGE_BITS, full = at / PAGE_BITS;
	const struct string_slot *slot;
	const struct page *page;
	u64 ones = 0;

	for (u32 i = 0; i < full; i++)
		ones += s->slot[i].ones;
	pool->ranked += full;
	if (!in)
		return ones;
	slot = &s->slot[full];
	page = &pool->page[slot->page];
	if (in <= PAGE_BITS / 2)
		return ones + around_ones(pool, page, slot->first, in);
	return ones + slot->ones - around_ones(pool, page, memory_of(slot, in), PAGE_BITS - in);
}

void string_fetch(const struct page_pool *pool, const struct string *s, u64 at)
{
	u32 full = at / PAGE_BITS, pages = (s->bits + PAGE_BITS - 1) / PAGE_BITS, in, end;

	if (at >= s->bits)
		return;
	in = at % PAGE_BITS;
	end = 2 * in < PAGE_BITS ? 0 : PAGE_BITS - 1;
	for (u32 i = in < end ? in : end; i <= (in < end ? end : in); i += LINE_BITS)
		__builtin_prefetch(
			&pool->page[s->slot[full].page].word[memory_of(&s->slot[full], i) / 64], 1);
	for (u32 i = full + 1; i < pages; i++)
		__builtin_prefetch(&pool->page[s->slot[i].page].word[s->slot[i].first / 64], 1);
}

/* Put a 0 before bit @at of a page of @bits, which is not full: the shorter part of it moves. */
static void page_insert(struct page_pool *pool, struct string_slot *slot, u32 bits, u32 at)
{
	struct page *page = &pool->page[slot->page];

	if (2 * at >= bits) {
		move_up(pool, page, memory_of(slot, at), bits - at);
		return;
	}
	slot->first = memory_of(slot, PAGE_BITS - 1);
	move_down(pool, page, slot->first, at);
}

/* Remove bit @at of a page of @bits. Returns what it was. */
static bool page_remove(struct page_pool *pool, struct string_slot *slot, u32 bits, u32 at)
{
	struct page *page = &pool->page[slot->page];
	bool bit = memory_get(page, memory_of(slot, at));

	slot->ones -= bit;
	if (2 * at >= bits) {
		move_down(pool, page, memory_of(slot, at), bits - 1 - at);
		return bit;
	}
	move_up(pool, page, slot->first, at);
	slot->first = memory_of(slot, 1);
	return bit;
}

/* Put @bit in front of a full page, whose last one leaves. Returns that. */
static bool page_push(struct page_pool *pool, struct string_slot *slot, bool bit)
{
	u32 last = memory_of(slot, PAGE_BITS - 1);
	struct page *page = &pool->page[slot->page];
	bool out = memory_get(page, last);

	memory_put(page, last, bit);
	slot->first = last;
	slot->ones += bit - out;
	pool->moved++;
	return out;
}

/* The reverse: @bit behind the others of a full page, whose first one leaves. */
static bool page_pull(struct page_pool *pool, struct string_slot *slot, bool bit)
{
	struct page *page = &pool->page[slot->page];
	bool out = memory_get(page, slot->first);

	memory_put(page, slot->first, bit);
	slot->first = memory_of(slot, 1);
	slot->ones += bit - out;
	pool->moved++;
	return out;
}

static void add_page(struct page_pool *pool, struct string *s)
{
	s->slot[s->bits / PAGE_BITS] = (struct string_slot){ .page = page_take(pool) };
}

void string_insert(struct page_pool *pool, struct string *s, u64 at)
{
	u32 page = at / PAGE_BITS, last = s->bits / PAGE_BITS, bits = s->bits % PAGE_BITS;
	struct string_slot *slot;
	bool carry;

	if (!bits)
		add_page(pool, s);
	s->bits++;
	slot = &s->slot[page];
	if (page == last) {
		page_insert(pool, slot, bits, at % PAGE_BITS);
		return;
	}
	carry = page_remove(pool, slot, PAGE_BITS, PAGE_BITS - 1);
	page_insert(pool, slot, PAGE_BITS - 1, at % PAGE_BITS);
	for (page++; page < last; page++)
		carry = page_push(pool, &s->slot[page], carry);
	page_insert(pool, &s->slot[last], bits, 0);
	string_put(pool, s, (u64)last * PAGE_BITS, carry);
}

void string_remove(struct page_pool *pool, struct string *s, u64 at)
{
	u32 page = at / PAGE_BITS, last = (s->bits - 1) / PAGE_BITS;
	u32 bits = s->bits - (u64)last * PAGE_BITS;
	bool carry = false;

	if (page < last)
		carry = page_remove(pool, &s->slot[last], bits, 0);
	for (u32 i = last - 1; page < last && i > page; i--)
		carry = page_pull(pool, &s->slot[i], carry);
	page_remove(pool, &s->slot[page], page < last ? PAGE_BITS : bits, at % PAGE_BITS);
	if (page < last)
		string_put(pool, s, (u64)page * PAGE_BITS + PAGE_BITS - 1, carry);
	s->bits--;
	if (bits == 1)
		page_give_back(pool, s->slot[last].page);
}

int string_append(struct page_pool *pool, struct string *s, bool bit)
{
	int rc = string_reserve(s, 1);

	if (rc)
		return rc;
	if (!(s->bits % PAGE_BITS))
		add_page(pool, s);
	s->bits++;
	string_put(pool, s, s->bits - 1, bit);
	return 0;
}
