import { listSubscriptionTargets } from './subscription-targets.ts';

test('returns each email address once, even if the list contains duplicates and blanks', () => {
  const target_value = ' ada@example.com, grace@example.com,,ada@example.com ';
  expect(listSubscriptionTargets({ target_type: 'email', target_value })).toEqual([
    'ada@example.com',
    'grace@example.com',
  ]);
  expect(listSubscriptionTargets({ target_type: 'email', target_value: ' , ' })).toEqual([]);
});

test('returns a webhook URL as one target, even if it contains commas', () => {
  expect(listSubscriptionTargets({ target_type: 'webhook', target_value: 'https://example.com/a,b' })).toEqual([
    'https://example.com/a,b',
  ]);
});
