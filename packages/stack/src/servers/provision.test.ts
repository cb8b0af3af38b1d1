import { provideServer, ServerUnavailable, type Source } from './provision.ts';
import { describeRunningServer } from './server-process.ts';

const started: string[] = [];

const works = (name: string): Source => ({
  name,
  unavailable: async () => null,
  start: async () => {
    started.push(name);
    return describeRunningServer(`${name}:1`);
  },
});
const isMissing = (name: string): Source => ({ ...works(name), unavailable: async () => 'not here' });
const breaks = (name: string): Source => ({
  ...works(name),
  start: async () => {
    throw new Error('broke while starting');
  },
});

beforeEach(() => {
  started.length = 0;
});

describe('provide', () => {
  test.each([
    { sources: [works('given'), works('local')], from: 'given' },
    { sources: [isMissing('given'), works('local'), works('installed')], from: 'local' },
    { sources: [isMissing('given'), breaks('docker'), works('local')], from: 'local' },
  ])('uses the first source that works: $from', async ({ sources, from }) => {
    const { server, source } = await provideServer('Kafka', sources);
    expect(source).toBe(from);
    expect(server.address).toBe(`${from}:1`);
    expect(started).toEqual([from]);
  });

  test('reports the reason for each source that could not be used', async () => {
    const attempt = provideServer('Kafka', [isMissing('given'), breaks('docker')]);
    await expect(attempt).rejects.toThrow(ServerUnavailable);
    await expect(attempt).rejects.toThrow(
      'Could not start Kafka. Tried:\n  - given: not here\n  - docker: broke while starting',
    );
  });
});
