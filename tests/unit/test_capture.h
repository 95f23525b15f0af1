/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captures built byte by byte, in either byte order, and files to keep them in: for the tests
 * of user/capture.
 */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "user/capture/capture.h"

#define UNUSED __attribute__((unused))

struct bytes {
	u8 at[65536];
	size_t len;
	bool big_endian;
};

static UNUSED void add(struct bytes *b, const void *data, size_t len)
{
	assert_true(len <= sizeof(b->at) - b->len);
	memcpy(b->at + b->len, data, len);
	b->len += len;
}

static UNUSED void add16(struct bytes *b, u16 v)
{
	v = b->big_endian ? __builtin_bswap16(v) : v;
	add(b, &v, sizeof(v));
}

static UNUSED void add32(struct bytes *b, u32 v)
{
	v = b->big_endian ? __builtin_bswap32(v) : v;
	add(b, &v, sizeof(v));
}

static UNUSED void add64(struct bytes *b, u64 v)
{
	v = b->big_endian ? __builtin_bswap64(v) : v;
	add(b, &v, sizeof(v));
}

static UNUSED void set32(struct bytes *b, size_t offset, u32 v)
{
	v = b->big_endian ? __builtin_bswap32(v) : v;
	memcpy(b->at + offset, &v, sizeof(v));
}

/* @len bytes that depend on @seed. */
static UNUSED void add_frame(struct bytes *b, u32 len, u8 seed)
{
	assert_true(len <= sizeof(b->at) - b->len);
	for (u32 i = 0; i < len; i++)
		b->at[b->len++] = seed + i * 7;
}

static UNUSED void add_pcap_header(struct bytes *b, bool nano, u32 snaplen, u32 link)
{
	add32(b, nano ? 0xa1b23c4d : 0xa1b2c3d4);
	add16(b, 2);
	add16(b, 4);
	add64(b, 0);
	add32(b, snaplen);
	add32(b, link);
}

static UNUSED void add_record(struct bytes *b, u32 s, u32 fraction, u32 len, u32 wire_len, u8 seed)
{
	add32(b, s);
	add32(b, fraction);
	add32(b, len);
	add32(b, wire_len);
	add_frame(b, len, seed);
}

/* A block is begun, filled and ended. Returns its offset. */
static UNUSED size_t begin_block(struct bytes *b, u32 type)
{
	add32(b, type);
	add32(b, 0);
	return b->len - 8;
}

static UNUSED void end_block(struct bytes *b, size_t offset)
{
	while (b->len % 4)
		b->at[b->len++] = 0;
	add32(b, b->len - offset + 4);
	set32(b, offset + 4, b->len - offset);
}

static UNUSED void add_option(struct bytes *b, u16 code, const void *data, u16 len)
{
	add16(b, code);
	add16(b, len);
	add(b, data, len);
	while (b->len % 4)
		b->at[b->len++] = 0;
}

static UNUSED void add_section(struct bytes *b, bool big_endian, u64 length)
{
	size_t offset;

	b->big_endian = big_endian;
	offset = begin_block(b, BLOCK_SECTION);
	add32(b, 0x1a2b3c4d);
	add16(b, 1);
	add16(b, 0);
	add64(b, length);
	end_block(b, offset);
}

static UNUSED void add_interface(struct bytes *b, u16 link, u32 snaplen, u8 resolution, s64 offset)
{
	size_t block = begin_block(b, BLOCK_INTERFACE);
	u64 seconds = b->big_endian ? __builtin_bswap64(offset) : (u64)offset;

	add16(b, link);
	add16(b, 0);
	add32(b, snaplen);
	if (resolution != 6)
		add_option(b, 9, &resolution, 1);
	if (offset)
		add_option(b, 14, &seconds, 8);
	if (resolution != 6 || offset)
		add_option(b, 0, "", 0);
	end_block(b, block);
}

/* Enhanced packet block, with a comment if @comment. */
static UNUSED void add_packet(struct bytes *b, u32 iface, u64 ticks, u32 len, u8 seed,
			      const char *comment)
{
	size_t block = begin_block(b, BLOCK_ENHANCED);

	add32(b, iface);
	add32(b, ticks >> 32);
	add32(b, ticks);
	add32(b, len);
	add32(b, len + 4);
	add_frame(b, len, seed);
	while (b->len % 4)
		b->at[b->len++] = 0;
	if (comment) {
		add_option(b, 1, comment, strlen(comment));
		add_option(b, 0, "", 0);
	}
	end_block(b, block);
}

static UNUSED void add_simple(struct bytes *b, u32 wire_len, u32 len, u8 seed)
{
	size_t block = begin_block(b, BLOCK_SIMPLE);

	add32(b, wire_len);
	add_frame(b, len, seed);
	end_block(b, block);
}

static UNUSED void add_other(struct bytes *b, u32 type, const char *text)
{
	size_t block = begin_block(b, type);

	add(b, text, strlen(text));
	end_block(b, block);
}

/* A file in memory, and the path under which it can be opened. */
struct memory_file {
	int fd;
	char path[64];
};

static UNUSED struct memory_file memory_file(const void *data, size_t len)
{
	struct memory_file f;

	f.fd = memfd_create("capture", 0);
	assert_true(f.fd >= 0);
	assert_int_equal(write(f.fd, data, len), len);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

/* What is in the file at @path. */
static UNUSED size_t read_file(const char *path, u8 *to, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t got, len = 0;

	assert_true(fd >= 0);
	while ((got = read(fd, to + len, room - len)) > 0)
		len += got;
	assert_int_equal(got, 0);
	close(fd);
	return len;
}

#endif
