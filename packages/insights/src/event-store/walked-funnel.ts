// A funnel with everything that matters for walking through its events, and the results of the walk.

import type { ActorsOrder, FunnelStoreQuery } from './queries.ts';

/** A funnel, and how to walk through its events. */
export interface WalkedFunnel {
  shows: 'steps' | 'time_to_convert' | 'trends';
  order: 'ordered' | 'strict' | 'unordered';
  windowMs: number;
  fromStep: number;
  toStep: number;
  /** Number of bins in the histogram of times; null to choose automatically. */
  binCount: number | null;
  attribution: { by: 'first_touch' | 'last_touch' | 'all_events' } | { by: 'step'; step: number };
  /** For each exclusion, the steps between which it must not happen. */
  exclusions: { from: number; to: number }[];
  /** Indexes of optional steps. */
  optional: number[];
  /** Values beyond the limit are combined. */
  breakdown: { limit: number; hidesOther: boolean };
  /** Starts of the intervals. */
  period: { edges: readonly number[] };
  storeQuery: FunnelStoreQuery;
}

/** Selects actors of a funnel. */
export interface FunnelPoint {
  /** Their furthest step, or a step they reached and one they did not. Steps count from 1. */
  reached: { furthest: readonly number[] } | { step: number; butNot: number | null };
  values: string[] | null;
  /** In funnel trends: the interval in which they entered, and whether they converted. */
  entrance: { bucket: number; isConverted: boolean } | null;
}

export interface FunnelPage {
  point: FunnelPoint;
  order: readonly ActorsOrder[];
  limit: number;
  offset: number;
}

/** Numbers of a funnel. The values are null for the combination of those beyond the limit. */
export type FunnelTotals =
  | { shows: 'steps'; rows: FunnelSteps[] }
  | { shows: 'time_to_convert'; bins: [number, number][]; average: number | null }
  | { shows: 'trends'; rows: FunnelEntrances[] };

export interface FunnelSteps {
  values: string[] | null;
  /** Number of actors at each step. */
  counts: number[];
  /** Seconds from the previous step to each step; null for the first step. */
  averages: (number | null)[];
  medians: (number | null)[];
}

/** Number of actors that entered in each interval, and how many of them converted. */
export interface FunnelEntrances {
  values: string[] | null;
  entered: number[];
  converted: number[];
}
