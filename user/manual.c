/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/manual.h"

#include <stdlib.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/commands.h"
#include "user/topics.h"
#include "user/version.h"

#define TOPIC_ROW(name, summary) { #name, summary },
static const struct {
	const char *name, *summary;
} topics[] = { TOPICS(TOPIC_ROW) };

/* Text of a line in roff: nothing in it is a request, and a hyphen is one that can be typed. */
static void put_text(FILE *to, const char *text, size_t length)
{
	if (length && (*text == '.' || *text == '\''))
		fputs("\\&", to);
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			fputs("\\e", to);
		else if (text[i] == '-')
			fputs("\\-", to);
		else
			putc(text[i], to);
	}
}

static void put_line(FILE *to, const char *text)
{
	put_text(to, text, strlen(text));
	putc('\n', to);
}

/* The line that a paragraph hangs from: what is typed, then what stands for something. */
static void put_tag(FILE *to, const char *typed, const char *argument)
{
	fputs("\\fB", to);
	put_text(to, typed, strlen(typed));
	fputs("\\fR", to);
	if (argument && *argument) {
		fputs(" \\fI", to);
		put_text(to, argument, strlen(argument));
		fputs("\\fR", to);
	}
	putc('\n', to);
}

static void put_command(FILE *to, const struct command *c)
{
	fputs(".TP\n", to);
	put_tag(to, c->name, c->arguments);
	put_line(to, c->summary);
}

static void put_option(const struct option_about *option, void *context)
{
	char taking[256], typed[64];
	FILE *to = context;

	if (option->letter)
		snprintf(typed, sizeof(typed), "-%c, --%s", option->letter, option->name);
	else
		snprintf(typed, sizeof(typed), "--%s", option->name);
	fputs(".TP\n", to);
	put_tag(to, typed, option->argument);
	put_line(to, option->help);
	if ((option->commands & ON_ALL) == ON_ALL)
		return;
	commands_taking(option->commands, taking, sizeof(taking));
	fputs(".br\nOf ", to);
	put_text(to, taking, strlen(taking));
	fputs(".\n", to);
}

/* A topic as it is printed: its columns stay as they are. */
static void put_topic(FILE *to, const char *name, const char *summary)
{
	size_t length;
	char *text;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return;
	topic_print(memory, name);
	if (fclose(memory))
		return;
	fprintf(to, ".SS %s\n", name);
	put_line(to, summary);
	fputs(".PP\n.nf\n", to);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		put_text(to, line, end - line);
		putc('\n', to);
	}
	fputs(".fi\n", to);
	free(text);
}

void manual_page(FILE *to)
{
	fprintf(to,
		".\\\" Made by `xdp-dedup help man`.\n"
		".TH XDP\\-DEDUP 8 \"\" \"xdp\\-dedup %s\" \"System administration\"\n.nh\n.ad l\n"
		".SH NAME\nxdp\\-dedup \\- keep the first copy of every packet and drop the "
		"others\n"
		".SH SYNOPSIS\n.B xdp\\-dedup\n.I COMMAND\n[\\fIARGUMENT\\fR...] "
		"[\\fIOPTION\\fR...]\n"
		".SH DESCRIPTION\n"
		"Monitoring networks see packets more than once. xdp\\-dedup drops the second copy "
		"in the kernel,\nat the driver, with memory that is fixed and an error that is "
		"bounded and measured. The same filters\nwork on captures and on lines of text.\n"
		".SH COMMANDS\n",
		program_version);
	for (const struct command *c = commands; c->name; c++)
		put_command(to, c);
	fputs(".SH OPTIONS\nTimes take ns, us, ms, s, min, h; sizes KiB, MiB, GiB; counts k, M, "
	      "G.\n",
	      to);
	options_each(ON_ALL, put_option, to);
	fputs(".SH TOPICS\n", to);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(topics); i++)
		put_topic(to, topics[i].name, topics[i].summary);
	fputs(".SH EXIT STATUS\n0: ok, 1: failed, 2: usage.\n"
	      ".SH FILES\n.TP\n.I /sys/fs/bpf/xdp\\-dedup/NAME/\n"
	      "The maps and the program of instance NAME, which bpftool reads by name.\n"
	      ".SH SEE ALSO\nbpftool(8), ip\\-link(8), pcap\\-filter(7), tcpdump(8)\n",
	      to);
}

static void put_long(const struct option_about *option, void *context)
{
	fprintf(context, " --%s", option->name);
}

/* What completes the value of an option. */
static void put_values(const struct option_about *option, void *context)
{
	FILE *to = context;

	if (!option->argument)
		return;
	fprintf(to, "\t--%s) ", option->name);
	if (option->choices) {
		fprintf(to, "kind=none words='");
		for (int i = 0; option->choices[i]; i++)
			fprintf(to, "%s%s", i ? " " : "", option->choices[i]);
		fprintf(to, "%s' ;;\n", option->automatic ? " auto" : "");
	} else if (!strcmp(option->argument, "FILE")) {
		fprintf(to, "kind=files ;;\n");
	} else if (!strcmp(option->argument, "IFACE")) {
		fprintf(to, "kind=interfaces ;;\n");
	} else {
		fprintf(to, "return ;;\n");
	}
}

/* By the word that the table of commands has for it. */
static const char *kind_of(const char *arguments)
{
	if (strstr(arguments, "NAME"))
		return "instances";
	if (!strncmp(arguments, "IFACE", 5))
		return "interfaces";
	return *arguments ? "files" : "none";
}

void manual_completion(FILE *to)
{
	fprintf(to, "# bash completion of xdp-dedup, made by `xdp-dedup help completion`.\n"
		    "_xdp_dedup() {\n"
		    "\tlocal current=$2 previous=$3 words='' kind=none options=''\n"
		    "\tCOMPREPLY=()\n"
		    "\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *c = commands; c->name; c++) {
		fprintf(to, "\t%s) kind=%s options='", c->name, kind_of(c->arguments));
		options_each(c->on, put_long, to);
		fprintf(to, "' ;;\n");
	}
	fprintf(to, "\thelp) words='");
	for (size_t i = 0; i < XDD_ARRAY_SIZE(topics); i++)
		fprintf(to, " %s", topics[i].name);
	fprintf(to, "' ;;\n\tesac\n\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tkind=none words='");
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "%s ", c->name);
	fprintf(to, "help --help --version' options=''\n\tfi\n"
		    "\tcase $previous in\n");
	options_each(ON_ALL, put_values, to);
	fprintf(to, "\tesac\n"
		    "\tcase $current in -*) [ \"$COMP_CWORD\" = 1 ] || kind=none words=$options ;; "
		    "esac\n"
		    "\tcase $kind in\n"
		    "\tinterfaces) words=$(ls /sys/class/net) ;;\n"
		    "\tinstances) words=$(ls /sys/fs/bpf/xdp-dedup 2>/dev/null) ;;\n"
		    "\tfiles)\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
		    "\t\tcompopt -o filenames 2>/dev/null\n\t\treturn ;;\n"
		    "\tesac\n"
		    "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
		    "}\n"
		    "complete -F _xdp_dedup xdp-dedup\n");
}
