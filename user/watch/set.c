// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/set.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/accessors.h"
#include "user/clock.h"
#include "user/loader/mapped.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/peer_words.h"
#include "user/watch/journal.h"
#include "user/watch/trust.h"
#include "xdd/event.h"

static u64 words_of(const struct instance *in)
{
	return (in->fixed.watch_bits + 63ull) / 64;
}

void watch_set_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, WATCH_FOLDER "/%s.xdw", name);
}

/* What a state file of this very instance says: its map's id, which no other has until the next boot, and
 * when it was loaded.
 */
static struct watch_about state_of(const struct instance *in)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(in->maps.watch, &info, &size))
		info.id = 0;
	return (struct watch_about){ WATCH_OF_instance, in->fixed.hash,
				     xdd_mix64(in->meta.loaded_s << 32 ^ info.id) };
}

u64 watch_set_id(const struct instance *in)
{
	return state_of(in).seed;
}

/* @map: of as many words as the level has. */
static bool is_empty(const u64 *map, u64 words)
{
	for (u64 i = 0; i < words; i++)
		if (map[i])
			return false;
	return true;
}

static size_t map_bytes(const struct instance *in)
{
	return words_of(in) * sizeof(u64);
}

static void put_new(struct watch_set *set)
{
	for (u64 i = 0; i < words_of(set->in); i++)
		mapped_store(&set->map[i], set->map[i] | set->acbf.first[i]);
}

static void put_all(struct watch_set *set)
{
	for (u64 i = 0; i < words_of(set->in); i++)
		mapped_store(&set->map[i], set->acbf.first[i]);
}

/* Files that writers which were killed left: the caller has the lock. */
static void remove_leftovers(void)
{
	DIR *folder = opendir(WATCH_FOLDER);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, ".xdp-dedup-", 11))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static int save_state(struct watch_set *set, const struct watch_print *must, char *err,
		      size_t err_size)
{
	int rc = trust_folder(err, err_size);
	char why[MESSAGE_MAX];
	mode_t mask;

	if (rc)
		return rc;
	remove_leftovers();
	if (trust_path(set->path, why, sizeof(why)) == -EACCES)
		unlink(set->path); /* what takes a file's place has its permissions */
	mask = umask(S_IRWXG | S_IRWXO);
	rc = watch_file_replace(&set->acbf, &set->about, set->path, must, &set->print);
	umask(mask);
	if (rc == -EILSEQ)
		return refuse(err, err_size, rc, "%s: its watch set would become another one",
			      set->in->name);
	errno = -rc;
	return rc ? refuse(err, err_size, rc, "%s: cannot be written: %m", set->path) : 0;
}

static int lost(const struct watch_set *set, char *err, size_t err_size)
{
	return refuse(
		err, err_size, -ENODATA,
		"%s: the state of its watch set, %s, is lost: its keys are watched, but can be "
		"neither deleted nor counted: xdp-dedup watch %s clear, then load them again",
		set->in->name, set->path, set->in->name);
}

/* The state file: a damaged one, and that of an instance that had the name before, count as none. */
static int load_state(struct watch_set *set, char *err, size_t err_size)
{
	const struct xdd_fixed *fixed = &set->in->fixed;
	struct watch_about found;
	int rc = trust_path(set->path, err, err_size);

	if (rc == -EACCES)
		return rc;
	rc = watch_file_load(&set->acbf, &found, set->path, err, err_size);
	if (!rc && watch_about_same(&found, &set->about) && set->acbf.bits == fixed->watch_bits &&
	    set->acbf.hashes == fixed->watch_hashes)
		return watch_file_print(set->path, &set->print)
			       ? refuse(err, err_size, -EIO, "%s: cannot be read again", set->path)
			       : 0;
	if (rc && rc != -ENOENT && rc != -EBADMSG && rc != -EPROTONOSUPPORT)
		return rc;
	acbf_close(&set->acbf);
	if (!is_empty(set->map, words_of(set->in)))
		return lost(set, err, err_size);
	rc = acbf_open(&set->acbf, set->in->meta.watch_counters, fixed->watch_hashes,
		       fixed->watch_bits);
	if (rc)
		return refuse(err, err_size, rc, "%s: no memory for its watch set", set->in->name);
	/* There from now on: that it is missing will mean that it is lost. */
	return save_state(set, NULL, err, err_size);
}

static int open_map(struct watch_set *set, const struct instance *in, char *err, size_t err_size)
{
	*set = (struct watch_set){ .in = in, .about = state_of(in), .map_bytes = map_bytes(in) };
	watch_set_path(set->path, in->name);
	set->map = mapped_open(in->maps.watch, set->map_bytes, true);
	return set->map ? 0
			: refuse(err, err_size, -errno, "%s: its map watch cannot be mapped: %m",
				 in->name);
}

int watch_set_open(struct watch_set *set, const struct instance *in, char *err, size_t err_size)
{
	int rc = open_map(set, in, err, err_size) ?: load_state(set, err, err_size);

	if (rc)
		watch_set_close(set);
	else
		put_all(set);
	return rc;
}

void watch_set_close(struct watch_set *set)
{
	acbf_close(&set->acbf);
	mapped_close(set->map, set->map_bytes);
	set->map = NULL;
	free(set->done.key);
	set->done = (struct watch_done){};
}

/* What was done is noted where a record can hold it. */
static void note_done(struct watch_done *done, u32 what, const struct watch_key *keys, size_t n)
{
	u32 room = done->room;

	if (done->n && done->what != what)
		done->other = true;
	if (done->other || n > JOURNAL_KEYS_MAX - done->n) {
		done->other = true;
		return;
	}
	while (room < done->n + n)
		room = room ? 2 * room : 64;
	if (room > done->room) {
		u64 *key = reallocarray(done->key, room, sizeof(*key));

		done->other = !key;
		if (!key)
			return;
		done->key = key;
		done->room = room;
	}
	done->what = what;
	for (size_t i = 0; i < n; i++)
		done->key[done->n++] = keys[i].key;
}

static void next_key(void *to, const struct acbf *a, u64 *positions)
{
	const struct watch_key **keys = to, *key = (*keys)++;
	const struct xdd_digest digest = { .lo = key->key };

	acbf_positions(a, &digest, positions);
}

static int each(struct watch_set *set, bool add, const struct watch_key *keys, size_t n, size_t *at)
{
	int rc;

	*at = acbf_update(&set->acbf, add, n, next_key, &keys, &rc);
	return rc;
}

int watch_set_add(struct watch_set *set, const struct watch_key *keys, size_t n, size_t *at)
{
	note_done(&set->done, JOURNAL_add, keys, n);
	return each(set, true, keys, n, at);
}

int watch_set_delete(struct watch_set *set, const struct watch_key *keys, size_t n, size_t *at)
{
	note_done(&set->done, JOURNAL_delete, keys, n);
	return each(set, false, keys, n, at);
}

int watch_set_merge(struct watch_set *set, struct acbf *from)
{
	set->done.other = true;
	return acbf_merge(&set->acbf, from);
}

/* @before: the print of the state that was changed. */
static void tell_journal(struct watch_set *set, struct watch_print before)
{
	const struct watch_done *done = &set->done;
	const struct journal_head head = { done->what, done->n, before, set->print };

	if (done->other)
		journal_break(set->in->name);
	else if (done->n)
		journal_append(set->in->name, &head, done->key);
	set->done.n = 0;
	set->done.other = false;
}

/* The state is what the set has in memory, or the map as the state has it. */
static int commit(struct watch_set *set, const struct watch_print *must, char *err, size_t err_size)
{
	char more[MESSAGE_MAX];
	int rc;

	put_new(set);
	rc = save_state(set, must, err, err_size);
	if (rc) {
		acbf_close(&set->acbf);
		if (load_state(set, more, sizeof(more)))
			return rc;
	}
	put_all(set);
	return rc;
}

int watch_set_commit(struct watch_set *set, const struct watch_print *must, char *err,
		     size_t err_size)
{
	struct watch_print before = set->print;
	int rc = commit(set, must, err, err_size);

	if (!rc)
		tell_journal(set, before);
	return rc;
}

static int check_size(const struct instance *in, const struct acbf *with, char *err,
		      size_t err_size)
{
	if (with->counters == in->meta.watch_counters && with->bits == in->fixed.watch_bits &&
	    with->hashes == in->fixed.watch_hashes)
		return 0;
	return refuse(err, err_size, -EINVAL, "%s: its watch set has another size", in->name);
}

int watch_set_replace(const struct instance *in, struct acbf *with, const struct watch_print *must,
		      char *err, size_t err_size)
{
	struct watch_set set;
	int rc = open_map(&set, in, err, err_size);

	if (with)
		set.acbf = *with;
	else if (!rc && acbf_open(&set.acbf, in->meta.watch_counters, in->fixed.watch_hashes,
				  in->fixed.watch_bits))
		rc = refuse(err, err_size, -ENOMEM, "%s: no memory for its watch set", in->name);
	rc = rc ?: check_size(in, &set.acbf, err, err_size) ?: commit(&set, must, err, err_size);
	if (!rc)
		journal_break(in->name);
	watch_set_close(&set);
	return rc;
}

void watch_set_forget(const char *name)
{
	char path[PATH_MAX];

	watch_set_path(path, name);
	unlink(path);
	journal_remove(name);
	shared_forget(name);
	rmdir(WATCH_FOLDER);
}

/* What decides what a packet's key is, and its hash. */
static struct xdd_fixed key_of(const struct xdd_fixed *f)
{
	struct xdd_fixed key = {
		.key = f->key,
		.hash = f->hash,
		.offset_len = f->offset_len,
		.offset_pos = f->offset_pos,
		.link = f->link,
		.non_ip_frame = f->non_ip_frame,
		.seed = f->hash == XDD_HASH_xxh64 ? f->seed : 0,
		.changed_fields = f->changed_fields,
		.payload_bytes = f->payload_bytes,
		.vlan_key = f->vlan_key,
		.vlan_maps = f->vlan_maps,
		.inner = f->inner,
		.vni_key = f->vni_key,
		/* Of siphash either form has another first half; recovery's keys have no number. */
		.engine = f->engine == XDD_ENGINE_recovery ||
			  (f->hash == XDD_HASH_siphash && xdd_digest_is_wide(f)),
	};

	memcpy(key.vlan_from, f->vlan_from, sizeof(key.vlan_from));
	memcpy(key.vlan_to, f->vlan_to, sizeof(key.vlan_to));
	memcpy(key.tunnel_port, f->tunnel_port, sizeof(key.tunnel_port));
	memcpy(key.tunnel_kind, f->tunnel_kind, sizeof(key.tunnel_kind));
	return key;
}

int watch_set_about(const struct instance *in, struct watch_about *about)
{
	const struct xdd_fixed key = key_of(&in->fixed);
	const u64 *word = (const u64 *)&key;
	struct xdd_secret secret;
	struct xdd_hash hash;
	int rc = program_get_secret(in->maps.rodata, &secret);

	if (rc)
		return rc;
	/* Without the seed it is drawn from: who sees the file is not to know that. */
	xdd_hash_start(&hash, XDD_HASH_siphash, false, &secret, 0);
	for (u32 i = 0; i < sizeof(key) / sizeof(*word); i++)
		xdd_sip_word(hash.v, word[i]);
	*about =
		(struct watch_about){ WATCH_OF_packets, in->fixed.hash,
				      xdd_hash_finish(&hash, XDD_HASH_siphash, false, &secret).lo };
	return 0;
}

/* Whether the map says that there are keys. */
static bool map_has_keys(const struct instance *in)
{
	const u64 *map = mapped_open(in->maps.watch, map_bytes(in), false);
	bool has = map && !is_empty(map, words_of(in));

	mapped_close(map, map_bytes(in));
	return has;
}

void watch_view_read(const struct instance *in, struct watch_view *view)
{
	u64 room = 4 * in->meta.watch_counters - in->fixed.watch_bits;
	const struct watch_about about = state_of(in);
	char path[PATH_MAX], why[MESSAGE_MAX];
	struct watch_header header;

	*view = (struct watch_view){ .there = in->fixed.watch_bits && in->maps.watch >= 0 };
	if (!view->there)
		return;
	view->capacity = room / in->fixed.watch_hashes;
	view->memory_bytes = words_of(in) * sizeof(u64);
	view->shared = !shared_read(in->name, &view->share, &view->sharing) &&
		       view->share.id == about.seed;
	watch_set_path(path, in->name);
	view->doubted = trust_path(path, why, sizeof(why)) == -EACCES;
	if (view->doubted || watch_file_header(&header, path) || header.of != WATCH_OF_instance ||
	    header.seed != about.seed) {
		view->lost = view->doubted || map_has_keys(in);
		return;
	}
	view->keys = header.keys;
	view->fpr = acbf_model_fpr(header.keys, in->fixed.watch_bits, in->fixed.watch_hashes);
}

double watch_view_behind(const struct watch_view *view)
{
	u64 since = view->share.behind_ns;

	if (!view->shared || view->share.role != SHARED_follower)
		return 0;
	return since && now_ns() > since ? (now_ns() - since) / 1e9 : 0;
}

bool watch_view_twins(const struct watch_view *view)
{
	return view->shared && view->sharing && peer_twins_lately(view->share.twin_ns);
}

static void owner_text(const struct watch_view *view, char text[WATCH_SHARE_TEXT])
{
	const struct shared *share = &view->share;
	unsigned long long seq = share->version.seq;

	if (!view->sharing)
		snprintf(text, WATCH_SHARE_TEXT, "had published it as %s: change %llu",
			 share->owner, seq);
	else if (share->told && share->up)
		snprintf(text, WATCH_SHARE_TEXT, "published as %s: change %llu", share->owner, seq);
	else
		snprintf(text, WATCH_SHARE_TEXT, "not published as %s since change %llu: %s",
			 share->owner, seq,
			 !share->up		  ? "no connection to NATS"
			 : watch_view_twins(view) ? "another host has that name"
						  : "it is on its way");
}

/* How far what is held is known to be the owner's: what was not heard for two beats may have changed since. */
static void follower_text(const struct watch_view *view, char text[64])
{
	const struct shared *share = &view->share;
	u64 heard = share->heard_ns, now = now_ns();
	double ago = heard && now > heard ? (now - heard) / 1e9 : 0;

	if (share->up && share->behind_ns)
		snprintf(text, 64, "perhaps not as it is there, for %.1f s",
			 watch_view_behind(view));
	else if (share->up && now - heard <= 2 * share->beat_ns)
		snprintf(text, 64, "as it is there");
	else if (heard)
		snprintf(text, 64, "last heard %.1f s ago%s", ago,
			 share->up ? "" : ", no connection to NATS");
	else
		snprintf(text, 64, "never heard%s", share->up ? "" : ": no connection to NATS");
}

const char *watch_view_share_text(const struct watch_view *view, char text[WATCH_SHARE_TEXT])
{
	const struct shared *share = &view->share;
	unsigned long long refused = share->refused, seq = share->version.seq;
	char state[64];

	if (share->role == SHARED_owner) {
		owner_text(view, text);
		return text;
	}
	follower_text(view, state);
	if (!view->sharing)
		snprintf(text, WATCH_SHARE_TEXT,
			 "followed %s up to change %llu; it is its own as long as no agent runs",
			 share->owner, seq);
	else
		snprintf(text, WATCH_SHARE_TEXT,
			 "follows %s: change %llu, %s; %llu message%s refused", share->owner, seq,
			 state, refused, refused == 1 ? "" : "s");
	return text;
}

json_t *watch_view_share_json(const struct watch_view *view)
{
	const struct shared *share = &view->share;
	u64 heard = share->heard_ns, now = now_ns();

	if (!view->shared)
		return json_null();
	return json_pack(
		"{s:s, s:s, s:b, s:b, s:b, s:b, s:I, s:I, s:f, s:o, s:I, s:I, s:I, s:I, s:I}",
		"role", share->role == SHARED_owner ? "owner" : "follower", "owner", share->owner,
		"agent", view->sharing, "connected", view->sharing && share->up, "published",
		view->sharing && share->up && share->told, "twins", watch_view_twins(view), "epoch",
		(json_int_t)share->version.epoch, "sequence", (json_int_t)share->version.seq,
		"behind_seconds", watch_view_behind(view), "heard_seconds",
		heard && now > heard ? json_real((now - heard) / 1e9) : json_null(), "refused",
		(json_int_t)share->refused, "old", (json_int_t)share->old, "missing",
		(json_int_t)share->missing, "fulls", (json_int_t)share->fulls, "deltas",
		(json_int_t)share->deltas);
}
