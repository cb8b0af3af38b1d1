import { startServer, type TestServer } from '@millrace/testing';
import { type Columns, everyRun, median, mediansByName, report } from './report.ts';

export interface TracingMeasurement {
  side: TracedSide;
  /** What was done, as `batch-50x1kb`. */
  work: string;
  /** Of the service alone, not of PostgreSQL and the collector. */
  cpuMicrosPerEvent: number;
  eventsPerSecond: number;
  /** Spans that arrived at the collector meanwhile. */
  spans: number;
}

const columns: Columns<TracingMeasurement> = {
  'cpu µs/event': (run) => run.cpuMicrosPerEvent,
  'events/s': (run) => run.eventsPerSecond,
  spans: (run) => run.spans,
};

const nameOf = ({ work, side }: TracingMeasurement) => `${work} ${side}`;

/** Every run, then medians with their ratios, then whether tracing costs no more than it may. Runs of a work come in pairs. */
export function tracingReport(measurements: readonly TracingMeasurement[]): string {
  const works = [...new Set(measurements.map(({ work }) => work))];
  const of = (work: string, side: TracedSide) => measurements.filter((run) => run.work === work && run.side === side);
  const over = works.map((work) => [`${work} traced`, `${work} untraced`] as const);
  return report(
    [
      ['Every run', everyRun(measurements, nameOf, columns)],
      ['Medians', mediansByName(measurements, nameOf, columns, over)],
    ],
    works.flatMap((work) => [
      [
        `% of CPU per event that tracing adds (median of the pairs), ${work}`,
        addedPercent(of(work, 'untraced'), of(work, 'traced')),
        { atMost: 3 },
      ],
      [`spans of a run, ${work}`, Math.min(...of(work, 'traced').map(({ spans }) => spans)), { atLeast: 1 }],
    ]),
  );
}

/** Of each pair, since a machine's pace changes more from minute to minute than tracing could. */
function addedPercent(untraced: readonly TracingMeasurement[], traced: readonly TracingMeasurement[]): number {
  const ratios = traced.map((run, at) => run.cpuMicrosPerEvent / (untraced[at]?.cpuMicrosPerEvent ?? Number.NaN));
  return (median(ratios) - 1) * 100;
}

export interface OtlpSink extends TestServer {
  /** That have arrived so far. */
  spans(): number;
}

/** A collector of traces that counts them and keeps none. */
export async function startOtlpSink(): Promise<OtlpSink> {
  let spans = 0;
  const server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    // Each span has one; parsing would take the processor from what is measured.
    spans += Buffer.concat(chunks).toString('latin1').split('"startTimeUnixNano"').length - 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...server, spans: () => spans };
}

/** The same build without traces and with them. */
const tracedSides = ['untraced', 'traced'] as const;
export type TracedSide = (typeof tracedSides)[number];

/** Part of the requests that are traced: the default. */
export const tracedPart = 0.01;

/** Longer than spans wait until they are exported, which is part of what they cost. */
export const settleMs = 3000;

export function tracingSettings(side: TracedSide, sink: OtlpSink): Record<string, string> {
  if (side === 'untraced') return {};
  return { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, TRACE_SAMPLE_RATIO: String(tracedPart) };
}

/** One side first in one pair, the other in the next: a machine that grows slower is nobody's fault. */
export function inTurn(pair: number): readonly TracedSide[] {
  return pair % 2 === 1 ? tracedSides : [...tracedSides].reverse();
}
