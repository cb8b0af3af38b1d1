import type { Core } from '../client/core.ts';
import { type Body, pack } from './ask.ts';
import type { QueuedEvent } from './event-queue.ts';

/** How events travel: what a batch looks like, and what the environment's settings say of it. */
export interface Envelope {
  url(): string;
  /** The body of a request, as JSON. */
  wrap(events: QueuedEvent[]): string;
  pack(text: string): Promise<Body>;
}

export function createEnvelope({
  token,
  options,
  signals,
  url,
}: Pick<Core, 'token' | 'options' | 'signals' | 'url'>): Envelope {
  let endpoint = '/e/';
  let takesGzip = true;
  signals.on('remoteConfig', (config) => {
    endpoint = config?.analytics?.endpoint || endpoint;
    takesGzip = config?.supportedCompression?.includes('gzip-js') ?? takesGzip;
  });
  return {
    url: () => url(endpoint),
    wrap(events) {
      const batch = events.map(({ text }) => text).join();
      return `{"api_key":${JSON.stringify(token)},"batch":[${batch}],"sent_at":"${new Date().toISOString()}"}`;
    },
    pack: async (text) => (takesGzip && !options.disable_compression ? pack(text).catch(() => text) : text),
  };
}
