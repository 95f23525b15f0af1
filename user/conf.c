/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/message.h"
#include "user/options.h"

#define LINE_MAX_BYTES 4096
#define FILE_MAX_BYTES (1 << 20)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* The value of --config FILE or --config=FILE, or NULL. */
static const char *file_of(int argc, char **argv)
{
	static const char option[] = "--config";
	size_t length = sizeof(option) - 1;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], option))
			return i + 1 < argc ? argv[i + 1] : NULL;
		if (!strncmp(argv[i], option, length) && argv[i][length] == '=')
			return argv[i] + length + 1;
	}
	return NULL;
}

/* Cut a comment and the white space around what is left. */
static char *trim(char *line)
{
	char *end;

	for (char *c = line; *c; c++) {
		if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
			*c = 0;
			break;
		}
	}
	while (isspace((unsigned char)*line))
		line++;
	end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return line;
}

static int add_word(struct conf *conf, char *text, unsigned int line)
{
	struct conf_word *more = reallocarray(conf->word, conf->words + 1, sizeof(*more));

	if (!text || !more) {
		free(text);
		conf->word = more ?: conf->word;
		return -ENOMEM;
	}
	conf->word = more;
	conf->word[conf->words++] = (struct conf_word){ text, line };
	return 0;
}

/* Which line of two would count is not to be guessed. Returns 0 or a negative errno with one line in @err. */
static int check_twice(struct conf *conf, const char *name, unsigned int line, char *err,
		       size_t err_size)
{
	struct conf_name *more;

	if (!strcmp(name, "interface"))
		return 0;
	for (size_t i = 0; i < conf->names; i++)
		if (!strcmp(conf->name[i].text, name))
			return refuse(err, err_size, -EINVAL,
				      "%s:%u: %s is in line %u already: leave one of them out",
				      conf->file, line, name, conf->name[i].line);
	more = reallocarray(conf->name, conf->names + 1, sizeof(*more));
	if (more)
		conf->name = more;
	if (!more || !(more[conf->names].text = strdup(name)))
		return refuse(err, err_size, -ENOMEM, "%s: no memory", conf->file);
	more[conf->names++].line = line;
	return 0;
}

static int add_option(struct conf *conf, const char *name, const char *value, unsigned int line)
{
	char *text = NULL;

	if (!strcmp(name, "interface"))
		return add_word(conf, strdup(value), line);
	if (option_form(name) == OPTION_FLAG) {
		if (!strcmp(value, "no"))
			return 0;
		return asprintf(&text, "--%s", name) < 0 ? -ENOMEM : add_word(conf, text, line);
	}
	if (option_form(name) == OPTION_SWITCH)
		value = !strcmp(value, "yes") ? "on" : !strcmp(value, "no") ? "off" : value;
	return asprintf(&text, "--%s=%s", name, value) < 0 ? -ENOMEM : add_word(conf, text, line);
}

static int read_line(struct conf *conf, char *line, unsigned int number, char *err, size_t err_size)
{
	char *equals, *name = trim(line), *value;
	int code;

	if (!*name)
		return 0;
	equals = strchr(name, '=');
	if (equals) {
		*equals = 0;
		value = trim(equals + 1);
		name = trim(name);
	}
	if (!equals || !*name || *name == '-' || !*value)
		return refuse(err, err_size, -EINVAL,
			      "%s:%u: not `name = value`, such as `window = 20ms`", conf->file,
			      number);
	if (!strcmp(name, "config") || !strcmp(name, "help"))
		return refuse(err, err_size, -EINVAL, "%s:%u: %s has no place in a file",
			      conf->file, number, name);
	if (option_form(name) == OPTION_FLAG && strcmp(value, "yes") && strcmp(value, "no"))
		return refuse(err, err_size, -EINVAL, "%s:%u: %s is yes or no, not %s", conf->file,
			      number, name, value);
	code = check_twice(conf, name, number, err, err_size);
	if (code)
		return code;
	return add_option(conf, name, value, number)
		       ? refuse(err, err_size, -ENOMEM, "%s: no memory", conf->file)
		       : 0;
}

/* A pipe would hold up whoever reads it, and a reload. Returns a file descriptor or a negative errno. */
static int open_file(const char *file, char *err, size_t err_size)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		st.st_mode = 0;
	else if (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))
		return fd;
	if (S_ISDIR(st.st_mode))
		errno = EISDIR;
	if (fd >= 0)
		close(fd);
	if (!st.st_mode || S_ISDIR(st.st_mode))
		return refuse(err, err_size, -errno, "%s: %m", file);
	return refuse(err, err_size, -EINVAL, "%s: not a regular file", file);
}

/* All of it into *@text, which the caller free()s, with a final 0. Returns its length, or a negative errno. */
static ssize_t read_text(const char *file, char **text, char *err, size_t err_size)
{
	int fd = open_file(file, err, err_size);
	ssize_t length = 0, got = -1;

	if (fd < 0)
		return fd;
	*text = malloc(FILE_MAX_BYTES + 1);
	errno = ENOMEM;
	while (*text && length < FILE_MAX_BYTES &&
	       (got = read(fd, *text + length, FILE_MAX_BYTES - length)) > 0)
		length += got;
	if (got < 0)
		length = refuse(err, err_size, -errno, "%s: %m", file);
	else if (length == FILE_MAX_BYTES)
		length = refuse(err, err_size, -EFBIG, "%s: longer than a file of options can be",
				file);
	close(fd);
	if (length < 0)
		free(*text);
	else
		(*text)[length] = 0;
	return length;
}

/* The line ends at @end. */
static int check_line(const struct conf *conf, const char *line, const char *end,
		      unsigned int number, char *err, size_t err_size)
{
	if (line + strlen(line) < end)
		return refuse(err, err_size, -EINVAL, "%s:%u: a byte 0: not a text file",
			      conf->file, number);
	if (end - line >= LINE_MAX_BYTES)
		return refuse(err, err_size, -EINVAL, "%s:%u: a line too long", conf->file, number);
	return 0;
}

/* Some editors begin a file with a byte order mark. */
static int read_file(struct conf *conf, char *err, size_t err_size)
{
	unsigned int number = 0;
	char *text, *line, *end, *stop;
	ssize_t length = read_text(conf->file, &text, err, err_size);
	int code = 0;

	if (length < 0)
		return length;
	stop = text + length;
	line = strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))
		       ? text
		       : text + strlen(BYTE_ORDER_MARK);
	for (; !code && line < stop; line = end + 1) {
		end = memchr(line, '\n', stop - line) ?: stop;
		*end = 0;
		code = check_line(conf, line, end, ++number, err, err_size)
			       ?: read_line(conf, line, number, err, err_size);
	}
	free(text);
	return code;
}

static bool is_interface(const struct conf_word *word)
{
	return *word->text != '-';
}

/* The command, the file's options, its interfaces, and what @argv has beside the command. */
static int join(struct conf *conf, int argc, char **argv)
{
	conf->argv = calloc(argc + conf->words + 1, sizeof(*conf->argv));
	if (!conf->argv)
		return -ENOMEM;
	conf->argv[conf->argc++] = argv[0];
	for (size_t i = 0; i < conf->words; i++)
		if (!is_interface(&conf->word[i]))
			conf->argv[conf->argc++] = conf->word[i].text;
	for (int i = 1; i < argc; i++)
		conf->argv[conf->argc++] = argv[i];
	for (size_t i = 0; i < conf->words; i++) {
		if (!is_interface(&conf->word[i]))
			continue;
		conf->argv[conf->argc++] = conf->word[i].text;
		conf->interfaces++;
	}
	return 0;
}

int conf_open(struct conf *conf, int argc, char **argv, char *err, size_t err_size)
{
	int code;

	*conf = (struct conf){ .file = file_of(argc, argv), .argc = argc, .argv = argv };
	if (!conf->file)
		return 0;
	conf->argc = 0;
	conf->argv = NULL;
	code = read_file(conf, err, err_size);
	if (!code && join(conf, argc, argv))
		code = refuse(err, err_size, -ENOMEM, "%s: no memory", conf->file);
	if (code)
		conf_free(conf);
	return code;
}

/* Whether @message has the name of option @word, and not only the beginning of another's. */
static bool names(const char *message, const struct conf_word *word)
{
	size_t length = strcspn(word->text, "=");

	for (const char *at = message; (at = strstr(at, "--")); at += 2)
		if (!strncmp(at, word->text, length) && !isalnum((unsigned char)at[length]) &&
		    at[length] != '-')
			return true;
	return false;
}

unsigned int conf_line_of(const struct conf *conf, const char *message)
{
	for (size_t i = 0; i < conf->words; i++)
		if (strstr(message, conf->word[i].text))
			return conf->word[i].line;
	for (size_t i = 0; i < conf->words; i++)
		if (!is_interface(&conf->word[i]) && names(message, &conf->word[i]))
			return conf->word[i].line;
	return 0;
}

int conf_parse(const struct conf *conf, const char *command, unsigned int on, struct options *o,
	       char *err, size_t err_size)
{
	char why[MESSAGE_MAX];
	unsigned int line;
	int code;

	options_init(o, command);
	code = options_parse(o, conf->argc, conf->argv, on, why, sizeof(why));
	if (o->n_args > conf->interfaces)
		o->n_args -= conf->interfaces;
	if (!code)
		return 0;
	line = conf_line_of(conf, why);
	return line ? refuse(err, err_size, code, "%s:%u: %s", conf->file, line, why)
		    : refuse(err, err_size, code, "%s", why);
}

void conf_free(struct conf *conf)
{
	if (!conf->file)
		return;
	for (size_t i = 0; i < conf->words; i++)
		free(conf->word[i].text);
	for (size_t i = 0; i < conf->names; i++)
		free(conf->name[i].text);
	free(conf->name);
	free(conf->word);
	free(conf->argv);
}
