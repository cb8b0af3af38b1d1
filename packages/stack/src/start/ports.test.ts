import { findFreeServicePorts, readPorts } from './ports.ts';

test('reads the ports from INGEST_PORT and API_PORT, and treats an empty value as the default', () => {
  expect(readPorts({ INGEST_PORT: '9000', API_PORT: '' })).toMatchObject({
    ingest: 9000,
    api: 8010,
  });
});

test.each(['x', '-1', '65536', '80.5'])('rejects the port %p and names its variable', (text) => {
  expect(() => readPorts({ API_PORT: text })).toThrow(/API_PORT/);
});

test('finds three different ports for services that prefer the same port', async () => {
  const { ingest, api, health } = await findFreeServicePorts({ ingest: 18_400, api: 18_400, health: 18_400 });
  expect(new Set([ingest, api, health]).size).toBe(3);
});
