import { gunzipSync } from 'node:zlib';
import type { Exchange } from './recording-proxy.ts';

export interface SentEvent {
  event: string;
  /** Some SDKs do not send it. */
  uuid?: string;
  distinct_id?: string | null;
  timestamp?: string;
  /** Milliseconds between the event and the request. Only old browser SDKs send it. */
  offset?: number;
  properties: Record<string, unknown>;
  $set?: Record<string, unknown>;
  $set_once?: Record<string, unknown>;
}

export interface SentBatch {
  events: SentEvent[];
  isHistorical: boolean;
}

const capturePaths = /^\/(e|i\/v0\/e|batch|capture|track)\/?$/;

/** Decodes a capture request without the gateway's code. Returns null for any other request. */
export function readSentBatch({ method, url, body }: Exchange): SentBatch | null {
  if (method !== 'POST' || !capturePaths.test(url.pathname)) return null;
  const content = JSON.parse(toText(body)) as SentEvent | SentEvent[] | { batch: SentEvent[] };
  const events = Array.isArray(content) ? content : 'batch' in content ? content.batch : [content];
  return { events, isHistorical: (content as { historical_migration?: boolean }).historical_migration === true };
}

function toText(body: Buffer): string {
  if (body[0] === 0x1f && body[1] === 0x8b) return gunzipSync(body).toString();
  const text = body.toString();
  if (!text.startsWith('data=')) return text;
  return joinHalves(Buffer.from(new URLSearchParams(text).get('data') ?? '', 'base64'));
}

/** Decodes text from old browser SDKs, which encode each half of an emoji as three UTF-8 bytes. */
function joinHalves(bytes: Buffer): string {
  const joined = bytes.toString('latin1').replace(/\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]/g, (halves) => {
    const units = [halves.slice(1, 3), halves.slice(4)].map((half) => {
      return 0xd000 | ((half.charCodeAt(0) & 0x3f) << 6) | (half.charCodeAt(1) & 0x3f);
    });
    return Buffer.from(String.fromCharCode(...units)).toString('latin1');
  });
  return Buffer.from(joined, 'latin1').toString();
}
