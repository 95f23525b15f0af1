/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_VERSION_H
#define USER_VERSION_H

/* "0.1"; and the commit it was built from, as git describes it, with -dirty if files had changed;
 * "unknown" if it was not built in a git repository.
 */
extern const char program_version[], program_commit[];

#endif
