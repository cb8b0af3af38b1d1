import { createServer, type Server } from 'node:net';
import { eventually } from '@millrace/testing';
import { freePort, isFree } from './server-process.ts';

const servers: Server[] = [];

async function occupy(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

describe('freePort', () => {
  test.each(['127.0.0.1', '0.0.0.0'])('skips a port that is in use on %s', async (host) => {
    const taken = await occupy(host);
    expect(await isFree(taken)).toBe(false);
    expect(await freePort(taken)).toBeGreaterThan(taken);
  });

  test('skips ports that are reserved', async () => {
    const port = await freePort();
    expect(await freePort(port, new Set([port]))).not.toBe(port);
  });

  test('returns the preferred port if it is free', async () => {
    // Try again if another process on this machine has taken the port in between.
    await eventually(async () => {
      const port = await freePort();
      expect(await freePort(port)).toBe(port);
    });
  });
});
