import { context, trace, TraceFlags } from '@opentelemetry/api';
import type { Attributes, Span, Tracer } from '@opentelemetry/api';

/** Starts a span. Without a trace there are no parts, and the parent stands for them. */
export function startSpan(tracer: Tracer, name: string, attributes: Attributes, parent: Span | undefined): Span {
  if (parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return parent;
  const active = context.active();
  return tracer.startSpan(name, { attributes }, parent === undefined ? active : trace.setSpan(active, parent));
}
