/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of xdp-dedup plan share. The formulas are in user/model/; here is which one is asked, and
 * what follows.
 */
#ifndef USER_PLAN_H
#define USER_PLAN_H

#include <jansson.h>

#include "user/options.h"

/* What is asked for. Where nothing was said: 0. */
struct plan_demand {
	double keys;	     /* different ones in a window: those that are live */
	double copies;	     /* of each of them, in its window */
	double rate;	     /* packets a second */
	double packet_bytes; /* mean size */
	u64 window_ns;
	double fpr, fnr;  /* targets; fpr 0: what the engine gives by itself */
	double fault_fpr; /* ... of the FPR with @failed slices */
	u32 failed;
	double cost; /* of a false positive, in false negatives */
	bool vote;   /* it was given */
	u64 memory;  /* bytes; 0: the least */
	u32 ticks;
	double burst;	      /* of a filter that grows: so many times @keys are live at the most */
	u64 frames, compared; /* of a capture */
	double mean_keys;     /* live at a packet's time, on average */
	double peak_rate;     /* packets compared in the busiest window, a second */
};

/* What the memory is set by; never: no memory is enough. */
enum plan_binds {
	BINDS_MEMORY,
	BINDS_FPR,
	BINDS_FNR,
	BINDS_GROWTH,
	BINDS_SLICES,
	BINDS_LEAST,
	BINDS_NEVER
};

/* With demand.failed slices failed. What they held is taken as not set, unless @vote is below k. */
struct plan_faults {
	double slices_fn,
		slices_fp; /* S_f: lost cells taken as not set, and as set; INFINITY: none are enough */
	u32 vote;	   /* x of k; k: as not set */
	double fpr, fnr;
};

/* Of a filter that grows. */
struct plan_growth {
	double fpr;	  /* at which a filter is full ... */
	double threshold; /* ... and the keys that it then holds */
	double filters; /* F, alive at the most in a burst; more than fixed.filters: there is no bound */
	double usual_fpr; /* at most, without a burst */
};

struct plan {
	struct xdd_fixed
		fixed;	  /* engine, slicing, k, slices, filters; blocks are the lines of each */
	bool line_slices; /* a slice of each line */
	double memory_bytes, cells;
	double fpr_target; /* that of the engine, if none was given; 0: none */
	double fpr, fnr;
	enum plan_binds binds;
	bool met; /* all targets */
	struct plan_faults faults;
	struct plan_growth growth;
};

/*
 * demand.c: from the options, or the capture that they name, to @demand. Returns an exit code, and has complained
 * if it is not EXIT_OK.
 */
int plan_demand(const struct options *o, struct plan_demand *demand);

/* capture.c: rate, keys, copies and sizes of the capture @o->from into @demand. The same. */
int plan_measure(const struct options *o, struct plan_demand *demand);

/* rates.c: FPR and FNR without faults, of plan->fixed, whose lines must be set. */
void plan_rates(struct plan *plan, const struct plan_demand *demand);

/* growth.c: those of a filter that grows. Its FPR is the bound in a burst, 1 - (1 - P)^F. */
void plan_growth_rates(struct plan *plan, const struct plan_demand *demand);

/* It has room for the burst, and for what is usual in one filter. */
bool plan_growth_fits(const struct plan *plan, const struct plan_demand *demand);

/* The fewest slices that lines may be cut into, and what their number must be a multiple of. */
u32 plan_unit(const struct plan *plan);

/* Name of the formulas that plan_rates() asks. */
const char *plan_formula(const struct plan *plan);

/* faults.c: S_f; and the rates with faults, for plan->fpr and plan->fnr as they are without.
 * @plan->fixed.slices is set to S_f if @choose.
 */
void plan_faults(struct plan *plan, const struct plan_demand *demand, bool choose);

/* What the FPR may be with faults: by default twice the target without. */
double plan_fault_fpr(const struct plan *plan, const struct plan_demand *demand);

/* ... before the size is known: S_f for the FNR of an engine that has no other. */
u32 plan_slices_fn(const struct plan *plan, const struct plan_demand *demand);

/* The number of slices @needed, or INFINITY where it is above XDD_MAX_PARTS: there are no more states. */
double plan_with_states(double needed);

/* The FNR that is left to the engine: half of the target, or less where the states that slices have
 * (XDD_MAX_PARTS) are few for so many faults.
 */
double plan_own_fnr(const struct plan *plan, const struct plan_demand *demand);

/* The most slices that may have failed at the FNR that is asked for, with as many states as there are. */
double plan_most_faults(const struct plan *plan, const struct plan_demand *demand);

/*
 * solve.c: the best plan for @engine and what @o says of its structure, with its k. plan->met is false where no
 * size up to 256 GiB meets the targets, or the memory that was given does not.
 */
void plan_engine(const struct options *o, const struct plan_demand *demand, u32 engine,
		 struct plan *plan);

/* What an error costs in @plan: cost FPR + FNR, with faults if there are to be some. */
double plan_cost(const struct plan *plan, const struct plan_demand *demand);

/* explain.c: in words what binds, as an array of strings; the options that make such a filter. */
json_t *plan_explain(const struct plan *plan, const struct plan_demand *demand,
		     const struct options *o);
void plan_options(const struct plan *plan, const struct plan_demand *demand,
		  const struct options *o, char *text, size_t size);

/* report.c */
void plan_print(const struct plan *plan, const struct plan_demand *demand, const struct options *o);
json_t *plan_json(const struct plan *plan, const struct plan_demand *demand,
		  const struct options *o);

/* The rows of --compare; with faults if there are to be some. */
void plan_print_rows(const struct plan *plans, u32 n, const struct plan_demand *demand);
json_t *plan_rows_json(const struct plan *plans, u32 n, const struct plan_demand *demand);

#endif
