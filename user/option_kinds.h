/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the value of an option is read: for options.c only.
 */
#ifndef USER_OPTION_KINDS_H
#define USER_OPTION_KINDS_H

#include "options.h"

struct kind;

/* One option's value being parsed. A parser stores it at @at and returns 0, or returns -EINVAL
 * or -ERANGE; where the kind's `what` says too little it writes the whole line to @err.
 */
struct value {
	const struct kind *kind;
	const char *label; /* "--window" */
	const char *text;
	struct options *o;
	void *at; /* the option's field in @o */
	char *err;
	size_t err_size;
};

/* Shared by the options that are read alike. */
struct kind {
	int (*parse)(struct value *v);
	const char *what;	    /* "not WHAT" */
	const char *const *choices; /* of an enumeration */
	bool automatic;		    /* ... which may be `auto` */
	u64 least, most;	    /* of a number or a time */
};

extern const struct kind kind_flag, kind_rate, kind_bytes, kind_cost, kind_time, kind_size,
	kind_count, kind_ratio, kind_ticks, kind_hashes, kind_slices, kind_engine, kind_clock,
	kind_slicing, kind_placement, kind_key, kind_non_ip, kind_hash, kind_seed, kind_action,
	kind_mode, kind_when, kind_on_off, kind_name, kind_netns, kind_output, kind_input,
	kind_text, kind_format, kind_variant, kind_sbf_p, kind_sbf_max, kind_distribution,
	kind_runs, kind_forward, kind_field, kind_delimiter, kind_time_unit, kind_path, kind_vni,
	kind_tunnel_port, kind_fields, kind_payload, kind_vlan, kind_scope, kind_ambiguous,
	kind_max_suppress, kind_filter, kind_direction, kind_seconds, kind_sample, kind_verdict,
	kind_snaplen, kind_recovery, kind_truth, kind_audit, kind_address, kind_growth,
	kind_filters, kind_burst, kind_fault_policy, kind_slice_list, kind_cpu, kind_ifaces;
extern const struct kind kind_tree, kind_top_down, kind_levels, kind_fan_out, kind_depth,
	kind_interval, kind_peers, kind_replica_action;
extern const struct kind kind_hosts, kind_key_range, kind_keys, kind_deletes, kind_push, kind_bound,
	kind_weights, kind_l1, kind_counters, kind_positions, kind_watch_action;
extern const struct kind kind_nats, kind_host, kind_owner, kind_silence, kind_check;
extern const struct kind kind_algorithm, kind_rounds, kind_monitors, kind_monitors_of, kind_then,
	kind_sizes, kind_share;
extern const struct kind kind_slices_of, kind_protocol, kind_primitive, kind_batch,
	kind_site_timeout;

#endif
