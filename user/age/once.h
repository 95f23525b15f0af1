/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_AGE_ONCE_H
#define USER_AGE_ONCE_H

/* Where nobody ages instance @name, walk over it once, so that there is something to show: if it is small
 * enough for a tenth of a second. That fails where `run` or `agent` came first, or where a map does, and
 * status_read() says that better.
 */
void age_once(const char *name);

#endif
