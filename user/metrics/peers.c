// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/metrics/peers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/loader/instance.h"
#include "user/names.h"
#include "user/peer_words.h"
#include "user/units.h"

#define PEER_STATE_NAME(name, help) #name,
const char *const peer_state_names[] = { XDD_PEER_STATES(PEER_STATE_NAME) NULL };

static int read_hits(const struct instance *in, struct peer_view *peer)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct xdd_peer_hits *hits = cpus > 0 ? calloc(cpus, sizeof(*hits)) : NULL;

	if (!hits)
		return cpus > 0 ? -ENOMEM : cpus;
	if (bpf_map_lookup_elem(in->maps.peer_hits, &peer->number, hits))
		err = -errno;
	for (int i = 0; i < cpus; i++) {
		peer->hits.packets += hits[i].packets;
		peer->hits.bytes += hits[i].bytes;
	}
	free(hits);
	return err;
}

static int read_peer(const struct instance *in, u32 number, u64 believed, struct peers *peers)
{
	struct peer_view *peer = &peers->peer[peers->n];
	int err;

	memset(peer, 0, sizeof(*peer));
	peer->number = number;
	peer->believed = believed >> number & 1;
	if (bpf_map_lookup_elem(in->maps.peers, &number, &peer->about))
		return -errno;
	peer->about.name[XDD_PEER_NAME - 1] = 0;
	if (peer->about.state >= XDD_PEER_STATE_MAX)
		peer->about.state = XDD_PEER_none;
	err = read_hits(in, peer);
	peers->hits += peer->hits.packets;
	peers->believed += peer->believed;
	peers->n += *peer->about.name || peer->hits.packets || peer->believed;
	return err;
}

int peers_read(const struct instance *in, struct peers *peers)
{
	const struct xdd_fixed *fixed = &in->fixed;
	struct xdd_peer_gate gate = {}; /* of a map that an earlier version made it is shorter */
	u32 zero = 0;
	int err = 0;

	memset(peers, 0, sizeof(*peers));
	if (!fixed->peers)
		return 0;
	peers->memory_bytes = xdd_replica_words(fixed) * sizeof(u64);
	if (bpf_map_lookup_elem(in->maps.peer_gate, &zero, &gate))
		return -errno;
	peers->refused = gate.refused;
	peers->twin_ns = gate.twin_ns;
	if (gate.until_ns <= now_ns())
		gate.believed = 0;
	for (u32 i = 0; !err && i < fixed->peers; i++)
		err = read_peer(in, i, gate.believed, peers);
	return err;
}

double peer_age_s(const struct peer_view *peer)
{
	u64 now = now_ns(), then = peer->about.updated_ns;

	if (!then)
		return NAN;
	return now > then ? (now - then) / 1e9 : 0;
}

double peers_fpr(const struct instance *in, const struct peers *peers)
{
	double none = 1;

	if (!in->fixed.peers || in->live.replica_action != XDD_REPLICA_drop)
		return 0;
	for (u32 i = 0; i < peers->n; i++)
		if (peers->peer[i].believed)
			none *= 1 - (double)peers->peer[i].about.predicted_fpr / XDD_RATE_ONE;
	return 1 - none;
}

static double share(u64 part, u64 all)
{
	return all ? (double)part / all : NAN;
}

double peer_fpr_measured(const struct peer_view *peer)
{
	const struct xdd_peer *about = &peer->about;

	return share(about->audit_fp, about->audit_asked);
}

double peer_fnr_measured(const struct peer_view *peer)
{
	const struct xdd_peer *about = &peer->about;

	return share(about->audit_fn, about->audit_asked);
}

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *rates(double fpr, double fnr)
{
	return json_pack("{s:o, s:o}", "fpr", real(fpr), "fnr", real(fnr));
}

static json_t *updates(const struct xdd_peer *about)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "messages", (json_int_t)about->messages,
			 "bytes", (json_int_t)about->bytes, "fulls", (json_int_t)about->fulls,
			 "deltas", (json_int_t)about->deltas, "gaps", (json_int_t)about->gaps,
			 "refused", (json_int_t)about->refused);
}

static json_t *audited(const struct xdd_peer *about)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "asked", (json_int_t)about->audit_asked,
			 "yes", (json_int_t)about->audit_yes, "fp", (json_int_t)about->audit_fp,
			 "fn", (json_int_t)about->audit_fn, "unknown",
			 (json_int_t)about->audit_unknown);
}

static json_t *peer_json(const struct peer_view *peer)
{
	const struct xdd_peer *about = &peer->about;
	double one = XDD_RATE_ONE;

	return json_pack(
		"{s:I, s:s, s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:{s:I, s:I}, s:o, s:o, s:o, s:o}",
		"number", (json_int_t)peer->number, "name", about->name, "state",
		peer_state_names[about->state], "believed", peer->believed, "keys",
		(json_int_t)about->keys, "window_ns", (json_int_t)about->window_ns, "bits",
		about->shift ? (json_int_t)1 << about->shift : 0, "density",
		real(about->density / one), "age_s", real(peer_age_s(peer)), "hits", "packets",
		(json_int_t)peer->hits.packets, "bytes", (json_int_t)peer->hits.bytes, "updates",
		updates(about), "predicted",
		rates(about->predicted_fpr / one, about->predicted_fnr / one), "measured",
		rates(peer_fpr_measured(peer), peer_fnr_measured(peer)), "audit", audited(about));
}

json_t *peers_json(const struct peers *peers)
{
	json_t *all = json_array();

	for (u32 i = 0; i < peers->n; i++)
		json_array_append_new(all, peer_json(&peers->peer[i]));
	return all;
}

json_t *peers_replicas_json(const struct instance *in, const struct peers *peers)
{
	if (!in->fixed.peers)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:f}", "bits",
			 (json_int_t)1 << in->fixed.replica_shift, "hashes",
			 (json_int_t)in->fixed.replica_hashes, "memory_bytes",
			 (json_int_t)peers->memory_bytes, "action",
			 replica_action_names[in->live.replica_action % XDD_REPLICA_MAX], "peers",
			 (json_int_t)in->fixed.peers, "believed", (json_int_t)peers->believed,
			 "hits", (json_int_t)peers->hits, "refused", (json_int_t)peers->refused,
			 "fpr_model", peers_fpr(in, peers));
}

const char *peer_text(const struct peer_view *peer, char text[PEER_TEXT_MAX])
{
	const struct xdd_peer *about = &peer->about;
	char age[UNITS_TEXT_MAX] = "no update yet", keys[UNITS_TEXT_MAX], hits[UNITS_TEXT_MAX];

	if (about->updated_ns)
		units_time_text(peer_age_s(peer) * 1e9, age);
	snprintf(text, PEER_TEXT_MAX, "%s %s%s, %s keys, %s%s, %.2g %% ones, %s hits",
		 *about->name ? about->name : "?", peer_state_names[about->state],
		 peer->believed ? "" : " (not believed)", units_count_text(about->keys, keys), age,
		 about->updated_ns ? " old" : "", 100.0 * about->density / XDD_RATE_ONE,
		 units_count_text(peer->hits.packets, hits));
	return text;
}

bool peer_window_is_longer(const struct instance *in, const struct peer_view *peer)
{
	return peer->about.state == XDD_PEER_mismatched &&
	       xdd_peer_window_is_longer(peer->about.window_ns, in->live.window_ns);
}

/* What stands behind the peer's line, or "". */
static const char *peer_why(const struct instance *in, const struct peer_view *peer,
			    char why[PEER_WINDOWS_MAX])
{
	*why = 0;
	if (peer_window_is_longer(in, peer))
		peer_windows_text(peer->about.window_ns, in->live.window_ns, why);
	return why;
}

void peers_print(const struct instance *in, const struct peers *peers)
{
	char bits[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], text[PEER_TEXT_MAX];
	char why[PEER_WINDOWS_MAX];

	if (!in->fixed.peers)
		return;
	printf("  peers       %u of at most %u, %u believed; replicas of %s bits in %s; %" PRIu64
	       " packets were seen there: %s\n",
	       peers->n, in->fixed.peers, peers->believed,
	       units_count_text(1ULL << in->fixed.replica_shift, bits),
	       units_size_text(peers->memory_bytes, memory), (uint64_t)peers->hits,
	       replica_action_names[in->live.replica_action % XDD_REPLICA_MAX]);
	for (u32 i = 0; i < peers->n; i++)
		printf("              %s%s%s\n", peer_text(&peers->peer[i], text),
		       *peer_why(in, &peers->peer[i], why) ? "; " : "", why);
	if (peers->refused)
		printf("              %" PRIu64
		       " messages refused: damaged, or of one without this "
		       "--secret-file (the agent says whose)\n",
		       (uint64_t)peers->refused);
}

const char *peer_name(const struct instance *in, u32 number, char name[XDD_PEER_NAME])
{
	struct xdd_peer about;

	snprintf(name, XDD_PEER_NAME, "peer %u", number);
	if (in->maps.peers < 0 || bpf_map_lookup_elem(in->maps.peers, &number, &about))
		return name;
	about.name[XDD_PEER_NAME - 1] = 0;
	if (*about.name)
		memcpy(name, about.name, XDD_PEER_NAME);
	return name;
}
