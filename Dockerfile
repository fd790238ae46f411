FROM docker.io/library/swift:6.3-bookworm AS build

# hadolint ignore=DL3008 # the distribution's security updates are wanted; its release is pinned by the base image
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4-openssl-dev libpq-dev libssl-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /build

# The dependencies are fetched anew only when a manifest changes.
COPY Package.swift Package.resolve[d] ./
COPY Simulators/Package.swift Simulators/
RUN swift package resolve

# SwiftPM loads the whole package before it builds one product of it, so the tests and the simulators have to be there too.
COPY . .
RUN swift build -c release --static-swift-stdlib --product receipt-relay \
    && mkdir /out \
    && folder="$(swift build -c release --static-swift-stdlib --show-bin-path)" \
    && cp "$folder/receipt-relay" /out/ \
    && find "$folder" -maxdepth 1 -name '*.resources' -exec cp -R {} /out/ \; \
    && strip /out/receipt-relay


# Only for the target `simulator`: BuildKit leaves this stage out of all others.
FROM build AS build-simulator
RUN swift build -c release --static-swift-stdlib --product cleeng-simulator \
    && mkdir /simulator \
    && folder="$(swift build -c release --static-swift-stdlib --show-bin-path)" \
    && cp "$folder/cleeng-simulator" /simulator/ \
    && find "$folder" -maxdepth 1 -name '*.resources' -exec cp -R {} /simulator/ \; \
    && strip /simulator/cleeng-simulator


FROM docker.io/library/debian:bookworm-slim AS runtime

# Swift's own libraries are linked in; libpq is not, and brings its TLS and Kerberos libraries along.
# hadolint ignore=DL3008 # as above
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libpq5 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 relay \
    && useradd --uid 10001 --gid relay --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin relay

COPY LICENSE /usr/share/doc/receipt-relay/LICENSE

USER 10001:10001


# A stand-in for Cleeng: development and demos alone. docker compose --profile simulator builds it.
FROM runtime AS simulator
COPY --from=build-simulator /simulator/ /usr/local/bin/
RUN cleeng-simulator --help >/dev/null
EXPOSE 8090
ENTRYPOINT ["cleeng-simulator"]


# The last stage is what `docker build` makes: the relay, and no simulator.
FROM runtime AS relay
COPY --from=build /out/ /usr/local/bin/

# A library that is missing here shows while the image is built, not when it is started.
RUN receipt-relay --help >/dev/null

EXPOSE 8080 9090

HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["receipt-relay", "healthcheck"]

ENTRYPOINT ["receipt-relay"]
CMD ["serve"]

ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="receipt-relay" \
      org.opencontainers.image.description="Passes app store receipts to Cleeng and tells the app what came of it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"
