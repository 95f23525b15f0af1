/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/service.h"

#include <stdint.h>
#include <systemd/sd-daemon.h>

#include "user/clock.h"

void service_ready(const char *status)
{
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void service_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)now_ns() / 1000);
}

/* Four times in a period, so that one that comes late does no harm. */
void service_alive(void)
{
	static u64 due_ns;
	uint64_t period_us;
	u64 now = now_ns();

	if (now < due_ns || sd_watchdog_enabled(0, &period_us) <= 0)
		return;
	due_ns = now + period_us * 1000 / 4;
	sd_notify(0, "WATCHDOG=1");
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}
