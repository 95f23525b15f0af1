/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From where on a tap is sick: what status and top warn of, and the alerts in
 * scripts/monitoring/xdp-dedup.rules.yml, which a test compares with these.
 */
#ifndef USER_METRICS_LIMITS_H
#define USER_METRICS_LIMITS_H

#define LIMIT_COPIES 0.95   /* duplicates of what was received: a loop, or too coarse a key */
#define LIMIT_BYPASSED 0.99 /* ... that passed unasked: nothing is compared */
#define LIMIT_FNR 0.05	    /* missed copies, as measured: the lower end of the interval */
#define LIMIT_LATE_S 60	    /* since the last walk over the filter */

/* Below these shares, and of fewer packets, what happens is normal. */
#define LIMIT_PACKETS 20
#define LIMIT_EVICTED 0.001
#define LIMIT_BAD_CHECKSUM 0.01
#define LIMIT_STALE 0.0001	 /* the ager and the program may clean a line at the same moment */
#define LIMIT_FULL_RATE 0.001	 /* of the modelled FPR */
#define LIMIT_REPLICAS_RATE 0.01 /* ... of all believed replicas */
#define LIMIT_BITS_RATE 0.1	 /* ... of bit engines: what their tables aim at (bera-2012) */

/*
 * An interface is silent if nothing came for a minute, or for the time in which so many packets used
 * to come: by chance that is nearly impossible. Never sooner than after a second.
 */
#define LIMIT_SILENT_S 60
#define LIMIT_SILENT_PACKETS 50

#endif
