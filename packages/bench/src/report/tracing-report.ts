import { startServer, type TestServer } from '@millrace/testing';
import { median, readable, textTable, verdict } from './report.ts';

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

const mostAddedPercent = 3;

/** Every run, then medians with their ratios, then whether tracing costs no more than it may. Runs of a work come in pairs. */
export function tracingReport(measurements: readonly TracingMeasurement[]): string {
  const works = [...new Set(measurements.map(({ work }) => work))];
  const of = (work: string, side: TracedSide) => measurements.filter((run) => run.work === work && run.side === side);
  const medians = (work: string) => {
    const [untraced, traced] = [figures(of(work, 'untraced')), figures(of(work, 'traced'))];
    return [
      [`${work} untraced`, ...untraced.map(readable)],
      [`${work} traced`, ...traced.map(readable)],
      [
        `${work} ratio`,
        ...traced.slice(0, 2).map((value, at) => (value / (untraced[at] ?? Number.NaN)).toFixed(3)),
        '',
      ],
    ];
  };
  return [
    'Every run',
    textTable([
      ['run', ...headings],
      ...measurements.map((run) => [`${run.work} ${run.side}`, ...figures([run]).map(readable)]),
    ]),
    '',
    'Medians (ratio = traced over untraced)',
    textTable([['', ...headings], ...works.flatMap(medians)]),
    '',
    'Targets',
    ...works.map((work) =>
      verdict(
        `% of CPU per event that tracing adds (median of the pairs), ${work}`,
        addedPercent(of(work, 'untraced'), of(work, 'traced')),
        { atMost: mostAddedPercent },
      ),
    ),
    ...works.map((work) =>
      verdict(`spans of a run, ${work}`, Math.min(...of(work, 'traced').map(({ spans }) => spans)), { atLeast: 1 }),
    ),
  ].join('\n');
}

/** Of each pair, since a machine's pace changes more from minute to minute than tracing could. */
function addedPercent(untraced: readonly TracingMeasurement[], traced: readonly TracingMeasurement[]): number {
  const ratios = traced.map((run, at) => run.cpuMicrosPerEvent / (untraced[at]?.cpuMicrosPerEvent ?? Number.NaN));
  return (median(ratios) - 1) * 100;
}

const headings = ['cpu µs/event', 'events/s', 'spans'];

function figures(runs: readonly TracingMeasurement[]): number[] {
  return [
    median(runs.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)),
    median(runs.map(({ eventsPerSecond }) => eventsPerSecond)),
    median(runs.map(({ spans }) => spans)),
  ];
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
