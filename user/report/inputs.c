/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/report/inputs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/message.h"
#include "user/units.h"

static bool has_all(const json_t *object, const char *const *names)
{
	for (; *names; names++)
		if (!json_object_get(object, *names))
			return false;
	return true;
}

static bool is_simulation(const json_t *value)
{
	return has_all(value, (const char *const[]){ "algorithm", "records", "fpr", "fnr", NULL });
}

/* Of pcap, or of stream, which says the same. */
static bool is_capture(const json_t *value)
{
	return has_all(value, (const char *const[]){ "distinct", "duplicates", "bypassed", "engine",
						     NULL });
}

static bool is_bench(const json_t *value)
{
	return has_all(json_array_get(value, 0),
		       (const char *const[]){ "name", "ns", "ns_over_baseline", "keys", NULL });
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name)) ?: "";
}

/* Engine and memory; of a capture, what it was counted from. */
static void label(struct input *input, const char *file)
{
	char memory[UNITS_TEXT_MAX];
	const json_t *counted = json_array_get(json_object_get(input->data, "inputs"), 0);
	const char *name = json_string_value(counted) ?: file, *slash = strrchr(name, '/');

	if (input->kind == INPUT_SIMULATE)
		snprintf(input->label, sizeof(input->label), "%s, %s",
			 text_of(input->data, "algorithm"),
			 units_size_text(
				 json_integer_value(json_object_get(input->data, "memory_bytes")),
				 memory));
	else
		snprintf(input->label, sizeof(input->label), "%s", slash ? slash + 1 : name);
	for (char *c = input->label; input->kind != INPUT_SIMULATE && *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static int add(struct inputs *inputs, enum input_kind kind, json_t *data, const char *file)
{
	struct input *more = reallocarray(inputs->all, inputs->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	inputs->all = more;
	more[inputs->n] = (struct input){ .kind = kind, .data = json_incref(data) };
	label(&more[inputs->n++], file);
	return 0;
}

/* Returns -EINVAL for what none of the commands prints. */
static int take(struct inputs *inputs, json_t *value, const char *file)
{
	int code = json_array_size(value) ? 0 : -EINVAL;

	if (is_bench(value))
		return add(inputs, INPUT_BENCH, value, file);
	if (is_simulation(value))
		return add(inputs, INPUT_SIMULATE, value, file);
	if (is_capture(value))
		return add(inputs, INPUT_PCAP, value, file);
	for (size_t i = 0; !code && i < json_array_size(value); i++) {
		json_t *one = json_array_get(value, i);

		code = json_is_object(one) ? take(inputs, one, file) : -EINVAL;
	}
	return code;
}

/* Is there more than white space? */
static bool is_more(FILE *from)
{
	int c;

	do
		c = getc(from);
	while (c != EOF && isspace(c));
	ungetc(c, from);
	return c != EOF;
}

static int read_all(struct inputs *inputs, FILE *from, const char *file, char *err, size_t err_size)
{
	size_t before = inputs->n;
	json_error_t error;
	json_t *value;
	int code = 0;

	while (!code && is_more(from)) {
		value = json_loadf(from, JSON_DISABLE_EOF_CHECK, &error);
		if (!value)
			return refuse(err, err_size, -EINVAL,
				      "%s: not JSON, at line %d of a value: %s", file, error.line,
				      error.text);
		code = take(inputs, value, file);
		json_decref(value);
	}
	if (ferror(from))
		return refuse(err, err_size, -EIO, "%s: cannot be read", file);
	if (code == -ENOMEM)
		return refuse(err, err_size, code, "%s: no memory for it", file);
	if (code || inputs->n == before)
		return refuse(err, err_size, -EINVAL,
			      "%s: not what pcap, stream, simulate or bench print with --json",
			      file);
	return 0;
}

int inputs_read(struct inputs *inputs, const char *file, char *err, size_t err_size)
{
	FILE *from = strcmp(file, "-") ? fopen(file, "re") : stdin;
	int code;

	if (!from)
		return refuse(err, err_size, -errno, "%s: %m", file);
	code = read_all(inputs, from, file, err, err_size);
	if (from != stdin)
		fclose(from);
	return code;
}

void inputs_free(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++)
		json_decref(inputs->all[i].data);
	free(inputs->all);
}
