import { readPorts } from './ports.ts';

test('INGEST_PORT and API_PORT choose, empty means the standard one', () => {
  expect(readPorts({ INGEST_PORT: '9000', API_PORT: '' })).toMatchObject({
    'ingest-gateway': 9000,
    'management-api': 8010,
  });
});

test.each(['x', '-1', '65536', '80.5'])('%p is no port, and says whose', (text) => {
  expect(() => readPorts({ API_PORT: text })).toThrow(/API_PORT/);
});
