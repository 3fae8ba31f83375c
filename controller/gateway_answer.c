#include "gateway_answer.h"

#include "json/writer.h"

void rco_gateway_answer(struct rco_exchange *exchange, int status, const char *message)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "message", message);
    rco_json_end_object(&w);
    rco_exchange_reply(exchange, status, NULL, body.data, body.len,
                       status == 503 || status == 429 ? 1 : 0);
}
