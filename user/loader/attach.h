/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One interface and the XDP program on it: attaching ours, naming another's.
 */
#ifndef USER_LOADER_ATTACH_H
#define USER_LOADER_ATTACH_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

#include "pins.h"

struct attachment {
	/* in */
	char name[IF_NAMESIZE];
	u32 ifindex;
	int mode;    /* enum xdp_mode */
	bool frags;  /* the program was loaded with xdp.frags */
	bool force;  /* put another program off */
	bool absent; /* to be attached when it comes: `ifindex` is nobody's */
	/* out */
	bool generic;
	int link; /* file descriptor, -1: not attached */
};

/* Begin @a with interface @name of the thread's network namespace, which the caller chose by --netns
 * if @chosen. Returns 0, or -ENODEV with a line in @err.
 */
int attachment_find(struct attachment *a, const char *name, bool chosen, char *err,
		    size_t err_size);

/*
 * Is there room for the instance called @ours? With @clear and a->force, put off a program of
 * someone else's; never an xdp dispatcher, which serves several programs, and never another
 * instance. Returns 0, or -EBUSY or another negative errno with one line in @err that names the
 * program and its mode.
 */
int attach_room(const struct attachment *a, const char *ours, bool clear, char *err,
		size_t err_size);

/*
 * Attach @program by a bpf_link in the thread's network namespace. Mode auto: natively, or else
 * generically. Returns 0, or a negative errno with a line in @err: the driver's words and what to
 * do; -EOPNOTSUPP and -EINVAL where the driver does not take the program as it is.
 */
int attach(struct attachment *a, int program, char *err, size_t err_size);

/* Pin the link in the folder of instance @name that is at @place. Returns 0, or a negative errno with a line in
 * @err.
 */
int attachment_pin(const struct attachment *a, const char *name, enum pins_place place, char *err,
		   size_t err_size);

#endif
