/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_LOADER_CAPS_H
#define USER_LOADER_CAPS_H

#include <stddef.h>

/* May this process load and attach programs? Returns 0, or -EPERM with one line in @err that names
 * the capabilities that it lacks.
 */
int caps_check(char *err, size_t err_size);

#endif
