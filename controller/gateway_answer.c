#include "gateway_answer.h"

#include "json/writer.h"

static void answer(struct rco_exchange *exchange, int status, const char *message, bool standby)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "message", message);
    if (standby)
        rco_json_kv_bool(&w, "standby", true);
    rco_json_end_object(&w);
    rco_exchange_reply(exchange, status, NULL, body.data, body.len,
                       status == 503 || status == 429 ? 1 : 0);
}

void rco_gateway_answer(struct rco_exchange *exchange, int status, const char *message)
{
    answer(exchange, status, message, false);
}

void rco_gateway_answer_standby(struct rco_exchange *exchange)
{
    rco_exchange_close_after(exchange);
    answer(exchange, 503, "this replica stands by; ask again", true);
}
