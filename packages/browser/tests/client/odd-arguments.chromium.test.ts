import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

/** JavaScript expression for a list of values that methods do not expect. */
const odd = `(() => {
  const circle = { name: 'circle' }; circle.self = circle; circle.list = [circle];
  const trap = new Proxy({}, { get() { throw new Error('trap'); }, ownKeys() { throw new Error('trap'); }, has() { throw new Error('trap'); } });
  const getter = { get bad() { throw new Error('getter'); }, good: 1 };
  const bare = Object.create(null); bare.a = 1;
  return [undefined, null, true, 0, NaN, -1, 12345678901234567890n, '', 'text', '__proto__', Symbol('s'), () => { throw new Error('mine'); },
    [], [undefined, Symbol('t'), [[[]]]], {}, circle, trap, getter, bare, document.body, window, document, new Date(NaN), /x/g,
    new Map([[1, 2]]), new Error('e'), new Uint8Array(3), Promise.reject(new Error('rejected')).catch(() => {}) , { toJSON() { throw new Error('json'); } },
    { toString() { throw new Error('string'); }, valueOf() { throw new Error('value'); } }, class Foo {}, new (class { get x() { throw new Error('x'); } })()];
})()`;

test('no method throws or rejects, whatever the arguments are', async () => {
  const { page, complaints } = await lab.visit();
  const thrown = await page.evaluate(`(async () => {
    const values = ${odd};
    const left = ['init', 'shutdown'];
    const calls = [];
    for (const [name, member] of Object.entries(posthog)) if (typeof member === 'function' && !left.includes(name)) calls.push([name, member]);
    for (const [name, member] of Object.entries(posthog.featureFlags)) if (typeof member === 'function') calls.push(['featureFlags.' + name, member.bind(posthog.featureFlags)]);
    for (const [name, member] of Object.entries(posthog.people)) calls.push(['people.' + name, member]);
    const thrown = [];
    let seed = 7;
    const any = () => values[(seed = (seed * 1103515245 + 12345) % 2147483648) % values.length];
    for (const [name, member] of calls) {
      for (const first of values) {
        const args = [first, any(), any()];
        try {
          const result = member(...args);
          if (result instanceof Promise) await result.catch((error) => thrown.push(name + ' rejected: ' + error));
        } catch (error) {
          thrown.push(name + ': ' + (error && error.stack));
        }
      }
    }
    return { thrown, count: calls.length, isAlive: typeof posthog.get_distinct_id() };
  })()`);
  expect(thrown).toEqual({ thrown: [], count: expect.any(Number), isAlive: 'string' });
  expect(complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
});

test('init does not throw, whatever the arguments are', async () => {
  const { page, complaints } = await lab.visit({ isStarted: false });
  const thrown = await page.evaluate(`(() => {
    const values = ${odd};
    const thrown = [];
    for (const token of values) for (const options of values) {
      try { posthog.init(token, options, 'n' + Math.random()); posthog.init(token, options, token); } catch (error) { thrown.push(String(error && error.stack)); }
    }
    return thrown.slice(0, 3);
  })()`);
  expect(thrown).toEqual([]);
  expect(complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
});

const rows: [what: string, value: string, expected: unknown][] = [
  ['a function', '() => 1', undefined],
  ['a symbol', `Symbol('s')`, undefined],
  ['nothing', 'undefined', undefined],
  ['null', 'null', null],
  ['not a number', 'NaN', null],
  ['a BigInt', '12345678901234567890n', '12345678901234567890'],
  ['a date', 'new Date(0)', '1970-01-01T00:00:00.000Z'],
  ['an invalid date', 'new Date(NaN)', null],
  ['an element', 'document.body', '[object HTMLBodyElement]'],
  ['a link', `Object.assign(document.createElement('a'), { own: 1 })`, '[object HTMLAnchorElement]'],
  ['an object without a prototype', 'Object.assign(Object.create(null), { a: 1 })', { a: 1 }],
  ['a circular object', '(() => { const a = { b: 1 }; a.a = a; return a; })()', { b: 1 }],
  ['a getter that throws', '({ get bad() { throw new Error(); }, good: 1 })', { good: 1 }],
  ['an object with toJSON', '({ toJSON: () => ({ a: 1 }) })', { a: 1 }],
  ['a list with gaps', `[1, undefined, () => 1, Symbol('s')]`, [1, null, null, null]],
  ['the same object twice', '(() => { const a = { b: 1 }; return [a, a]; })()', [{ b: 1 }, { b: 1 }]],
];

test.each(rows)('sends %s as a JSON value, or omits it', async (_, value, expected) => {
  const { page } = await lab.visit();
  const sent = await page.evaluate(
    `JSON.stringify(posthog.capture('odd', { value: ${value}, other: 1 }, { $set: { value: ${value} } }))`,
  );
  const event = JSON.parse(String(sent));
  expect(event.properties).toMatchObject({ other: 1 });
  expect([event.properties.value, event.$set.value]).toEqual([expected, expected]);
});

test('objects with thousands of references to each other do not block the page', async () => {
  const { page } = await lab.visit();
  // Each object refers to the objects before, after, below and above it, as components of some frameworks do.
  const sent = await page.evaluate(`(() => {
    const all = Array.from({ length: 10_000 }, (_, at) => ({ at }));
    const names = { next: 1, before: -1, below: 100, above: -100 };
    for (const [at, one] of all.entries()) for (const name in names) one[name] = all[at + names[name]];
    return posthog.capture('all', { small: [1, 2], one: all[0] }).properties.small;
  })()`);
  expect(sent).toEqual([1, 2]);
});
