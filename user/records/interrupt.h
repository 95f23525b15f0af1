/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An end that a signal asks for: what is at hand is finished first. */
#ifndef USER_RECORDS_INTERRUPT_H
#define USER_RECORDS_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) are noted; a second
 * one removes the temporary files of all sinks and ends the process with 1. Writing to a closed
 * pipe fails with EPIPE, beyond the limit of a file's size with EFBIG.
 */
void interrupt_catch(void);

/* Whether a signal asked for the end. */
bool interrupt_came(void);

/* The same, also of a signal that is blocked and waits for whoever holds it (user/signals.h). */
bool interrupt_waits(void);

/* Threads that are made between the two calls do not take those signals. @before: which were blocked before. */
void interrupt_block(sigset_t *before);
void interrupt_restore(const sigset_t *before);

/* Wait until @fd can be read. Returns 1; 0 if a signal asked for the end, also if it came before
 * the call; or a negative errno.
 */
int interrupt_wait(int fd);

#endif
