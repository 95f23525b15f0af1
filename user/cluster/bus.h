/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection to NATS servers, for a loop that must never wait for them: what comes in lies in a
 * bounded queue with a file descriptor to wait for, what goes out in another one. Both drop what they have no
 * room for, and count it. The library's threads touch nothing but these queues.
 *
 * JetStream, where the server has it, keeps what is published with a BUS_keep of its own: see bus_publish() and
 * bus_fetch(). A server without it is no error.
 */
#ifndef USER_CLUSTER_BUS_H
#define USER_CLUSTER_BUS_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

/* Subjects that a bus listens to. */
#define BUS_LISTENS 2

#define BUS_KEPT 2 /* subjects of a store at most */

enum bus_store { BUS_recent, BUS_lasting, BUS_STORES };

#define BUS_SUBJECT_MAX 256 /* bytes of one, its end included */

struct bus;

/* What of the files may be NULL; all is copied. */
struct bus_where {
	const char *url;	/* nats://[USER:PASSWORD@]HOST[:PORT] or tls://..., with commas */
	const char *ca;		/* file of certificates to trust: encrypted, as with tls:// */
	const char *cert, *key; /* files of a client's certificate */
	const char *creds;	/* file of JWT and seed, as nsc writes it */
	const char *client;	/* name of the connection in the server's log */
	/* Subjects to listen to, with wildcards; own messages come back. NULL: no other. */
	const char *listen[BUS_LISTENS];
	size_t most; /* bytes of the longest message that is sent; 0: not known */
	bool at_once; /* send each message as it comes, for who waits for an answer, rather than many together */
	/* Streams that JetStream keeps: their names, and the subjects of each, with wildcards. The second one, if its
	 * name is not NULL, loses nothing by age, nor as the server ends.
	 */
	const char *store[BUS_STORES], *kept[BUS_STORES][BUS_KEPT];
};

enum bus_kind {
	BUS_TROUBLE, /* a connection could not be made: told once for each reason, until BUS_UP */
	BUS_REFUSED, /* the server does not let this user do something: told once for each, until BUS_UP */
	BUS_SMALL, /* after BUS_UP: the server takes no message of more than @length bytes, and longer ones are sent */
	BUS_UP,	     /* connected; JetStream was asked before */
	BUS_DOWN,    /* no longer; no BUS_FETCHED comes of what was asked before */
	BUS_MESSAGE, /* published by someone, be it this process */
	BUS_STORED,  /* one that JetStream kept, after bus_fetch() */
	BUS_FETCHED, /* bus_fetch() of this subject is over: @length messages came before; 0: there are none */
};

struct bus_event {
	enum bus_kind kind;
	const char *subject; /* of BUS_TROUBLE, BUS_REFUSED and BUS_DOWN: why */
	const u8 *bytes;
	size_t length;
};

struct bus_counts {
	u64 connects;	      /* times that it was connected */
	u64 sent, sent_bytes; /* messages that the library took */
	u64 unsent;	      /* dropped: not connected, or more than the queue holds */
	u64 received, received_bytes;
	u64 overrun; /* dropped: more than the queue holds */
	u64 refused; /* errors that the server told, such as a missing right */
	bool up;
	bool keeps[BUS_STORES]; /* JetStream keeps what bus_fetch() asks for */
};

/* Is @url one that bus_open() can use? Returns NULL, or what is wrong with it, without its text: it may hold a
 * password.
 */
const char *bus_url_wrong(const char *url);

/*
 * Connect to one of @where->url, in the background and for ever: with a pause of 100 ms to 4 s between
 * attempts, a quarter of it by chance, so that hosts do not come back at once. Signals that the
 * caller waits for must be blocked before.
 *
 * Returns 0 and *@bus, or a negative errno with one line in @err: a file of @where that cannot be read or has
 * no seed where it must, or no memory.
 */
int bus_open(const struct bus_where *where, struct bus **bus, char *err, size_t err_size);

/* The servers, without passwords, for messages. */
const char *bus_servers(const struct bus *bus);

/* To wait for: readable while bus_next() has something. */
int bus_fd(const struct bus *bus);

/* Take the next thing that came. Its pointers are valid until the next call. Returns whether there was one. */
bool bus_next(struct bus *bus, struct bus_event *event);

/* KEEP: if the subject is kept, behind what is kept of it. INSTEAD: in place of all of that. */
enum bus_keep { BUS_KEEP, BUS_INSTEAD };

/*
 * Publish @length bytes on @subject. Does not wait. Returns 0; -ENOTCONN: there is no connection; -ENOBUFS: the queue
 * is full; -ENOMEM. What was taken may still be lost with the connection.
 */
int bus_publish(struct bus *bus, const char *subject, enum bus_keep keep, const u8 *bytes,
		size_t length);

/* Bytes of bus_publish() that the library has not taken yet. */
size_t bus_pending(const struct bus *bus);

/*
 * Fetch all that @store keeps of @subject, in order. Does not wait: BUS_STORED follows for each message, and then
 * BUS_FETCHED. Returns 0; -EOPNOTSUPP: nothing is kept; -ENOTCONN; -ENOBUFS: too many wait; -ENOMEM.
 */
int bus_fetch(struct bus *bus, enum bus_store store, const char *subject);

struct bus_counts bus_counts(const struct bus *bus);

/* Send what is pending, for half a second at most, and end. NULL is ignored. */
void bus_close(struct bus *bus);

#endif
