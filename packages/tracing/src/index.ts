export { stepAttribute, type TraceAttributes, type TraceSpan } from './trace-span.ts';
export { formatTraceparent, isSampled, parseTraceparent } from './traceparent.ts';
export { createTracing, type Tracing } from './tracing.ts';
export { isTraced, traceChoiceConfigFields, tracingConfigFields } from './tracing-config.ts';
