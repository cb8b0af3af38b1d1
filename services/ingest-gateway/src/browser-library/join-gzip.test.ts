import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { joinGzip } from './join-gzip.ts';

test('a joined stream unpacks to the text and what was in the other, whatever they are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ minLength: 1, maxLength: 70_000 }), (text, bytes) => {
      const plain = Buffer.from(bytes);
      const joined = joinGzip(text, gzipSync(plain, { level: 9 }), plain);
      expect(gunzipSync(joined)).toEqual(Buffer.concat([Buffer.from(text), plain]));
    }),
  );
});
