/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A loaded instance, found again by its pins:
 *
 *   /sys/fs/bpf/xdp-dedup/NAME/    config counters meta targets scratch top rodata, those of lines,
 *                                  cpu_blocks, chains, loads, cpu_loads, locks, tree, digests, flows, audit, audit_counts, distances,
 *                                  replicas, peer_gate, peers, peer_hits, peer_audit, watch, collected, collecting that it uses,
 *                                  the ager's ager, tally, slices, its ager_program, program,
 *                                  events, event_budget, event_copy, ethertypes,
 *                                  link_IFINDEX for each interface, and the folders reader and owner
 *   /sys/fs/bpf/xdp-dedup/~NAME/   one that is being made,
 *   /sys/fs/bpf/xdp-dedup/+NAME/   or removed; or what a loader or unloader which was killed left
 *                                  behind: the next one clears it
 *
 * A directory becomes NAME by a rename when it is complete, so that whoever opens NAME finds
 * all of it. Locks (flock), gone with the process that holds them:
 *   on the root       whoever makes, changes or removes an instance, for that moment
 *   on NAME/          whoever ages the instance, `run` or `agent`, for as long as it does
 *   on NAME/reader/   whoever reads its events, `events` or `run`, for as long as it does
 *   on NAME/owner/    the `run` that made it, for as long as it lives
 */
#ifndef USER_LOADER_INSTANCE_H
#define USER_LOADER_INSTANCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "xdd/meta.h"

#define INSTANCE_ROOT "/sys/fs/bpf/xdp-dedup"
#define INSTANCE_NAME_MAX 33 /* with the final 0 */

/* X(name): the pinned maps. */
#define INSTANCE_MAPS(X) \
	X(config)        \
	X(counters)      \
	X(meta)          \
	X(targets)       \
	X(scratch)       \
	X(rodata)        \
	X(lines)         \
	X(cpu_blocks)    \
	X(health)        \
	X(chains)        \
	X(loads)         \
	X(cpu_loads)     \
	X(locks)         \
	X(tree)          \
	X(digests)       \
	X(flows)         \
	X(audit)         \
	X(audit_counts)  \
	X(distances)     \
	X(top)           \
	X(replicas)      \
	X(peer_gate)     \
	X(peers)         \
	X(peer_hits)     \
	X(peer_audit)    \
	X(watch)         \
	X(collected)     \
	X(collecting)    \
	X(ager)          \
	X(tally)         \
	X(slices)        \
	X(events)        \
	X(event_budget)  \
	X(event_copy)    \
	X(ethertypes)

#define INSTANCE_MAP_FD(name) int name;
struct instance_maps {
	INSTANCE_MAPS(INSTANCE_MAP_FD) /* file descriptors, -1: the engine does not use it */
};

enum iface_state {
	IFACE_ATTACHED, /* and found where it was loaded, maybe under a new name */
	IFACE_HIDDEN,	/* attached, but its network namespace cannot be entered from here */
	IFACE_MOVED,	/* attached, but it has left its network namespace */
	IFACE_DETACHED, /* someone detached the program */
	IFACE_GONE,	/* the interface was deleted, or its driver unloaded */
	IFACE_REMOVED,	/* taken out by `set --remove`: its counts stay */
};

/* Slot i of the instance is ifaces[i]. */
struct instance_iface {
	char name[XDD_META_IFNAME]; /* now, or as it was at load where that is not known */
	u32 ifindex;		    /* now; 0: detached, gone or removed */
	u32 returned; /* of one that is gone: the index under which it is there again, or 0 */
	u16 returns;  /* times that it was attached again */
	enum iface_state state;
	bool generic; /* else native */
	bool promisc; /* load made it promiscuous */
	u32 link_id;  /* as bpftool link shows it; 0: no link */
};

struct instance {
	char name[INSTANCE_NAME_MAX];
	char path[PATH_MAX];
	int dir;    /* the pin directory, for the lock */
	int reader; /* the folder in it, for the second lock; -1: another version made it */
	int owner;  /* the same for the third one */
	int program;
	u32 program_id;
	int ager_program; /* xdp_ager, pinned as ager_program; see bpf/sweep.h */
	struct instance_maps maps;
	struct xdd_meta meta;
	struct xdd_fixed fixed;
	struct xdd_live live; /* as of opening or of instance_read_live() */
	struct instance_iface ifaces[XDD_MAX_IFACES];
	unsigned int ifaces_used;
};

extern const char *const iface_state_names[]; /* "attached", ... by enum iface_state */

/*
 * Open the instance called @name, or the one that @name as an interface belongs to; '.' and '_'
 * are the same. Returns 0, or with one line in @err that says what to do: -ENOENT: there is
 * none (the line names those that there are), -EPROTO: its pins are of another version,
 * -EPERM: no right to, or what opening them returned.
 */
int instance_open(struct instance *in, const char *name, char *err, size_t err_size);

/* Closes the file descriptors and gives the lock back; the instance stays loaded. */
void instance_close(struct instance *in);

/*
 * The names of all complete instances, sorted. Returns their number and an array to free() in
 * *@names (NULL if there are none), or a negative errno with one line in @err.
 */
int instance_list(char (**names)[INSTANCE_NAME_MAX], char *err, size_t err_size);

/* Read the live configuration again. Returns 0 or a negative errno. */
int instance_read_live(struct instance *in);

/* Read again which interfaces it has, and look at them: names, states. Returns 0 or a negative errno. */
int instance_read_ifaces(struct instance *in);

/* Do the packets of the interface in @slot count under it? Those of one that has another index in the network namespace
 * where it is now count under XDD_SLOT_ELSEWHERE.
 */
bool instance_counts_slot(const struct instance *in, u32 slot);

/* Has someone unloaded it since it was opened? */
bool instance_is_gone(const struct instance *in);

/* Become the one who ages it, until instance_close(). Returns 0, or -EBUSY: another one does. */
int instance_lock_ageing(struct instance *in);

/* The process that ages it; 0: none does. */
pid_t instance_ageing_pid(const struct instance *in);

/* The same for the one who reads its events. */
int instance_lock_events(struct instance *in);
pid_t instance_events_pid(const struct instance *in);

/* The same for the `run` that made it. */
int instance_lock_owner(struct instance *in);

/* The name of @iface as a terminal may have it, in @text, which is returned. */
const char *instance_iface_text(const struct instance_iface *iface, char text[XDD_META_IFNAME]);

/* Does it have an interface called @name, now or when it was attached? */
bool instance_has_interface(const struct instance *in, const char *name);

/* Whether the program runs in generic mode on all of its interfaces. */
bool instance_all_generic(const struct instance *in);

/* What an instance of interface or name @name is called: '_' for '.'. */
void instance_name_of(const char *name, char out[INSTANCE_NAME_MAX]);

#endif
