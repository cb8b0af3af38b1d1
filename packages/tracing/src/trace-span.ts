import type { SpanContext } from '@opentelemetry/api';

/** Values that identify nobody: no distinct ids, no names of events, no properties, no keys. */
export type TraceAttributes = Record<string, string | number | boolean>;

export interface TraceSpanStart {
  kind: 'server' | 'producer' | 'consumer' | 'internal';
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
