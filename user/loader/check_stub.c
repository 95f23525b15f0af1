/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Until user/age/ager.c is there. */
#include <stdio.h>

#include "user/age/ager.h"

__attribute__((weak)) struct ager *ager_open(struct instance *in, char *err, size_t n)
{
	(void)in;
	snprintf(err, n, "no ager yet");
	return NULL;
}
__attribute__((weak)) int ager_step(struct ager *a)
{
	(void)a;
	return 0;
}
__attribute__((weak)) u64 ager_period_ns(const struct ager *a)
{
	(void)a;
	return 100000000;
}
__attribute__((weak)) void ager_close(struct ager *a)
{
	(void)a;
}
