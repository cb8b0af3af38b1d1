import { randomUUID } from 'node:crypto';
import { projectKeyChannel } from '@millrace/contracts';
import { createLogger } from '@millrace/runtime';
import { createRedisKeyValue, redisConnection } from '@millrace/runtime/cache';
import { createFaultProxy, eventually, testServers } from '@millrace/testing';
import { announceKeyChanges } from './announce-key-changes.ts';

test('a Redis that says nothing for a moment hears of every key all the same', async () => {
  const logger = createLogger('test', 'error');
  const url = new URL(testServers().redisUrl);
  const heard = new Set<string>();
  const direct = createRedisKeyValue(url.toString(), logger);
  const proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || 6379) });
  try {
    const [probe, ...keys] = Array.from({ length: 20 }, (): string => randomUUID());
    let isFirst = true;
    await direct.subscribe(projectKeyChannel, (message) => {
      heard.add(message);
      if (!keys.includes(message) || !isFirst) return;
      isFirst = false;
      proxy.blackHole();
      setTimeout(() => void proxy.pass(), 500);
    });
    await eventually(
      async () => {
        await direct.publish(projectKeyChannel, probe ?? '');
        return heard.has(probe ?? '');
      },
      { what: 'The subscription' },
    );
    url.host = `${proxy.host}:${proxy.port}`;
    const redis = redisConnection({ redisUrl: url.toString() });
    if (redis === undefined) throw new Error('There is an address.');
    await announceKeyChanges(redis, keys, logger);
    await eventually(() => keys.every((key) => heard.has(key)), { what: 'All keys' });
  } finally {
    await direct.stop();
    await proxy.stop();
  }
});
