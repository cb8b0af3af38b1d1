import type { SpanContext } from '@opentelemetry/api';

/** Values that identify nobody: no distinct ids, no names of events, no properties, no keys. */
export type TraceAttributes = Record<string, string | number | boolean>;

export interface TraceSpanStart {
  kind: 'server' | 'consumer' | 'internal';
  /** In whose trace it is; without one it begins a trace. */
  parent?: SpanContext | undefined;
  /** Others it has to do with. */
  links?: SpanContext[];
  attributes?: TraceAttributes;
}

export interface TraceSpan {
  context: SpanContext;
  /** The header under which others go on with the trace. */
  traceparent: string;
  set(attributes: TraceAttributes): void;
  /** @param ended why it failed, if it did. */
  end(ended?: { failure?: string }): void;
}

/** How long a part of a span's work took, in milliseconds: where a span of its own would cost more than it tells. */
export function stepAttribute(name: string, startedAt: number): TraceAttributes {
  return { [`millrace.step.${name}.ms`]: Math.round((performance.now() - startedAt) * 1000) / 1000 };
}
