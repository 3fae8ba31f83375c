# The images of the Runtime Cloud operator.
#
#   hack/images/prepare.sh build/images       (the engine, for target runner; `python` too for runner-python)
#   docker build --target controller --tag runtimecloud.local/runtime-cloud-controller:0.1.0 .
#   docker build --target runner --tag runtimecloud.local/runtime-cloud-runner:0.1.0 .
#
# buildah build --isolation chroot --pull-never does it too, from a local debian:bookworm-slim.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev make pkg-config ca-certificates \
        libcurl4-openssl-dev libhttp-parser-dev libjson-c-dev libssl-dev libuv1-dev \
        libwebsockets-dev libwebsockets-evlib-uv libyaml-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Makefile ./
COPY pkg pkg
COPY controller controller
COPY runner runner
ARG VERSION=0.1.0
ARG REVISION=unknown
RUN make -j"$(nproc)" VERSION="$VERSION" REVISION="$REVISION" \
        build/bin/runtime-cloud-controller build/bin/runtime-cloud-runner \
    && strip build/bin/runtime-cloud-controller build/bin/runtime-cloud-runner
COPY hack/image-closure hack/image-closure
# libwebsockets opens its libuv plugin by name, so ldd does not show it.
RUN hack/image-closure /image build/bin/runtime-cloud-controller \
        "$(find /usr/lib -name libwebsockets-evlib_uv.so)" \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >/image/etc/passwd \
    && echo 'nonroot:x:65532:' >/image/etc/group \
    && echo 'hosts: files dns' >/image/etc/nsswitch.conf

# Nothing but the program, its shared objects and the CA roots: no shell, no package manager.
FROM scratch AS controller
COPY --from=build /image/ /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/runtime-cloud-controller"]

FROM ${BASE} AS runner-base
# One user for each container of a runner pod (ssh refuses a user without a name), one group for all.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
        libcurl4 libssl3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
    && groupadd --gid 10000 runner \
    && useradd --uid 10001 --gid 10000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin runner-fetch \
    && useradd --uid 10002 --gid 10000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin runner-install \
    && useradd --uid 10003 --gid 10000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin runner-report \
    && useradd --uid 10004 --gid 10000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin runner-engine
# The large layers first: they change least.
COPY build/images/pulumi/plugins/ /opt/pulumi/plugins/
COPY build/images/pulumi/bin/ /usr/local/bin/

# For programs in Python: the interpreter, Pulumi's host of the language, and the packages of
# hack/images/python/requirements.txt, where pip finds them without a package index.
FROM runner-base AS runner-python
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
    && printf '[global]\nfind-links = /opt/pulumi/wheels\n' >/etc/pip.conf
COPY build/images/python/wheels/ /opt/pulumi/wheels/
COPY build/images/python/bin/ /usr/local/bin/
COPY --from=build /src/build/bin/runtime-cloud-runner /usr/local/bin/
USER 10004:10000
ENTRYPOINT ["/usr/local/bin/runtime-cloud-runner"]

FROM runner-base AS runner
COPY --from=build /src/build/bin/runtime-cloud-runner /usr/local/bin/
USER 10004:10000
ENTRYPOINT ["/usr/local/bin/runtime-cloud-runner"]
