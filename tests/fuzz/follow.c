/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as what the owner of a watch set says, or wants to hear. The input is a sequence of messages,
 * each led by a byte of flags, one of the version that it says and one of its length in units of 1, or 64 if LONG. The
 * message is those bytes (RAW), or they are what is behind a header and a struct watch_told that make sense: with FILE
 * the levels of a state file. No input would ever hit a right tag or CRC: it is given them. Beside what the sanitizers
 * find: no version may be held that is older than one before, and a file that is taken has the keys that were told.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "user/cluster/watch_follower.h"
#include "user/cluster/watch_owner.h"
#include "user/watch/file.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define COUNTERS 100
#define BITS 300
#define HASHES 2
#define NS_PER_S 1000000000ull

enum flags {
	RAW = 1,
	STORED = 2,
	DELTA = 4,
	BEAT = 8,
	FILE_OF = 16,
	WANT = 32,
	LONG = 64,
	PLACE = 128
};

static const struct wire_key group = { { 1, 2 } };
static const struct watch_shape shape = { COUNTERS, BITS, 5, HASHES };

static struct {
	struct follower *follower;
	struct watch_version held;
	struct watch_print print; /* of the set */
} t;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int load(const struct follower_change *change)
{
	int fd = memfd_create("full", 0), rc;
	struct watch_about about;
	char path[32], err[256];
	struct acbf acbf;

	require(write(fd, change->full, change->full_bytes) == (ssize_t)change->full_bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = watch_file_load(&acbf, &about, path, err, sizeof(err));
	close(fd);
	if (rc)
		return rc;
	require(acbf.bits == BITS && acbf.hashes == HASHES && acbf.counters == COUNTERS);
	require(change->log_bytes || acbf.keys == change->to.print.keys);
	acbf_close(&acbf);
	return 0;
}

static int apply(void *to, const struct follower_change *change, char *err, size_t err_size)
{
	int rc = change->full ? load(change) : 0;

	(void)to;
	require(err_size > 0);
	*err = 0;
	if (rc)
		return rc;
	require(watch_version_order(&change->to, &t.held) >= 0);
	require(change->full || watch_print_same(&change->from, &t.print));
	t.held = change->to;
	t.print = change->to.print;
	return 0;
}

static void held(void *to, const struct watch_version *version)
{
	(void)to;
	require(watch_version_order(version, &t.held) > 0);
	require(watch_print_same(&version->print, &t.print));
	t.held = *version;
}

static bool fetch(void *to)
{
	(void)to;
	return false;
}

static void want(void *to, const u8 *message, size_t size)
{
	struct watch_heard heard;

	(void)to;
	require(!watch_unseal(&group, "me", message, size, &heard));
	require(heard.head.type == WIRE_WATCH_WANT && heard.told.epoch == t.held.epoch);
}

/* A file whose levels are the @n bytes at @at. Returns its bytes. */
static size_t make_file(const u8 *at, size_t n, u8 keys, u8 *file)
{
	struct watch_header h = { .magic = WATCH_FILE_MAGIC,
				  .version = WATCH_FILE_VERSION,
				  .file_bytes = sizeof(h) + n + sizeof(u32),
				  .counters = COUNTERS,
				  .bits = BITS,
				  .keys = keys,
				  .used = keys * HASHES,
				  .hashes = HASHES };
	u32 crc;

	h.crc = crc32_z(0, (const u8 *)&h, sizeof(h));
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), at, n);
	crc = crc32_z(0, file, sizeof(h) + n);
	memcpy(file + sizeof(h) + n, &crc, sizeof(crc));
	return h.file_bytes;
}

/* What the @n bytes at @at are a message of, made at @message. Returns its bytes. */
static size_t make_message(u8 flags, u8 version, const u8 *at, size_t n, u8 *message)
{
	static struct wire_self self;
	enum wire_type type = flags & DELTA  ? WIRE_WATCH_DELTA
			      : flags & BEAT ? WIRE_WATCH_BEAT
			      : flags & WANT ? WIRE_WATCH_WANT
					     : WIRE_WATCH_FULL;
	struct wire_head head = { .type = type, .seq = version % 8, .parts = 1 };
	struct watch_told told = { .shape = shape, .before = t.print, .epoch = version };
	u8 *payload = message + WIRE_HEADER + sizeof(told), file[1 << 15];
	size_t bytes = n ? make_file(at + 1, n - 1, at[0], file) : 0;
	struct watch_header header;
	uLongf deflated = 1 << 16;

	self.key = wire_key_of(&group, flags & WANT ? "b.tap" : "a.tap");
	self.epoch = version / 64;
	self.order += 1;
	if (type == WIRE_WATCH_FULL && flags & FILE_OF && n) {
		require(!watch_bytes_print(file, bytes, &told.after, &header));
		compress2(payload, &deflated, file, bytes, 1);
		told.bytes = bytes;
		told.deflated = n = deflated;
	} else {
		memcpy(payload, at, n);
		told.bytes = told.deflated = n;
		told.after.keys = version;
	}
	return watch_seal(&self, &head, &told, n, message);
}

/* A DELTA's records are given prints that lead from one to the next, as far as they go. */
static void chain(u8 *at, size_t n, u8 version)
{
	struct watch_print is = t.print;
	struct journal_head head;
	const u8 *next = at;
	size_t left = n;
	u8 *begins = at;

	while (journal_next(&next, &left, &head)) {
		head.before = is;
		head.after = is = (struct watch_print){ version, 0 };
		memcpy(begins, &head, sizeof(head));
		begins = at + (n - left);
	}
}

static void take(struct owner *owner, u8 flags, u8 version, const u8 *at, size_t n,
		 struct wire_time now)
{
	u8 *bytes = calloc(1, n ?: 1), *message = malloc(1 << 17);
	size_t size = n;

	memcpy(bytes, at, n);
	if (flags & DELTA)
		chain(bytes, n, version);
	if (flags & RAW)
		memcpy(message, bytes, n);
	else
		size = make_message(flags, version, bytes, n, message);
	if (flags & WANT)
		owner_wanted(owner, "b.tap", message, size);
	else
		follower_take(t.follower, flags & (DELTA | BEAT) ? -1 : !!(flags & PLACE),
			      flags & STORED, message, size, now);
	free(bytes);
	free(message);
}

static void open_follower(struct wire_self *self)
{
	const struct follower_setup setup = { .self = self,
					      .group = group,
					      .owner = "a.tap",
					      .shape = shape,
					      .ops = { apply, held, fetch, want },
					      .silence_ns = NS_PER_S,
					      .want_least_ns = NS_PER_S,
					      .want_most_ns = 8 * NS_PER_S };

	memset(&t, 0, sizeof(t));
	t.follower = follower_open(&setup);
	follower_up(t.follower);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct wire_self owner_self;
	static struct owner
		*owner; /* for all inputs: it is large, and only notes that it is asked */
	const struct owner_setup setup = { .self = &owner_self, .group = group, .shape = shape };
	struct wire_self self = { .key = wire_key_of(&group, "me") };
	struct wire_time now = { 100 * NS_PER_S, 100 * NS_PER_S };
	char err[256];

	owner = owner ?: owner_open(&setup);
	open_follower(&self);
	while (size >= 3) {
		u8 flags = data[0], version = data[1];
		size_t n = data[2] * (flags & LONG ? 64 : 1);

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		take(owner, flags, version, data, n, now);
		now.mono_ns += NS_PER_S;
		follower_step(t.follower, now, err, sizeof(err));
		data += n;
		size -= n;
	}
	follower_close(t.follower);
	return 0;
}
