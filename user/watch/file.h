/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An accurate counting Bloom filter in a file.
 *
 * The file is: struct watch_header; level 1, and the levels above it, one behind the other, as in
 * section 3.1 of li-2013, each from its own 64-bit word on; a CRC-32 of all before it. How many bits a
 * level has is how many ones the one before has. The header has a CRC of its own and states the file's
 * length. All of it is in the machine's byte order, little-endian.
 */
#ifndef USER_WATCH_FILE_H
#define USER_WATCH_FILE_H

#include "user/capture/sink.h"
#include "user/watch/acbf.h"
#include "user/watch/version.h"

#define WATCH_FILE_MAGIC "xdw\r\n\x1a\xdb"
#define WATCH_FILE_VERSION 1

/* Whose keys they are: of records, of packets, or of the packets of one loaded instance, its state. */
enum watch_of { WATCH_OF_records, WATCH_OF_packets, WATCH_OF_instance, WATCH_OF_MAX };

/* How the keys were hashed. */
struct watch_about {
	u32 of;	  /* enum watch_of */
	u32 hash; /* enum xdd_hash_kind */
	u64 seed; /* of the hash; of packets: what tells keys of one kind and secret from others */
};

struct watch_header {
	u8 magic[8];
	u32 version; /* WATCH_FILE_VERSION */
	u32 crc;     /* of the header, with 0 here */
	u64 file_bytes;
	u64 counters, bits, keys, used; /* as in struct acbf */
	u64 seed;			/* as in struct watch_about */
	u32 hashes;
	u16 hash, of;
};

XDD_ASSERT(sizeof(struct watch_header) == 72, "watch_header has no holes");

/* Write @a to @sink, which is open and empty, and give the file its name. Returns 0, -ENOMEM or a
 * negative errno of the sink.
 */
int watch_file_save(struct acbf *a, const struct watch_about *about, struct sink *sink);

/* The same to the file @path, or stdout if it is "-", made for that. */
int watch_file_write(struct acbf *a, const struct watch_about *about, const char *path);

/*
 * The same; of a file that would have another print than *@must be, if that is not NULL, nothing is written:
 * -EILSEQ. *@print is what it has.
 */
int watch_file_replace(struct acbf *a, const struct watch_about *about, const char *path,
		       const struct watch_print *must, struct watch_print *print);

/* What file @path says of its print: the levels are not read. Returns 0, or a negative errno where it is none. */
int watch_file_print(const char *path, struct watch_print *print);

/* The same of the @size bytes at @bytes: the CRCs are taken as they stand there. */
int watch_bytes_print(const u8 *bytes, u64 size, struct watch_print *print,
		      struct watch_header *header);

/* Bytes that a file of these sizes has at most. */
u64 watch_file_most(u64 counters, u64 bits);

/* Whether the keys of both were hashed alike. */
bool watch_about_same(const struct watch_about *a, const struct watch_about *b);

/*
 * Make @a from the file @path; @about says how keys were hashed. acbf_close() is due after success only.
 *
 * Returns 0, or with a line in @err: what open() failed with; -EBADMSG for a file that is no saved
 * watch set, is damaged, cut, or has more behind it; -EPROTONOSUPPORT for one of another version;
 * -ENOMEM.
 */
int watch_file_load(struct acbf *a, struct watch_about *about, const char *path, char *err,
		    size_t err_size);

/* Read the header of @path only. Returns 0, or a negative errno where there is no whole one. */
int watch_file_header(struct watch_header *header, const char *path);

#endif
