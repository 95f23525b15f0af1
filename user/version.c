/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "version.h"

const char program_version[] = VERSION, program_commit[] = COMMIT;
