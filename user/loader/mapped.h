/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps with BPF_F_MMAPABLE as memory of this process. */
#ifndef USER_LOADER_MAPPED_H
#define USER_LOADER_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include <xdd/types.h>

/* The first @bytes of the map @fd, to be read, or written, too: mapped_close() is due. NULL and an errno where that
 * cannot be.
 */
static inline void *mapped_open(int fd, size_t bytes, bool write)
{
	void *at = mmap(NULL, bytes, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* @at may be NULL. */
static inline void mapped_close(const void *at, size_t bytes)
{
	if (at)
		munmap((void *)at, bytes);
}

/* Change a word that programs read meanwhile: they see the one or the other. One process writes. */
static inline void mapped_store(u64 *at, u64 word)
{
	if (*at != word)
		__atomic_store_n(at, word, __ATOMIC_RELAXED);
}

#endif
