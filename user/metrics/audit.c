/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/audit.h"

#include <inttypes.h>
#include <math.h>

#include "user/metrics/status.h"

#define TAIL 0.025 /* on each side */
#define BOUND 0.05 /* on one */

/* The continued fraction, from its end: it has settled after some square root of a + b terms. */
static double beta_fraction(double a, double b, double x)
{
	int terms = 100 + 6 * sqrt(fmin(a + b, 1e8));
	double value = 0;

	for (double m = terms; m > 0; m--) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		value = even / (1 + odd / (1 + value));
	}
	return 1 / (1 - (a + b) * x / (a + 1) / (1 + value));
}

double audit_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	/* It converges fast on this side of the mean only. */
	if (x > (a + 1) / (a + b + 2))
		return 1 - audit_beta(b, a, 1 - x);
	front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
	return exp(front) / a * beta_fraction(a, b, x);
}

double audit_beta_quantile(double a, double b, double share)
{
	double low = 0, high = 1;

	while (high - low > 1e-6 * high) {
		double middle = (low + high) / 2;

		if (audit_beta(a, b, middle) < share)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* Complete @r, whose effective sample is known. */
static struct audit_rate with_interval(struct audit_rate r)
{
	double n = r.effective, hits = r.rate * n;

	r.low = 0;
	r.high = 1;
	if (r.rate <= 0) {
		r.high = -expm1(log(BOUND) / n);
	} else if (r.rate >= 1) {
		r.low = exp(log(BOUND) / n);
	} else {
		r.low = audit_beta_quantile(hits, n - hits + 1, TAIL);
		r.high = audit_beta_quantile(hits + 1, n - hits, 1 - TAIL);
	}
	return r;
}

/* The sum over the keys of (l * @l + m * @m + p * @p)^2. */
static double square_sum(const struct xdd_audit_counts *c, double l, double m, double p)
{
	double squares = l * l * c->sum_ll + m * m * c->sum_mm + p * p * c->sum_pp;

	return squares + 2 * (l * m * c->sum_lm + l * p * c->sum_lp + m * p * c->sum_mp);
}

/* The effective sample of @all packets, if the rate's variance is @residuals / @all^2. */
static double effective(const struct xdd_audit_counts *c, double rate, double all, double residuals)
{
	double n;

	if (rate <= 0 || rate >= 1 || c->keys < 2)
		return all * (c->tn + c->fn) / c->sum_pp;
	residuals *= c->keys / (c->keys - 1.0);
	/* All keys may err alike. */
	n = residuals > 0 ? rate * (1 - rate) * all * all / residuals : all;
	return fmin(n, all);
}

struct audit_rate audit_fpr(const struct xdd_audit_counts *c)
{
	double all = c->fp + c->tn, rate = c->fp / all;
	struct audit_rate r = { all, c->fp, NAN, NAN, NAN, NAN };

	if (!all || !c->sum_pp)
		return r;
	r.rate = rate;
	r.effective = effective(c, rate, all, square_sum(c, 1 - rate, rate, -rate));
	return with_interval(r);
}

struct audit_rate audit_fnr(const struct xdd_audit_counts *c, u64 distinct, u64 duplicate)
{
	double passed = c->tn + c->fn, known = passed / (passed + c->edge);
	double duplicates =
		duplicate / (distinct * known) * passed; /* as many as in such a sample */
	double all = c->fn + fmax(duplicates - c->fp, 0), rate = c->fn / all;
	struct audit_rate r = { all, c->fn, NAN, NAN, NAN, NAN };
	double of_passed = ((1 - rate) * c->fn + rate * c->fp) / passed;

	if (!(all > 0) || !c->sum_pp)
		return r;
	r.rate = rate;
	r.effective = effective(c, rate, all, square_sum(c, rate, 1 - rate, -of_passed));
	return with_interval(r);
}

/* Of those that were called distinct in the sample, so many were lost for each: the same holds outside. */
static void make_lost(struct audit *a, u64 distinct)
{
	double called = a->counts.tn + a->counts.fn, lost = a->counts.fp / called * distinct;

	if (!called || !a->fpr.all) {
		a->lost = a->lost_low = a->lost_high = NAN;
		return;
	}
	a->lost = lost;
	a->lost_low = lost ? lost * a->fpr.low / a->fpr.rate : 0;
	a->lost_high = lost ? lost * a->fpr.high / a->fpr.rate : a->fpr.high * distinct;
}

void audit_make(struct audit *audit, const struct xdd_fixed *fixed,
		const struct xdd_audit_counts *counts, u64 distinct, u64 duplicate)
{
	*audit = (struct audit){
		.counts = *counts,
		.share = ldexp(fixed->audit_threshold, -32),
		.memory_bytes = (u64)fixed->audit_buckets * sizeof(struct xdd_audit_bucket),
		.fpr = audit_fpr(counts),
		.fnr = audit_fnr(counts, distinct, duplicate),
	};
	make_lost(audit, distinct);
}

static void set_number(json_t *to, const char *name, double value)
{
	json_object_set_new(to, name, expected_rate_json(value));
}

json_t *audit_json(const struct audit *a)
{
	const struct xdd_audit_counts *c = &a->counts;
	json_t *all;

	if (!a->share)
		return json_null();
	all = json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "share",
			a->share, "memory_bytes", (json_int_t)a->memory_bytes, "sampled",
			(json_int_t)c->sampled, "tp", (json_int_t)c->tp, "fp", (json_int_t)c->fp,
			"tn", (json_int_t)c->tn, "fn", (json_int_t)c->fn, "edge",
			(json_int_t)c->edge, "excluded", (json_int_t)c->excluded, "races",
			(json_int_t)c->races, "keys", (json_int_t)c->keys);
	set_number(all, "fpr", a->fpr.rate);
	set_number(all, "fpr_low", a->fpr.low);
	set_number(all, "fpr_high", a->fpr.high);
	set_number(all, "fnr", a->fnr.rate);
	set_number(all, "fnr_low", a->fnr.low);
	set_number(all, "fnr_high", a->fnr.high);
	set_number(all, "lost", a->lost);
	set_number(all, "lost_low", a->lost_low);
	set_number(all, "lost_high", a->lost_high);
	return all;
}

const char *audit_rate_text(const struct audit_rate *rate, char text[AUDIT_TEXT_MAX])
{
	char wrong[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	units_count_text(rate->wrong, wrong);
	units_count_text(rate->all, all);
	if (isnan(rate->rate))
		snprintf(text, AUDIT_TEXT_MAX, "not known (0 sampled)");
	else if (!rate->wrong)
		snprintf(text, AUDIT_TEXT_MAX, "below %.2g (0 of %s sampled, 95 %%)", rate->high,
			 all);
	else
		snprintf(text, AUDIT_TEXT_MAX, "%.2g (%s of %s sampled; %.2g to %.2g, 95 %%)",
			 rate->rate, wrong, all, rate->low, rate->high);
	return text;
}

/* What was lost, or is at most, so far and as it goes on. */
static void print_lost(const struct audit *a, FILE *to, const char *lead, const char *things,
		       double per_s)
{
	char lost[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX], text[STATUS_LOSS_MAX];

	if (isnan(a->lost))
		return;
	units_count_text(a->lost, lost);
	units_count_text(a->lost_high, high);
	if (a->counts.fp)
		fprintf(to, "%s  about %s distinct %s lost so far, at most %s", lead, lost, things,
			high);
	else
		fprintf(to, "%s  at most %s distinct %s lost so far", lead, high, things);
	if (per_s && a->counts.fp)
		fprintf(to, "; %s", status_loss_text(a->fpr.rate, per_s, text));
	else if (per_s)
		fprintf(to, "; if as many as that: %s", status_loss_text(a->fpr.high, per_s, text));
	fputc('\n', to);
}

static void print_left_out(const struct xdd_audit_counts *c, FILE *to, const char *lead)
{
	if (c->edge)
		fprintf(to,
			"%s  left out: %" PRIu64 " copies at the window's edge, in its last tick\n",
			lead, (uint64_t)c->edge);
	if (c->excluded)
		fprintf(to,
			"%s  left out: %" PRIu64 " whose truth was no longer known: audit a "
			"smaller share\n",
			lead, (uint64_t)c->excluded);
}

/* Measured from the start on; the model is about what is there now. */
static void print_rate(const char *name, const struct audit_rate *rate, double model, FILE *to,
		       const char *lead)
{
	char text[AUDIT_TEXT_MAX];

	fprintf(to, "%s%s measured %s", lead, name, audit_rate_text(rate, text));
	if (!isnan(model))
		fprintf(to, "; by the model now %.2g", model);
	fputc('\n', to);
}

void audit_print(const struct audit *a, const struct expected *model, FILE *to, const char *lead,
		 const char *things, double per_s)
{
	if (!a->share)
		return;
	print_rate("FPR", &a->fpr, model->fpr, to, lead);
	print_lost(a, to, lead, things, per_s);
	print_rate("FNR", &a->fnr, model->fnr, to, lead);
	print_left_out(&a->counts, to, lead);
}
