export {
  createStepAttribute,
  formatTraceparent,
  isSampled,
  parseTraceparent,
  type TraceAttributes,
  type TraceSpan,
} from './trace-span.ts';
export {
  createTracing,
  isTracingEnabled,
  type Tracing,
  traceSamplingConfigFields,
  tracingConfigFields,
} from './tracing.ts';
