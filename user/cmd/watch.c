// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup watch: the keys of an instance's watch set. */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/capture/capture.h"
#include "user/loader/caps.h"
#include "user/loader/pins.h"
#include "user/message.h"
#include "user/names.h"
#include "user/units.h"
#include "user/watch/keys.h"

/* X(name, arguments at least, and at most, behind it) */
#define ACTIONS(X)            \
	X(add, 1, ANY_NUMBER) \
	X(del, 1, ANY_NUMBER) \
	X(load, 1, 1)         \
	X(unload, 1, 1)       \
	X(save, 1, 1)         \
	X(clear, 0, 0)        \
	X(stats, 0, 0)

#define ACTION_ENUM(name, ...) DO_##name,
#define ACTION_NAME(name, ...) #name,
enum action { ACTIONS(ACTION_ENUM) };
static const char *const action_words[] = { ACTIONS(ACTION_NAME) NULL };

/* What is read of pipes and devices: it lies in memory. */
#define SPOOL_MAX (512u << 20)

/* What a file begins with decides what it is. */
enum kind { KIND_lines, KIND_capture, KIND_saved };

struct watch {
	const struct options *o;
	int action;  /* enum action */
	char **args; /* behind it */
	int n_args;
	const struct instance *in;
	struct watch_keys keys;
	struct acbf saved; /* a set to be added, if it has any hashes */
	struct watch_set set;
	u64 changed;
	char err[MESSAGE_MAX];
};

/* Returns an exit code. */
static int parse_action(struct watch *w)
{
#define ACTION_LEAST(name, least, most) least,
#define ACTION_MOST(name, least, most) most,
	static const int least[] = { ACTIONS(ACTION_LEAST) }, most[] = { ACTIONS(ACTION_MOST) };
	const char *word = w->o->args[1], *nearest;

	w->args = w->o->args + 2;
	w->n_args = w->o->n_args - 2;
	w->action = name_index(action_words, word);
	nearest = w->action < 0 ? name_nearest(action_words, word) : NULL;
	if (w->action < 0)
		complain("watch: %s: not add, del, load, unload, save, clear or stats%s%s%s", word,
			 nearest ? "; did you mean " : "", nearest ?: "", nearest ? "?" : "");
	else if (w->n_args < least[w->action])
		complain("watch: %s what? give %s", word,
			 w->action < DO_load ? "KEY... (see help watch)" : "a FILE");
	else if (w->n_args > most[w->action])
		complain("watch: %s is one argument too many for %s", w->args[most[w->action]],
			 word);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

/* What comes by a pipe, as a file that can be looked at twice: its descriptor, or -1 with errno: EFBIG for what is
 * larger than memory should be taken for, such as /dev/zero.
 */
static int spool(int from)
{
	int fd = memfd_create("keys", MFD_CLOEXEC);
	char buffer[65536];
	size_t all = 0;
	ssize_t n = 0;

	while (fd >= 0 && (n = read(from, buffer, sizeof(buffer))) > 0) {
		all += n;
		if (all > SPOOL_MAX)
			errno = EFBIG;
		if (all > SPOOL_MAX || write(fd, buffer, n) != n)
			break;
	}
	if (fd < 0 || !n)
		return fd;
	close(fd);
	return -1;
}

static enum kind kind_of(int fd)
{
	static const u8 gzip[] = { 0x1f, 0x8b };
	u8 start[8] = {};

	if (pread(fd, start, sizeof(start), 0) < 0)
		return KIND_lines;
	if (!memcmp(start, gzip, sizeof(gzip)) || capture_is_magic(start))
		return KIND_capture;
	return memcmp(start, WATCH_FILE_MAGIC, sizeof(start)) ? KIND_lines : KIND_saved;
}

static int load_saved(struct watch *w, const char *path)
{
	struct watch_about about, ours;
	int rc = watch_set_about(w->in, &ours);

	if (w->action == DO_unload)
		return refuse(w->err, sizeof(w->err), -EINVAL,
			      "%s: is a saved set, of which there is no list of keys to delete: "
			      "clear the set, or give the keys",
			      path);
	if (rc)
		return refuse(w->err, sizeof(w->err), rc, "%s: cannot read its secret",
			      w->in->name);
	rc = watch_file_load(&w->saved, &about, path, w->err, sizeof(w->err));
	if (rc)
		return rc;
	if (watch_about_same(&about, &ours))
		return 0;
	return refuse(
		w->err, sizeof(w->err), -EKEYREJECTED,
		"%s: its keys were hashed under another secret, or are not --key %s with these "
		"options: load %s with the --secret-file or --seed that it had, or give the "
		"keys as lines or as a capture",
		path, key_names[w->in->fixed.key], w->in->name);
}

static int read_kind(struct watch *w, enum kind kind, const char *path)
{
	if (kind == KIND_saved)
		return load_saved(w, path);
	if (kind == KIND_capture)
		return watch_keys_capture(&w->keys, path, w->err, sizeof(w->err));
	return watch_keys_lines(&w->keys, path, w->err, sizeof(w->err));
}

/* What was read from @path is called what the command called it. */
static void name_as_given(struct watch *w, const char *path)
{
	const char *shown = strcmp(w->args[0], "-") ? w->args[0] : "standard input";
	size_t n = strlen(path);
	char rest[MESSAGE_MAX];

	if (strncmp(w->err, path, n))
		return;
	snprintf(rest, sizeof(rest), "%s", w->err + n);
	snprintf(w->err, sizeof(w->err), "%.150s%.350s", shown, rest);
}

static int read_pipe(struct watch *w, int from)
{
	int fd = spool(from), rc;
	char path[32];

	if (fd < 0)
		return refuse(
			w->err, sizeof(w->err), -errno, "%s: cannot be read: %m%s", w->args[0],
			errno == EFBIG ? ": from what is no regular file 512 MiB at most" : "");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = read_kind(w, kind_of(fd), path);
	close(fd);
	name_as_given(w, path);
	return rc;
}

static int read_file(struct watch *w)
{
	const char *path = strcmp(w->args[0], "-") ? w->args[0] : "/dev/stdin";
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return refuse(w->err, sizeof(w->err), -errno, "%s: cannot be read: %m", path);
	rc = S_ISREG(st.st_mode) ? read_kind(w, kind_of(fd), path) : read_pipe(w, fd);
	close(fd);
	return rc;
}

/* The keys of the command, before the lock is taken: they may come slowly. Returns an exit code. */
static int read_keys(struct watch *w)
{
	int rc = watch_keys_open(&w->keys, w->in);

	if (rc)
		refuse(w->err, sizeof(w->err), rc, "%s: cannot read its secret", w->in->name);
	if (!rc && (w->action == DO_load || w->action == DO_unload))
		rc = read_file(w);
	for (int i = 0; !rc && w->action <= DO_del && i < w->n_args; i++)
		rc = watch_keys_parse(&w->keys, w->args[i], i + 1, w->err, sizeof(w->err));
	watch_keys_unique(&w->keys);
	if (!rc && w->action <= DO_unload && !w->keys.n && !w->saved.hashes)
		complain("watch: %s: has no keys: nothing changes", w->args[0]);
	if (!rc)
		return EXIT_OK;
	complain("watch: %s", rc == -ENOMEM ? "no memory for the keys" : w->err);
	return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* What the user called the key at @at. */
static const char *name_of(const struct watch *w, size_t at, char *text, size_t size)
{
	unsigned long long origin = w->keys.n ? w->keys.key[at].origin : 0;

	if (w->saved.hashes)
		snprintf(text, size, "%.200s", w->args[0]);
	else if (w->action <= DO_del)
		snprintf(text, size, "%.200s", w->args[origin - 1]);
	else
		snprintf(text, size, "key %llu of %.200s", origin, w->args[0]);
	return text;
}

static void complain_refused(const struct watch *w, int rc, size_t at)
{
	u64 room = w->set.acbf.room / w->set.acbf.hashes;
	char name[256];

	name_of(w, at, name, sizeof(name));
	if (rc == -ENOSPC)
		complain("watch: %s: the set of %s is full, it has room for %llu keys: nothing was "
			 "added: delete some, or load it with more --watch-keys",
			 name, w->in->name, (unsigned long long)room);
	else if (rc == -ENOENT)
		complain("watch: %s: is not in the set of %s: nothing was deleted", name,
			 w->in->name);
	else if (rc == -EOVERFLOW)
		complain("watch: %s: was added too often: nothing was added", name);
	else if (rc == -EINVAL)
		complain("watch: %s: its level 1 has another size: load %s with the --watch-keys, "
			 "--counters, --positions and --l1 that it had",
			 name, w->in->name);
	else
		complain("watch: %s: %s: nothing has changed", name, strerror(-rc));
}

/* In memory. Returns an exit code. */
static int apply(struct watch *w)
{
	size_t at = 0;
	int rc;

	if (w->saved.hashes)
		rc = watch_set_merge(&w->set, &w->saved);
	else if (w->action == DO_del || w->action == DO_unload)
		rc = watch_set_delete(&w->set, w->keys.key, w->keys.n, &at);
	else
		rc = watch_set_add(&w->set, w->keys.key, w->keys.n, &at);
	w->changed = w->saved.hashes ? w->saved.keys : w->keys.n;
	if (!rc)
		return EXIT_OK;
	complain_refused(w, rc, at);
	return EXIT_FAILED;
}

static int save(struct watch *w)
{
	struct watch_about about;
	int rc = watch_set_about(w->in, &about)
			 ?: watch_file_write(&w->set.acbf, &about, w->args[0]);

	if (!rc)
		return EXIT_OK;
	complain("watch: %s: cannot be written: %s", w->args[0], strerror(-rc));
	return EXIT_FAILED;
}

static void add_stats(struct watch *w, json_t *all)
{
	struct acbf_stats s;

	acbf_stats(&w->set.acbf, &s);
	json_object_update_new(all, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "positions",
					      (json_int_t)w->set.acbf.hashes, "level1_bits",
					      (json_int_t)s.bits, "level1_ones",
					      (json_int_t)s.first_ones, "levels",
					      (json_int_t)s.levels, "map_bytes",
					      (json_int_t)w->set.map_bytes, "state_memory_bytes",
					      (json_int_t)s.memory_bytes, "state", w->set.path));
}

static void print_json(struct watch *w, const struct watch_view *view)
{
	json_t *all = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f}", "name", w->in->name,
				"did", action_words[w->action], "watch_action",
				watch_names[w->in->live.watch_action], "changed",
				(json_int_t)w->changed, "frames_without_key",
				(json_int_t)w->keys.skipped, "keys", (json_int_t)view->keys,
				"capacity", (json_int_t)view->capacity, "fpr", view->fpr);

	if (w->action == DO_stats) {
		add_stats(w, all);
		json_object_set_new(all, "share", watch_view_share_json(view));
	}
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_stats(struct watch *w)
{
	char map[UNITS_TEXT_MAX], state[UNITS_TEXT_MAX];
	struct acbf_stats s;

	acbf_stats(&w->set.acbf, &s);
	printf("  level 1     %" PRIu64 " of %" PRIu64 " bits set, %u of a key; %s in the kernel\n"
	       "  state       %s: %" PRIu64 " level%s, %s when it is read\n",
	       (uint64_t)s.first_ones, (uint64_t)s.bits, w->set.acbf.hashes,
	       units_size_text(w->set.map_bytes, map), w->set.path, (uint64_t)s.levels,
	       s.levels == 1 ? "" : "s", units_size_text(s.memory_bytes, state));
}

static void print_text(struct watch *w, const struct watch_view *view)
{
	static const char *const did[] = { "added", "deleted", "added", "deleted" };
	char text[WATCH_SHARE_TEXT];

	printf("%s: ", w->in->name);
	if (w->action <= DO_unload)
		printf("%" PRIu64 " key%s %s; ", (uint64_t)w->changed, w->changed == 1 ? "" : "s",
		       did[w->action]);
	printf("%" PRIu64 " of %" PRIu64 " keys watched (%s: %s); a packet of another key is taken "
	       "for one of them with a chance of %.2g\n",
	       (uint64_t)view->keys, (uint64_t)view->capacity,
	       watch_names[w->in->live.watch_action], watch_help[w->in->live.watch_action],
	       view->fpr);
	if (w->keys.skipped)
		printf("  %" PRIu64 " frames of the capture have no key and were left out\n",
		       (uint64_t)w->keys.skipped);
	if (w->action == DO_stats)
		print_stats(w);
	if (w->action == DO_stats && view->shared)
		printf("  shared      %s\n", watch_view_share_text(view, text));
}

static void report(struct watch *w)
{
	struct watch_view view;

	watch_view_read(w->in, &view);
	if (w->o->json)
		print_json(w, &view);
	else if (!w->o->quiet && (w->action != DO_save || strcmp(w->args[0], "-")))
		print_text(w, &view);
}

/* With the lock held. Returns an exit code. */
static int change(struct watch *w)
{
	bool changes = w->action <= DO_unload;
	int code;

	if (w->action != DO_save && w->action != DO_stats &&
	    shared_check(w->in->name, w->err, sizeof(w->err))) {
		complain("watch: %s", w->err);
		return EXIT_FAILED;
	}
	if (w->action == DO_clear && watch_set_replace(w->in, NULL, NULL, w->err, sizeof(w->err))) {
		complain("watch: %s", w->err);
		return EXIT_FAILED;
	}
	if (watch_set_open(&w->set, w->in, w->err, sizeof(w->err))) {
		complain("watch: %s", w->err);
		return EXIT_FAILED;
	}
	code = changes ? apply(w) : w->action == DO_save ? save(w) : EXIT_OK;
	if (code == EXIT_OK && changes && watch_set_commit(&w->set, NULL, w->err, sizeof(w->err))) {
		complain("watch: %s", w->err);
		code = EXIT_FAILED;
	}
	if (code == EXIT_OK)
		report(w);
	watch_set_close(&w->set);
	return code;
}

/* Returns an exit code. */
static int lock_and_change(struct watch *w)
{
	int root = pins_lock(false, false, w->err, sizeof(w->err)), code = EXIT_FAILED;

	if (root == -ENOENT)
		complain("watch: %s: no instance is loaded", w->o->args[0]);
	else if (root < 0)
		complain("watch: %s", w->err);
	if (root < 0)
		return EXIT_FAILED;
	if (instance_is_gone(w->in))
		complain("watch: %s: was unloaded meanwhile", w->in->name);
	else
		code = change(w);
	pins_unlock(root);
	return code;
}

static int with_instance(struct watch *w)
{
	int code;

	if (!w->in->fixed.watch_bits) {
		complain("watch: %s: was loaded without --watch-action, so it has no watch set: "
			 "unload it, and load it with one",
			 w->in->name);
		return EXIT_FAILED;
	}
	code = read_keys(w);
	if (code == EXIT_OK)
		code = lock_and_change(w);
	watch_keys_close(&w->keys);
	acbf_close(&w->saved);
	return code;
}

int cmd_watch(struct options *o)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct instance in;
	int code;

	if (!w) {
		complain("watch: out of memory");
		return EXIT_FAILED;
	}
	w->o = o;
	w->in = &in;
	code = parse_action(w);
	if (code == EXIT_OK && (caps_check(w->err, sizeof(w->err)) ||
				instance_open(&in, o->args[0], w->err, sizeof(w->err)))) {
		complain("watch: %s", w->err);
		code = EXIT_FAILED;
	} else if (code == EXIT_OK) {
		code = with_instance(w);
		instance_close(&in);
	}
	free(w);
	return code;
}
