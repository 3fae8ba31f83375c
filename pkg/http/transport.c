#include "http/transport.h"

struct rco_http_call *rco_transport_start(struct rco_transport *t,
                                          const struct rco_http_request *request,
                                          const struct rco_http_handler *handler)
{
    return t->ops->start(t, request, handler);
}

void rco_transport_cancel(struct rco_transport *t, struct rco_http_call *call)
{
    if (call)
        t->ops->cancel(t, call);
}
