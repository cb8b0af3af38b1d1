import { stop } from 'esbuild';
import { measureSizes, readPageScripts } from './bundle-sizes.ts';

afterAll(stop);

test('both libraries are found and bundled, and of ours it is known where its bytes are', async () => {
  const sizes = await measureSizes(await readPageScripts());
  expect(sizes).toEqual([
    { name: 'script', bytes: expect.any(Number), referenceBytes: 122_168, rooms: expect.any(Object) },
    { name: 'slim', bytes: expect.any(Number), referenceBytes: expect.any(Number), rooms: expect.any(Object) },
    { name: 'react', bytes: expect.any(Number), referenceBytes: expect.any(Number), rooms: expect.any(Object) },
  ]);
  const [script, slim, react] = sizes.map(({ rooms }) => Object.keys(rooms));
  expect(script).toEqual(expect.arrayContaining(['autocapture', 'flags', 'sending']));
  expect(slim).toEqual(expect.not.arrayContaining(['autocapture']));
  expect(react).toEqual(expect.arrayContaining(['hooks', 'components']));
  for (const { referenceBytes } of sizes) expect(referenceBytes).toBeGreaterThan(3000);
});
