/**
 * - `closed`: everybody appends to Kafka.
 * - `opening`: nobody begins anything new; what is on its way to Kafka ends.
 * - `open`: everybody appends to PostgreSQL; consumers copy from there to Kafka as soon as it takes anything.
 * - `closing`: nearly everything is copied; nobody begins anything new until the rest is.
 */
export type FallbackPhase = 'closed' | 'opening' | 'open' | 'closing';

/** What the database knows about the fallback. */
export interface FallbackView {
  phase: FallbackPhase;
  epoch: bigint;
  /** How long the phase has lasted, by the database's clock. */
  ageMs: number;
  /** Of the appenders that are alive: none has anything on its way to Kafka from before this epoch. */
  isSettled: boolean;
  /** Of the appenders that are alive: each of them reaches Kafka. */
  allReachKafka: boolean;
  /** Records that have not been copied to Kafka. */
  backlog: number;
}

/**
 * Short, so that Kafka's return is not missed for long; long, so that a Kafka that comes and goes does not change the
 * phase all the time.
 */
const shortestOpenMs = 1000;
/** So many records are copied within a fraction of a second, in which all appends wait. */
const closingBacklog = 1000;
/** When copying takes longer than this, Kafka is gone again. */
const longestClosingMs = 2000;

/** The phase that follows, or the same. @param wantsOpen the asking process has been without Kafka for long enough. */
export function nextPhase(view: FallbackView, wantsOpen: boolean): FallbackPhase {
  switch (view.phase) {
    case 'closed':
      return wantsOpen ? 'opening' : 'closed';
    case 'opening':
      return view.isSettled ? 'open' : 'opening';
    case 'open':
      return view.allReachKafka && view.ageMs >= shortestOpenMs && view.backlog <= closingBacklog ? 'closing' : 'open';
    case 'closing':
      if (view.backlog === 0) return 'closed';
      return view.ageMs > longestClosingMs ? 'open' : 'closing';
  }
}
