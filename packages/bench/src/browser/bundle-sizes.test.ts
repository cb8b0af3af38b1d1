import { stop } from 'esbuild';
import { measureSizes, readPageScripts } from './bundle-sizes.ts';

afterAll(stop);

test('both libraries are found and bundled', async () => {
  const sizes = await measureSizes(await readPageScripts());
  expect(sizes.map(({ name }) => name)).toEqual(['script', 'slim', 'react']);
  expect(sizes[0]?.referenceBytes).toBe(122_168);
  for (const { bytes, referenceBytes } of sizes) {
    expect(bytes).toBeGreaterThan(2000);
    expect(bytes).toBeLessThan(referenceBytes);
  }
});
