import type { MetricsPart } from '@millrace/runtime';

/** What a gateway process tells the one that started it. */
export type FromGateway =
  | { type: 'listening'; port: number }
  /** Somebody asked this process for the figures of all. */
  | { type: 'all-metrics-wanted'; question: number }
  | { type: 'own-metrics'; question: number; metrics: MetricsPart };

/** What it is told. */
export type ToGateway =
  | { type: 'own-metrics-wanted'; question: number }
  | { type: 'all-metrics'; question: number; text: string };
