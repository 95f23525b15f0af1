/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/watch_follower.h"
#include "user/cluster/watch_owner.h"
#include "user/loader/pins.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/options.h"
#include "user/watch/set.h"
#include "user/watch/trust.h"

#define BEATS_IN_SILENCE 3
#define LOOK_NS (100 * MILLISECOND_NS)
#define FULL_LEAST_NS XDD_SECOND_NS
#define WANT_LEAST_NS (200 * MILLISECOND_NS)
#define WANT_MOST_NS (5 * XDD_SECOND_NS)
#define DESCRIBE_NS (250 * MILLISECOND_NS)
#define TROUBLE_NS (60 * XDD_SECOND_NS)

struct share {
	struct member_setup setup;
	const struct instance *in;
	char name[WIRE_NAME], whose[WIRE_NAME], path[PATH_MAX];
	struct wire_self self;
	struct wire_key group;
	struct watch_shape shape;
	int file; /* of shared_lock() */
	struct shared shared;
	struct stat read;    /* the state file as it was read last */
	struct owner *owner; /* one of the two */
	struct follower *follower;
	bool up;
	u64 describe_at_ns, trouble_told_ns;
};

static struct wire_time clocks(void)
{
	return (struct wire_time){ now_ns(), clock_ns(CLOCK_REALTIME) };
}

static int publish(struct share *s, const char *what, const char *for_whom, enum bus_keep keep,
		   const u8 *message, size_t size)
{
	char subject[BUS_SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "xdd.%s.%s.%s%s%s", s->setup.group, s->name, what,
		 *for_whom ? "." : "", for_whom);
	return bus_publish(s->setup.bus, subject, keep, message, size);
}

/* Once a minute at most. */
static void tell_trouble(struct share *s, const char *what)
{
	u64 now = now_ns();

	if (s->trouble_told_ns && now - s->trouble_told_ns < TROUBLE_NS)
		return;
	s->trouble_told_ns = now;
	complain("%s: %s: %s", s->setup.who, s->in->name, what);
}

static void keep_version(void *to, const struct watch_version *version)
{
	struct share *s = to;

	s->shared.version = *version;
	shared_write(s->file, &s->shared);
}

/* The owner. */

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool set_changed(void *to)
{
	const struct share *s = to;
	struct stat now = {};

	return stat(s->path, &now) || now.st_ino != s->read.st_ino ||
	       now.st_size != s->read.st_size || !same_time(&now.st_mtim, &s->read.st_mtim);
}

/* The whole file; from malloc(). Returns 0 or a negative errno. */
static int read_whole(const struct share *s, struct owner_set *set)
{
	FILE *file = fopen(s->path, "re");
	size_t n = s->read.st_size;

	set->full = malloc(n ?: 1);
	if (file && set->full && fread(set->full, 1, n, file) == n)
		set->full_bytes = n;
	else
		free(set->full);
	if (file)
		fclose(file);
	if (!set->full_bytes)
		set->full = NULL;
	return set->full ? 0 : -EIO;
}

/* A state that is there, and this instance's. The lock is held. */
static int find_state(struct share *s, struct watch_print *print, char *err, size_t err_size)
{
	struct watch_header header;
	struct watch_set set;
	int rc = trust_path(s->path, err, err_size);

	if (rc == -EACCES)
		return rc;
	if (watch_file_header(&header, s->path) || header.seed != watch_set_id(s->in)) {
		rc = watch_set_open(&set, s->in, err, err_size);
		if (rc)
			return rc;
		watch_set_close(&set);
	}
	rc = watch_file_print(s->path, print);
	if (rc || stat(s->path, &s->read))
		return refuse(err, err_size, rc ?: -errno, "%s: cannot be read", s->path);
	return 0;
}

static int read_locked(struct share *s, bool full, const struct watch_print *last, u8 *log,
		       struct owner_set *set, char *err, size_t err_size)
{
	int n = journal_take(s->in->name, log);
	int rc = find_state(s, &set->print, err, err_size);

	if (rc)
		return rc;
	if (n > 0 && journal_leads(log, n, last, &set->print))
		set->log_bytes = n;
	if (!full && (set->log_bytes || watch_print_same(last, &set->print)))
		return 0;
	rc = read_whole(s, set);
	return rc ? refuse(err, err_size, rc, "%s: cannot be read", s->path) : 0;
}

static int read_set(void *to, bool full, const struct watch_print *last, u8 *log,
		    struct owner_set *set)
{
	char err[MESSAGE_MAX];
	struct share *s = to;
	int root = pins_try_lock(err, sizeof(err)), rc;

	if (root < 0)
		return root;
	rc = read_locked(s, full, last, log, set, err, sizeof(err));
	pins_unlock(root);
	if (rc)
		tell_trouble(s, err);
	return rc;
}

static int publish_state(void *to, int place, bool instead, const u8 *message, size_t size)
{
	const char *const places[] = { SHARE_WHAT "0", SHARE_WHAT "1" };

	return publish(to, place < 0 ? SHARE_WHAT : places[place], "",
		       instead ? BUS_INSTEAD : BUS_KEEP, message, size);
}

static size_t pending(void *to)
{
	return bus_pending(((struct share *)to)->setup.bus);
}

static int open_owner(struct share *s)
{
	const struct owner_setup setup = {
		.self = &s->self,
		.group = s->group,
		.shape = s->shape,
		.ops = { set_changed, read_set, publish_state, pending, keep_version },
		.to = s,
		.beat_ns = s->setup.o->silence / BEATS_IN_SILENCE,
		.full_least_ns = FULL_LEAST_NS,
		.look_ns = LOOK_NS,
	};
	int rc = journal_make(s->in->name);

	s->owner = rc ? NULL : owner_open(&setup);
	return rc ?: s->owner ? 0 : -ENOMEM;
}

/* A follower. */

/* Returns 0 or a negative errno: what @log does cannot be done to @a. */
static int run_log(struct acbf *a, const u8 *log, size_t size)
{
	u64 positions[ACBF_MAX_HASHES];
	struct journal_head head;
	const u8 *keys;
	int rc = 0;

	while (!rc && (keys = journal_next(&log, &size, &head)))
		for (u32 i = 0; i < head.n && !rc; i++) {
			struct xdd_digest key = {};

			memcpy(&key.lo, keys + i * sizeof(key.lo), sizeof(key.lo));
			acbf_positions(a, &key, positions);
			rc = head.what == JOURNAL_add ? acbf_add(a, positions)
						      : acbf_delete(a, positions);
		}
	return rc;
}

/* A set from the bytes of its file. Returns 0 or a negative errno with a line in @err. */
static int load_full(struct acbf *a, const u8 *full, size_t bytes, char *err, size_t err_size)
{
	int fd = memfd_create("watch", MFD_CLOEXEC), rc;
	struct watch_about about;
	char path[32];

	if (fd < 0)
		return refuse(err, err_size, -errno, "no memory for the watch set: %m");
	for (size_t at = 0; at < bytes;) {
		ssize_t n = write(fd, full + at, bytes - at);

		if (n <= 0) {
			close(fd);
			return refuse(err, err_size, -ENOMEM, "no memory for the watch set");
		}
		at += n;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = watch_file_load(a, &about, path, err, err_size);
	close(fd);
	return rc;
}

static int change_full(struct share *s, const struct follower_change *change, char *err,
		       size_t err_size)
{
	struct acbf acbf;
	int rc = load_full(&acbf, change->full, change->full_bytes, err, err_size);

	if (rc)
		return rc;
	rc = run_log(&acbf, change->log, change->log_bytes);
	if (!rc)
		return watch_set_replace(s->in, &acbf, &change->to.print, err, err_size);
	acbf_close(&acbf);
	return refuse(err, err_size, rc, "the changes of %s do not fit its watch set: %s", s->whose,
		      strerror(-rc));
}

static int change_some(struct share *s, const struct follower_change *change, char *err,
		       size_t err_size)
{
	struct watch_set set;
	int rc = watch_set_open(&set, s->in, err, err_size);

	if (rc)
		return rc == -ENODATA ? -ESTALE : rc;
	if (!watch_print_same(&set.print, &change->from))
		rc = refuse(err, err_size, -ESTALE,
			    "its watch set was changed here: it becomes that of %s again",
			    s->whose);
	if (!rc) {
		rc = run_log(&set.acbf, change->log, change->log_bytes);
		if (rc)
			refuse(err, err_size, rc, "the changes of %s do not fit its watch set: %s",
			       s->whose, strerror(-rc));
	}
	rc = rc ?: watch_set_commit(&set, &change->to.print, err, err_size);
	watch_set_close(&set);
	return rc;
}

/* What it will be is on disk before it is so: one who is killed between holds a version that its set is not, and then
 * only the same FULL, or a later one, mends it.
 */
static int apply_locked(struct share *s, const struct follower_change *change, char *err,
			size_t err_size)
{
	struct watch_version before = s->shared.version;
	int rc;

	if (instance_is_gone(s->in))
		return refuse(err, err_size, -ENODEV, "was unloaded meanwhile");
	keep_version(s, &change->to);
	rc = change->full ? change_full(s, change, err, err_size)
			  : change_some(s, change, err, err_size);
	if (stat(s->path, &s->read))
		s->read = (struct stat){};
	if (rc)
		keep_version(s, &before);
	return rc;
}

static int apply_change(void *to, const struct follower_change *change, char *err, size_t err_size)
{
	struct share *s = to;
	int root = pins_try_lock(err, err_size), rc;

	if (root < 0)
		return root;
	rc = apply_locked(s, change, err, err_size);
	pins_unlock(root);
	return rc;
}

static bool fetch_kept(void *to)
{
	struct share *s = to;
	char subject[BUS_SUBJECT_MAX];
	bool comes = false;

	for (int i = 0; i < FOLLOWER_PLACES; i++) {
		snprintf(subject, sizeof(subject), "xdd.%s.%s." SHARE_WHAT "%d", s->setup.group,
			 s->whose, i);
		comes |= !bus_fetch(s->setup.bus, BUS_lasting, subject);
	}
	return comes;
}

static void want(void *to, const u8 *message, size_t size)
{
	publish(to, SHARE_WANT, ((struct share *)to)->whose, BUS_KEEP, message, size);
}

static int open_follower(struct share *s, const struct watch_print *print, bool whole)
{
	struct shared *shared = &s->shared;
	bool known = shared->role == SHARED_follower && shared->id == watch_set_id(s->in) &&
		     !strcmp(shared->owner, s->whose);
	struct follower_setup setup = {
		.self = &s->self,
		.group = s->group,
		.owner = s->whose,
		.shape = s->shape,
		.ops = { apply_change, keep_version, fetch_kept, want },
		.to = s,
		.silence_ns = s->setup.o->silence,
		.want_least_ns = WANT_LEAST_NS,
		.want_most_ns = WANT_MOST_NS,
	};

	if (known)
		setup.held = shared->version;
	setup.same = known && whole && watch_print_same(&setup.held.print, print);
	journal_remove(s->in->name);
	s->follower = follower_open(&setup);
	return s->follower ? 0 : -ENOMEM;
}

/* Nobody is let change it, but root may do so in spite of that, or remove its state. */
static void look_at_set(struct share *s)
{
	struct watch_print print = {};

	if (!set_changed(s))
		return;
	if (stat(s->path, &s->read) || watch_file_print(s->path, &print))
		s->read = (struct stat){};
	follower_found(s->follower, &print);
}

/* Both. */

static int open_keys(struct share *s)
{
	struct watch_about about;
	struct xdd_secret secret;
	int rc = watch_set_about(s->in, &about) ?: program_get_secret(s->in->maps.rodata, &secret);

	if (rc)
		return rc;
	s->group = wire_group_key(&secret, WATCH_LABEL);
	s->self.key = wire_key_of(&s->group, s->name);
	s->self.epoch = clock_ns(CLOCK_REALTIME);
	explicit_bzero(&secret, sizeof(secret));
	s->shape = (struct watch_shape){ s->in->meta.watch_counters, s->in->fixed.watch_bits,
					 about.seed, s->in->fixed.watch_hashes };
	return 0;
}

static void describe(struct share *s)
{
	struct shared *shared = &s->shared;

	if (s->owner) {
		const struct owner_stats *stats = owner_stats(s->owner);

		shared->fulls = stats->fulls;
		shared->deltas = stats->deltas;
		shared->refused = stats->refused;
		shared->twin_ns = stats->twin_ns;
		shared->told = owner_has_told(s->owner);
	} else {
		const struct follower_stats *stats = follower_stats(s->follower);

		shared->fulls = stats->fulls;
		shared->deltas = stats->deltas;
		shared->refused = stats->bad + stats->refused;
		shared->old = stats->old;
		shared->missing = stats->gaps;
		shared->behind_ns = follower_behind_since(s->follower, now_ns());
		shared->twin_ns = stats->twin_ns;
		shared->heard_ns = stats->heard_ns;
	}
	shared->beat_ns = s->setup.o->silence / BEATS_IN_SILENCE;
	shared->up = s->up;
	shared_write(s->file, shared);
}

/* An epoch is later than all that was told before, whatever the clock says. */
static int open_role(struct share *s, char *err, size_t err_size)
{
	bool owns = !strcmp(s->name, s->whose), whole;
	struct watch_print print = {};
	u64 before = s->shared.version.epoch;
	int rc;

	whole = !find_state(s, &print, err, err_size);
	s->read = (struct stat){};
	if (owns && before >= s->self.epoch && before < UINT64_MAX)
		s->self.epoch = before + 1;
	rc = owns ? open_owner(s) : open_follower(s, &print, whole);
	if (rc)
		return rc;
	if (s->follower)
		s->shared.version = *follower_held(s->follower);
	s->shared.role = owns ? SHARED_owner : SHARED_follower;
	s->shared.id = watch_set_id(s->in);
	s->shared.behind_ns = 0;
	snprintf(s->shared.owner, sizeof(s->shared.owner), "%s", s->whose);
	describe(s);
	return 0;
}

static int open_locked(struct share *s, char *err, size_t err_size)
{
	int rc = open_keys(s);

	if (rc)
		return refuse(err, err_size, rc, "cannot read its secret: %s", strerror(-rc));
	s->file = shared_lock(s->in->name, &s->shared);
	if (s->file == -EBUSY)
		return refuse(err, err_size, s->file, "another agent shares its watch set");
	if (s->file < 0)
		return refuse(err, err_size, s->file, WATCH_FOLDER "/%s.share: %s", s->in->name,
			      strerror(-s->file));
	rc = open_role(s, err, err_size);
	return rc ? refuse(err, err_size, rc, "cannot share its watch set: %s", strerror(-rc)) : 0;
}

struct share *share_open(const struct member_setup *setup, const struct instance *in, char *err,
			 size_t err_size)
{
	struct share *s = calloc(1, sizeof(*s));
	const char *whose = setup->o->share_watch;
	int root, rc;

	if (!s) {
		refuse(err, err_size, -ENOMEM, "no memory for sharing its watch set");
		return NULL;
	}
	s->setup = *setup;
	s->in = in;
	s->file = -1;
	watch_set_path(s->path, in->name);
	snprintf(s->name, sizeof(s->name), "%s.%s", setup->host, in->name);
	snprintf(s->whose, sizeof(s->whose), "%s%s%s", whose, strchr(whose, '.') ? "" : ".",
		 strchr(whose, '.') ? "" : in->name);
	root = pins_lock(false, false, err, err_size);
	rc = root < 0 ? root : open_locked(s, err, err_size);
	if (root >= 0)
		pins_unlock(root);
	if (!rc)
		return s;
	share_close(s);
	return NULL;
}

/* The set stays as it is, and can be changed here again. */
void share_close(struct share *s)
{
	if (!s)
		return;
	if (s->owner || s->follower)
		describe(s);
	if (s->owner)
		journal_remove(s->in->name);
	owner_close(s->owner);
	follower_close(s->follower);
	if (s->file >= 0)
		close(s->file);
	free(s);
}

const char *share_name(const struct share *s)
{
	return s->name;
}

const char *share_owner(const struct share *s)
{
	return s->whose;
}

const struct instance *share_instance(const struct share *s)
{
	return s->in;
}

void share_up(struct share *s)
{
	s->up = true;
	if (s->owner)
		owner_up(s->owner);
	else
		follower_up(s->follower);
}

void share_down(struct share *s)
{
	s->up = false;
	s->describe_at_ns = 0;
	if (s->owner)
		owner_down(s->owner);
	else
		follower_down(s->follower);
}

static void take_told(struct share *s, int place, const struct bus_event *event)
{
	u64 twins = follower_stats(s->follower)->twin_ns;
	int rc = follower_take(s->follower, place, event->kind == BUS_STORED, event->bytes,
			       event->length, clocks());
	const char *differs = follower_stats(s->follower)->differs;
	char why[MESSAGE_MAX];

	if (rc == -EBADMSG)
		snprintf(why, sizeof(why),
			 "a message about the watch set of %s is refused: it is damaged, or who "
			 "sent it was not loaded with the same --secret-file",
			 s->whose);
	else if (rc == -EINVAL && differs)
		snprintf(why, sizeof(why),
			 "its watch set cannot follow that of %s, which was loaded with other %s: "
			 "load both alike",
			 s->whose, differs);
	else if (follower_stats(s->follower)->twin_ns != twins)
		snprintf(why, sizeof(why),
			 "two hosts share their watch sets as %s, and only that of the one which "
			 "was believed first is followed: give each host of the group a --host of "
			 "its own",
			 s->whose);
	else if (rc && rc != -ENOMEM)
		snprintf(why, sizeof(why), "a message about the watch set of %s is refused: %s",
			 s->whose,
			 rc == -EPROTONOSUPPORT ? "it is of another version" : "it makes no sense");
	else
		return;
	tell_trouble(s, why);
}

static void take_own(struct share *s, const struct bus_event *event)
{
	char why[MESSAGE_MAX];

	if (event->kind == BUS_STORED ||
	    owner_heard(s->owner, s->name, event->bytes, event->length, clocks()) != -EEXIST)
		return;
	snprintf(why, sizeof(why),
		 "another host shares its watch set as %s, and %s: give each host of the group a "
		 "--host of its own",
		 s->name,
		 owner_stats(s->owner)->yields ? "had that name first: this set is told to nobody"
					       : "came later: others follow this set");
	tell_trouble(s, why);
}

void share_take(struct share *s, const char *from, const char *what, const char *for_whom,
		const struct bus_event *event)
{
	size_t n = strlen(SHARE_WHAT);

	if (s->owner && !strcmp(what, SHARE_WANT) && !strcmp(for_whom, s->name))
		owner_wanted(s->owner, from, event->bytes, event->length);
	if (s->owner && !strcmp(from, s->name) && !strncmp(what, SHARE_WHAT, n) &&
	    strcmp(what, SHARE_WANT))
		take_own(s, event);
	if (!s->follower || strcmp(from, s->whose) || strncmp(what, SHARE_WHAT, n))
		return;
	if (!strcmp(what + n, "0") || !strcmp(what + n, "1"))
		take_told(s, what[n] - '0', event);
	else if (!what[n])
		take_told(s, -1, event);
}

u64 share_step(struct share *s)
{
	struct wire_time now = clocks();
	char err[MESSAGE_MAX] = "";
	u64 due;

	if (s->owner)
		due = owner_step(s->owner, now);
	else
		due = follower_step(s->follower, now, err, sizeof(err));
	if (*err)
		tell_trouble(s, err);
	if (now.mono_ns >= s->describe_at_ns) {
		if (s->follower)
			look_at_set(s);
		describe(s);
		s->describe_at_ns = now.mono_ns + DESCRIBE_NS;
	}
	return earliest(due, s->describe_at_ns);
}
