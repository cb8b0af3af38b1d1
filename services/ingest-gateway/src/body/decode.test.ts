import { gzipSync } from 'node:zlib';
import lzString from 'lz-string';
import { createByteBudget } from './byte-budget.ts';
import { type BodyHints, decodeBody, repairSurrogates } from './decode.ts';

const json = '{"api_key":"phc_k","event":"größe 🎉","distinct_id":"a?>b"}';
const noHints: BodyHints = { compression: null, contentType: '', contentEncoding: '' };
const form = 'application/x-www-form-urlencoded';
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const encoded = encodeURIComponent;

async function decode(body: string | Buffer, hints: Partial<BodyHints> = {}, maxDecompressedBytes = 1_000_000) {
  const lease = createByteBudget(100_000_000).lease();
  const received = { raw: Buffer.from(body), hints: { ...noHints, ...hints } };
  const decoded = await decodeBody(received, { maxDecompressedBytes, lease });
  return { ...decoded, text: decoded.json.toString('utf8') };
}

describe('decoding JSON in every encoding that clients use', () => {
  test.each<[string, string | Buffer, Partial<BodyHints>?]>([
    ['plain, no content type', json],
    ['plain, JSON type with charset', json, { contentType: 'application/json; charset=utf-8' }],
    ['with a byte order mark', `\ufeff${json}`],
    ['body-005 base64, text/plain, no hint', base64(json), { contentType: 'text/plain' }],
    ['body-006 base64 named in the query', base64(json), { compression: 'base64' }],
    ['base64 without padding', base64(json).replace(/=+$/, '')],
    ['base64 in short lines', base64(json).replace(/.{20}/g, '$&\n')],
    ['URL-safe base64', Buffer.from(json).toString('base64url')],
    ['body-007 gzip, query gzip', gzipSync(json), { compression: 'gzip' }],
    ['body-007 gzip, query gzip-js', gzipSync(json), { compression: 'gzip-js' }],
    ['body-007 gzip, query GZIP', gzipSync(json), { compression: 'GZIP' }],
    ['body-007 gzip, Content-Encoding', gzipSync(json), { contentEncoding: 'gzip' }],
    ['gzip declared twice is decompressed once', gzipSync(json), { contentEncoding: 'gzip', compression: 'gzip' }],
    ['body-008 gzip without a hint', gzipSync(json), { contentType: 'text/plain' }],
    ['gzip declared as a form', gzipSync(json), { contentType: form }],
    ['base64-encoded gzip', base64(gzipSync(json)), { compression: 'gzip' }],
    ['gzipped base64', gzipSync(base64(json))],
    ['body-011 form with JSON', `data=${encoded(json)}`, { contentType: form }],
    ['form type with charset', `data=${encoded(json)}`, { contentType: `${form}; charset=utf-8` }],
    ['form without its Content-Type', `data=${encoded(json)}`, { contentType: 'text/plain' }],
    ['form with the payload last', `ip=1&_=1700000000000&data=${encoded(json)}`, { contentType: form }],
    ['body-012 form with base64 whose plus signs became spaces', `data=${base64(json)}`, { contentType: form }],
    ['form with urlencoded base64', `data=${encoded(base64(json))}&compression=base64`, { contentType: form }],
    [
      'body-013 form with lz64',
      `data=${encoded(lzString.compressToBase64(json))}&compression=lz64`,
      { contentType: form },
    ],
    [
      'form with lz64 whose plus signs became spaces',
      `compression=lz64&data=${lzString.compressToBase64(json)}`,
      { contentType: form },
    ],
    ['body-014 lz64 with emoji', lzString.compressToBase64(json), { contentEncoding: 'lz64' }],
    ['lz-string in the query', lzString.compressToBase64(json), { compression: 'lz-string' }],
    ['body-016 plain JSON declared as a form', json, { contentType: form }],
    ['body-025 unknown compression', json, { compression: 'foobar' }],
    ['body-025 empty compression', json, { compression: '' }],
    ['JSON declared as gzip in the header', json, { contentEncoding: 'gzip' }],
    ['JSON declared as gzip in the query', json, { compression: 'gzip-js', contentType: 'text/plain' }],
    ['base64 declared as gzip', base64(json), { compression: 'gzip' }],
    ['a form declared as gzip', `data=${encoded(base64(json))}`, { compression: 'gzip', contentType: form }],
    ['JSON declared as lz64', json, { compression: 'lz64' }],
    ['gzip declared as lz64', gzipSync(json), { contentEncoding: 'lz64' }],
    ['the encoding identity', json, { contentEncoding: 'identity' }],
  ])('%s', async (...[, body, hints = {}]) => {
    expect(await decode(body, hints)).toMatchObject({ text: json });
  });

  test('the payload of case body-012 contains a plus sign', () => {
    expect(base64(json)).toContain('+');
  });

  test('treats JSON that mentions forms as JSON', async () => {
    const text = '{"url":"https://example.com/?a=1&data=2"}';
    expect(await decode(text, { contentType: 'application/json' })).toMatchObject({ text, apiKey: null });
    expect(await decode(text, { contentType: form })).toMatchObject({ text, apiKey: null });
  });

  test.each(['null', 'true', '12345678', '-1'])(
    'parses %s as an invalid JSON request, and not as base64',
    async (text) => {
      expect(await decode(text)).toMatchObject({ text });
      expect(await decode(text, { contentType: form })).toMatchObject({ text });
    },
  );

  test('decodes an emoji that an old browser SDK encoded as two surrogates in base64', async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from('eda0bdedb880', 'hex'), Buffer.from('"}')]);
    const data = encodeURIComponent(bytes.toString('base64'));
    expect(await decode(`data=${data}`, { contentType: form })).toMatchObject({ text: '{"a":"\u{1f600}"}' });
  });

  test('body-017 reads the API key from a separate form field', async () => {
    expect(await decode(`api_key=phc_form&data=${encoded(json)}`, { contentType: form })).toMatchObject({
      text: json,
      apiKey: 'phc_form',
    });
  });
});

describe('rejecting bodies that cannot be decoded', () => {
  test.each<[string, string | Buffer, Partial<BodyHints>, string]>([
    ['body-010 truncated gzip', gzipSync(json).subarray(0, 30), {}, 'invalid_gzip'],
    [
      'body-010 gzip with a broken checksum',
      Buffer.concat([gzipSync(json).subarray(0, -8), Buffer.alloc(8)]),
      {},
      'invalid_gzip',
    ],
    [
      'invalid UTF-8 declared as gzip',
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      { contentEncoding: 'gzip' },
      'invalid_gzip',
    ],
    ['body-015 invalid data declared as lz64', 'garbage!', { compression: 'lz64' }, 'invalid_lz64'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), {}, 'invalid_utf8'],
    ['brotli, which is not supported', Buffer.from([0x8b, 0xff, 0xfe]), { contentEncoding: 'br' }, 'invalid_utf8'],
    ['body-020 only white space', ' \n ', {}, 'no_data'],
    ['body-020 form with an empty payload', 'data=', { contentType: form }, 'no_data'],
    ['form without a payload', 'event=a&distinct_id=b', { contentType: form }, 'no_data'],
    ['gzip of an empty body', gzipSync(''), {}, 'no_data'],
  ])('%s', async (_name, body, hints, code) => {
    await expect(decode(body, hints)).rejects.toMatchObject({ kind: 'invalid', code });
  });

  test('the error for an unsupported compression lists the supported ones', async () => {
    await expect(decode(Buffer.from([0xff]), { contentEncoding: 'zstd' })).rejects.toThrow(/gzip/);
  });

  test.each([
    ['through the thread pool', gzipSync(Buffer.alloc(60_000_000)), 50_000_000],
    ['in the main thread', gzipSync(Buffer.alloc(300_000)), 200_000],
  ])('body-030 stops decompressing a gzip bomb at the limit, %s', async (_name, bomb, cap) => {
    expect(bomb.length).toBeLessThan(cap / 100);
    await expect(decode(bomb, {}, cap)).rejects.toMatchObject({ kind: 'too_large', code: 'request_too_large' });
  });

  test('body-030 stops decoding an lz64 bomb at the limit', async () => {
    const bomb = lzString.compressToBase64('a'.repeat(200_000));
    await expect(decode(bomb, { compression: 'lz64' }, 1_000_000)).rejects.toMatchObject({ kind: 'too_large' });
  });

  test('stops decompressing many bombs when the memory budget is used up', async () => {
    const budget = createByteBudget(3_000_000);
    const bomb = gzipSync(Buffer.alloc(2_000_000));
    const options = () => ({ maxDecompressedBytes: 10_000_000, lease: budget.lease() });
    const results = await Promise.allSettled([1, 2, 3].map(() => decodeBody({ raw: bomb, hints: noHints }, options())));
    expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
    }
    expect(budget.usedBytes()).toBeLessThanOrEqual(3_000_000);
  });
});

/** Encodes each UTF-16 code unit as a separate character, like old browser SDKs. */
function encodeUnits(text: string): Buffer {
  return Buffer.concat(
    Array.from({ length: text.length }, (_, index) => {
      const unit = text.charCodeAt(index);
      if (unit < 0xd800 || unit > 0xdfff) return Buffer.from(String.fromCharCode(unit));
      return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

test.each(['', 'plain', 'ünï ퟿ \u{1f600}', '\u{1f600}\u{1f601}x', '{"a":"\u{10ffff}"}'])(
  'restores %j from surrogates that were encoded separately',
  (text) => {
    expect(repairSurrogates(encodeUnits(text)).toString()).toBe(text);
  },
);

test.each([
  ['\ud83d', '\ufffd'],
  ['a\ude00b', 'a\ufffdb'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
])('replaces lone surrogates with replacement characters (case %#)', (text, repaired) => {
  expect(repairSurrogates(encodeUnits(text)).toString()).toBe(repaired);
});

test('keeps other invalid characters while it restores surrogates', () => {
  const broken = Buffer.from([0x7b, 0xed, 0xff, 0xed]);
  expect(repairSurrogates(broken)).toEqual(broken);
});
