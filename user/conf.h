/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file of options for --config: lines `name = value` with the names of the command line, `name = yes`
 * or `no` of options that take no value or `on` and `off`, `interface = eth1` as often as there are interfaces; what
 * follows a # at the start of a line or behind a space is a comment. No other name is there twice.
 */
#ifndef USER_CONF_H
#define USER_CONF_H

#include <stddef.h>

struct conf_word {
	char *text; /* "--window=20ms", or "eth1" of an interface */
	unsigned int line;
};

/* A name that the file has. */
struct conf_name {
	char *text;
	unsigned int line;
};

struct conf {
	const char *file; /* NULL: no --config was given */
	struct conf_name *name;
	size_t names;
	struct conf_word *word;
	size_t words;
	int interfaces; /* of these */
	char **argv;	/* the command line with the file's options in it */
	int argc;
};

/*
 * Read the file that --config in @argv names, if any does, and put its options in front of those of
 * @argv, which go before, and its interfaces behind. Returns 0, and then conf_free() is due, or a
 * negative errno with one line in @err.
 */
int conf_open(struct conf *conf, int argc, char **argv, char *err, size_t err_size);

struct options;

/*
 * Parse the command line of @conf for @command, whose ON_ bit is @on. Interfaces on the command line stand for
 * those of the file. Returns 0, or -EINVAL with one line in @err, which begins with file and line where the
 * file is wrong.
 */
int conf_parse(const struct conf *conf, const char *command, unsigned int on, struct options *o,
	       char *err, size_t err_size);

/* The line of the file that says the option which @message names, or 0. */
unsigned int conf_line_of(const struct conf *conf, const char *message);

void conf_free(struct conf *conf);

#endif
