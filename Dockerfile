# syntax=docker/dockerfile:1
# docker build -t image-delivery:0.1.0 . && docker run -p 3000:3000 -v image-delivery:/data image-delivery:0.1.0
# Node 22 is the newest for which uws-pack has uWebSockets.js: docs/http-engines.md.
ARG NODE_VERSION=22
# Use trixie for uWebSockets.js v20.55 or newer, which needs its glibc.
ARG DEBIAN_VERSION=bookworm
# Base image digest (`@sha256:…`), to pin builds. docs/contributing/releasing.md.
ARG NODE_DIGEST=

FROM node:${NODE_VERSION}-${DEBIAN_VERSION}-slim${NODE_DIGEST} AS build
# Optional: a release by the authors of uWebSockets.js, such as v20.67.0, which they publish on GitHub only.
ARG UWEBSOCKETS_RELEASE=
# SHA-256 of that release's native file for this Node version and processor: docs/contributing/uwebsockets.md.
ARG UWEBSOCKETS_SHA256=
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/
COPY urls/package.json urls/
RUN npm ci
COPY tsconfig.json README.md CHANGELOG.md SECURITY.md LICENSE ./
COPY scripts scripts
COPY bin bin
COPY docs docs
COPY contract contract
COPY pool pool
COPY store store
COPY worker worker
COPY server server
COPY demo demo
COPY sdk/src sdk/src
COPY urls/src urls/src
# Builds the npm package's files, and keeps its dependencies at the lock file's versions.
RUN node scripts/pack.js \
    && mv node_modules/uws-pack /tmp/ \
    && npm prune --omit=dev \
    && if [ -n "$UWEBSOCKETS_RELEASE" ]; then \
      npm install --no-save --omit=dev --ignore-scripts "uWebSockets.js@https://codeload.github.com/uNetworking/uWebSockets.js/tar.gz/refs/tags/$UWEBSOCKETS_RELEASE" \
      && echo "${UWEBSOCKETS_SHA256:?UWEBSOCKETS_RELEASE needs UWEBSOCKETS_SHA256}  node_modules/uWebSockets.js/uws_$(node -p '[process.platform, process.arch, process.versions.modules].join("_")').node" | sha256sum --check; \
    else \
      mv /tmp/uws-pack node_modules/; \
    fi \
    # Deletes 126 MB of binaries for other platforms and Node versions, and 33 MB of sources and maps.
    && find node_modules -name 'uws_*.node' \
      ! -name "uws_$(node -p '[process.platform, process.arch, process.versions.modules].join("_")').node" -delete \
    && find dist node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete \
    && rm -rf node_modules/@image-delivery scripts contract pool store worker server sdk urls demo/*.ts demo/origin/*.ts \
      package-lock.json tsconfig.json .npmrc

FROM node:${NODE_VERSION}-${DEBIAN_VERSION}-slim${NODE_DIGEST}
# Packages to add, such as libheif-examples of trixie, which decodes HEIC faster: docs/formats.md.
ARG DEBIAN_PACKAGES=
RUN if [ -n "$DEBIAN_PACKAGES" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $DEBIAN_PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
RUN install -d -o node -g root -m 775 /data \
    && ln -s /app/bin/image-delivery.js /usr/local/bin/image-delivery
WORKDIR /app
COPY --from=build /app ./
# The service writes to /data only, so `docker run --read-only --tmpfs /tmp` works. Any user of group 0 can write there,
# such as OpenShift's random users.
ENV NODE_ENV=production SERVICE_DATA_DIR=/data
VOLUME /data
# The user `node`, by number, so that Kubernetes can check `runAsNonRoot`.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
# Checks readiness, which compose's `service_healthy` and Swarm's routing wait for. A store outage doesn't change it, so
# nothing restarts a container that still serves images.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --start-interval=1s \
    CMD ["node", "dist/server/health-check.js"]
# Runs the service and its worker; the commands `server` and `worker` run only one of them, and
# `docker exec CONTAINER image-delivery admin --help` shows the admin command. On SIGTERM it completes requests in
# progress, which can take 30 s: stop it with `docker stop -t 40`, and add SERVICE_DRAIN_DELAY_MS if you set it.
ENTRYPOINT ["image-delivery"]
CMD ["start"]
