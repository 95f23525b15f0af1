/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `report` is given: the --json output of pcap, stream, simulate and bench. */
#ifndef USER_REPORT_INPUTS_H
#define USER_REPORT_INPUTS_H

#include <jansson.h>

#define INPUT_LABEL_MAX 80

enum input_kind { INPUT_SIMULATE, INPUT_PCAP, INPUT_BENCH, INPUT_KINDS };

struct input {
	enum input_kind kind;
	char label[INPUT_LABEL_MAX]; /* tells it from others of its kind */
	json_t *data;		     /* an object; of bench the array of its rows */
};

struct inputs {
	struct input *all;
	size_t n;
};

/*
 * Add what is in @file ("-": stdin) to @inputs: an object, an array of them, or several of either behind each other,
 * as in JSON lines. Returns 0 or a negative errno with one line in @err; inputs_free() is due in any case.
 */
int inputs_read(struct inputs *inputs, const char *file, char *err, size_t err_size);
void inputs_free(struct inputs *inputs);

#endif
