import type { MetricsPart } from '@millrace/runtime';

/** Messages of a gateway process to the primary process. */
export type FromGateway =
  | { type: 'listening'; port: number }
  /** Somebody asked this process for the figures of all. */
  | { type: 'all-metrics-wanted'; question: number }
  | { type: 'own-metrics'; question: number; metrics: MetricsPart };

/** Messages of the primary process. */
export type ToGateway =
  | { type: 'own-metrics-wanted'; question: number }
  | { type: 'all-metrics'; question: number; text: string };
