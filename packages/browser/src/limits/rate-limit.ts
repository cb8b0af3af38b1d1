import type { Options } from '../client/client.ts';
import type { Feature, Store } from '../client/core.ts';
import { page } from '../page/globals.ts';

/** Kept over page loads, for loops that reload. */
interface Bucket {
  tokens: number;
  last: number;
  /** Since the last warning. */
  dropped?: number;
}

/** Against loops that run away: 10 events a second after a burst of 100. */
export const limitRate: Feature = ({ options, store, signals, addGate, capture, sessionId, log }) => {
  let left: number | undefined;
  let isRefusing = false;

  addGate((_, how) => {
    left = undefined;
    if (how?.skip_client_rate_limiting) return true;
    const { tokens, last, dropped = 0 } = filledBucket(options, store);
    const isFree = tokens >= 1;
    const isFirst = !isFree && !isRefusing;
    isRefusing = !isFree;
    const rest = isFree ? tokens - 1 : tokens;
    const remember = (refused: number) =>
      store.set({ $capture_rate_limit: { tokens: rest, last, ...(refused && { dropped: refused }) } });
    remember(isFree ? dropped : dropped + 1);
    if (isFirst && warn(dropped + 1)) remember(0);
    left = rest;
    return isFree;
  });
  signals.on('capturing', ({ properties }) => {
    if (left !== undefined) properties.$lib_rate_limit_remaining_tokens = left;
  });

  const warn = (dropped: number) => {
    const { perSecond, burst } = limitsOf(options);
    const { origin, pathname } = page?.location ?? {};
    log.error(`Over ${perSecond} events a second: they are dropped`);
    const where = `triggered on ${origin}${pathname}, session ${sessionId()}`;
    const config = `Config is set to ${perSecond} events per second and ${burst} events burst limit.`;
    const message = `client rate limited: ${dropped} event(s) dropped since the last warning, ${where}. ${config}`;
    const properties = { $$client_ingestion_warning_message: message };
    return capture('$$client_ingestion_warning', properties, { skip_client_rate_limiting: true, send_instantly: true });
  };
  return undefined;
};

function limitsOf({ rate_limiting }: Options): { perSecond: number; burst: number } {
  const { events_per_second: perSecond = 10, events_burst_limit = perSecond * 10 } = rate_limiting ?? {};
  return { perSecond, burst: Math.max(events_burst_limit, perSecond) };
}

function filledBucket(options: Options, store: Store): Bucket {
  const { perSecond, burst } = limitsOf(options);
  const now = Date.now();
  const { tokens = burst, last = now, dropped = 0 } = Object(store.get('$capture_rate_limit')) as Partial<Bucket>;
  const filled = tokens + (Math.max(0, now - last) / 1000) * perSecond;
  return { tokens: Math.min(burst, filled), last: Math.max(last, now), dropped };
}
