import { findProjectApiKey } from './project-api-key.ts';

const key = 'phc_0123456789';

describe('finding the API key in every position that clients use', () => {
  test.each<[string, Record<string, unknown> | null, Record<string, unknown>[], string | null]>([
    ['token-014 api_key of the batch', { api_key: key }, [{}], null],
    ['token-014 token of the batch', { token: key }, [{}], null],
    ['token-014 $token of the batch', { $token: key }, [{}], null],
    ['token-014 api_key of the event', null, [{ api_key: key }], null],
    ['token-014 token of the event', null, [{ token: key }], null],
    ['token-014 $token of the event', null, [{ $token: key }], null],
    ['token-014 properties.token', null, [{ properties: { token: key } }], null],
    ['both names, one of them null', { api_key: null, token: key }, [{}], null],
    ['token-009 with white space around', { api_key: ` ${key}\n` }, [{}], null],
    ['token-012 the same key twice', null, [{ token: key }, { properties: { token: key } }], null],
    ['token-012 only in one element', null, [{}, { token: key }, {}], null],
    ['token-013 the batch wins over its events', { api_key: key }, [{ api_key: 'phc_other' }], null],
    ['in the events of a batch without a key', {}, [{ properties: { token: key } }], null],
    ['body-017 next to the payload', null, [{}], key],
    ['a properties.token that is not a string is a property', null, [{ properties: { token: 5 } }], key],
    ['exactly 64 bytes', { api_key: 'k'.repeat(64) }, [{}], null],
  ])('%s', (name, envelope, events, fallback) => {
    const expected = name === 'exactly 64 bytes' ? 'k'.repeat(64) : key;
    expect(findProjectApiKey(envelope, events, fallback)).toBe(expected);
  });
});

describe('rejecting invalid API keys with a reason', () => {
  test.each<[string, string, Record<string, unknown> | null, Record<string, unknown>[]]>([
    ['token-001 no key in an event', 'missing_api_key', null, [{}]],
    ['token-002 no key in a batch', 'missing_api_key', {}, [{}, {}]],
    ['token-003 empty', 'empty', { api_key: '' }, [{}]],
    ['token-003 white space', 'empty', { api_key: ' \t\n' }, [{}]],
    ['token-003 65 bytes', 'too_long', { api_key: 'k'.repeat(65) }, [{}]],
    ['token-003 too long in bytes, not in characters', 'too_long', { api_key: 'é'.repeat(40) }, [{}]],
    ['token-003 not ASCII', 'not_ascii', { api_key: 'phc_ä' }, [{}]],
    ['token-003 a personal API key', 'personal_api_key', { api_key: 'phx_secret' }, [{}]],
    ['token-003 a null character', 'null_byte', { api_key: 'phc_\0a' }, [{}]],
    ['token-010 an object', 'not_string', { api_key: {} }, [{}]],
    ['token-010 a number in an event', 'not_string', null, [{ token: 5 }]],
    ['token-011 two keys in one array', 'inconsistent', null, [{ token: key }, { token: 'phc_other' }]],
  ])('%s', (_name, code, envelope, events) => {
    expect(() => findProjectApiKey(envelope, events, null)).toThrow(
      expect.objectContaining({ kind: 'unauthenticated', code, attr: 'api_key' }),
    );
  });

  test('the error message does not contain the API key', () => {
    expect(() => findProjectApiKey({ api_key: 'phx_secret' }, [{}], null)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });
});
