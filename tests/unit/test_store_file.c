/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Saved filters: they go on as if nothing had been, and nothing that was damaged is taken. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/common/config.h"
#include "tests/common/path.h"
#include "user/batch.h"
#include "user/health.h"
#include "user/message.h"
#include "user/store_file.h"

#define EVENTS 3000
#define MEMORY (64 << 20)

static const char about[] = "what its user says";
static char err[MESSAGE_MAX];

static void start(struct xdd_store *store, u32 engine, u32 lines)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	struct xdd_live live = config_live();

	fixed.placement = XDD_PLACEMENT_percpu;
	fixed.blocks = fixed.slices = lines;
	assert_int_equal(store_open(store, &fixed, &live, MEMORY), 0);
}

/* Ask about EVENTS random keys of a domain, half a tick apart, from event @first on. */
static void ask(struct xdd_store *store, u64 first, u64 *random, bool seen[EVENTS])
{
	struct xdd_digest digests[EVENTS];
	u64 times[EVENTS];

	for (u32 i = 0; i < EVENTS; i++) {
		digests[i].lo = xdd_mix64(random_below(random, 2000));
		digests[i].hi = xdd_mix64(digests[i].lo);
		times[i] = (1000 + first + i) * (CONFIG_TICK_NS / 64);
	}
	for (u32 at = 0; at < EVENTS; at += 1000)
		batch_ask(store, digests + at, times + at, 1000, seen + at);
}

static void save(const struct xdd_store *store)
{
	struct sink sink;

	assert_int_equal(sink_open(&sink, path), 0);
	assert_int_equal(store_file_save(store, about, sizeof(about), &sink), 0);
	sink_close(&sink);
}

/* Open and load the file. Returns the first error. */
static int restore(struct xdd_store *store, u64 memory)
{
	struct store_file file;
	int rc = store_file_open(&file, path, err, sizeof(err));

	if (!rc)
		rc = store_file_load(&file, store, memory, err, sizeof(err));
	if (!rc) {
		assert_int_equal(file.header.about_bytes, sizeof(about));
		assert_memory_equal(file.about, about, sizeof(about));
	}
	store_file_close(&file);
	return rc;
}

static void check_same(const struct xdd_store *one, const struct xdd_store *two)
{
	size_t bytes = (size_t)one->fixed.blocks * sizeof(struct xdd_line);

	assert_memory_equal(&one->fixed, &two->fixed, sizeof(one->fixed));
	assert_memory_equal(&one->secret, &two->secret, sizeof(one->secret));
	assert_memory_equal(&one->loads, &two->loads, sizeof(one->loads));
	assert_true(one->random == two->random && one->latest_ns == two->latest_ns);
	assert_true(one->size == two->size && one->used == two->used);
	assert_true(one->logged == two->logged && one->log_room == two->log_room);
	if (one->lines)
		assert_memory_equal(one->lines, two->lines, bytes);
	if (one->logged)
		assert_memory_equal(one->log, two->log, one->logged * sizeof(*one->log));
}

static void test_goes_on(void **state)
{
	bool expected[EVENTS], found[EVENTS];
	struct xdd_store store, again;

	(void)state;
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		u64 random = engine + 1, copy;
		u32 seen = 0;

		if (!config_takes(engine, XDD_KEY_packet))
			continue;
		start(&store, engine, CONFIG_LINES);
		ask(&store, 0, &random, expected);
		save(&store);
		assert_int_equal(restore(&again, MEMORY), 0);
		check_same(&store, &again);
		copy = random;
		ask(&store, EVENTS, &random, expected);
		ask(&again, EVENTS, &copy, found);
		assert_memory_equal(expected, found, sizeof(found));
		check_same(&store, &again);
		for (u32 i = 0; i < EVENTS; i++)
			seen += found[i];
		assert_in_range(seen, EVENTS / 10, EVENTS - 1);
		store_close(&store);
		store_close(&again);
	}
}

/* The exact engine with a log: keys that it keeps only in case that time steps back. */
static void test_log(void **state)
{
	struct xdd_store store, again;
	bool fresh = false;

	(void)state;
	start(&store, XDD_ENGINE_exact, 1);
	for (u32 i = 0; i < 60000; i++) {
		struct xdd_digest digest = { xdd_mix64(i), i };

		assert_non_null(store_exact(&store, &digest, i * (u64)CONFIG_TICK_NS, &fresh));
	}
	assert_true(store.logged > 0);
	save(&store);
	assert_int_equal(restore(&again, MEMORY), 0);
	check_same(&store, &again);
	for (u32 i = 0; i < 100; i++) {
		struct xdd_digest digest = { xdd_mix64(i), i };

		fresh = false;
		assert_non_null(store_exact(&again, &digest, 0, &fresh));
		assert_false(fresh);
	}
	store_close(&again);
	assert_int_equal(restore(&again, 1 << 20), -ENOSPC);
	assert_non_null(strstr(err, "--memory"));
	store_close(&store);
}

/* A small file's bytes. */
static u8 *small_file(u32 engine, size_t *size)
{
	struct xdd_store store;
	u64 random = 7;
	bool seen[EVENTS];
	FILE *file;
	u8 *bytes;

	start(&store, engine, 4);
	if (engine != XDD_ENGINE_exact)
		ask(&store, 0, &random, seen);
	for (u64 i = 0; engine == XDD_ENGINE_exact && i < 9; i++) {
		struct xdd_digest digest = { i * i, i };
		bool fresh = false;

		assert_non_null(store_exact(&store, &digest, i, &fresh));
	}
	save(&store);
	store_close(&store);
	file = fopen(path, "rb");
	assert_non_null(file);
	bytes = malloc(1 << 16);
	*size = fread(bytes, 1, 1 << 16, file);
	assert_in_range(*size, sizeof(struct store_header) + sizeof(about), (1 << 16) - 1);
	fclose(file);
	return bytes;
}

/* In place: a file that is replaced is written to the disk at once, which takes long. */
static void write_file(const u8 *bytes, size_t size)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(close(fd), 0);
}

static void check_refused(const u8 *bytes, size_t size, const char *what, size_t at)
{
	struct xdd_store store;
	int rc;

	write_file(bytes, size);
	*err = 0;
	rc = restore(&store, MEMORY);
	if (!rc || !*err || strchr(err, '\n'))
		fail_msg("%s %zu: %d %s", what, at, rc, err);
}

static void test_damage(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_rlbsbf, XDD_ENGINE_exact };

	(void)state;
	for (size_t e = 0; e < XDD_ARRAY_SIZE(engines); e++) {
		size_t size;
		u8 *bytes = small_file(engines[e], &size);
		struct xdd_store store;

		assert_int_equal(restore(&store, MEMORY), 0);
		store_close(&store);
		for (size_t i = 0; i < size; i++) {
			bytes[i] ^= 1 << i % 8;
			check_refused(bytes, size, "flipped byte", i);
			bytes[i] ^= 1 << i % 8;
		}
		for (size_t i = 0; i < size; i++)
			check_refused(bytes, i, "cut at", i);
		for (size_t i = 1; i < 9; i++) {
			memset(bytes + size, 0, i);
			check_refused(bytes, size + i, "more behind its end", i);
		}
		write_file(bytes, size);
		assert_int_equal(restore(&store, MEMORY), 0);
		store_close(&store);
		free(bytes);
	}
}

/* Make the header's checksum right again, as someone would who means harm. */
static void sign(u8 *bytes)
{
	struct store_header *h = (struct store_header *)bytes;

	h->crc = 0;
	h->crc = crc32_z(crc32_z(0, bytes, sizeof(*h)), bytes + sizeof(*h), sizeof(about));
}

#define FORGE(field, value)                                           \
	do {                                                          \
		u8 *forged = malloc(size);                            \
		memcpy(forged, bytes, size);                          \
		((struct store_header *)forged)->field = (value);     \
		sign(forged);                                         \
		check_refused(forged, size, #field, (size_t)(value)); \
		free(forged);                                         \
	} while (0)

/* Absurd numbers under a right checksum: nothing is allocated, nothing read behind the file. */
static void test_forged(void **state)
{
	size_t size;
	u8 *bytes = small_file(XDD_ENGINE_exact, &size);

	(void)state;
	FORGE(version, STORE_FILE_VERSION + 1);
	assert_non_null(strstr(err, "version"));
	FORGE(abi, XDD_ABI + 1);
	FORGE(about_bytes, 0xffffffff);
	FORGE(about_bytes, STORE_FILE_ABOUT_MAX);
	FORGE(file_bytes, 1ull << 60);
	FORGE(size, 1ull << 40);
	FORGE(size, 3 * STORE_FIRST_SIZE);
	FORGE(size, 0);
	FORGE(used, ~0ull);
	FORGE(used, 8);
	FORGE(logged, ~0ull / sizeof(struct store_entry));
	FORGE(log_room, 1ull << 40);
	FORGE(log_room, 7);
	FORGE(window_ticks, 0);
	FORGE(window_ticks, XDD_MAX_WINDOW_TICKS + 1);
	FORGE(fixed.engine, XDD_ENGINE_MAX);
	FORGE(fixed.engine, XDD_ENGINE_bloom);
	FORGE(fixed.hashes, 0);
	FORGE(fixed.tick_ns, 0);
	free(bytes);
	bytes = small_file(XDD_ENGINE_bloom, &size);
	FORGE(fixed.blocks, 0xffffffff);
	FORGE(fixed.blocks, 3);
	FORGE(fixed.engine, XDD_ENGINE_exact);
	FORGE(fixed.hashes, XDD_MAX_HASHES + 1);
	free(bytes);
}

static struct xdd_store sliced(u32 slices)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);
	struct xdd_live live = config_live();
	struct xdd_store store;

	fixed.placement = XDD_PLACEMENT_percpu;
	fixed.blocks = CONFIG_LINES;
	fixed.slicing = XDD_SLICING_horizontal;
	fixed.slices = slices;
	fixed.fault_policy = XDD_FAULTS_distinct;
	assert_int_equal(store_open(&store, &fixed, &live, MEMORY), 0);
	return store;
}

/* A slice that is damaged in the file starts empty, and costs no other; it is believed a window later. */
static void test_damaged_slice(void **state)
{
	bool expected[EVENTS], found[EVENTS];
	struct xdd_store store = sliced(8), again;
	u64 random = 3, copy = 3, at, more;
	u32 first = xdd_part_first(&store.fixed, 5);
	FILE *file;

	(void)state;
	ask(&store, 0, &random, expected);
	save(&store);
	file = fopen(path, "r+b");
	at = sizeof(struct store_header) + sizeof(about) + (first + 3) * sizeof(struct xdd_line);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_true(fputc(store.lines[first + 3].timer[9] ^ 1, file) != EOF);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(restore(&again, MEMORY), 0);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(health_state(&again.health[1 + i], 0),
				 i == 5 ? HEALTH_FAILED : HEALTH_OK);
	at = (1000 + EVENTS) * (CONFIG_TICK_NS / 64);
	store_restored(&again, at);
	assert_int_equal(health_state(&again.health[6], at), HEALTH_RECOVERING);
	for (u32 i = 0; i < CONFIG_LINES; i++)
		assert_int_equal(!memcmp(&again.lines[i], &store.lines[i], sizeof(*again.lines)),
				 xdd_part_of(&store.fixed, i) != 5);
	more = copy = random;
	ask(&store, EVENTS, &more, expected);
	ask(&again, EVENTS, &copy, found);
	for (u32 i = 0; i < EVENTS && i < CONFIG_WINDOW_TICKS * 64; i++)
		assert_true(expected[i] >= found[i]);
	assert_true(again.health[6].asked > 100);
	/* What is known of slices is saved, too. */
	store_close(&store);
	save(&again);
	assert_int_equal(restore(&store, MEMORY), 0);
	assert_memory_equal(store.health, again.health,
			    xdd_healths(&store.fixed) * sizeof(*store.health));
	store_close(&store);
	store_close(&again);
}

static void test_no_file(void **state)
{
	struct store_file file;

	(void)state;
	assert_int_equal(store_file_open(&file, "/nonexistent", err, sizeof(err)), -ENOENT);
	store_file_close(&file);
	assert_int_equal(store_file_open(&file, "/tmp", err, sizeof(err)), -EBADMSG);
	store_file_close(&file);
	assert_int_equal(store_file_open(&file, "/dev/zero", err, sizeof(err)), -EBADMSG);
	store_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on), cmocka_unit_test(test_log),
		cmocka_unit_test(test_damage),	cmocka_unit_test(test_forged),
		cmocka_unit_test(test_no_file), cmocka_unit_test(test_damaged_slice),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
