import { patienceMs } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { PostHog as PostHog3 } from 'posthog-node-3';
import { PostHog as PostHog4 } from 'posthog-node-4';
import { readInstalledVersion } from './installed-version.ts';
import type { Call, Sdk, Target } from './sdk.ts';

interface NodeClient {
  capture(event: {
    distinctId: string;
    event: string;
    properties?: Record<string, unknown>;
    groups?: Record<string, string>;
    timestamp?: Date;
  }): void;
  identify(event: { distinctId: string; properties?: Record<string, unknown> }): void;
  alias(event: { distinctId: string; alias: string }): void;
  groupIdentify(event: { groupType: string; groupKey: string; properties?: Record<string, unknown> }): void;
  on(event: string, listener: (...values: unknown[]) => void): unknown;
}

interface Generation {
  packageName: string;
  calls: readonly Call[];
  connect(target: Target, options: { historicalMigration?: boolean }): NodeClient;
  end(client: NodeClient): Promise<void>;
}

/** The timeout is long, because a client on a busy machine would otherwise send a request again. */
const requestTimeout = patienceMs;
const everyCall = ['capture', 'identify', 'alias', 'group identify', 'batch', 'historical migration'] as const;

const generations: Generation[] = [
  {
    packageName: 'posthog-node',
    calls: everyCall,
    connect: ({ projectApiKey, ingestUrl }, options) =>
      new PostHog(projectApiKey, { host: ingestUrl, requestTimeout, ...options }),
    end: (client) => (client as PostHog).shutdown(),
  },
  {
    packageName: 'posthog-node-4',
    calls: everyCall,
    connect: ({ projectApiKey, ingestUrl }, options) =>
      new PostHog4(projectApiKey, { host: ingestUrl, requestTimeout, ...options }),
    end: (client) => (client as PostHog4).shutdown(),
  },
  {
    packageName: 'posthog-node-3',
    // This SDK version does not support historical migrations.
    calls: everyCall.filter((call) => call !== 'historical migration'),
    connect: ({ projectApiKey, ingestUrl }) => new PostHog3(projectApiKey, { host: ingestUrl, requestTimeout }),
    end: (client) => (client as PostHog3).shutdownAsync(),
  },
];

export function createNodeSdks(): Sdk[] {
  return generations.map((generation) => ({
    name: `posthog-node ${readInstalledVersion(generation.packageName)}`,
    kind: 'server',
    calls: generation.calls,
    unavailable: null,
    async open(target) {
      const complaints: string[] = [];
      return {
        complaints,
        async make(call) {
          const client = generation.connect(target, { historicalMigration: call === 'historical migration' });
          client.on('error', (error) => complaints.push(String(error)));
          makeCall(client, call);
          await generation.end(client);
        },
        close: async () => {},
      };
    },
  }));
}

function makeCall(client: NodeClient, call: Call): void {
  switch (call) {
    case 'capture':
      client.capture({
        distinctId: 'buyer',
        event: 'order placed',
        properties: { total: 42, currency: 'EUR', nested: { list: [1, 'zwei', null, true] }, text: 'Grüße 👋' },
      });
      return;
    case 'identify':
      client.identify({ distinctId: 'ada', properties: { email: 'ada@example.com', plan: 'pro' } });
      return;
    case 'alias':
      client.capture({ distinctId: 'old-id', event: 'seen before', properties: { $set: { kept: 1 } } });
      client.alias({ distinctId: 'old-id', alias: 'main-id' });
      return;
    case 'group identify':
      client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { name: 'Acme', seats: 5 } });
      client.capture({ distinctId: 'worker', event: 'seat used', groups: { company: 'acme' } });
      return;
    case 'batch':
      for (let n = 0; n < 50; n++) {
        client.capture({ distinctId: `ticker-${n % 3}`, event: 'tick', properties: { n } });
      }
      return;
    case 'historical migration':
      for (let n = 0; n < 12; n++) {
        const timestamp = new Date(Date.UTC(2016, n, 1));
        const properties = { n, $set: { last_import: n } };
        client.capture({ distinctId: 'veteran', event: 'imported', timestamp, properties });
      }
      return;
    case 'unload':
      throw new Error('A server has no page to leave');
  }
}
