/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strings of bits that grow and shrink at any place, and say how many ones are before it: pages of
 * 4096 bits, all of them full but the last. Each begins at any bit of its memory and goes on around
 * its end (a tiered vector), so that a bit put into one page moves one bit, and not all of them, in
 * each page behind it.
 */
#ifndef USER_WATCH_STRING_H
#define USER_WATCH_STRING_H

#include <xdd/types.h>

#include "user/words.h"

#define PAGE_BITS 4096
#define PAGE_WORDS (PAGE_BITS / 64)

/* Bits of a page that are not in use are 0. */
struct page {
	u64 word[PAGE_WORDS];
};

/* Pages for all strings; free ones are a list through their first word. */
struct page_pool {
	struct page *page;
	u32 pages, used;   /* used: those that were ever taken */
	u32 free;	   /* the first of the list, counted from 1; 0: none */
	u64 ranked, moved; /* words that were read to count ones, and written: statistics */
};

struct string_slot {
	u32 page;
	u16 first; /* bit of the page's memory that the page begins with */
	u16 ones;
};

struct string {
	struct string_slot *slot;
	u64 bits;
	u32 room; /* slots that are there */
};

/* Memory of @bytes zeros, which the system gives as it is written; or NULL. */
void *memory_map(u64 bytes);
void memory_unmap(void *at, u64 bytes);

/* Returns 0 or -ENOMEM; memory is taken from the system as pages are used. pool_close() frees. */
int pool_open(struct page_pool *pool, u32 pages);
void pool_close(struct page_pool *pool);

/* Make sure that @more bits can be put into @s as far as slots go; the caller sees to it that the pool
 * has pages for all strings. Returns 0 or -ENOMEM.
 */
int string_reserve(struct string *s, u64 more);

/* Bit @at, below s->bits. */
bool string_get(const struct page_pool *pool, const struct string *s, u64 at);
void string_put(struct page_pool *pool, struct string *s, u64 at, bool bit);

/* Ones before @at, 0..s->bits. */
u64 string_rank(struct page_pool *pool, const struct string *s, u64 at);

/* Fetch what a change near bit @at reads and writes, into the cache; @at may be anything. */
void string_fetch(const struct page_pool *pool, const struct string *s, u64 at);

/* Put a 0 before bit @at, 0..s->bits; remove bit @at, below s->bits. */
void string_insert(struct page_pool *pool, struct string *s, u64 at);
void string_remove(struct page_pool *pool, struct string *s, u64 at);

/* Put @bit behind the others. Returns 0 or -ENOMEM. */
int string_append(struct page_pool *pool, struct string *s, bool bit);

#endif
