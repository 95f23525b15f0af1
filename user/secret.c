// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/message.h"

#define FILE_LEAST 32
#define FILE_MOST (64u * 1024)

void secret_from_seed(struct xdd_secret *secret, u64 seed)
{
	u64 *word = (u64 *)secret;

	/* splitmix64 */
	for (size_t i = 0; i < sizeof(*secret) / sizeof(*word); i++)
		word[i] = xdd_mix64(seed += XDD_GOLDEN);
}

int secret_random(struct xdd_secret *secret)
{
	u8 *at = (u8 *)secret;
	size_t left = sizeof(*secret);

	while (left) {
		ssize_t got = getrandom(at, left, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		at += got;
		left -= got;
	}
	return 0;
}

/* SipHash-2-4 of @size bytes, its 128-bit form, under the key in @key->sip. */
static struct xdd_digest sip(const struct xdd_secret *key, const void *bytes, size_t size)
{
	struct xdd_hash hash;
	u64 word;

	xdd_hash_start(&hash, XDD_HASH_siphash, true, key, 0);
	for (size_t at = 0; at < size; at += sizeof(word)) {
		word = 0;
		memcpy(&word, (const u8 *)bytes + at,
		       size - at < sizeof(word) ? size - at : sizeof(word));
		xdd_sip_word(hash.v, word);
	}
	xdd_sip_word(hash.v, size);
	return xdd_sip_finish(&hash, true);
}

/* A key from all the bytes, and every word of the secret from that key and its number. */
static void expand(struct xdd_secret *secret, const void *bytes, size_t size)
{
	struct xdd_secret key = { .sip = { XDD_P1, XDD_P2 } };
	struct xdd_digest digest = sip(&key, bytes, size);
	u64 *word = (u64 *)secret;

	key.sip[0] = digest.lo;
	key.sip[1] = digest.hi;
	for (u64 i = 0; i < sizeof(*secret) / sizeof(*word); i++)
		word[i] = sip(&key, &i, sizeof(i)).lo;
	explicit_bzero(&key, sizeof(key));
}

static int read_whole(int fd, u8 *to, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while (used < size) {
		got = read(fd, to + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		used += got;
	}
	return 0;
}

static int check_file(const struct stat *st, const char *file, char *err, size_t err_size)
{
	if (!S_ISREG(st->st_mode))
		return refuse(err, err_size, -EINVAL, "--secret-file %s is not a file", file);
	if (st->st_mode & 077)
		return refuse(
			err, err_size, -EPERM,
			"--secret-file %s: others than its owner have rights to it: chmod 600 %s",
			file, file);
	if (st->st_size < FILE_LEAST || st->st_size > FILE_MOST)
		return refuse(err, err_size, -EINVAL,
			      "--secret-file %s has %lld bytes: it is to have %d to %u: head -c %d "
			      "/dev/urandom >%s",
			      file, (long long)st->st_size, FILE_LEAST, FILE_MOST, FILE_LEAST,
			      file);
	return 0;
}

static int expand_file(struct xdd_secret *secret, int fd, const char *file, char *err,
		       size_t err_size)
{
	struct stat st;
	int code = fstat(fd, &st) ? -errno : check_file(&st, file, err, err_size);
	u8 *bytes;

	if (code)
		return code;
	bytes = malloc(st.st_size);
	code = bytes ? read_whole(fd, bytes, st.st_size) : -ENOMEM;
	if (!code)
		expand(secret, bytes, st.st_size);
	if (bytes)
		explicit_bzero(bytes, st.st_size);
	free(bytes);
	errno = -code;
	return code ? refuse(err, err_size, code, "--secret-file %s: %m", file) : 0;
}

int secret_from_file(struct xdd_secret *secret, const char *file, char *err, size_t err_size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code;

	if (fd < 0)
		return refuse(err, err_size, -errno, "--secret-file %s: %m", file);
	code = expand_file(secret, fd, file, err, err_size);
	close(fd);
	return code;
}
