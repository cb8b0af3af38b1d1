import { quoteForShell } from '../../api/request.ts';
import type { LiveMessage } from './messages.ts';
import { text } from './words.ts';

const longest = 40;

/** What a row says of an event: the reason where it was not simply stored, otherwise its first own properties. */
export function summaryOf({ outcome, reason, properties }: LiveMessage): string {
  if (outcome !== 'stored') return text.reason(reason ?? '');
  const own = Object.entries(properties).filter(([key, value]) => !key.startsWith('$') && isPlain(value));
  const shown =
    own.length > 0 ? own : Object.entries(properties).filter(([key]) => /^\$(browser|current_url|os)$/.test(key));
  return shown
    .slice(0, 3)
    .map(([key, value]) => `${key} ${String(value).slice(0, longest)}`)
    .join(' · ');
}

const isPlain = (value: unknown) => value === null || typeof value !== 'object';

/** Sends the same again as a new event, with the project's public key. */
export function curlOfEvent(message: LiveMessage, key: string, host: string): string {
  const body = JSON.stringify({
    api_key: key,
    event: message.event,
    distinct_id: message.distinct_id,
    timestamp: message.timestamp,
    properties: message.properties,
  });
  return `curl -sS -X POST ${quoteForShell(`${host}/i/v0/e/`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quoteForShell(body)}`;
}
