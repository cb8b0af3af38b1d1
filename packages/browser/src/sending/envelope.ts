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
    const said = config?.analytics?.endpoint;
    // Anything else would be another host.
    if (/^\//.test(String(said))) endpoint = said as string;
    takesGzip = String(config?.supportedCompression ?? 'gzip-js').includes('gzip-js');
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
