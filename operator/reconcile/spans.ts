import { SpanStatusCode, type Attributes, type Span, type Tracer } from '@opentelemetry/api';

/** Runs the work within a span of its own; what it throws is noted and passed on. */
export function spanning<T>(
  tracer: Tracer,
  name: string,
  work: (span: Span) => Promise<T>,
  attributes: Attributes = {},
): Promise<T> {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}
