// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "user/capture/checked.h"
#include "user/message.h"
#include "xdd/config.h"

#define WORDS 8192

static u64 words_of(u64 bits)
{
	return (bits + 63) / 64;
}

static u32 header_crc(const struct watch_header *header)
{
	struct watch_header h = *header;

	h.crc = 0;
	return crc32_z(0, (const u8 *)&h, sizeof(h));
}

/* Words on their way to a file, or from it. */
struct words {
	struct sink *sink;
	int fd;
	u32 crc;
	u32 used, there; /* bits of the last word that were taken; words that were read */
	u64 left;	 /* of the file, before its checksum */
	u64 word[WORDS];
	u32 at;
};

static int put(struct words *w, const void *data, u64 bytes)
{
	return checked_write(w->sink, &w->crc, data, bytes);
}

static int put_words(struct words *w)
{
	int rc = put(w, w->word, w->at * sizeof(u64));

	w->at = 0;
	return rc;
}

/* The next bit of a level. */
static int put_bit(struct words *w, bool bit)
{
	int rc = 0;

	if (!w->used)
		w->word[w->at] = 0;
	w->word[w->at] |= (u64)bit << w->used;
	w->used = (w->used + 1) % 64;
	if (!w->used && ++w->at == WORDS)
		rc = put_words(w);
	return rc;
}

/* The end of a level. */
static int put_end(struct words *w)
{
	w->at += w->used > 0;
	w->used = 0;
	return put_words(w);
}

static int put_level(struct words *w, const struct acbf *a)
{
	int rc = 0;

	for (u32 g = 0; g < a->groups; g++) {
		const struct acbf_group *group = &a->group[g];

		for (u64 i = 0; i < group->part.bits && !rc; i++)
			rc = put_bit(w, string_get(&a->pool, &group->upper, group->part.at + i));
	}
	return rc ?: put_end(w);
}

static u64 file_bytes_of(struct acbf *a)
{
	u64 words = words_of(a->bits);

	for (u64 n = acbf_walk_start(a); n; n = acbf_walk_next(a))
		words += words_of(n);
	return sizeof(struct watch_header) + words * sizeof(u64) + sizeof(u32);
}

static void header_fill(struct watch_header *h, struct acbf *a, const struct watch_about *about)
{
	*h = (struct watch_header){
		.magic = WATCH_FILE_MAGIC,
		.version = WATCH_FILE_VERSION,
		.file_bytes = file_bytes_of(a),
		.counters = a->counters,
		.bits = a->bits,
		.keys = a->keys,
		.used = a->used,
		.seed = about->seed,
		.hashes = a->hashes,
		.hash = about->hash,
		.of = about->of,
	};
	h->crc = header_crc(h);
}

static int put_all(struct words *w, struct acbf *a, const struct watch_header *header)
{
	int rc = put(w, header, sizeof(*header));

	rc = rc ?: put(w, a->first, words_of(a->bits) * sizeof(u64));
	for (u64 n = acbf_walk_start(a); n && !rc; n = acbf_walk_next(a))
		rc = put_level(w, a);
	return rc ?: sink_write(w->sink, &w->crc, sizeof(w->crc));
}

/* @crc: of all before the checksum, as the file has it at its end. */
static struct watch_print print_of(const struct watch_header *h, u32 crc)
{
	u64 levels = h->file_bytes - sizeof(*h) - sizeof(u32);
	u32 of_header = crc32_z(0, (const u8 *)h, sizeof(*h));

	return (struct watch_print){ h->keys, crc ^ crc32_combine64(of_header, 0, levels) };
}

static int save(struct acbf *a, const struct watch_about *about, struct sink *sink,
		const struct watch_print *must, struct watch_print *print)
{
	struct words *w = calloc(1, sizeof(*w));
	struct watch_header header;
	int rc;

	if (!w)
		return -ENOMEM;
	w->sink = sink;
	header_fill(&header, a, about);
	rc = put_all(w, a, &header);
	*print = print_of(&header, w->crc);
	free(w);
	if (!rc && must && !watch_print_same(must, print))
		rc = -EILSEQ;
	return rc ?: sink_finish(sink) ?: sink_sync(sink) ?: sink_publish(sink);
}

int watch_file_save(struct acbf *a, const struct watch_about *about, struct sink *sink)
{
	struct watch_print print;

	return save(a, about, sink, NULL, &print);
}

int watch_file_replace(struct acbf *a, const struct watch_about *about, const char *path,
		       const struct watch_print *must, struct watch_print *print)
{
	struct sink sink;
	int rc = sink_open(&sink, path);

	if (rc)
		return rc;
	rc = save(a, about, &sink, must, print);
	sink_close(&sink);
	return rc;
}

int watch_file_write(struct acbf *a, const struct watch_about *about, const char *path)
{
	struct watch_print print;

	return watch_file_replace(a, about, path, NULL, &print);
}

bool watch_about_same(const struct watch_about *a, const struct watch_about *b)
{
	return a->of == b->of && a->hash == b->hash && a->seed == b->seed;
}

/* As checked_read(), but nothing of the checksum at the end. */
static int get(struct words *w, void *data, u64 bytes)
{
	if (bytes > w->left)
		return -EBADMSG;
	w->left -= bytes;
	return checked_read(w->fd, &w->crc, data, bytes);
}

/* The next bit of a level, of which @left are still to come. */
static int get_bit(struct words *w, u64 left, bool *bit)
{
	int rc = 0;

	if (!w->used && w->at == w->there) {
		w->there = words_of(left) < WORDS ? words_of(left) : WORDS;
		w->at = 0;
		rc = get(w, w->word, w->there * sizeof(u64));
	}
	if (rc)
		return rc;
	*bit = w->word[w->at] >> w->used & 1;
	w->used = (w->used + 1) % 64;
	w->at += !w->used;
	return 0;
}

/* A level of @n bits: each group's part, at the end of its string. Returns 0 or a negative errno. */
static int get_level(struct words *w, struct acbf *a, u64 n)
{
	int rc = 0;

	w->used = w->at = w->there = 0;
	for (u32 g = 0; g < a->groups; g++) {
		struct acbf_group *group = &a->group[g];

		for (u64 i = 0; i < group->part.bits && !rc; i++, n--) {
			bool bit;

			rc = get_bit(w, n, &bit) ?: string_append(&a->pool, &group->upper, bit);
		}
	}
	return rc;
}

static int get_levels(struct words *w, struct acbf *a)
{
	int rc = acbf_loaded_first(a);
	u64 used = 0, n = rc ? 0 : acbf_walk_start(a);
	u32 levels = 1;

	while (n) {
		used += n;
		if (used > a->used || levels++ > ACBF_MAX_COUNT)
			return -EBADMSG;
		rc = get_level(w, a, n);
		if (rc) /* what is there of the level leads nowhere */
			return rc;
		n = acbf_walk_next(a);
	}
	return rc ?: used == a->used && !w->left ? 0 : -EBADMSG;
}

static int get_all(struct words *w, struct acbf *a)
{
	int rc = get(w, a->first, words_of(a->bits) * sizeof(u64));
	u32 crc, stated;

	rc = rc ?: get_levels(w, a);
	crc = w->crc;
	w->left = sizeof(stated);
	rc = rc ?: get(w, &stated, sizeof(stated));
	return rc ?: stated == crc ? 0 : -EBADMSG;
}

static int refuse_header(const struct watch_header *h, u64 there, const char *path, char *err,
			 size_t size)
{
	if (there < sizeof(h->magic) || memcmp(h->magic, WATCH_FILE_MAGIC, sizeof(h->magic)))
		return refuse(err, size, -EBADMSG, "%s: is no watch set that was saved", path);
	if (there < sizeof(*h))
		return refuse(err, size, -EBADMSG, "%s: is cut: give a complete file", path);
	if (h->version != WATCH_FILE_VERSION)
		return refuse(err, size, -EPROTONOSUPPORT,
			      "%s: another version of xdp-dedup saved it (format %u, this is %u): "
			      "make it again",
			      path, h->version, WATCH_FILE_VERSION);
	if (header_crc(h) != h->crc)
		return refuse(err, size, -EBADMSG, "%s: is damaged: make it again", path);
	if (there != h->file_bytes)
		return refuse(err, size, -EBADMSG, "%s: has %llu bytes, but was saved with %llu",
			      path, (unsigned long long)there, (unsigned long long)h->file_bytes);
	return 0;
}

static int load(struct words *w, struct acbf *a, const struct watch_header *h)
{
	int rc;

	w->left = h->file_bytes - sizeof(*h) - sizeof(u32);
	if (h->hash >= XDD_HASH_MAX || h->of >= WATCH_OF_MAX || h->used != h->keys * h->hashes ||
	    words_of(h->bits) > w->left / sizeof(u64))
		return -EBADMSG;
	rc = acbf_open(a, h->counters, h->hashes, h->bits);
	if (rc)
		return rc == -EINVAL ? -EBADMSG : rc;
	a->keys = h->keys;
	a->used = h->used;
	rc = h->used > a->room ? -EBADMSG : get_all(w, a);
	if (rc)
		acbf_close(a);
	return rc;
}

static int read_file(struct words *w, struct acbf *a, struct watch_header *h, const char *path,
		     char *err, size_t size)
{
	struct stat st;
	int rc;

	if (fstat(w->fd, &st) || !S_ISREG(st.st_mode))
		return refuse(err, size, -EBADMSG, "%s: is no regular file, as a saved set is",
			      path);
	w->left = st.st_size;
	rc = get(w, h, w->left < sizeof(*h) ? w->left : sizeof(*h));
	rc = rc ?: refuse_header(h, st.st_size, path, err, size);
	if (rc)
		return rc;
	rc = load(w, a, h);
	if (rc == -EBADMSG)
		return refuse(err, size, rc, "%s: is damaged: make it again", path);
	return rc ? refuse(err, size, rc, "%s: cannot be read: %s", path, strerror(-rc)) : 0;
}

int watch_file_load(struct acbf *a, struct watch_about *about, const char *path, char *err,
		    size_t size)
{
	struct words *w = calloc(1, sizeof(*w));
	struct watch_header header = {};
	int rc;

	if (!w)
		return refuse(err, size, -ENOMEM, "%s: no memory", path);
	w->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0)
		rc = refuse(err, size, -errno, "%s: cannot be opened: %m", path);
	else
		rc = read_file(w, a, &header, path, err, size);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
	*about = (struct watch_about){ header.of, header.hash, header.seed };
	return rc;
}

static bool is_header(const struct watch_header *h)
{
	return !memcmp(h->magic, WATCH_FILE_MAGIC, sizeof(h->magic)) &&
	       h->version == WATCH_FILE_VERSION && header_crc(h) == h->crc;
}

static int read_header(int fd, struct watch_header *header)
{
	u32 crc = 0;

	return checked_read(fd, &crc, header, sizeof(*header)) ?: is_header(header) ? 0 : -EBADMSG;
}

int watch_file_header(struct watch_header *header, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return -errno;
	rc = read_header(fd, header);
	close(fd);
	return rc;
}

int watch_file_print(const char *path, struct watch_print *print)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct watch_header header;
	u32 crc;

	if (fd < 0)
		return -errno;
	rc = read_header(fd, &header);
	if (!rc && (header.file_bytes < sizeof(header) + sizeof(crc) ||
		    pread(fd, &crc, sizeof(crc), header.file_bytes - sizeof(crc)) != sizeof(crc)))
		rc = -EBADMSG;
	close(fd);
	if (!rc)
		*print = print_of(&header, crc);
	return rc;
}

int watch_bytes_print(const u8 *bytes, u64 size, struct watch_print *print,
		      struct watch_header *header)
{
	u32 crc;

	if (size < sizeof(*header) + sizeof(crc))
		return -EBADMSG;
	memcpy(header, bytes, sizeof(*header));
	if (!is_header(header) || header->file_bytes != size)
		return -EBADMSG;
	memcpy(&crc, bytes + size - sizeof(crc), sizeof(crc));
	*print = print_of(header, crc);
	return 0;
}

/* Each level ends in a word that may be nearly empty. */
u64 watch_file_most(u64 counters, u64 bits)
{
	return sizeof(struct watch_header) + sizeof(u32) +
	       sizeof(u64) * (words_of(bits) + words_of(4 * counters - bits) + ACBF_MAX_COUNT + 1);
}
