import { parseElements } from './elements.ts';

const nothing = {
  tag_name: null,
  text: null,
  href: null,
  attr_class: null,
  attr_id: null,
  nth_child: null,
  nth_of_type: null,
  attributes: {},
};

test('parses an elements chain into elements with the fields that PostHog clients read', () => {
  const chain =
    'a.btn.md:flex:attr__href="/x;y"attr__data-id="a \\"quoted\\" b"attr_id="buy"href="/x;y"nth-child="2"nth-of-type="1"text="Buy: now"' +
    ';div:nth-child="0"nth-of-type="0";body';
  expect(parseElements(chain)).toEqual([
    {
      order: 0,
      tag_name: 'a',
      text: 'Buy: now',
      href: '/x;y',
      attr_class: ['btn', 'md:flex'],
      attr_id: 'buy',
      nth_child: 2,
      nth_of_type: 1,
      attributes: { attr__href: '/x;y', 'attr__data-id': 'a "quoted" b' },
    },
    { ...nothing, order: 1, tag_name: 'div', nth_child: 0, nth_of_type: 0 },
    { ...nothing, order: 2, tag_name: 'body' },
  ]);
});

test.each<[string, number]>([
  ['', 0],
  [';;', 2],
  ['a:text="never closed', 1],
  ['a:="x"b', 1],
  [':::', 1],
  ['a:text="ends in a backslash\\', 1],
  ['a:__proto__="x"', 1],
  ['a:nth-child="many"', 1],
])('parses the malformed elements chain %j into %i elements without an error', (chain, count) => {
  const elements = parseElements(chain);
  expect(elements).toHaveLength(count);
  for (const { attributes } of elements) expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype);
});

test('parses an elements chain of maximum length into at most 500 elements', () => {
  for (const part of [':', '"', 'a:b="', 'a;', '.x', '\\', 'a:b=']) {
    expect(parseElements(part.repeat(800_000 / part.length)).length).toBeLessThanOrEqual(500);
  }
});
