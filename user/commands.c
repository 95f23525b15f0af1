/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "conf.h"
#include "manual.h"
#include "message.h"
#include "names.h"
#include "topics.h"
#include "version.h"

#define COMMAND_ROW(name_, on_, everyday_, min_, max_, arguments_, summary_) \
	{ #name_, on_, everyday_, min_, max_, arguments_, summary_, cmd_##name_ },
const struct command commands[] = { COMMANDS(COMMAND_ROW){ .name = NULL } };

/* The commands' and the topics' names, for name_nearest(). */
#define COMMAND_NAME(name, ...) #name,
#define TOPIC_NAME(name, ...) #name,
static const char *const command_names[] = { COMMANDS(COMMAND_NAME) "help", NULL };
static const char *const help_names[] = { COMMANDS(COMMAND_NAME) TOPICS(TOPIC_NAME) NULL };

static const char usage[] = "usage: xdp-dedup COMMAND [ARGUMENT...] [OPTION...]\n";

static const struct command *command_named(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

void commands_taking(unsigned int on, char *text, size_t size)
{
	size_t used = 0;

	*text = 0;
	for (const struct command *c = commands; c->name && used < size; c++)
		if (c->on & on)
			used += snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					 c->name);
}

static void print_command(FILE *to, const struct command *c)
{
	char left[64];

	snprintf(left, sizeof(left), "  %s %s", c->name, c->arguments);
	fprintf(to, "%-25s %s\n", left, c->summary);
}

static void print_overview(FILE *to)
{
	fprintf(to,
		"%s\n"
		"Keeps the first copy of every packet and drops the others: in the kernel, at the\n"
		"driver, and in capture files.\n\n"
		"Commands:\n",
		usage);
	for (const struct command *c = commands; c->name; c++)
		if (c->everyday)
			print_command(to, c);
	fprintf(to, "\nOptions of every day:\n");
	options_help(to, ON_ALL, true);
	fprintf(to, "\nMore:\n"
		    "  xdp-dedup COMMAND --help  all options of a command\n");
	for (const struct command *c = commands; c->name; c++)
		if (!c->everyday)
			fprintf(to, "  xdp-dedup %-15s %s\n", c->name, c->summary);
	topics_list(to);
	fprintf(to, "  xdp-dedup --version\n"
		    "\nTimes take ns, us, ms, s, min, h; sizes KiB, MiB, GiB; counts k, M, G, T.\n"
		    "Exit codes: 0 ok, 1 failed, 2 usage.\n");
}

static int print_command_help(const struct command *c)
{
	printf("usage: xdp-dedup %s %s%s[OPTION...]\n\n%s\n\nOptions:\n", c->name, c->arguments,
	       *c->arguments ? " " : "", c->summary);
	options_help(stdout, c->on, false);
	return EXIT_OK;
}

static int unknown(const char *what, const char *word, const char *const *names)
{
	const char *nearest = name_nearest(names, word);

	complain("unknown %s %s%s%s%s", what, *word ? word : "''", nearest ? "; did you mean " : "",
		 nearest ?: "", nearest ? "?" : "");
	fputs(usage, stderr);
	return EXIT_USAGE;
}

#define PRINT_GENERATED(name, print) \
	if (!strcmp(about, #name)) { \
		print(stdout);       \
		return true;         \
	}

/* What make install puts beside the program. Returns whether @about is that. */
static bool print_generated(const char *about)
{
	GENERATED(PRINT_GENERATED)
	return false;
}

static int help(const char *about)
{
	const struct command *c;

	if (!about) {
		print_overview(stdout);
		return EXIT_OK;
	}
	if (topic_print(stdout, about) || print_generated(about))
		return EXIT_OK;
	c = command_named(about);
	return c ? print_command_help(c) : unknown("topic", about, help_names);
}

static int check_arguments(const struct command *c, const struct options *o)
{
	if (o->n_args < c->min_args)
		complain("%s: too few arguments: xdp-dedup %s %s", c->name, c->name, c->arguments);
	else if (o->n_args > c->max_args)
		complain("%s: %s is one argument too many: xdp-dedup %s%s%s", c->name,
			 o->args[c->max_args], c->name, *c->arguments ? " " : "", c->arguments);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

/* @argv: without the options of a file. */
static int run_parsed(const struct command *c, const struct conf *conf, int argc, char **argv)
{
	char err[MESSAGE_MAX];
	struct options o;

	if (conf_parse(conf, c->name, c->on, &o, err, sizeof(err))) {
		complain("%s: %s", c->name, err);
		return EXIT_USAGE;
	}
	o.argc = argc;
	o.argv = argv;
	if (o.help)
		return print_command_help(c);
	if (check_arguments(c, &o))
		return EXIT_USAGE;
	if (o.quiet)
		messages_quiet();
	return c->run(&o);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct conf conf = { .argc = argc, .argv = argv };
	char err[MESSAGE_MAX];
	int code;

	if (c->on & (ON_NIC | ON_AGENT) && conf_open(&conf, argc, argv, err, sizeof(err))) {
		complain("%s: %s", c->name, err);
		return EXIT_USAGE;
	}
	code = run_parsed(c, &conf, argc, argv);
	conf_free(&conf);
	return code;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[1];
	const struct command *c;

	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return help(argc > 2 && *argv[2] != '-' ? argv[2] : NULL);
	if (!strcmp(word, "--version")) {
		printf("xdp-dedup %s (%s)\n", program_version, program_commit);
		return EXIT_OK;
	}
	if (*word == '-') {
		complain("%s: the command comes first", word);
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	c = command_named(word);
	return c ? run(c, argc - 1, argv + 1) : unknown("command", word, command_names);
}

int commands_main(int argc, char **argv)
{
	int code = dispatch(argc, argv);

	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && code == EXIT_OK) {
		complain("cannot write to stdout: %s",
			 errno ? strerror(errno) : "an earlier write failed");
		code = EXIT_FAILED;
	}
	return code;
}
