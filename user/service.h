/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a service manager is told (sd_notify(3)); nothing where there is none. */
#ifndef USER_SERVICE_H
#define USER_SERVICE_H

/* It works; @status in words. */
void service_ready(const char *status);

/* It reads its configuration again; service_ready() says when that is done. */
void service_reloading(void);

/* It still works: to be called several times in a period of the watchdog, each time that the loop comes round. */
void service_alive(void);

/* It is about to end. */
void service_stopping(void);

#endif
