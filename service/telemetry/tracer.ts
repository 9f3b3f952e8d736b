import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

import { context, propagation, trace, type Tracer } from '@opentelemetry/api';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

import { untrustedCertificate } from '../tls/untrusted-certificate.ts';
import { createTailSampler, type ShouldExport } from './tail-sampler.ts';

export type TracingOptions = {
  /** Null: no traces, and nothing of the SDK is loaded. */
  readonly tracing: {
    /** Base URL of an OTLP/HTTP collector; traces go to `v1/traces` below it. */
    readonly endpoint: string;
    /** Share of traces begun here that are sampled, 0..1. A caller's own decision is followed. */
    readonly sampleRatio: number;
    /** Certificate authorities in PEM for the collector's certificate; undefined: the public authorities. */
    readonly ca?: string | undefined;
  } | null;
  /** Called for each finished trace. Every sampled trace is exported by default. */
  readonly keep?: ShouldExport;
  /** `service.name`, `service.version` and further attributes of every span's resource. */
  readonly resource: Readonly<Record<string, string>>;
};

export type Tracing = {
  readonly tracer: Tracer;
  /** Sets the share of traces begun here that are sampled, 0..1. Without a collector nothing happens. */
  setSampleRatio(ratio: number): void;
  /** Sets the certificate authorities for the collector's certificate, for new connections. */
  setAuthorities(ca: string | undefined): void;
  /** Sends the remaining spans. Waits 1.5 s at most for a collector that does not answer. */
  close(): Promise<void>;
};

/** Name of the instrumentation on every span. */
const scope = 'tonplane';

/** Most spans that wait for export. More spans are dropped, because a slow collector must not cost memory. */
const SPANS_MAX = 4096;

/** Milliseconds between batches of spans. */
const BATCH_DELAY_MS = 1000;

/** Milliseconds until an export fails; a slower collector counts as unavailable. */
const EXPORT_TIMEOUT_MS = 5000;

/** Milliseconds that a shutdown waits for a collector. The whole process must end within 2 s. */
const CLOSE_TIMEOUT_MS = 1500;

/** Milliseconds between log lines about an unavailable collector. A line for each batch would be a flood. */
const FAILURE_LOG_INTERVAL_MS = 60_000;

/**
 * Creates the tracer, which exports by OTLP over HTTP if a collector is configured. The SDK has one tracer for the process. A second call with a
 * collector takes effect once the first is closed.
 */
export async function createTracing(
  options: TracingOptions,
  dependencies: { readonly logger: Logger },
): Promise<Tracing> {
  if (options.tracing === null)
    return {
      tracer: trace.getTracer(scope),
      setSampleRatio: () => {},
      setAuthorities: () => {},
      close: async () => {},
    };
  // Loading takes 0.4 s and some 20 MB, which a process without a collector does not pay.
  const [
    { NodeSDK },
    { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const { endpoint, sampleRatio, ca } = options.tracing;
  let authorities = ca;
  const agentOf = (protocol: string) =>
    protocol === 'https:' ? secureAgent(() => authorities) : new HttpAgent(keepAlive);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  let sampler = new TraceIdRatioBasedSampler(sampleRatio);
  const root: Sampler = {
    shouldSample: (parent, traceId) => sampler.shouldSample(parent, traceId),
    toString: () => sampler.toString(),
  };
  const exporter = reporting(
    new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS, httpAgentOptions: agentOf }),
    dependencies.logger,
  );
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: SPANS_MAX,
    scheduledDelayMillis: BATCH_DELAY_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [options.keep === undefined ? batches : createTailSampler(batches, options.keep)],
    // The lists are given and empty. Without them the SDK would look for collectors of metrics and logs in the environment.
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return {
    tracer: trace.getTracer(scope),
    setSampleRatio(ratio) {
      sampler = new TraceIdRatioBasedSampler(ratio);
    },
    setAuthorities(next) {
      authorities = next;
    },
    async close() {
      await within(CLOSE_TIMEOUT_MS, sdk.shutdown());
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

const keepAlive = { keepAlive: true } as const;

/** Creates an agent whose new connections trust the current authorities. */
function secureAgent(ca: () => string | undefined): HttpsAgent {
  const agent = new HttpsAgent(keepAlive);
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => connect({ ...options, ...(ca() !== undefined && { ca: ca() }) }, done);
  return agent;
}

/** Wraps an exporter and logs failed exports, which the SDK does not report. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let loggedMs = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined && performance.now() - loggedMs > FAILURE_LOG_INTERVAL_MS) {
          loggedMs = performance.now();
          const why = untrustedCollector(result.error);
          logger.warn({ err: result.error, why, spans: spans.length }, 'traces could not be exported');
        }
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the reason if the certificate is refused, naming the field; undefined for another failure. */
function untrustedCollector(error: Error): string | undefined {
  const untrusted = untrustedCertificate(error) ?? untrustedCertificate(error.cause);
  if (untrusted === undefined) return undefined;
  return untrusted === 'chain'
    ? 'spec.observability.tracing.caBundle (--tracing-ca-file): expected the authority of the certificate of the collector'
    : 'spec.observability.tracing.endpoint: expected a host that the certificate of the collector names';
}

/** Settles when the work settles, with or without success, or when the time is over. */
async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work.catch(() => {}), timeout]);
  clearTimeout(timer);
}
