// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading captures: formats, byte orders, clocks, compression, damage. */
#include "test_capture.h"

#include <errno.h>
#include <sys/wait.h>
#include <zlib.h>

#include "user/capture/reader.h"

#define SMALL_BUFFER 4096

static struct bytes file, packed;

static void start(bool big_endian)
{
	memset(&file, 0, sizeof(file));
	file.big_endian = big_endian;
}

static struct capture_reader *open_bytes(const struct bytes *b, struct memory_file *f)
{
	struct capture_reader *reader;
	char err[512] = "";

	*f = memory_file(b->at, b->len);
	if (capture_open(&reader, f->path, SMALL_BUFFER, err, sizeof(err)))
		fail_msg("%s", err);
	return reader;
}

static void next_frame(struct capture_reader *reader, struct capture_item *item)
{
	do {
		assert_int_equal(capture_next(reader, item), 1);
	} while (item->kind != CAPTURE_FRAME);
}

/* Open and read to the end. Returns the frames, *@rc the last result, @err its message. */
static int drain(const char *path, int *rc, char *err, size_t err_size)
{
	struct capture_reader *reader;
	struct capture_item item;
	int frames = 0;

	*err = 0;
	*rc = capture_open(&reader, path, SMALL_BUFFER, err, err_size);
	if (*rc)
		return 0;
	while ((*rc = capture_next(reader, &item)) == 1)
		frames += item.kind == CAPTURE_FRAME;
	if (*rc < 0)
		snprintf(err, err_size, "%s", capture_error(reader));
	assert_int_equal(capture_next(reader, &item), 0);
	capture_close(reader);
	return frames;
}

static int drain_bytes(const struct bytes *b, int *rc, char *err, size_t err_size)
{
	struct memory_file f = memory_file(b->at, b->len);
	int frames = drain(f.path, rc, err, err_size);

	close(f.fd);
	return frames;
}

static void assert_refused(const char *why, int code, int frames)
{
	char err[512];
	int rc;

	assert_int_equal(drain_bytes(&file, &rc, err, sizeof(err)), frames);
	if (rc != code || !strstr(err, why))
		fail_msg("code %d, message '%s', wanted %d '%s'", rc, err, code, why);
	assert_null(strchr(err, '\n'));
}

static void assert_whole(const struct bytes *b, int frames)
{
	char err[512];
	int rc;

	assert_int_equal(drain_bytes(b, &rc, err, sizeof(err)), frames);
	assert_string_equal(err, "");
	assert_int_equal(rc, 0);
}

static void pcap_variant(bool big_endian, bool nano)
{
	struct capture_reader *reader;
	struct capture_item item;
	struct memory_file f;

	start(big_endian);
	add_pcap_header(&file, nano, 100, 0xf0000000 | 113);
	add_record(&file, 4000000000u, 999999, 5, 1500, 40);
	reader = open_bytes(&file, &f);
	assert_int_equal(capture_next(reader, &item), 1);
	assert_int_equal(item.kind, CAPTURE_INTERFACE);
	assert_int_equal(item.raw_len, 24);
	assert_memory_equal(item.raw, file.at, 24);
	assert_int_equal(item.iface->link, 113);
	assert_int_equal(item.iface->snaplen, 100);
	assert_int_equal(item.iface->resolution, nano ? 9 : 6);
	assert_int_equal(capture_next(reader, &item), 1);
	assert_int_equal(item.kind, CAPTURE_FRAME);
	assert_int_equal(item.time_ns, 4000000000ll * 1000000000 + (nano ? 999999 : 999999000));
	assert_int_equal(item.len, 5);
	assert_int_equal(item.wire_len, 1500);
	assert_int_equal(item.number, 1);
	assert_int_equal(item.raw_len, 21);
	assert_memory_equal(item.data, file.at + 40, 5);
	assert_int_equal(capture_next(reader, &item), 0);
	capture_close(reader);
	close(f.fd);
}

static void pcap_variants(void **state)
{
	(void)state;
	pcap_variant(false, false);
	pcap_variant(false, true);
	pcap_variant(true, false);
	pcap_variant(true, true);
}

static void not_captures(void **state)
{
	char err[512];
	int rc;

	(void)state;
	start(false);
	assert_refused("empty", -EINVAL, 0);
	add(&file, "\x1f", 1);
	assert_refused("not a capture", -EBADMSG, 0);
	start(false);
	add(&file, "GET / HTTP/1.0\r\n", 16);
	assert_refused("neither pcap nor pcapng begins with 47 45 54 20", -EINVAL, 0);
	start(false);
	add_pcap_header(&file, false, 100, 1);
	file.len--;
	assert_refused("the file ends within a pcap file header", -EBADMSG, 0);
	start(false);
	add_section(&file, true, 28);
	file.len -= 4;
	assert_refused("the file ends within a block", -EBADMSG, 0);
	start(true);
	add_pcap_header(&file, false, 100, 1);
	set32(&file, 0, PCAP_MODIFIED);
	assert_refused("modified pcap", -EINVAL, 0);
	start(true);
	add_pcap_header(&file, false, 100, 1);
	set32(&file, 4, 0x00020002);
	assert_refused("pcap version 2.2 is not read", -EINVAL, 0);
	assert_int_equal(drain("/nonexistent/x.pcap", &rc, err, sizeof(err)), 0);
	assert_string_equal(err, "/nonexistent/x.pcap: cannot read: No such file or directory");
	assert_int_equal(drain("/tmp", &rc, err, sizeof(err)), 0);
	assert_string_equal(err, "/tmp: cannot read: Is a directory");
	assert_int_equal(rc, -EISDIR);
}

static void pcap_damaged_record(void **state)
{
	(void)state;
	start(false);
	add_pcap_header(&file, false, 65535, 1);
	add_record(&file, 1, 0, 60, 60, 0);
	add_record(&file, 2, 0, 60, 60, 0);
	set32(&file, 100 + 8, CAPTURE_MAX_FRAME + 1);
	assert_refused("at byte 100: damaged record: a frame of 262145 bytes", -EBADMSG, 1);
	set32(&file, 100 + 8, 0xffffffff);
	assert_refused("at byte 100: damaged record: a frame of 4294967295 bytes", -EBADMSG, 1);
	set32(&file, 100 + 8, CAPTURE_MAX_FRAME);
	assert_refused("at byte 100: the file ends within a record", -EBADMSG, 1);
}

static void absurd_length_needs_no_memory(void **state)
{
	struct capture_reader *reader;
	struct capture_item item;
	struct memory_file f;

	(void)state;
	start(false);
	add_pcap_header(&file, false, 0xffffffff, 1);
	add_record(&file, 1, 0, 60, 60, 0);
	set32(&file, 24 + 8, CAPTURE_MAX_RECORD);
	reader = open_bytes(&file, &f);
	assert_int_equal(capture_next(reader, &item), 1);
	assert_int_equal(capture_next(reader, &item), -EBADMSG);
	assert_true(reader->source.size <= 2 * SMALL_BUFFER);
	capture_close(reader);
	close(f.fd);
}

static void records_longer_than_the_buffer(void **state)
{
	struct capture_reader *reader;
	struct capture_item item;
	struct memory_file f;
	size_t offset = 24;
	u8 *copy;

	(void)state;
	start(false);
	add_pcap_header(&file, false, 65535, 1);
	for (u32 i = 0; i < 20; i++)
		add_record(&file, i, 0, i % 5 * 1500 + i, 9000, i);
	reader = open_bytes(&file, &f);
	for (u32 i = 0; i < 20; i++) {
		next_frame(reader, &item);
		copy = malloc(item.raw_len);
		memcpy(copy, item.raw, item.raw_len);
		assert_int_equal(item.number, i + 1);
		assert_memory_equal(copy, file.at + offset, item.raw_len);
		offset += item.raw_len;
		free(copy);
	}
	assert_int_equal(offset, file.len);
	assert_int_equal(capture_next(reader, &item), 0);
	capture_close(reader);
	close(f.fd);
}

static void clocks(void **state)
{
	static const struct {
		u8 resolution;
		s64 offset;
		u64 ticks;
		s64 ns;
	} cases[] = {
		{ 6, 0, 1700000000123456, 1700000000123456000 },
		{ 9, 0, 1700000000123456789, 1700000000123456789 },
		{ 0, 0, 1700000000, 1700000000000000000 },
		{ 3, 5, 1700000000123, 1700000005123000000 },
		{ 3, -5, 1000, -4000000000 },
		{ 12, 0, 1234567890123456789, 1234567890123456 },
		{ 19, 0, 18446744073709551615u, 1844674407 },
		{ 28, 0, 18446744073709551615u, 1 },
		{ 29, 0, 18446744073709551615u, 0 },
		{ 127, 7, 18446744073709551615u, 7000000000 },
		{ 0x80, 0, 3, 3000000000 },
		{ 0x80 | 1, 0, 3, 1500000000 },
		{ 0x80 | 20, 1, 1048577, 2000000953 },
		{ 0x80 | 32, 0, 0xffffffff, 999999999 },
		{ 0x80 | 63, 0, 1ull << 63, 1000000000 },
		{ 0x80 | 64, 0, 1ull << 63, 500000000 },
		{ 0x80 | 127, 0, 18446744073709551615u, 0 },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(cases); i++) {
		struct capture_iface iface = { .resolution = cases[i].resolution,
					       .offset = cases[i].offset };

		if (capture_time_ns(&iface, cases[i].ticks) != cases[i].ns)
			fail_msg("case %zu: %lld", i,
				 (long long)capture_time_ns(&iface, cases[i].ticks));
	}
}

static void ticks_are_the_inverse(void **state)
{
	static const u8 resolutions[] = {
		0, 3, 6, 9, 10, 0x80 | 0, 0x80 | 10, 0x80 | 30, 0x80 | 33
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(resolutions); i++) {
		struct capture_iface iface = { .resolution = resolutions[i], .offset = -3 };
		s64 ns = 1600000000ll * 1000000000;

		assert_int_equal(capture_time_ns(&iface, capture_ticks(&iface, ns)), ns);
	}
}

/* Two sections of opposite byte order, every kind of block. Returns the frames. */
static int build_sections(bool first_big)
{
	start(first_big);
	for (int section = 0; section < 2; section++) {
		add_section(&file, first_big ^ section, ~0ull);
		add_other(&file, BLOCK_NAMES, "names before any interface");
		add_interface(&file, 1, 0, 6, 0);
		add_interface(&file, 101, 40, 9, -1);
		add_packet(&file, 1, 5000000001, 33, 1, "a comment");
		add_packet(&file, 0, 5000001, 6, 2, NULL);
		add_other(&file, 0x40000bad, "custom");
		add_simple(&file, 11, 11, 3);
	}
	return 6;
}

static void pcapng_sections(bool first_big)
{
	struct capture_reader *reader;
	struct capture_item item;
	struct memory_file f;
	size_t offset = 0;
	int frames = 0;
	s64 before = 0;

	build_sections(first_big);
	reader = open_bytes(&file, &f);
	while (capture_next(reader, &item) == 1) {
		assert_memory_equal(item.raw, file.at + offset, item.raw_len);
		offset += item.raw_len;
		if (item.kind != CAPTURE_FRAME)
			continue;
		assert_int_equal(item.number, ++frames);
		assert_int_equal(item.iface->number,
				 frames % 3 == 1 ? 2 * (frames / 3) + 1 : (frames - 1) / 3 * 2);
		assert_int_equal(item.iface->link, frames % 3 == 1 ? 101 : 1);
		assert_int_equal(item.data[0], (frames - 1) % 3 + 1);
		if (frames % 3 == 1)
			assert_int_equal(item.time_ns, 4000000001);
		if (frames % 3 == 2)
			assert_int_equal(item.time_ns, 5000001000);
		if (frames % 3 == 0)
			assert_int_equal(item.time_ns, before);
		before = item.time_ns;
	}
	assert_string_equal(capture_error(reader), "");
	assert_int_equal(frames, 6);
	assert_int_equal(offset, file.len);
	capture_close(reader);
	close(f.fd);
}

static void pcapng_both_orders(void **state)
{
	(void)state;
	pcapng_sections(false);
	pcapng_sections(true);
}

static void pcapng_old_packet_and_snap_length(void **state)
{
	struct capture_reader *reader;
	struct capture_item item;
	struct memory_file f;
	size_t block;

	(void)state;
	start(true);
	add_section(&file, true, ~0ull);
	add_interface(&file, 1, 8, 6, 0);
	block = begin_block(&file, BLOCK_PACKET);
	add16(&file, 0);
	add16(&file, 77); /* drops */
	add64(&file, 3);
	add32(&file, 7);
	add32(&file, 9);
	add_frame(&file, 7, 1);
	end_block(&file, block);
	add_simple(&file, 100, 8, 5);
	reader = open_bytes(&file, &f);
	next_frame(reader, &item);
	assert_int_equal(item.block, BLOCK_PACKET);
	assert_int_equal(item.time_ns, 3000);
	assert_int_equal(item.len, 7);
	assert_int_equal(item.wire_len, 9);
	next_frame(reader, &item);
	assert_int_equal(item.len, 8);
	assert_int_equal(item.wire_len, 100);
	assert_int_equal(item.ticks, 3);
	capture_close(reader);
	close(f.fd);
}

/* One section, one interface, one good packet, then at DAMAGE_AT what a test breaks. */
#define DAMAGE_AT (28 + 20 + 36)
static void damage_start(void)
{
	start(false);
	add_section(&file, false, ~0ull);
	add_interface(&file, 1, 0, 6, 0);
	add_packet(&file, 0, 1, 4, 1, NULL);
	assert_int_equal(file.len, DAMAGE_AT);
}

static void pcapng_damage(void **state)
{
	(void)state;
	damage_start();
	add_packet(&file, 1, 1, 4, 1, NULL);
	assert_refused("at byte 84: damaged block: its interface has not been", -EBADMSG, 1);
	damage_start();
	add_packet(&file, 0, 1, 4, 1, NULL);
	set32(&file, DAMAGE_AT + 20, 5);
	assert_refused("at byte 84: damaged block: the frame is longer", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 20, 0xffffffff);
	assert_refused("at byte 84: damaged block: the frame is longer", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 4, 38);
	assert_refused("at byte 84: damaged block: its length is not", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 4, 8);
	assert_refused("at byte 84: damaged block: its length is not", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 4, 0xfffffffc);
	assert_refused("at byte 84: damaged block: it claims to be longer", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 4, 40);
	assert_refused("at byte 84: the file ends within a block", -EBADMSG, 1);
	set32(&file, DAMAGE_AT + 4, 32);
	assert_refused("at byte 84: damaged block: the lengths", -EBADMSG, 1);
	damage_start();
	add_simple(&file, 9, 8, 1);
	assert_refused("at byte 84: damaged block: the frame is longer", -EBADMSG, 1);
	damage_start();
	add_section(&file, false, ~0ull);
	add_simple(&file, 8, 8, 1);
	assert_refused("at byte 112: damaged block: its interface has not been", -EBADMSG, 1);
}

static void pcapng_damaged_heads(void **state)
{
	(void)state;
	for (u32 type = 1; type <= 6; type++) {
		damage_start();
		add_other(&file, type, "");
		if (type < 4 || type == 6)
			assert_refused("at byte 84: damaged block: too short", -EBADMSG, 1);
		else
			assert_whole(&file, 1);
	}
	damage_start();
	add_other(&file, BLOCK_SECTION, "\x4d\x3c\x2b\x1a");
	assert_refused("at byte 84: damaged block: too short for a section", -EBADMSG, 1);
	damage_start();
	add_other(&file, BLOCK_SECTION, "1234567890123456");
	assert_refused("at byte 84: damaged block: the section header has no", -EBADMSG, 1);
	damage_start();
	add_section(&file, true, ~0ull);
	file.at[DAMAGE_AT + 13] = 2;
	assert_refused("at byte 84: pcapng version 2 is not read", -EINVAL, 1);
	damage_start();
	add_interface(&file, 1, 0, 9, 0);
	file.at[DAMAGE_AT + 18] = 9;
	assert_refused("at byte 84: damaged block: an option is longer", -EBADMSG, 1);
	start(false);
	add(&file, "\n\r\r\n\x1c\0\0\0abcd", 12);
	assert_refused("at byte 0: damaged block: the section header has no", -EBADMSG, 0);
}

static void pack(const void *data, size_t len)
{
	z_stream z = {};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (u8 *)data;
	z.avail_in = len;
	z.next_out = packed.at + packed.len;
	z.avail_out = sizeof(packed.at) - packed.len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed.len += z.total_out;
	deflateEnd(&z);
}

static void gzip_members(void **state)
{
	int frames = build_sections(false);

	(void)state;
	packed.len = 0;
	pack(file.at, file.len / 2);
	add(&packed, "\0\0\0", 3);
	pack(file.at + file.len / 2, file.len - file.len / 2);
	add(&packed, "\0\0\0\0", 4);
	assert_whole(&packed, frames);
}

static void gzip_damage(void **state)
{
	char err[512];
	int rc, frames = build_sections(false);

	(void)state;
	packed.len = 0;
	pack(file.at, file.len);
	add(&packed, "garbage", 7);
	assert_int_equal(drain_bytes(&packed, &rc, err, sizeof(err)), frames);
	assert_int_equal(rc, -EBADMSG);
	assert_non_null(strstr(err, "uncompressed data: the gzip data is damaged"));
	packed.len -= 7;
	packed.at[packed.len - 6] ^= 1; /* the checksum */
	assert_int_equal(drain_bytes(&packed, &rc, err, sizeof(err)), frames);
	assert_int_equal(rc, -EBADMSG);
	packed.at[packed.len - 6] ^= 1;
	packed.at[2] = 0; /* the method */
	assert_int_equal(drain_bytes(&packed, &rc, err, sizeof(err)), 0);
	assert_int_equal(rc, -EBADMSG);
}

/* At every length of @b: no crash, never more frames than before, a message unless it ends
 * between records.
 */
static void cut_everywhere(struct bytes *b, int frames)
{
	size_t whole = b->len;
	char err[512];
	int rc, got;

	for (; b->len + 1; b->len--) {
		got = drain_bytes(b, &rc, err, sizeof(err));
		assert_true(got <= frames);
		assert_int_equal(!*err, rc == 0);
		assert_null(strchr(err, '\n'));
		assert_true(b->len < whole || !rc);
		frames = got;
	}
	assert_int_equal(frames, 0);
}

static void cut_pcap(void **state)
{
	(void)state;
	start(false);
	add_pcap_header(&file, false, 65535, 1);
	for (int i = 0; i < 4; i++)
		add_record(&file, i, 0, 20 + i, 60, i);
	packed.len = 0;
	pack(file.at, file.len);
	cut_everywhere(&file, 4);
	cut_everywhere(&packed, 4);
}

static void cut_pcapng(void **state)
{
	(void)state;
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		int frames = build_sections(big_endian);

		packed.len = 0;
		pack(file.at, file.len);
		cut_everywhere(&file, frames);
		cut_everywhere(&packed, frames);
	}
}

/* Every byte of the headers replaced: whatever comes, it ends, with one line if it fails. */
static void any_byte_wrong(void **state)
{
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes *good = malloc(sizeof(*good));
	char err[512];
	int rc;

	(void)state;
	build_sections(false);
	*good = file;
	for (size_t at = 0; at < good->len; at++) {
		for (size_t i = 0; i < XDD_ARRAY_SIZE(values); i++) {
			file.at[at] = values[i];
			drain_bytes(&file, &rc, err, sizeof(err));
			assert_int_equal(!*err, rc == 0);
			assert_null(strchr(err, '\n'));
		}
		file.at[at] = good->at[at];
	}
	free(good);
}

static void idle(void *context)
{
	++*(int *)context;
}

static void pipe_in_small_pieces(void **state)
{
	struct capture_reader *reader;
	int fds[2], frames = 0, waited = 0, status;
	struct capture_item item;
	char path[64], err[512];
	pid_t child;

	(void)state;
	build_sections(true);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		for (size_t at = 0; at < file.len; at++) {
			if (write(fds[1], file.at + at, 1) != 1)
				_exit(1);
			if (at % 64 == 0)
				usleep(1000);
		}
		_exit(0);
	}
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(capture_open(&reader, path, SMALL_BUFFER, err, sizeof(err)), 0);
	close(fds[0]);
	reader->source.idle = idle;
	reader->source.idle_context = &waited;
	while (capture_next(reader, &item) == 1)
		frames += item.kind == CAPTURE_FRAME;
	assert_string_equal(capture_error(reader), "");
	assert_int_equal(frames, 6);
	assert_true(waited > 0);
	capture_close(reader);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pcap_variants),
		cmocka_unit_test(not_captures),
		cmocka_unit_test(pcap_damaged_record),
		cmocka_unit_test(absurd_length_needs_no_memory),
		cmocka_unit_test(records_longer_than_the_buffer),
		cmocka_unit_test(clocks),
		cmocka_unit_test(ticks_are_the_inverse),
		cmocka_unit_test(pcapng_both_orders),
		cmocka_unit_test(pcapng_old_packet_and_snap_length),
		cmocka_unit_test(pcapng_damage),
		cmocka_unit_test(pcapng_damaged_heads),
		cmocka_unit_test(gzip_members),
		cmocka_unit_test(gzip_damage),
		cmocka_unit_test(cut_pcap),
		cmocka_unit_test(cut_pcapng),
		cmocka_unit_test(any_byte_wrong),
		cmocka_unit_test(pipe_in_small_pieces),
	};

	return cmocka_run_group_tests_name("capture_reader", tests, NULL, NULL);
}
