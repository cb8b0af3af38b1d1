import { createServer, type Server } from 'node:net';
import { eventually } from '@millrace/testing';
import { findFreePort, isPortFree } from './server-process.ts';

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

describe('findFreePort', () => {
  test.each(['127.0.0.1', '0.0.0.0'])('skips a port that is in use on %s', async (host) => {
    const taken = await occupy(host);
    expect(await isPortFree(taken)).toBe(false);
    expect(await findFreePort(taken)).toBeGreaterThan(taken);
  });

  test('skips ports that are reserved by the caller', async () => {
    const port = await findFreePort();
    expect(await findFreePort(port, new Set([port]))).not.toBe(port);
  });

  test('returns the preferred port if it is free', async () => {
    // Try again in case a different process has taken the port in the meantime.
    await eventually(async () => {
      const port = await findFreePort();
      expect(await findFreePort(port)).toBe(port);
    });
  });
});
