import { attempt } from '../page/globals.ts';
import { contentType } from './ask.ts';

/** Of all beacons and other requests that outlive their page, together. */
const mostBytes = 65_536;

/**
 * Sends events while the page goes away, in as many parts as it takes. Nobody hears the answers.
 * @returns false as soon as the browser takes no more.
 */
export function sendBeacon<Event>(url: string, events: Event[], envelope: (events: Event[]) => string): boolean {
  if (events.length === 0) return true;
  const body = new Blob([envelope(events)], { type: contentType });
  const isSmall = body.size < mostBytes;
  if (isSmall && attempt(() => navigator.sendBeacon(url, body))) return true;
  const half = Math.ceil(events.length / 2);
  if (events.length > 1) {
    return sendBeacon(url, events.slice(0, half), envelope) && sendBeacon(url, events.slice(half), envelope);
  }
  attempt(() => fetch(url, { method: 'POST', body, keepalive: isSmall }).catch(() => {}));
  return false;
}
