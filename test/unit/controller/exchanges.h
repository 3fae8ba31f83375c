/* Exchanges without a server: what is answered is kept. The test program is linked with --wrap for
 * the functions of http/server.h that are defined here. Everything static: one test program each.
 */
#ifndef RCO_TEST_CONTROLLER_EXCHANGES_H
#define RCO_TEST_CONTROLLER_EXCHANGES_H

#include "base/buf.h"
#include "http/server.h"

#include <string.h>

struct rco_exchange {
    void *data;
    int answers; /* how often it was answered */
    int status, retry_after_s;
    bool close_after, vouched;
    char body[512];
};

void __wrap_rco_exchange_reply(struct rco_exchange *exchange, int status, const char *content_type,
                               const char *body, size_t n, int retry_after_s);
void __wrap_rco_exchange_set_data(struct rco_exchange *exchange, void *data);
void *__wrap_rco_exchange_data(const struct rco_exchange *exchange);
void __wrap_rco_exchange_close_after(struct rco_exchange *exchange);
void __wrap_rco_exchange_vouch(struct rco_exchange *exchange);

void __wrap_rco_exchange_reply(struct rco_exchange *exchange, int status, const char *content_type,
                               const char *body, size_t n, int retry_after_s)
{
    size_t kept = n < sizeof exchange->body - 1 ? n : sizeof exchange->body - 1;

    (void)content_type;
    exchange->answers++;
    exchange->status = status;
    exchange->retry_after_s = retry_after_s;
    if (kept)
        memcpy(exchange->body, body, kept);
    exchange->body[kept] = '\0';
}

void __wrap_rco_exchange_set_data(struct rco_exchange *exchange, void *data)
{
    exchange->data = data;
}

void *__wrap_rco_exchange_data(const struct rco_exchange *exchange)
{
    return exchange->data;
}

void __wrap_rco_exchange_close_after(struct rco_exchange *exchange)
{
    exchange->close_after = true;
}

void __wrap_rco_exchange_vouch(struct rco_exchange *exchange)
{
    exchange->vouched = true;
}

/* How many of the N exchanges were answered with STATUS; fails when one was answered twice. */
static RCO_UNUSED int answered_with(const struct rco_exchange *exchanges, size_t n, int status)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        assert_in_range(exchanges[i].answers, 0, 1);
        count += exchanges[i].answers && exchanges[i].status == status;
    }
    return count;
}

#endif
