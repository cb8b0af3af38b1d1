import { measureStaleness } from './flag-changes.ts';
import type { FlagReply } from './flag-load.ts';

/** Changes were answered at these times. */
const answeredAt = [0, 1000, 2000, 5000];

function reply(askedAt: number, count: number, isToggledThere = count % 2 === 0): FlagReply {
  const flag = { enabled: true, metadata: { payload: null } };
  return {
    ...{ askedAt, tookMs: 1, status: 200, hasErrors: false },
    flags: {
      counted: { enabled: true, metadata: { payload: String(count) } },
      ...(isToggledThere ? { toggled: flag } : {}),
    },
  };
}

test.each([
  ['before the change was answered', reply(900, 0), { longestMs: 0, stale: 0, torn: 0 }],
  ['of what came before its answer', reply(900, 1), { longestMs: 0, stale: 0, torn: 0 }],
  ['a second after it', reply(2000, 0), { longestMs: 1000, stale: 0, torn: 0 }],
  ['later', reply(2001, 0), { longestMs: 1001, stale: 1, torn: 0 }],
  ['two changes late', reply(3000, 0), { longestMs: 2000, stale: 1, torn: 0 }],
  ['of the last change, whenever', reply(90_000, 3), { longestMs: 0, stale: 0, torn: 0 }],
  ['half of a change', reply(1100, 1, true), { longestMs: 0, stale: 0, torn: 1 }],
])('an answer %s', (_name, one, expected) => {
  expect(measureStaleness([one], answeredAt)).toEqual(expected);
});
