// Types for a funnel that is computed by walking through its events, and for its result.

import type { ActorsOrder, FunnelStoreQuery } from './queries.ts';

export interface WalkedFunnel {
  shows: 'steps' | 'time_to_convert' | 'trends';
  order: 'ordered' | 'strict' | 'unordered';
  windowMs: number;
  fromStep: number;
  toStep: number;
  /** Number of bins in the histogram of conversion times, or null to choose the number automatically. */
  binCount: number | null;
  attribution: { by: 'first_touch' | 'last_touch' | 'all_events' } | { by: 'step'; step: number };
  /** For each exclusion, the steps between which its event must not occur. */
  exclusions: { from: number; to: number }[];
  /** Indexes of optional steps. */
  optional: number[];
  /** Maximum number of breakdown values, and whether to omit the row that combines all other values. */
  breakdown: { limit: number; hidesOther: boolean };
  period: { edges: readonly number[] };
  storeQuery: FunnelStoreQuery;
}

export interface FunnelPoint {
  /**
   * Selects actors by the furthest step that they reached (one of `furthest`), or selects those that reached `step` but
   * not `butNot`. Steps are counted from 1.
   */
  reached: { furthest: readonly number[] } | { step: number; butNot: number | null };
  values: string[] | null;
  /**
   * In a funnel trend, the interval in which the actors entered, and whether they converted. Null for other funnels.
   */
  entrance: { bucket: number; isConverted: boolean } | null;
}

export interface FunnelPage {
  point: FunnelPoint;
  order: readonly ActorsOrder[];
  limit: number;
  offset: number;
}

/** A funnel's result. The breakdown values are null in the row that combines all values beyond the limit. */
export type FunnelTotals =
  | { shows: 'steps'; rows: FunnelSteps[] }
  | { shows: 'time_to_convert'; bins: [number, number][]; average: number | null }
  | { shows: 'trends'; rows: FunnelEntrances[] };

export interface FunnelSteps {
  values: string[] | null;
  /** Number of actors at each step. */
  counts: number[];
  /** Average number of seconds from the previous step to each step. Null for the first step. */
  averages: (number | null)[];
  medians: (number | null)[];
}

/** The number of actors that entered in an interval, and the number of those that converted. */
export interface FunnelEntrances {
  values: string[] | null;
  entered: number[];
  converted: number[];
}
