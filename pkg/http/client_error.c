#include "http/client_internal.h"

#include <string.h>

struct mapping {
    CURLcode from;
    enum rco_code to;
    const char *text; /* NULL = curl's */
};

/* Anything not listed is RCO_EUNAVAILABLE: the peer broke the exchange off. */
static const struct mapping mappings[] = {
    {CURLE_OPERATION_TIMEDOUT, RCO_ETIMEOUT, "no connection in time"},
    {CURLE_OUT_OF_MEMORY, RCO_EINTERNAL, NULL},
    {CURLE_URL_MALFORMAT, RCO_EINVALID, NULL},
    {CURLE_UNSUPPORTED_PROTOCOL, RCO_EINTERNAL, "the answer is not HTTP"},
    {CURLE_BAD_FUNCTION_ARGUMENT, RCO_EINTERNAL, NULL},
    {CURLE_NOT_BUILT_IN, RCO_EINTERNAL, NULL},
    {CURLE_UNKNOWN_OPTION, RCO_EINTERNAL, NULL},
    {CURLE_SSL_CERTPROBLEM, RCO_EINVALID, NULL},
    {CURLE_SSL_CIPHER, RCO_EINVALID, NULL},
    {CURLE_SSL_CACERT_BADFILE, RCO_EINVALID, NULL},
    {CURLE_WEIRD_SERVER_REPLY, RCO_EINTERNAL, "the answer is not HTTP"},
    {CURLE_BAD_CONTENT_ENCODING, RCO_EINTERNAL, NULL},
};

static const struct mapping *find(CURLcode result)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(mappings); i++) {
        if (mappings[i].from == result)
            return &mappings[i];
    }
    return NULL;
}

void rco_call_error(const struct rco_http_call *call, CURLcode result, struct rco_error *err)
{
    const struct mapping *mapping = find(result);
    const char *detail = curl_easy_strerror(result);
    int path_len = (int)strcspn(call->path, "?");

    if (call->fault.code != RCO_OK) {
        *err = call->fault;
        return;
    }
    if (mapping && mapping->text)
        detail = mapping->text;
    else if (call->curl_error[0])
        detail = call->curl_error;
    /* The query may hold selectors of any length; the path names the object well enough. */
    if (path_len > 200)
        path_len = 200;
    rco_error_set(err, mapping ? mapping->to : RCO_EUNAVAILABLE, "%s %s%.*s: %s", call->method,
                  call->lane->client->origin, path_len, call->path, detail);
}
