# Two images of one build: the service (default) and the operator, each in one file per thread on a plain Node image, as an unprivileged user.
# The digest names the multi-platform manifest of the tag. Change both with the version of `node` in package.json.
ARG BASE=node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY service service
COPY operator operator
RUN npm run build

# The operator: --target operator
FROM ${BASE} AS operator
ARG COMMIT=unknown
# One heap of malloc for all threads: with one for each, what one thread frees is no use to another, and resident memory grows for hours.
ENV NODE_ENV=production TONPLANE_COMMIT=${COMMIT} MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=build /src/dist/operator.js /src/dist/kubectl-ton.js /src/dist/sbom.cdx.json dist/
USER 65532:65532
EXPOSE 8080 8081
# Small young generation: the operator makes much garbage and keeps little, and a large one would only be resident.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--max-old-space-size-percentage=75", "dist/operator.js"]

FROM ${BASE} AS service
ARG COMMIT=unknown
# One heap of malloc for all threads: with one for each, what one thread frees is no use to another, and resident memory grows for hours.
# Small young generation: a collection stops everybody for 2 ms, not for 20. A role that nobody waits for may set its own: the operator does.
ENV NODE_ENV=production TONPLANE_COMMIT=${COMMIT} MALLOC_ARENA_MAX=1 NODE_OPTIONS=--max-semi-space-size=4
WORKDIR /app
COPY --from=build /src/dist dist
USER 65532:65532
EXPOSE 8081 8082
# The heap leaves a quarter of the memory limit to buffers and threads.
ENTRYPOINT ["node", "--max-old-space-size-percentage=75", "dist/main.js"]
CMD ["api", "--manifest", "/etc/tonplane/tonapi.yaml", "--host", "0.0.0.0", "--data", "/var/lib/tonplane"]
