import { freeServicePorts, readPorts } from './ports.ts';

test('INGEST_PORT and API_PORT choose, empty means the standard one', () => {
  expect(readPorts({ INGEST_PORT: '9000', API_PORT: '' })).toMatchObject({
    ingest: 9000,
    api: 8010,
  });
});

test.each(['x', '-1', '65536', '80.5'])('%p is no port, and says whose', (text) => {
  expect(() => readPorts({ API_PORT: text })).toThrow(/API_PORT/);
});

test('three services that want one port get three', async () => {
  const { ingest, api, health } = await freeServicePorts({ ingest: 18_400, api: 18_400, health: 18_400 });
  expect(new Set([ingest, api, health]).size).toBe(3);
});
