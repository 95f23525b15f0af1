/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "user/capture/checked.h"
#include "user/health.h"
#include "user/message.h"

#define ENTRIES_AT_ONCE 1024

static u64 parts_bytes(const struct xdd_fixed *fixed)
{
	return fixed->fault_policy ? xdd_parts(fixed) * sizeof(struct store_part) : 0;
}

static u64 contents_bytes(const struct store_header *h)
{
	if (h->fixed.engine == XDD_ENGINE_exact)
		return (h->used + h->logged) * sizeof(struct store_entry);
	return store_lines_bytes(&h->fixed) + parts_bytes(&h->fixed);
}

/* Of the lines of part @part of @store. */
static u32 part_crc(const struct xdd_store *store, u32 part)
{
	u32 first = xdd_part_first(&store->fixed, part);
	u32 end = xdd_part_first(&store->fixed, part + 1);

	return crc32_z(0, (const u8 *)&store->lines[first],
		       (size_t)(end - first) * sizeof(struct xdd_line));
}

static u32 header_crc(const struct store_header *header, const void *about)
{
	struct store_header h = *header;

	h.crc = 0;
	return crc32_z(crc32_z(0, (const u8 *)&h, sizeof(h)), about, h.about_bytes);
}

/* Writing: the sink's first error is returned by all later calls, too. */
struct writer {
	struct sink *sink;
	u32 crc;
};

static int put(struct writer *w, const void *data, u64 bytes)
{
	return checked_write(w->sink, &w->crc, data, bytes);
}

static void header_fill(struct store_header *h, const struct xdd_store *store, const void *about,
			u32 about_bytes)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, STORE_FILE_MAGIC, sizeof(h->magic));
	h->version = STORE_FILE_VERSION;
	h->abi = XDD_ABI;
	h->about_bytes = about_bytes;
	h->fixed = store->fixed;
	/* The shadow stays behind. */
	h->fixed.audit_threshold = h->fixed.audit_buckets = 0;
	h->window_ns = store->live.window_ns;
	h->window_ticks = store->live.window_ticks;
	h->random = store->random;
	h->loads = store->loads;
	h->size = store->size;
	h->used = store->used;
	h->logged = store->logged;
	h->log_room = store->log_room;
	h->latest_ns = store->latest_ns;
	h->keep_all = store->keep_all;
	h->in_order = store->in_order;
	h->secret = store->secret;
	h->file_bytes = sizeof(*h) + about_bytes + contents_bytes(h) + sizeof(u32);
	h->crc = header_crc(h, about);
}

static int put_entries(struct writer *w, const struct xdd_store *store)
{
	int rc = 0;

	for (size_t i = 0; i < store->size && !rc; i++)
		if (store->entries[i].time_ns != STORE_FREE)
			rc = put(w, &store->entries[i], sizeof(*store->entries));
	return rc ?: put(w, store->log, store->logged * sizeof(*store->log));
}

/* The lines and, where parts may fail, what is known of each. */
static int put_lines(struct writer *w, const struct xdd_store *store)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u32 crc = w->crc;
	int rc = put(w, store->lines, store_lines_bytes(fixed));

	if (!fixed->fault_policy)
		return rc;
	w->crc = crc;
	for (u32 i = 0; i < xdd_parts(fixed) && !rc; i++) {
		const struct xdd_health *health = &store->health[1 + i];
		const struct store_part part = {
			.until_ns = health->until_ns,
			.asked = health->asked,
			.crc = part_crc(store, i),
		};

		rc = put(w, &part, sizeof(part));
	}
	return rc;
}

int store_file_save(const struct xdd_store *store, const void *about, u32 about_bytes,
		    struct sink *sink)
{
	struct writer w = { .sink = sink };
	struct store_header header;
	int rc;

	header_fill(&header, store, about, about_bytes);
	rc = put(&w, &header, sizeof(header)) ?: put(&w, about, about_bytes);
	if (!rc && store->entries)
		rc = put_entries(&w, store);
	else if (!rc)
		rc = put_lines(&w, store);
	if (!rc)
		rc = sink_write(sink, &w.crc, sizeof(w.crc));
	return rc ?: sink_finish(sink) ?: sink_sync(sink) ?: sink_publish(sink);
}

static int get(struct store_file *f, void *data, u64 bytes)
{
	return checked_read(f->fd, &f->crc, data, bytes);
}

static int refuse_header(const struct store_file *f, u64 there, char *err, size_t size)
{
	const struct store_header *h = &f->header;

	if (there < sizeof(h->magic) || memcmp(h->magic, STORE_FILE_MAGIC, sizeof(h->magic)))
		return refuse(err, size, -EBADMSG, "%s: is no filter that --save wrote", f->path);
	if (there < sizeof(*h))
		return refuse(err, size, -EBADMSG, "%s: is cut: restore a complete file", f->path);
	if (h->version != STORE_FILE_VERSION || h->abi != XDD_ABI)
		return refuse(err, size, -EPROTONOSUPPORT,
			      "%s: another version of xdp-dedup saved it (format %u.%u, this is "
			      "%u.%u): start without --restore",
			      f->path, h->version, h->abi, STORE_FILE_VERSION, XDD_ABI);
	return 0;
}

/* The numbers of a header agree with each other and with the file's length. */
static int check_lengths(const struct store_file *f, u64 there, char *err, size_t size)
{
	const struct store_header *h = &f->header;
	u64 most = there / sizeof(struct store_entry);

	if (there < h->file_bytes)
		return refuse(err, size, -EBADMSG,
			      "%s: is cut, %llu of %llu bytes are there: restore a complete file",
			      f->path, (unsigned long long)there,
			      (unsigned long long)h->file_bytes);
	if (there > h->file_bytes)
		return refuse(
			err, size, -EBADMSG,
			"%s: has %llu bytes behind its end: restore a file as --save wrote it",
			f->path, (unsigned long long)(there - h->file_bytes));
	if (h->used > most || h->logged > most || h->used > h->size / 2 ||
	    h->logged > h->log_room || !h->window_ticks || h->window_ticks > XDD_MAX_WINDOW_TICKS ||
	    h->file_bytes != sizeof(*h) + h->about_bytes + contents_bytes(h) + sizeof(u32))
		return refuse(err, size, -EBADMSG, "%s: its sizes contradict each other", f->path);
	return 0;
}

static int damaged(const struct store_file *f, char *err, size_t size)
{
	return refuse(err, size, -EBADMSG,
		      "%s: is damaged, its checksum is wrong: restore another copy, or start "
		      "without --restore",
		      f->path);
}

static int read_header(struct store_file *f, u64 there, char *err, size_t size)
{
	struct store_header *h = &f->header;
	int rc = get(f, h, there < sizeof(*h) ? there : sizeof(*h));

	if (!rc) {
		rc = refuse_header(f, there, err, size);
		if (rc)
			return rc;
		if (h->about_bytes > sizeof(f->about))
			return damaged(f, err, size);
		rc = get(f, f->about, h->about_bytes);
	}
	if (rc == -EBADMSG)
		return refuse(err, size, rc, "%s: is cut: restore a complete file", f->path);
	if (rc)
		return refuse(err, size, rc, "%s: cannot be read: %s", f->path, strerror(-rc));
	if (header_crc(h, f->about) != h->crc)
		return damaged(f, err, size);
	return check_lengths(f, there, err, size);
}

int store_file_open(struct store_file *file, const char *path, char *err, size_t err_size)
{
	struct stat st;

	memset(file, 0, sizeof(*file));
	file->path = path;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &st))
		return refuse(err, err_size, -errno, "%s: cannot be opened: %m", path);
	if (!S_ISREG(st.st_mode))
		return refuse(err, err_size, -EBADMSG,
			      "%s: is no regular file, as a saved filter is", path);
	return read_header(file, st.st_size, err, err_size);
}

static int get_entries(struct store_file *f, struct xdd_store *store, u64 n,
		       int (*take)(struct xdd_store *store, const struct store_entry *entry))
{
	struct store_entry entries[ENTRIES_AT_ONCE];
	int rc = 0;

	while (n && !rc) {
		u64 some = n < ENTRIES_AT_ONCE ? n : ENTRIES_AT_ONCE;

		rc = get(f, entries, some * sizeof(*entries));
		for (u64 i = 0; i < some && !rc; i++)
			rc = take(store, &entries[i]);
		n -= some;
	}
	return rc;
}

static int get_parts(struct store_file *f, struct xdd_store *store)
{
	const struct xdd_fixed *fixed = &f->header.fixed;
	int rc = 0;

	for (u32 i = 0; i < xdd_parts(fixed) && !rc; i++) {
		struct store_part part;

		rc = get(f, &part, sizeof(part));
		if (rc)
			return rc;
		store->health[1 + i].asked = part.asked;
		store->health[1 + i].until_ns = part.until_ns;
		if (part.crc != part_crc(store, i)) {
			health_fail(fixed, store->health, i, HEALTH_CAUSE_content);
			f->damaged++;
		}
	}
	health_changed(fixed, store->health);
	return rc;
}

static int get_lines(struct store_file *f, struct xdd_store *store)
{
	u32 crc = f->crc;
	int rc = get(f, store->lines, store_lines_bytes(&f->header.fixed));

	if (rc || !f->header.fixed.fault_policy)
		return rc;
	f->crc = crc;
	return get_parts(f, store);
}

static int get_contents(struct store_file *f, struct xdd_store *store)
{
	const struct store_header *h = &f->header;
	int rc;

	if (h->fixed.engine != XDD_ENGINE_exact)
		return get_lines(f, store);
	rc = store_resize(store, h->size, h->log_room);
	if (!rc)
		rc = get_entries(f, store, h->used, store_put);
	return rc ?: get_entries(f, store, h->logged, store_log);
}

/* The contents, and the checksum behind them. */
static int fill(struct store_file *f, struct xdd_store *store)
{
	const struct store_header *h = &f->header;
	int rc = get_contents(f, store);
	u32 crc = f->crc, stated;

	store->random = h->random;
	store->loads = h->loads;
	store->secret = h->secret;
	store->latest_ns = h->latest_ns;
	store->keep_all = h->keep_all;
	store->in_order = h->in_order;
	if (!rc)
		rc = get(f, &stated, sizeof(stated));
	if (!rc && stated != crc)
		rc = -EBADMSG;
	return rc;
}

static struct xdd_live live_of(const struct store_header *h)
{
	struct xdd_live live = {
		.abi = h->abi,
		.window_ticks = h->window_ticks,
		.window_ns = h->window_ns,
	};

	return live;
}

int store_file_load(struct store_file *file, struct xdd_store *store, u64 memory_bytes, char *err,
		    size_t err_size)
{
	struct xdd_live live = live_of(&file->header);
	int rc = store_open(store, &file->header.fixed, &live, memory_bytes);

	if (!rc)
		rc = fill(file, store);
	if (!rc)
		return 0;
	store_close(store);
	if (rc == -EBADMSG || rc == -EINVAL) {
		damaged(file, err, err_size);
		return -EBADMSG;
	}
	if (rc == -ENOSPC)
		return refuse(err, err_size, rc,
			      "%s: the filter in it needs more memory: give a larger --memory",
			      file->path);
	return refuse(err, err_size, rc, "%s: cannot be restored: %s", file->path, strerror(-rc));
}

void store_file_close(struct store_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
