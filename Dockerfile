# syntax=docker/dockerfile:1
# Built on Debian 12 with Swift's own libraries inside the binary; run on plain Debian 12 with the C libraries alone.
#
#   docker build -t askgate .
#   docker run -p 8080:8080 -v ./config:/etc/askgate:ro askgate

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libcurl4-openssl-dev libhiredis-dev libjansson-dev libjwt-dev libnghttp2-dev libssl-dev libuv1-dev libyaml-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
# Packages describe test targets too; without their folders the description would not load.
RUN grep -oE '"[A-Za-z]+Tests"' Package.swift | tr -d '"' \
    | while read -r name; do mkdir -p "Tests/$name" && touch "Tests/$name/Empty.swift"; done
RUN swift build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked --product askgate \
    && install -D -m 0755 "$(swift build -c release --static-swift-stdlib --show-bin-path)/askgate" /out/askgate \
    && strip /out/askgate

FROM debian:bookworm-slim
# tzdata: limits count days in the tenant's zone. ca-certificates: providers are called over TLS.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates libcurl4 libhiredis0.14 libjansson4 libjwt0 libssl3 libstdc++6 libuv1 libyaml-0-2 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 askgate \
    && useradd --uid 10001 --gid askgate --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin \
        askgate
COPY --from=build /out/askgate /usr/local/bin/askgate
USER 10001:10001
# The api listener. The admin listener is for the network that steers, and is not offered here.
EXPOSE 8080
STOPSIGNAL SIGTERM
# Asks the admin listener at its usual place, 127.0.0.1:9090 inside the container.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/askgate", "health"]
# Configuration and the files it names are mounted; secrets come from the environment or from mounted files.
ENTRYPOINT ["/usr/local/bin/askgate"]
CMD ["serve", "--config", "/etc/askgate/askgate.yaml"]
