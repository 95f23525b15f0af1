/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watch sets that hosts share: an owner and followers over a bus that loses, repeats, delays and damages what they say,
 * and hosts that are killed at any moment: once it is quiet, each follower's set is the owner's, bit for bit; and none
 * has ever gone back to what it was before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/acbf.h"
#include "tests/common/test.h"
#include "user/cluster/watch_follower.h"
#include "user/cluster/watch_owner.h"
#include "user/watch/file.h"

#define COUNTERS 2000
#define BITS 5000
#define HASHES 3
#define KEYS 600 /* of which some are in the set */
#define FOLLOWERS 3
#define MS 1000000ull
#define MESSAGES 4096

static const struct wire_key group = { { 3, 4 } };
static const struct watch_shape shape = { COUNTERS, BITS, 77, HASHES };

struct letter {
	int place, to; /* to: a follower, or -1: all; OWNER */
	u8 *bytes;
	size_t size;
	bool stored;
};
#define OWNER 100

/* What is kept of a place. */
struct kept {
	struct letter *letter[MESSAGES];
	u32 n;
};

struct node {
	struct acbf acbf;
	struct watch_print print;
	struct watch_version disk; /* of a follower */
	struct follower *follower;
	struct wire_self self;
	u32 number, applied;
	bool spoiled; /* it was changed by others */
};

static struct {
	u64 random, now;
	struct node owner, node[FOLLOWERS];
	struct owner *owning;
	struct wire_self owner_self;
	bool changed;
	u8 log[JOURNAL_MAX];
	size_t log_bytes;
	bool log_broken;
	struct letter *sent[MESSAGES];
	u32 n;
	struct kept kept[2];
	u32 lose; /* in percent: what does not arrive, comes twice, late, or damaged */
	u32 count[KEYS];
} t;

static struct wire_time now(void)
{
	return (struct wire_time){ t.now, t.now };
}

static struct watch_print print_of(struct acbf *a)
{
	const struct watch_about about = { WATCH_OF_instance, 0, 1 };
	char path[] = "/dev/shm/xdd-share-XXXXXX";
	struct watch_print print;
	int fd = mkstemp(path);

	close(fd);
	assert_int_equal(watch_file_replace(a, &about, path, NULL, &print), 0);
	unlink(path);
	return print;
}

static u8 *file_of(struct acbf *a, size_t *bytes)
{
	const struct watch_about about = { WATCH_OF_instance, 0, 1 };
	char path[] = "/dev/shm/xdd-share-XXXXXX";
	u8 *at = malloc(1 << 20);
	FILE *file;

	close(mkstemp(path));
	assert_int_equal(watch_file_write(a, &about, path), 0);
	file = fopen(path, "r");
	*bytes = fread(at, 1, 1 << 20, file);
	fclose(file);
	unlink(path);
	return at;
}

static void change_one(struct acbf *a, u64 key, bool add)
{
	const struct xdd_digest digest = { .lo = key };
	u64 positions[ACBF_MAX_HASHES];

	acbf_positions(a, &digest, positions);
	assert_int_equal(add ? acbf_add(a, positions) : acbf_delete(a, positions), 0);
}

/* The bus. */

static void put(int to, int place, bool stored, const u8 *bytes, size_t size)
{
	struct letter *letter = malloc(sizeof(*letter));

	assert_true(t.n < MESSAGES);
	*letter = (struct letter){ place, to, malloc(size), size, stored };
	memcpy(letter->bytes, bytes, size);
	t.sent[t.n++] = letter;
}

static void keep(int place, bool instead, const u8 *bytes, size_t size)
{
	struct kept *kept = &t.kept[place];
	struct letter *letter = malloc(sizeof(*letter));

	for (; instead && kept->n; kept->n--) {
		free(kept->letter[kept->n - 1]->bytes);
		free(kept->letter[kept->n - 1]);
	}
	assert_true(kept->n < MESSAGES);
	*letter = (struct letter){ place, -1, malloc(size), size, true };
	memcpy(letter->bytes, bytes, size);
	kept->letter[kept->n++] = letter;
}

static int publish(void *to, int place, bool instead, const u8 *bytes, size_t size)
{
	(void)to;
	if (random_below(&t.random, 100) < t.lose / 4)
		return -ENOTCONN;
	if (place >= 0)
		keep(place, instead, bytes, size);
	put(-1, place, false, bytes, size);
	return 0;
}

/* The owner's set. */

static bool changed(void *to)
{
	(void)to;
	return t.changed;
}

static int read_set(void *to, bool full, const struct watch_print *last, u8 *log,
		    struct owner_set *set)
{
	(void)to;
	if (random_below(&t.random, 100) < t.lose / 4)
		return -EBUSY;
	t.changed = false;
	set->print = t.owner.print;
	memcpy(log, t.log, t.log_bytes);
	if (t.log_bytes && journal_leads(log, t.log_bytes, last, &set->print))
		set->log_bytes = t.log_bytes;
	t.log_bytes = 0;
	if (full || (!set->log_bytes && !watch_print_same(last, &set->print)))
		set->full = file_of(&t.owner.acbf, &set->full_bytes);
	return 0;
}

static size_t pending(void *to)
{
	(void)to;
	return 0;
}

static void told(void *to, const struct watch_version *version)
{
	struct watch_version *last = to;

	assert_true(watch_version_order(version, last) > 0);
	*last = *version;
}

/* An owner of the name and epoch of @self, whose set @when and @read tell of; @last is what it has told. */
static struct owner *open_owner(struct wire_self *self, __typeof__(changed) *when,
				__typeof__(read_set) *read, struct watch_version *last)
{
	const struct owner_setup setup = { .self = self,
					   .group = group,
					   .shape = shape,
					   .ops = { when, read, publish, pending, told },
					   .to = last,
					   .beat_ns = 300 * MS,
					   .full_least_ns = 500 * MS,
					   .look_ns = 50 * MS };

	return owner_open(&setup);
}

static void start_owner(void)
{
	static struct watch_version last;

	if (!t.owner_self.epoch)
		last = (struct watch_version){};
	owner_close(t.owning);
	t.owner_self.key = wire_key_of(&group, "a.tap");
	t.owner_self.epoch = t.now + 1;
	t.owning = open_owner(&t.owner_self, changed, read_set, &last);
	owner_up(t.owning);
	t.changed = true;
}

/* A change of up to 20 keys; sometimes one that no record holds, or whose writer was killed before it wrote one. */
static void change_owner(void)
{
	struct journal_head head = { .what = random_below(&t.random, 2), .before = t.owner.print };
	u32 n = 1 + random_below(&t.random, 20);
	u64 keys[20];

	for (u32 i = 0; i < n; i++) {
		u32 key = random_below(&t.random, KEYS);
		bool add = head.what == JOURNAL_add;

		if (add ? t.count[key] > 1 || t.owner.acbf.keys > 500 : !t.count[key])
			continue;
		t.count[key] += add ? 1 : -1;
		change_one(&t.owner.acbf, key, add);
		keys[head.n++] = key;
	}
	if (!head.n)
		return;
	t.owner.print = head.after = print_of(&t.owner.acbf);
	t.changed = true;
	if (!random_below(&t.random, 15))
		return;
	memcpy(t.log + t.log_bytes, &head, sizeof(head));
	memcpy(t.log + t.log_bytes + sizeof(head), keys, head.n * sizeof(*keys));
	t.log_bytes += sizeof(head) + head.n * sizeof(*keys);
}

/* A follower's. */

static void run(struct acbf *a, const u8 *log, size_t size)
{
	struct journal_head head;
	const u8 *keys;
	u64 key;

	while ((keys = journal_next(&log, &size, &head)))
		for (u32 i = 0; i < head.n; i++) {
			memcpy(&key, keys + 8 * i, 8);
			change_one(a, key, head.what == JOURNAL_add);
		}
}

static void load(struct acbf *a, const u8 *full, size_t bytes)
{
	int fd = memfd_create("full", 0);
	struct watch_about about;
	char path[32], err[256];

	assert_int_equal(write(fd, full, bytes), bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	acbf_close(a);
	assert_int_equal(watch_file_load(a, &about, path, err, sizeof(err)), 0);
	close(fd);
}

static int apply(void *to, const struct follower_change *change, char *err, size_t err_size)
{
	struct node *node = to;

	assert_true(err_size > 0);
	*err = 0;
	if (random_below(&t.random, 100) < t.lose / 4)
		return -EBUSY;
	if (!change->full && !watch_print_same(&node->print, &change->from))
		return -ESTALE;
	assert_true(watch_version_order(&change->to, &node->disk) >= 0);
	node->disk = change->to;
	if (random_below(&t.random, 200) < t.lose / 4) { /* as if it were killed now */
		node->number |= 1u << 31;
		return -EBUSY;
	}
	if (change->full) {
		load(&node->acbf, change->full, change->full_bytes);
		node->spoiled = false;
	}
	run(&node->acbf, change->log, change->log_bytes);
	node->print = print_of(&node->acbf);
	assert_true(watch_print_same(&node->print, &change->to.print));
	node->applied++;
	return 0;
}

static void held(void *to, const struct watch_version *version)
{
	struct node *node = to;

	assert_true(!version->epoch || watch_version_order(version, &node->disk) >= 0);
	assert_true(!version->epoch || watch_print_same(&version->print, &node->print) ||
		    node->spoiled || node->number >> 31);
	node->disk = *version;
}

static bool fetch(void *to)
{
	const struct node *node = to;

	if (random_below(&t.random, 100) < t.lose)
		return false;
	for (int place = 0; place < 2; place++)
		for (u32 i = 0; i < t.kept[place].n; i++)
			put(node->number & 255, place, true, t.kept[place].letter[i]->bytes,
			    t.kept[place].letter[i]->size);
	return true;
}

static void want(void *to, const u8 *message, size_t size)
{
	const struct node *node = to;

	put(OWNER + (node->number & 255), -1, false, message, size);
}

static void name_of(u32 i, char name[8])
{
	snprintf(name, 8, "%c.tap", 'b' + i);
}

static void start_follower(u32 i)
{
	struct node *node = &t.node[i];
	struct follower_setup setup = { .self = &node->self,
					.group = group,
					.owner = "a.tap",
					.shape = shape,
					.held = node->disk,
					.same = watch_print_same(&node->disk.print, &node->print),
					.ops = { apply, held, fetch, want },
					.to = node,
					.silence_ns = 1000 * MS,
					.want_least_ns = 100 * MS,
					.want_most_ns = 1000 * MS };
	char name[8];

	name_of(i, name);
	follower_close(node->follower);
	node->number = i;
	node->self = (struct wire_self){ .key = wire_key_of(&group, name), .epoch = t.now };
	node->follower = follower_open(&setup);
	follower_up(node->follower);
}

static void deliver_to(const struct letter *letter, u32 i)
{
	follower_take(t.node[i].follower, letter->place, letter->stored, letter->bytes,
		      letter->size, now());
}

static void deliver(struct letter *letter)
{
	char name[8];

	if (random_below(&t.random, 100) < t.lose / 2 && letter->size)
		letter->bytes[random_below(&t.random, letter->size)] ^=
			1 << random_below(&t.random, 8);
	if (letter->to >= OWNER) {
		name_of(letter->to - OWNER, name);
		owner_wanted(t.owning, name, letter->bytes, letter->size);
		return;
	}
	for (u32 i = 0; i < FOLLOWERS; i++)
		if (letter->to == (int)i ||
		    (letter->to < 0 && random_below(&t.random, 100) >= t.lose))
			deliver_to(letter, i);
}

/* What was sent comes, in its order but for some, which come later, and some again. */
static void deliver_all(void)
{
	struct letter *late[MESSAGES];
	u32 n = t.n, left = 0;

	memcpy(late, t.sent, n * sizeof(*late));
	t.n = 0;
	for (u32 i = 0; i < n; i++) {
		u32 chance = random_below(&t.random, 100);

		if (chance >= t.lose / 2)
			deliver(late[i]);
		if (chance < t.lose && left < 100) {
			late[left++] = late[i];
			continue;
		}
		free(late[i]->bytes);
		free(late[i]);
	}
	for (u32 i = 0; i < left; i++)
		t.sent[t.n++] = late[i];
}

static void act(void)
{
	char err[256];

	t.now += 20 * MS;
	owner_step(t.owning, now());
	for (u32 i = 0; i < FOLLOWERS; i++) {
		follower_step(t.node[i].follower, now(), err, sizeof(err));
		if (t.node[i].number >> 31)
			start_follower(i);
	}
}

static void step(void)
{
	act();
	deliver_all();
}

static void begin(u64 random)
{
	memset(&t, 0, sizeof(t));
	t.random = random;
	t.now = 1000 * MS;
	assert_int_equal(acbf_open(&t.owner.acbf, COUNTERS, HASHES, BITS), 0);
	t.owner.print = print_of(&t.owner.acbf);
	start_owner();
	for (u32 i = 0; i < FOLLOWERS; i++) {
		assert_int_equal(acbf_open(&t.node[i].acbf, COUNTERS, HASHES, BITS), 0);
		t.node[i].print = t.owner.print;
		start_follower(i);
	}
}

static void end(void)
{
	t.lose = 0;
	while (t.n)
		deliver_all();
	for (int place = 0; place < 2; place++)
		for (; t.kept[place].n; t.kept[place].n--) {
			free(t.kept[place].letter[t.kept[place].n - 1]->bytes);
			free(t.kept[place].letter[t.kept[place].n - 1]);
		}
	for (u32 i = 0; i < FOLLOWERS; i++) {
		follower_close(t.node[i].follower);
		acbf_close(&t.node[i].acbf);
	}
	acbf_close(&t.owner.acbf);
	owner_close(t.owning);
	t.owning = NULL;
}

static void expect_equal(void)
{
	for (u32 i = 0; i < FOLLOWERS; i++) {
		assert_same(&t.owner.acbf, &t.node[i].acbf);
		assert_int_equal(follower_behind_since(t.node[i].follower, t.now), 0);
		assert_true(watch_print_same(&owner_version(t.owning)->print, &t.owner.print));
		assert_int_equal(watch_version_order(owner_version(t.owning),
						     follower_held(t.node[i].follower)),
				 0);
	}
}

/* While nothing is lost, and nobody is killed, each change is told once, as such. */
static void test_quiet(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 20; i++)
		step();
	expect_equal();
	for (int i = 0; i < 400; i++) {
		if (i % 5 == 0)
			change_owner();
		step();
	}
	for (int i = 0; i < 20; i++)
		step();
	expect_equal();
	assert_true(owner_stats(t.owning)->deltas > 20);
	assert_int_equal(follower_stats(t.node[0].follower)->gaps, 0);
	assert_int_equal(follower_stats(t.node[0].follower)->refused, 0);
	assert_int_equal(follower_stats(t.node[0].follower)->wants, 0);
	end();
}

static void disturb(void)
{
	u32 i = random_below(&t.random, FOLLOWERS);

	if (!random_below(&t.random, 60))
		start_follower(i);
	if (!random_below(&t.random, 150))
		start_owner();
	if (random_below(&t.random, 100))
		return;
	/* It is changed while it has no agent, or against its will. */
	change_one(&t.node[i].acbf, KEYS + random_below(&t.random, 100), true);
	t.node[i].print = print_of(&t.node[i].acbf);
	t.node[i].spoiled = true;
	if (random_below(&t.random, 2))
		start_follower(i);
}

static void test_storm(void **state)
{
	u32 wants = 0, bad = 0, old = 0, gaps = 0, applied = 0;

	(void)state;
	for (u64 random = 1; random <= 8; random++) {
		begin(random * 7919);
		for (int round = 0; round < 4; round++) {
			t.lose = 10 * round;
			for (int i = 0; i < 300; i++) {
				if (random_below(&t.random, 3) == 0)
					change_owner();
				disturb();
				step();
			}
			for (u32 i = 0; i < FOLLOWERS; i++) {
				const struct follower_stats *s = follower_stats(t.node[i].follower);

				wants += s->wants + s->fetches;
				bad += s->bad;
				old += s->old;
				gaps += s->gaps;
				applied += t.node[i].applied;
				follower_found(t.node[i].follower, &t.node[i].print);
			}
			t.lose = 0;
			for (int i = 0; i < 400; i++)
				step();
			expect_equal();
		}
		end();
	}
	assert_true(wants > 50 && bad > 50 && old > 50 && gaps > 20 && applied > 500);
}

/* All that was ever said is said again, in any order, to one who has begun anew: nothing is applied. */
static void test_replay(void **state)
{
	static struct letter *all[MESSAGES];
	u32 n = 0, applied;

	(void)state;
	begin(99);
	for (int i = 0; i < 600; i++) {
		if (i % 10 == 0)
			change_owner();
		act();
		for (u32 j = 0; j < t.n && n < MESSAGES; j++) {
			struct letter *copy = malloc(sizeof(*copy));

			*copy = *t.sent[j];
			copy->bytes = malloc(copy->size);
			memcpy(copy->bytes, t.sent[j]->bytes, copy->size);
			all[n++] = copy;
		}
		deliver_all();
		if (i == 300)
			start_owner();
	}
	for (int i = 0; i < 50; i++)
		step();
	expect_equal();
	start_follower(1);
	applied = t.node[1].applied;
	for (u32 i = 0; i < 10 * n; i++) {
		const struct letter *letter = all[random_below(&t.random, n)];
		char err[256];

		if (letter->to < 0)
			deliver_to(letter, 1);
		follower_step(t.node[1].follower, now(), err, sizeof(err));
	}
	assert_int_equal(t.node[1].applied, applied);
	assert_same(&t.owner.acbf, &t.node[1].acbf);
	assert_true(follower_stats(t.node[1].follower)->old > 100);
	while (n) {
		free(all[--n]->bytes);
		free(all[n]);
	}
	end();
}

/* One who holds what an owner told whose clock was ahead is not left behind by it for ever. */
static void test_clock_back(void **state)
{
	(void)state;
	begin(5);
	for (int i = 0; i < 100; i++) {
		change_owner();
		step();
	}
	end();
	begin(6);
	for (u32 i = 0; i < FOLLOWERS; i++) {
		t.node[i].disk = (struct watch_version){ 1ull << 60, 9, t.node[i].print };
		start_follower(i);
	}
	for (int i = 0; i < 400; i++) {
		if (i < 100)
			change_owner();
		step();
	}
	expect_equal();
	assert_true(owner_version(t.owning)->epoch > 1ull << 60);
	end();
}

/* A set of another size, or of other keys, is refused in words, whatever it says. */
static void test_shape(void **state)
{
	static const struct {
		struct watch_shape shape;
		const char *what;
	} others[] = {
		{ { COUNTERS, BITS, 78, HASHES }, "--key" },
		{ { COUNTERS, BITS, 77, HASHES + 1 }, "--positions" },
		{ { COUNTERS + 1, BITS, 77, HASHES }, "--watch-keys" },
		{ { COUNTERS, BITS + 1, 77, HASHES }, "--l1" },
	};
	struct wire_self self = { .key = wire_key_of(&group, "a.tap"), .epoch = 1ull << 61 };
	u8 message[WIRE_HEADER + sizeof(struct watch_told) + WIRE_TAG];

	(void)state;
	begin(7);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(others); i++) {
		struct wire_head head = { .type = WIRE_WATCH_BEAT, .seq = 1, .parts = 1 };
		const struct watch_told told = { .shape = others[i].shape };
		size_t size = watch_seal(&self, &head, &told, 0, message);

		assert_int_equal(follower_take(t.node[0].follower, -1, false, message, size, now()),
				 -EINVAL);
		assert_ptr_equal(strstr(follower_stats(t.node[0].follower)->differs,
					others[i].what),
				 follower_stats(t.node[0].follower)->differs);
	}
	assert_int_equal(follower_stats(t.node[0].follower)->refused, 4);
	end();
}

/* What another host says in the owner's name is told from what its own run before said, and from what comes back. */
static void test_twin_owner(void **state)
{
	struct wire_self twin = { .key = wire_key_of(&group, "a.tap") };
	const u64 epochs[] = { 1ull << 50, 1ull << 50, 0 }, times[] = { 1ull << 62, 1, 1ull << 62 };
	const int expected[] = { -EEXIST, 0, 0 };
	u8 message[WIRE_HEADER + sizeof(struct watch_told) + WIRE_TAG];

	(void)state;
	begin(8);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(epochs); i++) {
		struct wire_head head = {
			.type = WIRE_WATCH_BEAT, .seq = 1, .parts = 1, .time_ns = times[i]
		};
		const struct watch_told told = { .shape = shape };
		size_t size;

		twin.epoch = epochs[i] ?: t.owner_self.epoch;
		size = watch_seal(&twin, &head, &told, 0, message);
		assert_int_equal(owner_heard(t.owning, "a.tap", message, size, now()), expected[i]);
	}
	assert_int_equal(owner_stats(t.owning)->refused, 1);
	assert_false(owner_stats(t.owning)->yields);
	end();
}

/* An owner that comes later than one that is there is silent, until that has gone. */
static void test_yields(void **state)
{
	struct wire_self first = { .key = wire_key_of(&group, "a.tap"), .epoch = 5 };
	struct wire_head head = {
		.type = WIRE_WATCH_BEAT, .seq = 1, .parts = 1, .time_ns = 1ull << 62
	};
	const struct watch_told told = { .shape = shape };
	u8 message[WIRE_HEADER + sizeof(struct watch_told) + WIRE_TAG];
	u64 beats, fulls;

	(void)state;
	begin(9);
	for (int i = 0; i < 50; i++)
		step();
	assert_true(owner_has_told(t.owning));
	beats = owner_stats(t.owning)->beats;
	fulls = owner_stats(t.owning)->fulls;
	assert_int_equal(owner_heard(t.owning, "a.tap", message,
				     watch_seal(&first, &head, &told, 0, message), now()),
			 -EEXIST);
	assert_false(owner_has_told(t.owning));
	for (int i = 0; i < 44; i++) /* three beats are 45 steps */
		step();
	assert_int_equal(owner_stats(t.owning)->beats, beats);
	assert_int_equal(owner_stats(t.owning)->fulls, fulls);
	for (int i = 0; i < 50; i++)
		step();
	assert_true(owner_stats(t.owning)->beats > beats);
	assert_int_equal(owner_stats(t.owning)->fulls, fulls + 1);
	end();
}

/* A newcomer that knows of no other, with an empty set. */
static int read_nothing(void *to, bool full, const struct watch_print *last, u8 *log,
			struct owner_set *set)
{
	struct acbf empty;

	(void)to;
	(void)full;
	(void)last;
	(void)log;
	assert_int_equal(acbf_open(&empty, COUNTERS, HASHES, BITS), 0);
	set->print = print_of(&empty);
	set->full = file_of(&empty, &set->full_bytes);
	acbf_close(&empty);
	return 0;
}

static bool never(void *to)
{
	(void)to;
	return false;
}

/* Followers have the set of the owner that was there first, though a later one tells another in its name, even one
 * whom they took for a new start of it at first.
 */
static void test_two_owners(void **state)
{
	struct watch_version last = {};
	struct wire_self self = { .key = wire_key_of(&group, "a.tap") };
	struct owner *second;

	(void)state;
	begin(10);
	for (int i = 0; i < 100; i++) {
		change_owner();
		step();
	}
	for (int i = 0; i < 50; i++)
		step();
	expect_equal();
	self.epoch = t.now + 1;
	second = open_owner(&self, never, read_nothing, &last);
	owner_up(second);
	for (int i = 0; i < 200; i++) {
		if (i == 100)
			change_owner();
		owner_step(second, now());
		step();
		if (i > 60) /* a FULL is sent again half a second after the last one */
			for (u32 j = 0; j < FOLLOWERS; j++)
				assert_int_equal(follower_held(t.node[j].follower)->epoch,
						 t.owner_self.epoch);
	}
	expect_equal();
	for (u32 i = 0; i < FOLLOWERS; i++) {
		assert_true(follower_stats(t.node[i].follower)->twin_ns);
		assert_true(follower_stats(t.node[i].follower)->refused > 5);
	}
	owner_close(second);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),  cmocka_unit_test(test_storm),
		cmocka_unit_test(test_replay), cmocka_unit_test(test_clock_back),
		cmocka_unit_test(test_shape),  cmocka_unit_test(test_twin_owner),
		cmocka_unit_test(test_yields), cmocka_unit_test(test_two_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
