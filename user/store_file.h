/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter in a file, so that a later run goes on where an earlier one ended: its structure, hash
 * secret, random numbers and contents, and some bytes about them that only its user understands.
 *
 * The file is: struct store_header; the user's bytes; lines, or entries and the log's entries; with a
 * --fault-policy struct store_part for each part of the lines; a CRC-32 of all before it but such parts'
 * lines, which have their own: a part that is damaged is one that has failed, and costs no other. The header has a CRC of its own and of the user's bytes, and states the
 * file's length: nothing is allocated for a file that contradicts itself. All of it is in the
 * machine's byte order, little-endian.
 */
#ifndef USER_STORE_FILE_H
#define USER_STORE_FILE_H

#include "user/capture/sink.h"
#include "user/store.h"

#define STORE_FILE_MAGIC "xdd\r\n\x1a\xdb"
#define STORE_FILE_VERSION 2
#define STORE_FILE_ABOUT_MAX 4096

struct store_header {
	u8 magic[8];
	u32 version; /* STORE_FILE_VERSION */
	u32 abi;     /* XDD_ABI: the layout of fixed, loads and lines */
	u64 file_bytes;
	u32 about_bytes;
	u32 crc; /* of the header, with 0 here, and of the user's bytes */
	struct xdd_fixed fixed;
	u64 window_ns;
	u32 window_ticks;
	u32 pad;
	u64 random;
	struct xdd_loads loads;
	u64 size, used, logged, log_room; /* exact engine, else 0 */
	u64 latest_ns;
	u64 keep_all, in_order; /* 0 or 1 */
	struct xdd_secret secret;
};

XDD_ASSERT(sizeof(struct store_header) ==
		   240 + sizeof(struct xdd_fixed) + sizeof(struct xdd_secret),
	   "store_header has no holes");

struct store_part {
	u64 until_ns, asked; /* its state: struct xdd_health */
	u32 crc;	     /* of its lines */
	u32 pad;
};

/* A file being read. */
struct store_file {
	const char *path;
	int fd;
	u32 crc;     /* of what was read */
	u32 damaged; /* parts that store_file_load() found so */
	struct store_header header;
	u8 about[STORE_FILE_ABOUT_MAX]; /* header.about_bytes of them */
};

/*
 * Open @path and check all of its header. store_file_close() is due afterwards in any case.
 *
 * Returns 0, or with a line in @err: what open() failed with; -EBADMSG for a file that is no saved
 * filter, is damaged, cut, or has more behind it; -EPROTONOSUPPORT for one of another version.
 */
int store_file_open(struct store_file *file, const char *path, char *err, size_t err_size);

/*
 * Make @store, as store_open() would with the file's configuration and @memory_bytes, and read its
 * contents. store_close() is due after success only.
 *
 * Parts that are damaged have failed (HEALTH_CAUSE_content) where there is a --fault-policy.
 * store_restored() lets them recover.
 *
 * Returns 0, or with a line in @err -EBADMSG for contents that are damaged, -ENOSPC for more than
 * @memory_bytes, -ENOMEM, or what read() failed with.
 */
int store_file_load(struct store_file *file, struct xdd_store *store, u64 memory_bytes, char *err,
		    size_t err_size);
void store_file_close(struct store_file *file);

/*
 * Write @store, and @about_bytes (at most STORE_FILE_ABOUT_MAX) at @about, to @sink, which is open
 * and empty; then give the file its name. Returns 0 or a negative errno of the sink.
 */
int store_file_save(const struct xdd_store *store, const void *about, u32 about_bytes,
		    struct sink *sink);

#endif
