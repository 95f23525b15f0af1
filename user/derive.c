/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "derive_work.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <xdd/engine_recovery.h>
#include <xdd/line.h>

#include "message.h"
#include "model.h"
#include "store.h"
#include "units.h"

#define DEFAULT_MEMORY (32ull << 20)
#define REDUNDANCY_WINDOW_NS (400ull * 1000 * 1000) /* EntryForgetTime of IEC 62439-3 */
#define TAGGED_KEYS_PER_LINE 8			    /* 64 bits per live key */
/* A set for each stream: few sets are then asked for more. */
#define RECOVERY_LEAST_BYTES (XDD_RECOVERY_WAYS * XDD_LINE_BYTES)

u64 derive_coarse_step_ns(void)
{
	struct timespec step;

	clock_getres(CLOCK_MONOTONIC_COARSE, &step);
	return step.tv_sec * 1000000000ull + step.tv_nsec;
}

const char *derive_window_text(const struct xdd_fixed *fixed, u64 window_ns,
			       char text[UNITS_TEXT_MAX])
{
	if (xdd_engine_has_bits(fixed->engine))
		return "none";
	return units_time_text(window_ns, text);
}

const char *derive_events_text(const struct derived *d, char text[UNITS_TEXT_MAX])
{
	if (d->live.window_ns == STORE_FOREVER_NS)
		return "for ever";
	if (!d->window_records)
		return derive_window_text(&d->fixed, d->live.window_ns, text);
	snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " records", (uint64_t)d->window_records);
	return text;
}

int derive_window_ticks(u64 window_ns, u64 tick_ns, u32 *ticks)
{
	u64 n = window_ns / tick_ns;

	if (!n || n > XDD_MAX_WINDOW_TICKS)
		return -ERANGE;
	*ticks = n;
	return 0;
}

u64 derive_memory_available(void)
{
	FILE *meminfo = fopen("/proc/meminfo", "re");
	u64 kib = UINT64_MAX / 1024;
	char line[128];

	if (!meminfo)
		return kib * 1024;
	while (fgets(line, sizeof(line), meminfo))
		if (sscanf(line, "MemAvailable: %" SCNu64, (uint64_t *)&kib) == 1)
			break;
	fclose(meminfo);
	return kib * 1024;
}

static void derive_kinds(struct work *w)
{
	const struct options *o = w->o;
	struct xdd_fixed *f = &w->out->fixed;
	int engine = w->target == DERIVE_NIC ? XDD_ENGINE_tagged : XDD_ENGINE_exact;

	if (o->key == XDD_KEY_redundancy)
		engine = XDD_ENGINE_recovery;
	f->engine = o->engine == OPTION_AUTO ? engine : o->engine;
	f->key = o->key;
	f->link = XDD_LINK_ETHERNET; /* a NIC's; files say it per frame */
	f->offset_len = o->offset_len;
	f->offset_pos = o->offset_pos;
	f->non_ip_frame = o->non_ip;
	f->hash = o->hash;
	f->history = o->recovery;
	f->refresh = o->refresh;
	f->hashes = f->engine == XDD_ENGINE_timer ? o->hashes ?: DERIVE_HASHES : 1;
	if (xdd_engine_has_bits(f->engine))
		derive_bit_kinds(w);
}

/* Of each kind of tunnel the ports that were given, else the usual ones. */
static void derive_tunnels(struct work *w)
{
#define TUNNEL_ROW(name, ports, help) { XDD_TUNNEL_##name, ports },
	static const struct {
		u8 tunnel;
		u16 ports[4];
	} usual[] = { XDD_TUNNELS(TUNNEL_ROW) };
	const struct option_ports *given = &w->o->tunnel_port;
	struct xdd_fixed *f = &w->out->fixed;
	u32 named = 0, n = 0;

	f->inner = w->o->inner;
	f->vni_key = w->o->vni == POLICY_KEY;
	for (; n < given->used; n++) {
		f->tunnel_port[n] = given->port[n];
		f->tunnel_kind[n] = given->tunnel[n];
		named |= 1u << given->tunnel[n];
	}
	for (u32 i = 0; i < XDD_ARRAY_SIZE(usual) * 4; i++) {
		u16 port = usual[i / 4].ports[i % 4];

		if (!port || named >> usual[i / 4].tunnel & 1 || n == XDD_TUNNEL_PORTS)
			continue;
		f->tunnel_port[n] = port;
		f->tunnel_kind[n++] = usual[i / 4].tunnel;
	}
}

static void derive_policy(struct work *w)
{
	const struct options *o = w->o;
	struct xdd_fixed *f = &w->out->fixed;

	f->changed_fields = o->ignore | o->include;
	f->payload_bytes = o->payload;
	f->scope_iface = o->scope == SCOPE_INTERFACE;
	f->vlan_key = o->vlan.key;
	f->vlan_maps = o->vlan.maps;
	memcpy(f->vlan_from, o->vlan.from, sizeof(f->vlan_from));
	memcpy(f->vlan_to, o->vlan.to, sizeof(f->vlan_to));
}

/* A NIC's checksums are the real ones; anonymised captures have wrong ones, segmentation offload
 * leaves lengths at 0, and a snap length cuts frames.
 */
static void derive_checks(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	bool file = w->target == DERIVE_FILE;

	f->verify_checksum = !file || w->o->verify_checksum;
	f->zero_checksum_ok = file && w->o->verify_checksum;
	f->zero_length_ok = file;
	f->short_capture_ok = file;
}

static int derive_seed(struct work *w)
{
	const struct options *o = w->o;
	u64 *seed = &w->out->fixed.seed;

	w->out->secret_random =
		o->seed_random || (w->target == DERIVE_NIC && !option_given(o, OPT_seed));
	*seed = o->seed;
	if (w->out->secret_random && getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
		return refuse(w->err, w->err_size, -errno, "no random seed from the kernel: %m");
	return 0;
}

/* The window in steps of the clock: nanoseconds, or records. */
static u64 wanted_window(const struct options *o)
{
	if (o->window_records)
		return o->window_records;
	if (option_given(o, OPT_window))
		return o->window;
	return o->key == XDD_KEY_redundancy ? REDUNDANCY_WINDOW_NS : DERIVE_WINDOW_NS;
}

static int too_many_ticks(struct work *w, u64 window)
{
	char text[UNITS_TEXT_MAX];

	if (w->o->window_records)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--window-records %" PRIu64 " cannot be cut into %u ticks of at "
			      "least 1 record: fewer --ticks or more records",
			      (uint64_t)window, w->o->ticks);
	return refuse(w->err, w->err_size, -ERANGE,
		      "--window %s cannot be cut into %u ticks of at least 1 ns: "
		      "fewer --ticks or a longer --window",
		      units_time_text(window, text), w->o->ticks);
}

/* Of the last N records the one at hand is one, so the window reaches N - 1 back; a time is
 * inclusive.
 */
static int derive_window(struct work *w)
{
	const struct options *o = w->o;
	struct derived *out = w->out;
	u32 ticks = o->ticks ?: DERIVE_TICKS;
	u64 window = wanted_window(o), reach = window - !!o->window_records;

	if (xdd_engine_has_bits(out->fixed.engine)) {
		out->fixed.tick_ns = 1;
		out->live.window_ticks = 1;
		return 0;
	}
	if (window < ticks && o->ticks)
		return too_many_ticks(w, window);
	if (window < ticks)
		ticks = window;
	out->fixed.tick_ns = window / ticks;
	out->live.window_ns = reach;
	out->live.window_ticks = ticks;
	out->window_records = o->window_records;
	out->window_ns = reach;
	out->sure_ns = reach;
	if (xdd_engine_has_timers(out->fixed.engine)) {
		out->window_ns = out->fixed.tick_ns * ticks;
		out->sure_ns = out->fixed.tick_ns * (ticks - 1);
	}
	return 0;
}

bool derive_room(struct work *w, u64 bytes)
{
	bool fits = w->out->memory_bytes + w->beside + bytes <= w->available;

	w->beside += fits ? bytes : 0;
	return fits;
}

void derive_warn(struct derived *out, const char *text)
{
	size_t used = strlen(out->warning);

	snprintf(out->warning + used, sizeof(out->warning) - used, "%s%s", used ? "; " : "", text);
}

/* The coarse clock moves in steps: no finer tick can come from it. */
static void derive_clock(struct work *w)
{
	struct derived *out = w->out;
	u64 step = derive_coarse_step_ns();
	bool coarse_fits = out->fixed.tick_ns >= step;

	out->fixed.clock = XDD_CLOCK_exact;
	if (w->target == DERIVE_FILE)
		return;
	if (w->o->clock == XDD_CLOCK_coarse || (w->o->clock == OPTION_AUTO && coarse_fits))
		out->fixed.clock = XDD_CLOCK_coarse;
	if (out->fixed.clock == XDD_CLOCK_coarse)
		out->clock_step_ns = step;
	if (w->o->clock == XDD_CLOCK_coarse && !coarse_fits)
		derive_warn(out, "the coarse clock's steps are longer than a tick: "
				 "the window is uncertain by one step");
}

/* Shared, unless everything surely arrives on one CPU; the exact engine is one hash. */
static int derive_placement(struct work *w)
{
	struct derived *out = w->out;
	bool one_queue = w->n_ifaces == 1 && w->n_rx_queues_max == 1;
	bool exact = out->fixed.engine == XDD_ENGINE_exact;

	if (exact && w->o->placement == XDD_PLACEMENT_percpu)
		return refuse(w->err, w->err_size, -EINVAL,
			      "--placement percpu: engine exact is one hash that all CPUs share; "
			      "leave the option out, or use another --engine");
	if (w->o->placement == XDD_PLACEMENT_tree) {
		int err = derive_tree(w);

		if (err)
			return err;
	} else if (w->target == DERIVE_FILE || exact)
		out->fixed.placement = XDD_PLACEMENT_shared;
	else if (w->o->placement != OPTION_AUTO)
		out->fixed.placement = w->o->placement;
	else
		out->fixed.placement = one_queue ? XDD_PLACEMENT_percpu : XDD_PLACEMENT_shared;
	if (out->fixed.placement == XDD_PLACEMENT_percpu && !one_queue)
		derive_warn(out, "percpu: a copy that arrives on another CPU than the first one "
				 "will not be found; --placement shared finds it");
	out->fixed.stripes = out->fixed.placement == XDD_PLACEMENT_percpu ? 1 : DERIVE_STRIPES;
	return 0;
}

double derive_fpr_target(const struct work *w)
{
	return option_given(w->o, OPT_fpr_target) ? w->o->fpr_target : DERIVE_FPR;
}

static bool is_sliced(const struct work *w)
{
	return xdd_engine_is_sliced(w->out->fixed.engine);
}

/* Lines for --capacity, on all CPUs. */
static double lines_for_capacity(const struct work *w)
{
	if (is_sliced(w))
		return derive_sliced_lines(w);
	if (w->out->fixed.engine == XDD_ENGINE_recovery)
		return (double)w->o->capacity * XDD_RECOVERY_WAYS;
	return ceil((double)w->o->capacity / TAGGED_KEYS_PER_LINE);
}

/* What of the filter is here: of a site its slices, and of who asks sites, or a leaf of theirs, nothing. */
static double share_here(const struct options *o)
{
	if (o->sites || o->leaf)
		return 0;
	return o->slice_end ? (double)(o->slice_end - o->slice_first) / o->slices : 1;
}

static int too_much_memory(const struct work *w, double bytes)
{
	char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
	u64 rounded = bytes < (double)UINT64_MAX ? (u64)bytes : UINT64_MAX;

	return refuse(w->err, w->err_size, -ENOMEM,
		      "%s would take %s, but %s of memory are free: give %sa smaller %s",
		      w->share < 1 ? "these slices of the filter" : "the filter",
		      units_size_text(rounded, needed), units_size_text(w->available, there),
		      w->share < 1 ? "this site fewer of them, or " : "",
		      option_given(w->o, OPT_capacity) ? "--capacity" : "--memory");
}

static int too_many_lines(const struct work *w, double lines)
{
	return refuse(w->err, w->err_size, -ERANGE,
		      "the filter would have %.0f lines of 64 bytes, 4294967295 are possible: "
		      "less than 256GiB",
		      lines);
}

/* The filter's size in bytes as asked for, on all CPUs. */
static int wanted_bytes(const struct work *w, double per_key, u64 *bytes)
{
	const struct options *o = w->o;
	double wanted = DEFAULT_MEMORY;

	if (option_given(o, OPT_memory))
		wanted = o->memory;
	else if (option_given(o, OPT_capacity))
		wanted = per_key ? o->capacity * per_key : lines_for_capacity(w) * XDD_LINE_BYTES;
	if (wanted * w->share > (double)w->available)
		return too_much_memory(w, wanted * w->share);
	if (wanted >= 0x1p63)
		return too_many_lines(w, wanted / XDD_LINE_BYTES);
	*bytes = wanted;
	return 0;
}

static u64 exact_key_bytes(const struct work *w)
{
	u32 key = w->out->fixed.key;

	if (w->target == DERIVE_FILE)
		return DERIVE_EXACT_FILE_BYTES;
	if (key == XDD_KEY_packet || key == XDD_KEY_frame || key == XDD_KEY_offset)
		return DERIVE_EXACT_DIGEST_BYTES;
	return DERIVE_EXACT_FLOW_BYTES;
}

/* No lines: the kernel's LRU hash, or a table on the host that grows up to memory_bytes. */
static int derive_exact(struct work *w)
{
	struct derived *out = w->out;
	bool sized = option_given(w->o, OPT_memory) || option_given(w->o, OPT_capacity);
	u64 per_key = exact_key_bytes(w), bytes = w->available / 2;
	int err;

	out->fixed.slicing = XDD_SLICING_none;
	out->fixed.slices = 1;
	out->fixed.blocks = 1;
	out->fixed.lines_per_block = 1;
	if (w->target == DERIVE_NIC || sized) {
		err = wanted_bytes(w, per_key, &bytes);
		if (err)
			return err;
	}
	if (bytes / per_key > UINT32_MAX && w->target == DERIVE_NIC)
		return refuse(w->err, w->err_size, -ERANGE,
			      "engine exact holds at most 4294967295 keys on a NIC: smaller %s",
			      option_given(w->o, OPT_capacity) ? "--capacity" : "--memory");
	if (w->target == DERIVE_FILE && option_given(w->o, OPT_memory) && bytes < STORE_LEAST_BYTES)
		return refuse(w->err, w->err_size, -ERANGE,
			      "engine exact takes at least %zuKiB: more --memory, or another "
			      "engine",
			      STORE_LEAST_BYTES / 1024);
	out->memory_bytes = bytes < per_key ? per_key : bytes;
	out->capacity_keys = out->memory_bytes / per_key;
	if (w->target == DERIVE_NIC)
		out->exact_entries = out->capacity_keys;
	return 0;
}

/* Memory of @blocks blocks of each filter: in maps for each CPU whole values, in others lines. */
static u64 blocks_bytes(const struct work *w, u64 blocks)
{
	const struct xdd_fixed *f = &w->out->fixed;
	u64 filters = derive_filters(w), percpu = 0;

	if (w->target == DERIVE_NIC && f->placement != XDD_PLACEMENT_shared)
		percpu = w->cpus;
	return blocks * (percpu * XDD_CPU_BLOCK_BYTES +
			 (filters - percpu) * f->lines_per_block * XDD_LINE_BYTES * xdd_filters(f));
}

/* Lines of a filter, in blocks as large as a value can be where it is a CPU's, or of a line. What
 * --capacity takes is divided by the CPUs; but every node of a tree is as large as its root. Where
 * filters lie side by side, --memory is that of all of them, and @bytes for --capacity that of one.
 */
static int derive_blocks(struct work *w, u64 bytes)
{
	struct derived *out = w->out;
	struct xdd_fixed *f = &out->fixed;
	bool percpu = w->target == DERIVE_NIC && f->placement != XDD_PLACEMENT_shared;
	u64 beside = xdd_filters(f), copies = derive_filters(w), usable, blocks;
	u64 block = percpu ? XDD_CPU_BLOCK_BYTES : XDD_LINE_BYTES * beside;

	f->lines_per_block = percpu ? XDD_CPU_BLOCK_LINES / beside : 1;
	usable = f->lines_per_block * XDD_LINE_BYTES;
	if (option_given(w->o, OPT_capacity)) {
		if (f->placement == XDD_PLACEMENT_percpu)
			usable *= copies;
		blocks = (bytes + usable - 1) / usable;
	} else {
		bytes /= copies;
		blocks = bytes / block ?: 1;
	}
	if (is_sliced(w) && !percpu)
		blocks = derive_sliced_blocks(w, bytes / beside, blocks);
	out->lines = blocks * f->lines_per_block;
	if (out->lines > UINT32_MAX || (f->placement == XDD_PLACEMENT_tree &&
					out->lines * (copies - percpu * w->cpus) > UINT32_MAX))
		return too_many_lines(w, out->lines);
	f->blocks = blocks;
	out->memory_bytes = blocks_bytes(w, blocks);
	if (out->memory_bytes * w->share > (double)w->available)
		return too_much_memory(w, out->memory_bytes * w->share);
	return 0;
}

/* tagged, and k filters in line: a line each; the others have one. */
static int derive_slices(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	if (is_sliced(w))
		return derive_sliced(w);
	f->slices = f->slicing == XDD_SLICING_horizontal ? w->out->lines : 1;
	return 0;
}

/* What the filter is good for; on per-CPU placement the keys are taken as evenly spread. */
static void derive_capacity(struct work *w)
{
	struct derived *out = w->out;
	u64 copies = out->fixed.placement == XDD_PLACEMENT_percpu ? w->cpus : 1;

	if (is_sliced(w))
		derive_sliced_capacity(w);
	if (out->fixed.engine == XDD_ENGINE_recovery)
		out->capacity_keys = w->o->capacity ?: out->lines / XDD_RECOVERY_WAYS * copies;
	if (out->fixed.engine != XDD_ENGINE_tagged)
		return;
	out->capacity_keys = w->o->capacity ?: out->lines * TAGGED_KEYS_PER_LINE * copies;
	out->fpr_model = model_tagged((double)out->capacity_keys / copies, out->lines);
}

static void derive_slicing(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	f->slicing = XDD_SLICING_horizontal;
	if (f->engine == XDD_ENGINE_recovery)
		f->slicing = XDD_SLICING_none;
	/* Files are for the papers' numbers; a NIC is for one access to memory. */
	if (xdd_engine_has_bits(f->engine) &&
	    !(w->target == DERIVE_NIC && xdd_engine_is_lined(f->engine)))
		f->slicing = XDD_SLICING_none;
	/* Each slice grows by itself, so there are few. */
	if (w->o->grow)
		f->slicing = w->o->slices > 1 ? XDD_SLICING_horizontal : XDD_SLICING_none;
	if (w->o->slicing == OPTION_AUTO)
		return;
	f->slicing = w->o->slicing;
	f->slice_hashes = w->o->slice_hashes;
	if (f->slicing == XDD_SLICING_K1xK2)
		f->hashes = w->o->slice_hashes * w->o->slice_cells;
	if (f->slicing == XDD_SLICING_hv || f->slicing == XDD_SLICING_vh)
		f->subslices = w->o->subslices;
}

/* Known only once k is. */
static int derive_equal(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	if (w->o->equal > f->hashes)
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--equal %u: a key has %u timers, as --hashes or --slicing K1xK2 says: "
			"give at most so many",
			w->o->equal, f->hashes);
	f->equal = w->o->equal;
	return 0;
}

/* Known only once k is. */
static int derive_faults(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	if (w->o->fault_policy && !xdd_engine_may_fail(f->engine))
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--fault-policy is for --engine tagged, timer and bloom, whose slices "
			"may fail");
	if (w->o->vote > f->hashes)
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--fault-policy vote:%u: a key has %u cells, as --hashes or --slicing "
			"K1xK2 says: give at most so many",
			w->o->vote, f->hashes);
	f->fault_policy = w->o->fault_policy;
	f->vote = w->o->vote;
	return 0;
}

static int derive_filter(struct work *w)
{
	struct derived *out = w->out;
	const struct options *o = w->o;
	u64 bytes;
	int err;

	if (out->fixed.engine == XDD_ENGINE_exact)
		return derive_exact(w);
	if (out->fixed.engine == XDD_ENGINE_tagged && option_given(o, OPT_fpr_target) &&
	    o->fpr_target < model_tagged_full())
		return refuse(w->err, w->err_size, -ERANGE,
			      "--fpr-target %g: engine tagged reaches %.1g; --engine exact reaches "
			      "any",
			      o->fpr_target, model_tagged_full());
	derive_slicing(w);
	derive_growth_kind(w);
	err = derive_equal(w);
	if (!err)
		err = derive_faults(w);
	if (!err)
		err = wanted_bytes(w, 0, &bytes);
	if (!err && out->fixed.engine == XDD_ENGINE_recovery && bytes < RECOVERY_LEAST_BYTES)
		bytes = RECOVERY_LEAST_BYTES;
	if (!err)
		err = derive_blocks(w, bytes);
	if (!err)
		err = derive_slices(w);
	if (!err)
		err = derive_growth(w);
	if (!err && xdd_engine_has_bits(out->fixed.engine))
		err = derive_bits(w);
	if (!err)
		derive_capacity(w);
	return err;
}

void derive_repeats(const struct options *o, struct xdd_live *live)
{
	live->ambiguous_pass = (live->ambiguous_pass & ~o->ambiguous.named) | o->ambiguous.pass;
	if (option_given(o, OPT_max_suppress))
		live->max_suppress = o->max_suppress;
	if (option_given(o, OPT_top_suppressed))
		live->top = o->top_suppressed;
}

static void derive_live(struct work *w)
{
	const struct options *o = w->o;
	struct xdd_live *live = &w->out->live;

	live->abi = XDD_ABI;
	live->action = o->action;
	live->mark_dscp = o->mark_dscp;
	live->mark_meta = o->mark_meta;
	live->forward = o->forward != NULL;
	live->top = o->top_suppressed;
	derive_repeats(o, live);
}

int derive_config(const struct options *o, enum derive_target target, unsigned int n_ifaces,
		  unsigned int n_rx_queues_max, unsigned int possible_cpus, struct derived *out,
		  char *err, size_t err_size)
{
	struct work w = {
		.o = o,
		.target = target == DERIVE_NIC ? DERIVE_NIC : DERIVE_FILE,
		.simulated = target == DERIVE_SIMULATION,
		.n_ifaces = n_ifaces,
		.n_rx_queues_max = n_rx_queues_max,
		.cpus = possible_cpus ?: 1,
		.available = derive_memory_available(),
		.share = share_here(o),
		.out = out,
		.err = err,
		.err_size = err_size,
	};
	int ret;

	memset(out, 0, sizeof(*out));
	if (target == DERIVE_NIC && (!n_ifaces || n_ifaces > XDD_MAX_IFACES))
		return refuse(err, err_size, -EINVAL,
			      "an instance has 1 to %d interfaces, not %u: load the others under "
			      "another --name",
			      XDD_MAX_IFACES, n_ifaces);
	derive_kinds(&w);
	derive_tunnels(&w);
	derive_policy(&w);
	derive_checks(&w);
	derive_live(&w);
	ret = derive_seed(&w);
	if (!ret)
		ret = derive_window(&w);
	if (ret)
		return ret;
	derive_clock(&w);
	ret = derive_placement(&w);
	if (!ret)
		ret = derive_filter(&w);
	if (!ret)
		ret = derive_replicas(&w);
	if (!ret)
		ret = derive_watch(&w);
	if (!ret)
		ret = derive_collect(&w);
	if (!ret) {
		derive_audit(&w);
		derive_tree_note(&w);
	}
	return ret;
}
