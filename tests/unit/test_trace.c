/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces: which lines are the same event, their times, and what is refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/common/test.h"
#include "user/simulate/fields.h"
#include "user/simulate/trace.h"

static char path[64], err[512];

static int read_bytes(struct trace *trace, const char *text, size_t n, const char *columns,
		      bool times)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
	*err = 0;
	return trace_read(trace, path, columns, times, false, UINT64_MAX, err, sizeof(err));
}

static int read_text(struct trace *trace, const char *text, const char *columns, bool times)
{
	return read_bytes(trace, text, strlen(text), columns, times);
}

/* @ids: "0102", the numbers of the events */
static void check_ids(const char *text, const char *columns, const char *ids)
{
	struct trace trace;
	u64 domain = 0;

	assert_int_equal(read_text(&trace, text, columns, false), 0);
	assert_int_equal(trace.records, strlen(ids));
	for (u32 i = 0; i < trace.records; i++) {
		assert_int_equal(trace.ids[i], ids[i] - '0');
		domain = trace.ids[i] >= domain ? trace.ids[i] + 1 : domain;
	}
	assert_int_equal(trace.domain, domain);
	assert_null(trace.times_ns);
	trace_close(&trace);
}

static void test_ids(void **state)
{
	(void)state;
	check_ids("a\nb\na\n", NULL, "010");
	check_ids("a\nb\na", NULL, "010");
	check_ids("\n\na\n\n", NULL, "0010");
	check_ids("a,b\na,c\n\"a\",b\n", NULL, "012");
	check_ids("a\na\r\n", NULL, "01");
	check_ids("event\nevent\n", NULL, "00");
	check_ids("event,other\nevent,other\n", NULL, "00");
	check_ids("producer,event,time\nA,x,1\nB,x,2\nA,y,2\n", NULL, "001");
	check_ids("\"event\",\"time\"\r\n\"x\",1\r\nx,2\r\n", NULL, "00");
	check_ids("time,event\n1,\n2,\n", NULL, "00");
	check_ids("A,x,1\nB,x,1\n", "producer,event,time", "00");
	check_ids("x,1,z\nx,1,y\n", "-,-,event", "01");
	check_ids("\"a,b\"\n\"a,b\"\n\"a\"\"b\"\n", "event", "001");
	check_ids("event\nevent\n", "event", "00");
}

static void test_times(void **state)
{
	static const u64 times[] = { 0, 1500000000, 1500000000, 1700000000123456789,
				     1700000000123456789 };
	struct trace trace;

	(void)state;
	assert_int_equal(read_text(&trace,
				   "event,time\na,0\nb,1.5\na,1500ms\nc,1700000000.123456789\n"
				   "c,1700000000123456789ns\n",
				   NULL, true),
			 0);
	assert_int_equal(trace.records, 5);
	assert_memory_equal(trace.times_ns, times, sizeof(times));
	trace_close(&trace);
}

static void check_refused(const char *text, const char *columns, const char *message)
{
	struct trace trace;

	assert_true(read_text(&trace, text, columns, true) < 0);
	assert_non_null(strstr(err, message));
	assert_null(strchr(err, '\n'));
	trace_close(&trace);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused("", NULL, "no events");
	check_refused("event,time\n", NULL, "no events");
	check_refused("a\n", NULL, "no column time");
	check_refused("event,producer\na,b\n", NULL, "no column time");
	check_refused("event,time\na,1\nb\n", NULL, "line 3: 1 columns instead of 2");
	check_refused("event,time\na,1,2\n", NULL, "line 2: 3 columns instead of 2");
	check_refused("event,time\na,1\n\n", NULL, "line 3: 1 columns");
	check_refused("event,time\n\"a,1\n", NULL, "line 2: a quoted column");
	check_refused("event,time\n\"a\"b,1\n", NULL, "line 2: a quoted column");
	check_refused("event,time\na,\n", NULL, "line 2: '' is no time");
	check_refused("event,time\na,-1\n", NULL, "line 2: '-1' is no time");
	check_refused("event,time\na,1e3\n", NULL, "is no time");
	check_refused("event,time\na,1.0000000001\n", NULL, "is no time");
	check_refused("event,time\na,99999999999999999999\n", NULL, "is no time");
	check_refused("event,time\na,5000000000\n", NULL, "is no time");
	check_refused("event,time\na,"
		      "1111111111111111111111111111111111111111111111111111111111111111111111\n",
		      NULL, "a time of 70 characters");
	check_refused("event,time\na,2\nb,1\n", NULL, "line 3: its time is before");
	check_refused("a\n", "producer,time", "none of up to 64 columns is called event");
	check_refused("a\n", "", "none of up to");
	check_refused("\x1f\x8b"
		      "aaaaaaaaaaaa\n",
		      NULL, "gzip");
}

/* Times that are not asked for are read, but may step back. */
static void test_unused_times(void **state)
{
	struct trace trace;

	(void)state;
	assert_int_equal(read_text(&trace, "event,time\na,2\nb,1\n", NULL, false), 0);
	assert_int_equal(trace.records, 2);
	trace_close(&trace);
	assert_int_equal(read_text(&trace, "event,time\na,x\n", NULL, false), -EBADMSG);
	trace_close(&trace);
}

/* Lines with any bytes, of any length, more of them than the first room. */
static void test_long(void **state)
{
	const u32 lines = 3000, different = 1000;
	size_t n = 0, most = lines * 1100ul;
	char *text = malloc(most);
	struct trace trace;

	(void)state;
	for (u32 i = 0; i < lines; i++) {
		/* a length of its own, and zero bytes */
		memset(text + n, 0, i % different);
		n += i % different;
		text[n++] = '\n';
	}
	assert_int_equal(read_bytes(&trace, text, n, NULL, false), 0);
	assert_int_equal(trace.records, lines);
	assert_int_equal(trace.domain, different);
	for (u32 i = 0; i < lines; i++)
		assert_int_equal(trace.ids[i], i % different);
	trace_close(&trace);
	free(text);
}

static void test_gzip_and_most(void **state)
{
	struct trace trace;
	gzFile file = gzopen(path, "w");

	(void)state;
	for (u32 i = 0; i < 100000; i++)
		assert_true(gzprintf(file, "%u\n", i % 60000) > 0);
	gzclose(file);
	assert_int_equal(trace_read(&trace, path, NULL, false, false, UINT64_MAX, err, sizeof(err)),
			 0);
	assert_int_equal(trace.records, 100000);
	assert_int_equal(trace.domain, 60000);
	assert_int_equal(trace.ids[99999], 39999);
	trace_close(&trace);
	assert_int_equal(trace_read(&trace, path, NULL, false, false, 10, err, sizeof(err)), 0);
	assert_int_equal(trace.records, 10);
	trace_close(&trace);
	assert_int_equal(trace_read(&trace, "/nonexistent", NULL, false, false, 1, err,
				    sizeof(err)),
			 -ENOENT);
	trace_close(&trace);
}

static void test_fields(void **state)
{
	char many[2 * FIELDS_MAX + 1];
	struct field fields[FIELDS_MAX], line = { many, FIELDS_MAX - 1 };

	(void)state;
	memset(many, ',', sizeof(many));
	assert_int_equal(fields_cut(&line, fields), FIELDS_MAX);
	line.n++;
	assert_int_equal(fields_cut(&line, fields), FIELDS_MAX + 1);
	line.n = 0;
	assert_int_equal(fields_cut(&line, fields), 1);
	assert_true(field_is(&fields[0], ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),	cmocka_unit_test(test_times),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_unused_times),
		cmocka_unit_test(test_long),	cmocka_unit_test(test_gzip_and_most),
		cmocka_unit_test(test_fields),
	};
	int failed;

	snprintf(path, sizeof(path), "/tmp/xdd-trace-%d", (int)getpid());
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
