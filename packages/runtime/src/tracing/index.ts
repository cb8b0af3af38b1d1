export {
  formatTraceparent,
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type TraceSpan,
} from './trace-span.ts';
export { createTracing, isTraced, type Tracing, traceSamplingConfigFields, tracingConfigFields } from './tracing.ts';
