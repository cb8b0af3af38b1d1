import { targetsOf } from './subscription-targets.ts';

test('each address gets one report, whatever the list looks like', () => {
  const target_value = ' ada@example.com, grace@example.com,,ada@example.com ';
  expect(targetsOf({ target_type: 'email', target_value })).toEqual(['ada@example.com', 'grace@example.com']);
  expect(targetsOf({ target_type: 'email', target_value: ' , ' })).toEqual([]);
});

test('a channel and an address of the web are one target, commas and all', () => {
  expect(targetsOf({ target_type: 'webhook', target_value: 'https://example.com/a,b' })).toEqual([
    'https://example.com/a,b',
  ]);
});
