// Limits the number of captured events, and drops events from bots.

import type { Options } from './client/client.ts';
import type { Feature } from './client/core.ts';
import type { JsonValue } from './client/values.ts';
import { page } from './page/globals.ts';

interface Bucket {
  tokens: number;
  last: number;
  /** Number of events that were dropped since the last warning. */
  dropped: number;
}

/**
 * Protects against endless loops. Allows a burst of 100 events, and 10 events per second after that. The limit
 * continues across page loads, because a loop may reload the page.
 */
export const limitRate: Feature = ({ options, store, signals, addGate, capture, log }) => {
  const bucket = bucketOf(store.get('$capture_rate_limit'), limitsOf(options).burst);
  let remaining: number | undefined;
  let isRefusing = false;

  const take = () => {
    const { perSecond, burst } = limitsOf(options);
    const now = Date.now();
    const filled = bucket.tokens + (Math.max(0, now - bucket.last) / 1000) * perSecond;
    bucket.last = now;
    bucket.tokens = Math.min(burst, filled);
    const isFree = bucket.tokens >= 1;
    if (isFree) bucket.tokens -= 1;
    else bucket.dropped += 1;
    return isFree;
  };
  const warn = () => {
    const { perSecond, burst } = limitsOf(options);
    const limit = `${perSecond} events per second and ${burst} events burst limit`;
    const message = `client rate limited: ${bucket.dropped} event(s) dropped since the last warning, over ${limit}`;
    log.error(message);
    const properties = { $$client_ingestion_warning_message: message };
    const how = { skip_client_rate_limiting: true, send_instantly: true };
    if (capture('$$client_ingestion_warning', properties, how)) bucket.dropped = 0;
  };

  addGate((_, how) => {
    remaining = undefined;
    if (how?.skip_client_rate_limiting) return true;
    const isFree = take();
    const wasRefusing = isRefusing;
    isRefusing = !isFree;
    // Warn only after the update above, because a listener that receives the warning may capture another event.
    if (isRefusing && !wasRefusing) warn();
    remaining = bucket.tokens;
    return isFree;
  });
  signals.on('capturing', ({ properties }) => {
    if (remaining !== undefined) properties.$lib_rate_limit_remaining_tokens = remaining;
  });
  // Save the count only when the visitor leaves, because saving it with each event would write the entire store.
  signals.on('leaving', () => store.set({ $capture_rate_limit: { ...bucket } }));
  return undefined;
};

function bucketOf(stored: JsonValue, burst: number): Bucket {
  const { tokens, last, dropped } = Object(stored) as Record<string, unknown>;
  return { tokens: Number(tokens ?? burst) || 0, last: Number(last) || Date.now(), dropped: Number(dropped) || 0 };
}

function limitsOf({ rate_limiting }: Options): { perSecond: number; burst: number } {
  const { events_per_second: perSecond = 10, events_burst_limit = perSecond * 10 } = rate_limiting ?? {};
  return { perSecond, burst: Math.max(events_burst_limit, perSecond) };
}

/** Names that occur in the user agents of crawlers, link previews and monitoring tools that run scripts. */
const names =
  /bot[/;]|bot\.(htm|php)|(ads|slack|store|vercel)bot|uptime ?(bot|robot)|-google|google(other|weblight|-| (favicon|web))|crawler|spider|slurp|prerender|preview|lighthouse|headlesschrome|lightpanda|cypress|screaming frog|siteaudit|facebook(external|catalog)|meta-external|hubspot|chatgpt-user|vercel-screen/i;

export const filterBots: Feature = ({ options, addGate, addProperties, log }) => {
  const { webdriver, userAgent = '' } = page?.navigator ?? {};
  const isBot = webdriver || names.test(userAgent);
  let hasWarned = false;
  addGate(() => {
    if (options.opt_out_useragent_filter || !isBot) return true;
    if (!hasWarned) log.warn('Bot detected, events are dropped. To send them, set opt_out_useragent_filter');
    hasWarned = true;
    return false;
  });
  addProperties(() => (options.opt_out_useragent_filter ? { $browser_type: isBot ? 'bot' : 'browser' } : {}));
  return undefined;
};
