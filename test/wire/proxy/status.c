#include "status.h"

#include "base/str.h"

static const char *usual(int code)
{
    static const struct {
        int code;
        const char *reason;
    } all[] = {{400, "BadRequest"},    {401, "Unauthorized"},
               {403, "Forbidden"},     {404, "NotFound"},
               {409, "Conflict"},      {410, "Expired"},
               {422, "Invalid"},       {429, "TooManyRequests"},
               {500, "InternalError"}, {503, "ServiceUnavailable"},
               {504, "Timeout"}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(all); i++)
        if (all[i].code == code)
            return all[i].reason;
    return "Unknown";
}

void fp_status_write(struct rco_json_writer *w, int code, const char *reason, const char *cause)
{
    rco_json_begin_object(w);
    rco_json_kv_string(w, "kind", "Status");
    rco_json_kv_string(w, "apiVersion", "v1");
    rco_json_kv_object(w, "metadata");
    rco_json_end_object(w);
    rco_json_kv_string(w, "status", "Failure");
    rco_json_kv_string(w, "message", "made up by a test");
    rco_json_kv_string(w, "reason", *reason ? reason : usual(code));
    if (*cause) {
        rco_json_kv_object(w, "details");
        rco_json_kv_array(w, "causes");
        rco_json_begin_object(w);
        rco_json_kv_string(w, "reason", cause);
        rco_json_end_object(w);
        rco_json_end_array(w);
        rco_json_kv_int(w, "retryAfterSeconds", 1);
        rco_json_end_object(w);
    }
    rco_json_kv_int(w, "code", code);
    rco_json_end_object(w);
}

void fp_status_answer(const struct fp_rule *rule, struct rco_buf *out)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &body);
    fp_status_write(&w, rule->status, rule->reason, rule->cause);
    rco_buf_addf(out, "HTTP/1.1 %d Made Up\r\nContent-Type: application/json\r\n", rule->status);
    if (*rule->retry)
        rco_buf_addf(out, "Retry-After: %s\r\n", rule->retry);
    rco_buf_addf(out, "Content-Length: %zu\r\n\r\n", body.len);
    rco_buf_add(out, body.data, body.len);
}
