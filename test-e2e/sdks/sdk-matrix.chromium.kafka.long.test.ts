import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { type ApiEvent, createManagementClient, type ManagementClient } from '../support/management-client.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { createBrowserSdks } from './browser-sdks.ts';
import { expectStoredAsSent, getDistinctId } from './expect-stored-as-sent.ts';
import { createMatrix } from './matrix.ts';
import { createNodeSdks } from './node-sdks.ts';
import { createProgramSdks } from './program-sdks.ts';
import { type Exchange, type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';
import { scenes } from './scenario.ts';
import { calls, type Sdk, type SdkSession } from './sdk.ts';
import { readSentBatch, type SentEvent } from './sent-events.ts';

/** Every SDK makes every supported call while the entire system is running. Each SDK has its own project. */
const sdks: Sdk[] = [...createNodeSdks(), ...createBrowserSdks(), ...(await createProgramSdks())];
const matrix = createMatrix(sdks);
let services: RunningServices;

beforeAll(async () => {
  services = await startServices({ eventLog: 'kafka' });
});
afterAll(async () => {
  matrix.print();
  await services?.stop();
});

for (const sdk of sdks) {
  // If an SDK is not available, its tests are skipped, which fails the build in CI.
  (sdk.unavailable === null ? describe : describe.skip)(sdk.name, () => {
    let tenant: TestTenant;
    let api: ManagementClient;
    let proxy: RecordingProxy;
    let session: SdkSession;

    beforeAll(async () => {
      tenant = await createTestTenant(services.databaseUrl);
      api = createManagementClient({ ...services, tenant });
      proxy = await startRecordingProxy(services.ingestUrl);
      session = await sdk.open({ ingestUrl: proxy.url, projectApiKey: tenant.projectApiKey });
    });
    afterAll(async () => {
      await session?.close();
      await proxy?.stop();
    });

    test.each(calls.filter((call) => sdk.calls.includes(call)))(
      'stores the events of the call %s as sent',
      async (call) => {
        const scene = scenes[call];
        const before = proxy.exchanges.length;
        await session.make(call);
        const { names, count } = scene.sends(sdk.kind);
        const sent = await eventually(
          () => {
            const batches = proxy.exchanges.slice(before).flatMap((exchange) => readSentBatch(exchange) ?? []);
            if (call === 'historical migration') expect(batches.every(({ isHistorical }) => isHistorical)).toBe(true);
            const found = batches.flatMap(({ events }) => events).filter(({ event }) => names.includes(event));
            expect(found).toHaveLength(count);
            return found;
          },
          { what: `Sending ${names.join(' and ')}` },
        );
        const rows = await eventually(() => findRows(sent), { what: `Storing ${names.join(' and ')}` });
        for (const [index, row] of rows.entries()) expectStoredAsSent(row, sent[index] as SentEvent);
        const storedAs = await scene.check(
          { rows, person: async (id) => (await api.persons({ distinct_id: id }))[0], groups: () => api.groups() },
          sdk.kind,
        );
        matrix.note(sdk, call, storedAs);
      },
      300_000,
    );

    test('no SDK request fails or is repeated', async () => {
      await eventually(() => proxy.exchanges.every(({ status }) => status !== null), {
        what: 'Responding to everything',
      });
      const seen = proxy.exchanges.map(({ method, url, status }) => `${status} ${method} ${url.pathname}`);
      expect(seen.filter((line) => !/^20[04] /.test(line))).toEqual([]);
      const uuids = proxy.exchanges.flatMap((exchange) =>
        (readSentBatch(exchange)?.events ?? []).flatMap(({ uuid }) => uuid || []),
      );
      expect(new Set(uuids).size).toBe(uuids.length);
      expect(proxy.exchanges.filter(({ url }) => url.searchParams.has('retry_count'))).toEqual([]);
      if (sdk.kind === 'browser') expectBrowserGotResponses(proxy.exchanges);
      expect(session.complaints).toEqual([]);
      expect(await api.warnings()).toEqual([]);
    });

    /**
     * Returns one stored row per event, in the order the events were sent. Events without a UUID are found by name and
     * ID.
     */
    async function findRows(sent: readonly SentEvent[]): Promise<ApiEvent[]> {
      const stored = await Promise.all(
        [...new Set(sent.map(({ event }) => event))].map((event) => api.events({ event })),
      );
      return sent.map((one) => {
        const matching = stored
          .flat()
          .filter((row) =>
            one.uuid
              ? row.uuid === one.uuid
              : row.event === one.event &&
                row.distinct_id === getDistinctId(one) &&
                row.properties.n === one.properties.n,
          );
        expect(matching).toHaveLength(1);
        return matching[0] as ApiEvent;
      });
    }
  });
}

/**
 * Checks that the browser could read all responses. The page and the ingest host have different origins, so every
 * response must allow the page's origin. The response to a beacon may be 204.
 */
function expectBrowserGotResponses(exchanges: readonly Exchange[]): void {
  const fromPage = exchanges.filter(({ method, headers }) => method === 'POST' && headers.origin !== undefined);
  const isBeacon = ({ url, headers }: Exchange) =>
    headers['sec-fetch-mode'] === 'no-cors' || url.searchParams.get('beacon') === '1';
  expect(fromPage.some(isBeacon)).toBe(true);
  for (const { headers, responseHeaders } of fromPage) {
    expect(responseHeaders).toMatchObject({
      'access-control-allow-origin': headers.origin,
      'access-control-allow-credentials': 'true',
    });
  }
}
