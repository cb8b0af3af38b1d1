import { Type } from 'typebox';

/** Where traces go. Spread into a service's config schema. */
export const tracingConfigFields = {
  otelExporterOtlpEndpoint: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'address of an OpenTelemetry collector (OTLP over HTTP, as http://collector:4318); without it nothing is traced',
    }),
  ),
} as const;

/** Which work is traced: for the service at which it begins. */
export const traceChoiceConfigFields = {
  traceSampleRatio: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.01,
    description:
      'part of the requests that are traced, from the request through the log to the commit; 50 a second at most',
  }),
  traceTrustParent: Type.Boolean({
    default: false,
    description:
      'whether a caller decides, by the sampled flag of its traceparent header, that its request is traced: only behind a proxy of yours that sets it',
  }),
} as const;

export interface TracingConfig {
  readonly otelExporterOtlpEndpoint?: string;
  readonly traceSampleRatio?: number;
  readonly traceTrustParent?: boolean;
}

/** Whether there is a collector to send traces to. */
export const isTraced = ({ otelExporterOtlpEndpoint: endpoint }: TracingConfig) => endpoint !== undefined;
