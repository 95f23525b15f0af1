/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The states of a loaded filter's parts: who finds out that one has failed, or that it is back, says so
 * here, and the program takes it up with its next packet. See include/xdd/faults.h.
 *
 * A site is what holds a whole filter: a CPU under per-CPU placement, else site 0 is all there is.
 */
#ifndef USER_LOADER_FAULTS_H
#define USER_LOADER_FAULTS_H

#include "instance.h"
#include "user/health.h"

struct faults {
	const struct instance *in;
	struct xdd_health *health; /* the map itself: states end by themselves */
	u32 sites;		   /* 0: its parts do not fail */
};

/* Open the states of @in, which must stay open until faults_close(). Returns 0, also where it was loaded
 * without --fault-policy and has none, or a negative errno.
 */
int faults_open(struct faults *f, const struct instance *in);
void faults_close(struct faults *f);

/* The xdd_healths() entries of site @site, for health_state(). */
struct xdd_health *faults_site(const struct faults *f, u32 site);

/* Let part @part of site @site fail by @cause. */
void faults_fail(struct faults *f, u32 site, u32 part, enum health_cause cause);

/* @cause is over for a part that has failed by it: if by no other, it is emptied and comes back. Nothing
 * happens to one that has not. Returns 0, or a negative errno where it could not be emptied.
 */
int faults_recover(struct faults *f, u32 site, u32 part, enum health_cause cause);

/*
 * Under per-CPU placement, let the filters of CPUs that are offline fail, and those of CPUs that are
 * online again recover. @offline: a list as in FAULTS_OFFLINE. Returns 0 or a negative errno (-EINVAL: no
 * such list).
 */
int faults_watch(struct faults *f, const char *offline);

/* Whether states follow the CPUs: faults_watch() has something to do. */
bool faults_by_cpu(const struct faults *f);

/* The kernel's list of CPUs that are offline to @list, of @size bytes. Returns 0 or a negative errno. */
#define FAULTS_OFFLINE "/sys/devices/system/cpu/offline"
int faults_offline(char *list, int size);

#endif
