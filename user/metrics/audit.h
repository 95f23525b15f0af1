/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the audit measured: rates of error with intervals, and how a person reads them. */
#ifndef USER_METRICS_AUDIT_H
#define USER_METRICS_AUDIT_H

#include <jansson.h>
#include <stdio.h>

#include <xdd/audit.h>

#include "user/metrics/expected.h"

/* A share of packets that were judged wrongly; NAN where there was none. */
struct audit_rate {
	double all;		/* packets sampled */
	u64 wrong;		/* of them */
	double effective;	/* so many independent packets would say as much */
	double rate, low, high; /* with 95 % confidence */
};

/*
 * FPR, FP/(FP+TN): a ratio estimator over clusters (Cochran 1977 chapter 6), since the sample is one
 * of keys. The variance is that of l_k - rate (p_k + l_k - m_k), in the words of
 * XDD_AUDIT_COUNTS. So many independent packets as have that variance are the effective sample, of
 * which the interval is Clopper and Pearson's (as Korn and Graubard 1998 do for few hits).
 * Without a hit the variance says nothing: all packets of a key that were called distinct are taken
 * as one, and the bound is one-sided.
 */
struct audit_rate audit_fpr(const struct xdd_audit_counts *counts);

/*
 * FNR, FN/(FN+TP), the same way, but calibrated: how many packets of all keys were called @distinct and
 * @duplicate is known, and TP is the rest of the duplicate ones. A few keys may have most of the copies, and
 * be in the sample or not; but of those few are called distinct. The variance is that of
 * (1 - rate) m_k + rate l_k - c p_k, c being what makes its sum 0.
 */
struct audit_rate audit_fnr(const struct xdd_audit_counts *counts, u64 distinct, u64 duplicate);

/* I_x(a, b), the regularised incomplete beta function (DLMF 8.17.22); a and b above 0, x from 0 to 1.
 */
double audit_beta(double a, double b, double x);

/* The x with I_x(a, b) = @share. */
double audit_beta_quantile(double a, double b, double share);

struct audit {
	struct xdd_audit_counts counts;
	double share;	  /* of the keys in the sample; 0: there is no audit */
	u64 memory_bytes; /* of the shadow */
	struct audit_rate fpr, fnr;
	double lost, lost_low, lost_high; /* of all the distinct packets until now; or NAN */
};

/* @distinct, @duplicate: packets of all keys by verdict. */
void audit_make(struct audit *audit, const struct xdd_fixed *fixed,
		const struct xdd_audit_counts *counts, u64 distinct, u64 duplicate);

/* The object of --json, or null without an audit. */
json_t *audit_json(const struct audit *audit);

/*
 * "1.2e-06 (3 of 2.5M sampled; 2.5e-07 to 3.6e-06, 95 %)", or "below 3.2e-06 (0 of 1.2M sampled, 95 %)",
 * or "not known (0 sampled)".
 */
#define AUDIT_TEXT_MAX 128
const char *audit_rate_text(const struct audit_rate *rate, char text[AUDIT_TEXT_MAX]);

/* Lines on @to, each behind @lead, about @things ("packets"); nothing without an audit. Beside what was measured
 * stands what the @model expects. @per_s: distinct ones a second, for the losses in words; 0: do not say them.
 */
void audit_print(const struct audit *audit, const struct expected *model, FILE *to,
		 const char *lead, const char *things, double per_s);

#endif
