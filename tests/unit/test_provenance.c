/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report says of how it came about, and what it keeps to itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "user/message.h"
#include "user/provenance.h"

/* The options of a report after `stream --sites --nats @urls`. */
static char *report_of(char *urls)
{
	char *argv[] = { "stream", "--sites", "--nats", urls, "--secret-file", "s", NULL };
	json_t *all = json_object();
	struct options o;
	char err[MESSAGE_MAX], *text;

	options_init(&o, "stream");
	assert_int_equal(options_parse(&o, 6, argv, ON_STREAM, err, sizeof(err)), 0);
	provenance_json(all, &o);
	text = json_dumps(all, JSON_SORT_KEYS);
	json_decref(all);
	return text;
}

static void test_no_password(void **state)
{
	static const char *const urls[][2] = {
		{ "nats://u:topsecret@127.0.0.1:4222", "nats://127.0.0.1:4222" },
		{ "nats://topsecret@host", "nats://host" },
		{ "tls://u:top@secret@[::1]:4222,nats://b,nats://topsecret@c:1",
		  "tls://[::1]:4222,nats://b,nats://c:1" },
		{ "nats://host:4222", "nats://host:4222" },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(urls); i++) {
		char *copy = strdup(urls[i][0]), *text = report_of(copy), wanted[128];

		snprintf(wanted, sizeof(wanted), "\"nats\": \"%s\"", urls[i][1]);
		assert_non_null(strstr(text, wanted));
		assert_null(strstr(text, "secret@"));
		assert_non_null(strstr(text, "\"secret-file\": \"s\""));
		assert_non_null(strstr(text, "\"sites\": true"));
		free(text);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_no_password) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
