/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the structure of a filter predicts, a header for each concern. All are plain functions of
 * numbers: keys, cells and the like are doubles, since they may be expectations. A false-positive
 * rate is the share of new keys that are called duplicate while others are live; a false-negative rate
 * the share of copies that are called distinct.
 */
#ifndef USER_MODEL_H
#define USER_MODEL_H

#include "user/model/bits.h"
#include "user/model/faults.h"
#include "user/model/growth.h"
#include "user/model/size.h"
#include "user/model/slices.h"
#include "user/model/tagged.h"
#include "user/model/timers.h"

#endif
