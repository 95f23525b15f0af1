/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "build.h"
#include "caps.h"
#include "examine.h"
#include "netns.h"
#include "pins.h"
#include "program.h"
#include "promisc.h"
#include "targets.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/secret.h"

struct job {
	const struct options *o;
	struct load_result *result;
	const char *name;
	struct attachment ifaces[XDD_MAX_IFACES];
	u32 n;
	unsigned int rx_queues; /* the most that one of them has */
	bool leftover;		/* is replaced: what a killed `run` left */
	struct build_plan plan;
	struct dedup *skel;
	char *err;
	size_t err_size;
};

/* What an interface that is absent has for an index, until it comes: others get theirs from below. */
#define ABSENT_IFINDEX(slot) ((u32)INT32_MAX - (slot))

/* A way to load: with fragments or not, in which mode. */
struct way {
	bool frags;
	int mode; /* enum xdp_mode */
};

static int name_instance(struct job *job)
{
	const char *first = job->o->args[0];
	char *name = job->result->name;

	instance_name_of(job->o->name ?: first, name);
	job->name = name;
	if (option_name_valid(name))
		return 0;
	job->result->usage = true;
	return refuse(job->err, job->err_size, -EINVAL,
		      "%s cannot be the name of an instance: --name NAME, of letters, digits, '_' "
		      "and '-'",
		      first);
}

static enum xdd_maker maker(const struct options *o)
{
	if (strcmp(o->command, "run"))
		return XDD_MADE_BY_LOAD;
	return o->keep ? XDD_MADE_BY_RUN_KEEP : XDD_MADE_BY_RUN;
}

/* Of these and maybe more: `set` may have added or removed some since. */
static bool has_our_interfaces(const struct job *job, const struct instance *in)
{
	bool any = false;

	for (int i = 0; i < job->o->n_args; i++)
		any |= instance_has_interface(in, job->o->args[i]);
	return any && !strcmp(in->meta.netns, job->o->netns ?: "");
}

/* Is what is loaded what the same `run` left when it was killed? The agent may age it meanwhile. */
static bool is_leftover(const struct job *job)
{
	char err[MESSAGE_MAX];
	struct instance in;
	bool left;

	if (maker(job->o) == XDD_MADE_BY_LOAD || instance_open(&in, job->name, err, sizeof(err)))
		return false;
	left = in.meta.maker == maker(job->o) && has_our_interfaces(job, &in) &&
	       !instance_lock_owner(&in);
	instance_close(&in);
	return left;
}

static int exists(struct job *job)
{
	if (pins_exist(job->name) && !pins_are_instance(job->name))
		return refuse(job->err, job->err_size, -EEXIST,
			      INSTANCE_ROOT
			      "/%s is there, and is no instance's: remove it, or another "
			      "--name",
			      job->name);
	if (job->o->force || !pins_exist(job->name))
		return 0;
	job->leftover = is_leftover(job);
	if (job->leftover)
		return 0;
	return refuse(job->err, job->err_size, -EEXIST,
		      "instance %s is loaded: xdp-dedup unload %s first, --force to replace it, or "
		      "another --name",
		      job->name, job->name);
}

static int too_many(struct job *job)
{
	job->result->usage = true;
	return refuse(job->err, job->err_size, -EINVAL,
		      "%d interfaces: an instance has at most %d: load the others under another "
		      "--name",
		      job->o->n_args, XDD_MAX_IFACES);
}

/* `run` stays, and attaches it when it comes. */
static bool can_come(const struct job *job, const char *name)
{
	return maker(job->o) != XDD_MADE_BY_LOAD && strlen(name) < IF_NAMESIZE;
}

static int find_interface(struct job *job, const char *name)
{
	struct attachment *a = &job->ifaces[job->n];
	int code = attachment_find(a, name, job->o->netns != NULL, job->err, job->err_size);

	a->absent = code == -ENODEV && can_come(job, name);
	if (a->absent)
		a->ifindex = ABSENT_IFINDEX(job->n);
	else if (code)
		return code;
	a->force = job->o->force;
	for (u32 i = 0; i < job->n; i++) {
		if (job->ifaces[i].ifindex != a->ifindex && strcmp(job->ifaces[i].name, name))
			continue;
		job->result->usage = true;
		return refuse(job->err, job->err_size, -EINVAL, "%s is given twice", name);
	}
	job->n++;
	return 0;
}

/* One that is absent keeps the others from nothing; that all are is an error, which job->err tells. */
static int tell_absent(const struct job *job)
{
	u32 absent = 0;

	for (u32 i = 0; i < job->n; i++)
		absent += job->ifaces[i].absent;
	if (absent == job->n)
		return -ENODEV;
	for (u32 i = 0; i < job->n; i++)
		if (job->ifaces[i].absent)
			complain("run: %s: there is no such interface: it is attached when it "
				 "comes, and the others now",
				 job->ifaces[i].name);
	return 0;
}

static int find_interfaces(struct job *job)
{
	int code = job->o->n_args > XDD_MAX_IFACES ? too_many(job) : 0;

	for (int i = 0; !code && i < job->o->n_args; i++)
		code = find_interface(job, job->o->args[i]);
	return code ?: tell_absent(job);
}

static int check(struct job *job, const struct attachment *a, int mode, bool tell)
{
	return examine(a, job->o, mode, tell, &job->rx_queues, job->err, job->err_size);
}

static int check_interfaces(struct job *job)
{
	int code = 0;

	for (u32 i = 0; !code && i < job->n; i++) {
		if (job->ifaces[i].absent)
			continue;
		code = attach_room(&job->ifaces[i], job->name, false, job->err, job->err_size);
		if (!code)
			code = check(job, &job->ifaces[i], job->o->mode, true);
	}
	return code;
}

static int find_target(struct job *job, const char *name, enum xdd_dev dev)
{
	if (!name)
		return 0;
	snprintf(job->plan.meta.targets[dev], sizeof(job->plan.meta.targets[dev]), "%s", name);
	return target_find(name, job->o->mode == MODE_GENERIC, job->o->force,
			   &job->plan.targets[dev], job->err, job->err_size);
}

static int find_targets(struct job *job)
{
	int code = find_target(job, job->o->redirect, XDD_DEV_DUPLICATES);

	return code ?: find_target(job, job->o->forward, XDD_DEV_FORWARD);
}

static int draw_secret(struct job *job, const struct derived *derived)
{
	int code = 0;

	if (job->o->secret_file)
		return secret_from_file(&job->plan.secret, job->o->secret_file, job->err,
					job->err_size);
	if (derived->secret_random)
		code = secret_random(&job->plan.secret);
	else
		secret_from_seed(&job->plan.secret, derived->fixed.seed);
	errno = -code;
	return code ? refuse(job->err, job->err_size, code, "no random secret from the kernel: %m")
		    : 0;
}

static void make_meta(struct job *job, const struct derived *derived)
{
	struct xdd_meta *meta = &job->plan.meta;

	meta->abi = XDD_ABI;
	meta->maker = maker(job->o);
	meta->secret_own = !job->o->secret_file;
	meta->ifaces_used = job->n;
	if (job->o->netns)
		snprintf(meta->netns, sizeof(meta->netns), "%s", job->o->netns);
	meta->netns_inode = netns_inode();
	meta->loaded_s = time(NULL);
	meta->memory_bytes = derived->memory_bytes;
	meta->capacity_keys = derived->capacity_keys;
	meta->watch_counters = derived->watch_counters;
	for (u32 i = 0; i < job->n; i++) {
		memcpy(meta->ifaces[i].name, job->ifaces[i].name, IF_NAMESIZE);
		meta->ifaces[i].ifindex = job->ifaces[i].ifindex;
	}
}

static int make_plan(struct job *job)
{
	struct derived derived;
	int code;

	code = derive_config(job->o, DERIVE_NIC, job->n, job->rx_queues, libbpf_num_possible_cpus(),
			     &derived, job->err, job->err_size);
	if (code) {
		job->result->usage = code == -EINVAL || code == -ERANGE;
		return code;
	}
	if (*derived.warning)
		note("%s", derived.warning);
	job->plan.fixed = derived.fixed;
	job->plan.live = derived.live;
	job->plan.exact_entries = derived.exact_entries;
	for (u32 i = 0; i < job->n; i++)
		job->plan.live.ifaces[i].ifindex = job->ifaces[i].ifindex;
	make_meta(job, &derived);
	return draw_secret(job, &derived);
}

static int attach_one(struct job *job, u32 i, const struct way *way)
{
	struct attachment *a = &job->ifaces[i];
	int code;

	a->mode = way->mode;
	a->frags = way->frags;
	if (a->absent)
		return 0;
	code = attach_room(a, job->name, true, job->err, job->err_size);
	if (!code)
		code = attach(a, build_program(job->skel), job->err, job->err_size);
	if (!code && a->generic && job->o->mode != MODE_GENERIC)
		code = check(job, a, MODE_GENERIC, false);
	job->plan.meta.ifaces[i].generic = a->generic;
	return code ?: attachment_pin(a, job->name, PINS_NEW, job->err, job->err_size);
}

/* Absent ones in the mode of the others, and as promiscuous. */
static void describe_absent(struct job *job)
{
	struct xdd_meta_iface *iface = job->plan.meta.ifaces;
	bool generic = false;

	for (u32 i = 0; i < job->n; i++)
		generic |= !job->ifaces[i].absent && iface[i].generic;
	for (u32 i = 0; i < job->n; i++) {
		if (!job->ifaces[i].absent)
			continue;
		iface[i].generic = generic;
		iface[i].promisc = job->o->promisc;
	}
}

/* The flag is recorded before it is set: whatever ends us, it is restored with the pins. */
static int set_promisc(struct job *job)
{
	struct xdd_meta *meta = &job->plan.meta;
	bool on;

	for (u32 i = 0; job->o->promisc && i < job->n; i++)
		meta->ifaces[i].promisc = !promisc_get(job->ifaces[i].ifindex, &on) && !on;
	describe_absent(job);
	if (program_set_meta(build_meta(job->skel), meta))
		return refuse(job->err, job->err_size, -errno, "cannot write map meta: %m");
	for (u32 i = 0; i < job->n; i++)
		if (!job->ifaces[i].absent && meta->ifaces[i].promisc &&
		    promisc_set(job->ifaces[i].ifindex, true))
			note("%s: cannot make it promiscuous: frames to other addresses may not "
			     "arrive: ip link set dev %s promisc on",
			     job->ifaces[i].name, job->ifaces[i].name);
	return 0;
}

/* Before it has its name: whoever finds it without that lock takes it for a leftover. */
static int own(struct job *job)
{
	char path[PATH_MAX];
	int fd;

	if (maker(job->o) == XDD_MADE_BY_LOAD)
		return 0;
	pins_path(path, job->name, PINS_NEW, PINS_OWNER);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	job->result->owner = fd;
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return refuse(job->err, job->err_size, -errno, "cannot lock %s: %m", path);
}

static void disown(struct job *job)
{
	if (job->result->owner >= 0)
		close(job->result->owner);
	job->result->owner = -1;
}

static int publish(struct job *job)
{
	int code = pins_publish(job->name);

	errno = -code;
	return code ? refuse(job->err, job->err_size, code, "cannot name the pins of %s: %m",
			     job->name)
		    : 0;
}

static void close_links(struct job *job)
{
	for (u32 i = 0; i < job->n; i++) {
		if (job->ifaces[i].link >= 0)
			close(job->ifaces[i].link);
		job->ifaces[i].link = -1;
	}
}

/* The old instance, if it is to be replaced, goes when nothing but attaching can fail. */
static int try_way(struct job *job, const struct way *way)
{
	int code;

	job->plan.meta.frags = way->frags;
	code = build(&job->plan, job->name, &job->skel, job->err, job->err_size);
	if (!code && pins_exist(job->name))
		code = unload_named(job->name, job->err, job->err_size);
	for (u32 i = 0; !code && i < job->n; i++)
		code = attach_one(job, i, way);
	if (!code)
		code = set_promisc(job);
	if (!code)
		code = own(job);
	if (!code)
		code = publish(job);
	close_links(job);
	if (job->skel)
		build_free(job->skel);
	job->skel = NULL;
	if (code) {
		pins_drop(job->name, PINS_NEW);
		disown(job);
	}
	return code;
}

static bool other_way_helps(int code)
{
	return code == -EOPNOTSUPP || code == -EINVAL;
}

/* Native mode, whichever way the driver takes fragments, comes before generic mode. */
static int try_ways(struct job *job)
{
	const struct options *o = job->o;
	int first = o->mode == MODE_AUTO ? MODE_NATIVE : o->mode;
	const struct way ways[] = {
		{ true, first }, { false, first }, { true, o->mode }, { false, o->mode }
	};
	size_t n = o->mode == MODE_AUTO ? 4 : 2;
	int code = -EOPNOTSUPP;

	for (size_t i = 0; i < n && other_way_helps(code); i++)
		if (o->frags == OPTION_AUTO || ways[i].frags == (o->frags == FRAGS_ON))
			code = try_way(job, &ways[i]);
	return code;
}

static int load_inside(struct job *job)
{
	int code = find_interfaces(job);

	if (!code)
		code = check_interfaces(job);
	if (!code)
		code = find_targets(job);
	if (!code)
		code = make_plan(job);
	return code ?: try_ways(job);
}

int load_instance(const struct options *o, struct load_result *result, char *err, size_t err_size)
{
	struct job job = { .o = o, .result = result, .err = err, .err_size = err_size };
	int code, root, home;

	memset(result, 0, sizeof(*result));
	result->owner = -1;
	code = name_instance(&job);
	if (!code)
		code = caps_check(err, err_size);
	if (code)
		return code;
	root = pins_lock(true, o->force, err, err_size);
	if (root < 0)
		return root;
	code = exists(&job);
	if (!code)
		code = netns_enter(o->netns, &home, err, err_size);
	if (!code) {
		code = load_inside(&job);
		netns_leave(home);
	}
	if (!code && job.leftover)
		note_always("run: %s was left by a run that was killed: it is replaced, and counts "
			    "from 0",
			    job.name);
	pins_unlock(root);
	return code;
}
