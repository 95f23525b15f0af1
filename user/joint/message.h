/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types of messages of joint detection. What is in them is what set.h writes, or a number. */
#ifndef USER_JOINT_MESSAGE_H
#define USER_JOINT_MESSAGE_H

/*
 * X(name, number): numbers are never used again.
 * COUNT  up: keys that the monitor has; down, bfs: the most that one has; smallest-first: whose turn is next
 * BITS   a filter, bit by bit
 * GAPS   a filter by its gaps; down: what the monitor's own has of the common one
 * WORDS  digests; smallest-first, down: before them, whose turn is next
 */
#define JOINT_MESSAGES(X) X(COUNT, 1) X(BITS, 2) X(GAPS, 3) X(WORDS, 4)

#define JOINT_MESSAGE_ENUM(name, number) JOINT_##name = number,
enum joint_message { JOINT_MESSAGES(JOINT_MESSAGE_ENUM) };

#endif
