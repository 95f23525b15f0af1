/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_URLS_H
#define USER_URLS_H

/*
 * The servers of @urls, with commas between them, without what each has before its @: a user, a password or a token,
 * which are in no message and no report. To be freed; NULL: no memory.
 */
char *urls_without_users(const char *urls);

#endif
