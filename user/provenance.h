/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What made a result, so that it can be made again. */
#ifndef USER_PROVENANCE_H
#define USER_PROVENANCE_H

#include <jansson.h>

#include "options.h"

/* Set `options` as they were given, `version` and `commit` of the program in the object @to. */
void provenance_json(json_t *to, const struct options *o);

/* Set in @to `warnings`: the lines kept since messages_keep(). */
void warnings_json(json_t *to);

#endif
