// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Merging captures and writing them: exact copies, new files, temporary names. */
#include "test_capture.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user/capture/set.h"
#include "user/capture/writer.h"

#define MAX_INPUTS 4

static struct bytes inputs[MAX_INPUTS];
static u8 written[1 << 20];
static size_t written_len;
static char directory[] = "/tmp/test-capture-XXXXXX";
static char output[64];

static void path_in_directory(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s/%s", directory, name);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	path_in_directory(output, sizeof(output), "out");
	return 0;
}

static int files_in_directory(void)
{
	DIR *dir = opendir(directory);
	int n = -2; /* . and .. */

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static struct capture_set *open_inputs(u32 n)
{
	struct memory_file files[MAX_INPUTS];
	char *paths[MAX_INPUTS], err[512];
	struct capture_set *set;

	for (u32 i = 0; i < n; i++) {
		files[i] = memory_file(inputs[i].at, inputs[i].len);
		paths[i] = files[i].path;
	}
	if (capture_set_open(&set, paths, n, err, sizeof(err)))
		fail_msg("%s", err);
	for (u32 i = 0; i < n; i++)
		close(files[i].fd);
	return set;
}

/* Which frames to keep: bit (number - 1) of @keep, for all inputs alike. */
static int copy_frames(struct capture_writer *w, struct capture_set *set, u64 keep)
{
	const struct capture_item *item;
	int rc;

	while ((rc = capture_set_next(set, &item)) == 1) {
		rc = capture_writer_put(w, item, keep >> ((item->number - 1) & 63) & 1);
		if (rc)
			return rc;
	}
	return rc ? rc : capture_writer_finish(w);
}

/* Write the first @n inputs to @output; what came of it is in @written. */
static int convert(u32 n, enum capture_format format, u64 keep, struct capture_lost *lost,
		   char *err)
{
	struct capture_set *set = open_inputs(n);
	struct capture_writer w;
	int rc;

	assert_int_equal(capture_writer_open(&w, set, output, format, err, 512), 0);
	assert_int_equal(access(output, F_OK), -1);
	rc = copy_frames(&w, set, keep);
	snprintf(err, 512, "%s", w.error);
	if (!rc) {
		assert_int_equal(capture_writer_publish(&w), 0);
		written_len = read_file(output, written, sizeof(written));
		unlink(output);
	}
	*lost = w.lost;
	capture_writer_close(&w);
	capture_set_close(set);
	assert_int_equal(files_in_directory(), 0);
	return rc;
}

static struct capture_lost convert_well(u32 n, enum capture_format format, u64 keep)
{
	struct capture_lost lost;
	char err[512] = "";

	if (convert(n, format, keep, &lost, err))
		fail_msg("%s", err);
	return lost;
}

static void assert_written(const struct bytes *b)
{
	assert_int_equal(written_len, b->len);
	assert_memory_equal(written, b->at, b->len);
}

static struct bytes *start(u32 input, bool big_endian)
{
	struct bytes *b = &inputs[input];

	b->len = 0;
	b->big_endian = big_endian;
	return b;
}

static void build_pcap(u32 input, bool big_endian, bool nano)
{
	struct bytes *b = start(input, big_endian);

	add_pcap_header(b, nano, 65535, 1);
	for (u32 i = 0; i < 5; i++)
		add_record(b, 10 + i, 1000 * i + 1, 10 + i, 60, i);
}

static void build_pcapng(u32 input, bool big_endian, u64 section_length)
{
	struct bytes *b = start(input, big_endian);

	add_section(b, big_endian, section_length);
	add_interface(b, 1, 0, 9, 0);
	add_packet(b, 0, 11000000000, 20, 1, "a comment");
	add_other(b, BLOCK_NAMES, "some names");
	add_packet(b, 0, 12000000001, 21, 2, NULL);
	add_other(b, 5, "statistics");
	add_simple(b, 30, 30, 3);
}

static void copies_are_exact(void **state)
{
	static struct bytes twice;

	(void)state;
	for (int i = 0; i < 4; i++) {
		build_pcap(0, i & 1, i & 2);
		convert_well(1, CAPTURE_PCAP, ~0ull);
		assert_written(&inputs[0]);
	}
	for (int i = 0; i < 4; i++) {
		build_pcapng(0, i & 1, i & 2 ? 4096 : ~0ull);
		twice = inputs[0];
		add(&inputs[0], twice.at, twice.len);
		convert_well(1, CAPTURE_PCAPNG, ~0ull);
		assert_written(&inputs[0]);
	}
}

static void dropped_frames_leave_the_rest(void **state)
{
	struct bytes *b;

	(void)state;
	build_pcap(0, true, false);
	convert_well(1, CAPTURE_PCAP, 1 << 1 | 1 << 4);
	b = start(1, true);
	add_pcap_header(b, false, 65535, 1);
	add_record(b, 11, 1001, 11, 60, 1);
	add_record(b, 14, 4001, 14, 60, 4);
	assert_written(b);

	build_pcapng(0, true, ~0ull);
	convert_well(1, CAPTURE_PCAPNG, 1 << 1);
	b = start(1, true);
	add_section(b, true, ~0ull);
	add_interface(b, 1, 0, 9, 0);
	add_other(b, BLOCK_NAMES, "some names");
	add_packet(b, 0, 12000000001, 21, 2, NULL);
	add_other(b, 5, "statistics");
	assert_written(b);
}

/* The stated length of a section is withdrawn where a frame was dropped, and only there. */
static void section_length(void **state)
{
	static struct bytes expected;
	size_t one;

	(void)state;
	build_pcapng(1, false, 4096);
	one = inputs[1].len;
	start(0, false);
	add(&inputs[0], inputs[1].at, one);
	add(&inputs[0], inputs[1].at, one);
	convert_well(1, CAPTURE_PCAPNG, ~(1ull << 5)); /* the simple packet of the second */
	expected = inputs[0];
	expected.len -= 12 + 4 + 32;
	memset(expected.at + one + 16, 0xff, 8);
	assert_written(&expected);
}

static void pcapng_and_back(void **state)
{
	struct capture_lost lost;

	(void)state;
	for (int nano = 0; nano < 2; nano++) {
		build_pcap(0, false, nano);
		build_pcap(1, false, nano);
		lost = convert_well(1, CAPTURE_PCAPNG, ~0ull);
		assert_int_equal(lost.blocks + lost.options + lost.times, 0);
		assert_int_equal(written_len, 28 + 32 + 5 * 32 + 12 + 12 + 12 + 16 + 16);
		start(0, false);
		add(&inputs[0], written, written_len);
		lost = convert_well(1, CAPTURE_PCAP, ~0ull);
		assert_int_equal(lost.blocks + lost.options + lost.times, 0);
		assert_written(&inputs[1]);
	}
}

static void merged_by_time(void **state)
{
	struct bytes *b;

	(void)state;
	b = start(0, false);
	add_pcap_header(b, false, 100, 1);
	add_record(b, 5, 0, 4, 4, 10);
	add_record(b, 3, 0, 4, 4, 11); /* steps back: stays behind the one above */
	add_record(b, 9, 0, 4, 4, 12);
	b = start(1, true);
	add_pcap_header(b, false, 200, 1);
	add_record(b, 1, 0, 4, 4, 20);
	add_record(b, 5, 0, 4, 4, 21); /* a tie: behind input 0 */
	b = start(2, false);
	add_pcap_header(b, false, 50, 1);
	convert_well(3, CAPTURE_PCAP, ~0ull);
	b = start(3, false);
	add_pcap_header(b, false, 200, 1);
	add_record(b, 1, 0, 4, 4, 20);
	add_record(b, 5, 0, 4, 4, 10);
	add_record(b, 3, 0, 4, 4, 11);
	add_record(b, 5, 0, 4, 4, 21);
	add_record(b, 9, 0, 4, 4, 12);
	assert_written(b);
}

static enum capture_format natural_format(u32 n)
{
	struct capture_set *set = open_inputs(n);
	enum capture_format format = capture_set_format(set);

	capture_set_close(set);
	return format;
}

static void format_that_holds_all(void **state)
{
	(void)state;
	build_pcap(0, false, false);
	build_pcap(1, true, false);
	assert_int_equal(natural_format(1), CAPTURE_PCAP);
	assert_int_equal(natural_format(2), CAPTURE_PCAP);
	build_pcap(1, false, true);
	assert_int_equal(natural_format(2), CAPTURE_PCAPNG);
	build_pcap(1, false, false);
	inputs[1].at[20] = 113;
	assert_int_equal(natural_format(2), CAPTURE_PCAPNG);
	build_pcapng(1, false, ~0ull);
	assert_int_equal(natural_format(2), CAPTURE_PCAPNG);
}

/* A little-endian pcapng and a pcap: blocks and options stay, interfaces are renumbered. */
static void merged_pcapng(void **state)
{
	struct capture_lost lost;
	struct bytes *b;

	(void)state;
	build_pcap(0, false, false);
	inputs[0].len = 24;
	add_record(&inputs[0], 11, 500000, 4, 40, 9);
	build_pcapng(1, false, ~0ull);
	lost = convert_well(2, CAPTURE_PCAPNG, ~0ull);
	assert_int_equal(lost.blocks, 1); /* the statistics */
	assert_int_equal(lost.options, 0);
	b = start(3, false);
	add_section(b, false, ~0ull);
	add(b, "\1\0\0\0\x20\0\0\0\1\0\0\0\xff\xff\0\0\x09\0\1\0\6\0\0\0\0\0\0\0\x20\0\0\0", 32);
	add_interface(b, 1, 0, 9, 0);
	add_packet(b, 1, 11000000000, 20, 1, "a comment");
	add_other(b, BLOCK_NAMES, "some names");
	add_packet(b, 0, 11500000, 4, 9, NULL);
	set32(b, b->len - 12, 40); /* its wire length */
	add_packet(b, 1, 12000000001, 21, 2, NULL);
	add_packet(b, 1, 12000000001, 30, 3, NULL); /* the simple one */
	set32(b, b->len - 40, 30);
	assert_written(b);
}

static void merged_from_the_other_order(void **state)
{
	static u8 little[4096];
	struct capture_lost lost;
	size_t len;

	(void)state;
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		struct bytes *b = start(0, big_endian);

		add_section(b, big_endian, ~0ull);
		add_interface(b, 1, 96, 0x80 | 30, 77);
		add_packet(b, 0, 0x123456789abcdef0, 21, 2, NULL);
		inputs[1] = inputs[0];
		lost = convert_well(2, CAPTURE_PCAPNG, ~0ull);
		assert_int_equal(lost.blocks + lost.options, 0);
		if (!big_endian)
			memcpy(little, written, len = written_len);
	}
	assert_int_equal(written_len, len);
	assert_memory_equal(written, little, len);
	build_pcapng(0, true, ~0ull);
	build_pcapng(1, true, ~0ull);
	lost = convert_well(2, CAPTURE_PCAPNG, ~0ull);
	assert_int_equal(lost.blocks, 4);
	assert_int_equal(lost.options, 2);
}

static void what_a_pcap_cannot_hold(void **state)
{
	struct capture_lost lost;
	struct bytes *b;
	char err[512];

	(void)state;
	build_pcapng(0, false, ~0ull);
	lost = convert_well(1, CAPTURE_PCAP, ~0ull);
	assert_int_equal(lost.blocks, 2);
	assert_int_equal(lost.options, 1);
	assert_int_equal(lost.times, 0);

	b = start(0, false);
	add_section(b, false, ~0ull);
	add_interface(b, 1, 0, 6, 0);
	add_packet(b, 0, 1000001, 4, 1, NULL);
	add_interface(b, 1, 0, 9, 0);
	add_packet(b, 1, 1000001001, 4, 1, NULL);
	add_packet(b, 1, 1000001000, 4, 1, NULL);
	lost = convert_well(1, CAPTURE_PCAP, ~0ull);
	assert_int_equal(lost.times, 1);

	add_interface(b, 113, 0, 6, 0);
	convert_well(1, CAPTURE_PCAP, ~0ull); /* no frame of the other type yet */
	add_packet(b, 2, 0, 4, 1, NULL);
	assert_int_equal(convert(1, CAPTURE_PCAP, ~0ull, &lost, err), -EPROTOTYPE);
	assert_non_null(strstr(err, "--format pcapng"));

	b = start(0, false);
	add_section(b, false, ~0ull);
	add_interface(b, 1, 0, 0, 0);
	add_packet(b, 0, 0xffffffff, 4, 1, NULL);
	convert_well(1, CAPTURE_PCAP, ~0ull);
	add_packet(b, 0, 0x100000000, 4, 1, NULL);
	assert_int_equal(convert(1, CAPTURE_PCAP, ~0ull, &lost, err), -EOVERFLOW);
	assert_non_null(strstr(err, "frame 2 "));
}

static void files_without_frames(void **state)
{
	struct bytes *b;

	(void)state;
	build_pcap(0, false, false);
	inputs[0].len = 24;
	inputs[0].at[20] = 113;
	inputs[1] = inputs[0];
	convert_well(2, CAPTURE_PCAP, ~0ull);
	assert_written(&inputs[0]);
	b = start(1, false);
	add_section(b, false, ~0ull);
	convert_well(1, CAPTURE_PCAPNG, ~0ull);
	assert_int_equal(written_len, 28 + 32);
	assert_memory_equal(written, b->at, b->len);
}

static void one_bad_input_of_two(void **state)
{
	const struct capture_item *item;
	struct capture_set *set;
	int frames = 0, failures = 0, rc;

	(void)state;
	build_pcap(0, false, false);
	build_pcap(1, false, false);
	inputs[0].len -= 1;
	set = open_inputs(2);
	while ((rc = capture_set_next(set, &item))) {
		frames += rc > 0 && item->kind == CAPTURE_FRAME;
		failures += rc < 0;
		if (rc < 0)
			assert_non_null(strstr(capture_set_error(set), "ends within a record"));
	}
	assert_int_equal(frames, 9);
	assert_int_equal(failures, 1);
	capture_set_close(set);
}

static void standard_input_once(void **state)
{
	char *paths[] = { "-", "/dev/null", "-" };
	struct capture_set *set;
	char err[512];

	(void)state;
	assert_int_equal(capture_set_open(&set, paths, 3, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "only once"));
}

static void sink_names(void **state)
{
	char link_path[64], target[64];
	struct sink s;
	struct stat st;

	(void)state;
	umask(027);
	path_in_directory(target, sizeof(target), "target");
	path_in_directory(link_path, sizeof(link_path), "link");
	assert_int_equal(symlink("target", link_path), 0);
	close(open(target, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(sink_open(&s, link_path), 0);
	assert_int_equal(files_in_directory(), 3);
	assert_int_equal(sink_write(&s, "abc", 3), 0);
	assert_int_equal(sink_finish(&s), 0);
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(sink_publish(&s), 0);
	sink_close(&s);
	assert_int_equal(files_in_directory(), 2);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_mode & 0777, 0600);
	unlink(link_path);
	unlink(target);
}

static void sink_refusals(void **state)
{
	struct sink s;

	(void)state;
	assert_int_equal(sink_open(&s, directory), -EISDIR);
	assert_int_equal(sink_open(&s, "/nonexistent/out"), -ENOENT);
	assert_int_equal(sink_open(&s, "/proc/out"), -ENOENT);
	assert_int_equal(sink_open(&s, "/dev/full"), 0);
	assert_int_equal(sink_write(&s, "x", 1), 0);
	assert_int_equal(sink_finish(&s), -ENOSPC);
	sink_close(&s);
}

/* A signal ends the process with status 1 and leaves no file behind. */
static void sink_signals(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		struct sink a, b;
		char other[64];

		path_in_directory(other, sizeof(other), "other.gz");
		close(STDERR_FILENO);
		sink_guard();
		if (sink_open(&a, output) || sink_open(&b, other) || sink_write(&a, "x", 1) ||
		    files_in_directory() != 2)
			_exit(3);
		raise(SIGTERM);
		_exit(4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(files_in_directory(), 0);
}

static void compressed_output(void **state)
{
	struct capture_set *set;
	struct capture_writer w;
	char path[64], err[512];

	(void)state;
	build_pcapng(0, false, 4096);
	set = open_inputs(1);
	path_in_directory(path, sizeof(path), "out.pcapng.gz");
	assert_int_equal(capture_writer_open(&w, set, path, CAPTURE_PCAPNG, err, 512), 0);
	assert_int_equal(copy_frames(&w, set, ~0ull), 0);
	assert_int_equal(capture_writer_publish(&w), 0);
	capture_writer_close(&w);
	capture_set_close(set);
	inputs[1].len = read_file(path, inputs[1].at, sizeof(inputs[1].at));
	unlink(path);
	assert_memory_equal(inputs[1].at, "\x1f\x8b", 2);
	inputs[2] = inputs[0];
	inputs[0] = inputs[1];
	convert_well(1, CAPTURE_PCAPNG, ~0ull);
	memset(inputs[2].at + 16, 0xff, 8); /* compressed data cannot be mended afterwards */
	assert_written(&inputs[2]);
}

/* Items that came from no file: names of interfaces and comments of frames are options. */
static void made_items(void **state)
{
	static struct bytes expected;
	struct capture_iface iface = { .link = 1, .snaplen = 99, .resolution = 9, .name = "tap0" };
	struct capture_item item = { .kind = CAPTURE_INTERFACE, .iface = &iface };
	struct capture_writer w;
	struct bytes data = {};
	size_t block;
	char err[512];

	(void)state;
	add_frame(&data, 21, 5);
	assert_int_equal(capture_writer_open(&w, NULL, output, CAPTURE_PCAPNG, err, 512), 0);
	assert_int_equal(capture_writer_put(&w, &item, true), 0);
	item.kind = CAPTURE_FRAME;
	item.data = data.at;
	item.len = 21;
	item.wire_len = 25;
	item.ticks = 7000000000;
	item.comment = "why so";
	assert_int_equal(capture_writer_put(&w, &item, true), 0);
	item.comment = NULL;
	assert_int_equal(capture_writer_put(&w, &item, true), 0);
	assert_int_equal(capture_writer_finish(&w), 0);
	assert_int_equal(capture_writer_publish(&w), 0);
	capture_writer_close(&w);
	written_len = read_file(output, written, sizeof(written));
	unlink(output);

	expected.len = 0;
	add_section(&expected, false, ~0ull);
	block = begin_block(&expected, BLOCK_INTERFACE);
	add16(&expected, 1);
	add16(&expected, 0);
	add32(&expected, 99);
	add_option(&expected, 2, "tap0", 4);
	add_option(&expected, 9, "\x09", 1);
	add_option(&expected, 0, "", 0);
	end_block(&expected, block);
	add_packet(&expected, 0, 7000000000, 21, 5, "why so");
	add_packet(&expected, 0, 7000000000, 21, 5, NULL);
	assert_written(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_exact),
		cmocka_unit_test(dropped_frames_leave_the_rest),
		cmocka_unit_test(section_length),
		cmocka_unit_test(pcapng_and_back),
		cmocka_unit_test(merged_by_time),
		cmocka_unit_test(format_that_holds_all),
		cmocka_unit_test(merged_pcapng),
		cmocka_unit_test(merged_from_the_other_order),
		cmocka_unit_test(what_a_pcap_cannot_hold),
		cmocka_unit_test(files_without_frames),
		cmocka_unit_test(one_bad_input_of_two),
		cmocka_unit_test(standard_input_once),
		cmocka_unit_test(sink_names),
		cmocka_unit_test(sink_refusals),
		cmocka_unit_test(sink_signals),
		cmocka_unit_test(compressed_output),
		cmocka_unit_test(made_items),
	};

	return cmocka_run_group_tests_name("capture_writer", tests, make_directory,
					   remove_directory);
}
