import { buildElementsChain } from './rows.ts';

test.each<[string, unknown, string]>([
  ['an element with only a tag', [{ tag_name: 'div' }], 'div:nth-child="0"nth-of-type="0"'],
  ['an element without fields', [{}], ':nth-child="0"nth-of-type="0"'],
  [
    'classes from a text or a list, sorted and without quotes',
    [
      { tag_name: 'a', attr__class: 'z  b"c a' },
      { tag_name: 'p', attr__class: ['y', 'x'] },
    ],
    'a.a.bc.z:attr__class="z  b\\"c a"nth-child="0"nth-of-type="0";p.x.y:attr__class="[\\"y\\",\\"x\\"]"nth-child="0"nth-of-type="0"',
  ],
  [
    'attributes, sorted by name and with escaped quotes',
    [{ tag_name: 'a', $el_text: 'say "hi"', attr__id: 'i', attr__href: '/x', nth_child: 2, nth_of_type: 1 }],
    'a:attr__href="/x"attr__id="i"attr_id="i"href="/x"nth-child="2"nth-of-type="1"text="say \\"hi\\""',
  ],
  [
    'values that are not text',
    [{ tag_name: 'a', attr__x: { y: [1] }, attr__n: 7 }],
    'a:attr__n="7"attr__x="{\\"y\\":[1]}"nth-child="0"nth-of-type="0"',
  ],
  ['invalid elements', [null, 'a', 7, ['b'], { tag_name: 'i' }], 'i:nth-child="0"nth-of-type="0"'],
  [
    'attributes with the names of inherited properties',
    [{ tag_name: 'a', attr____proto__: 'x' }],
    'a:attr____proto__="x"nth-child="0"nth-of-type="0"',
  ],
  ['a value that is not a list', { tag_name: 'div' }, ''],
  ['an empty list', [], ''],
])('converts %s to an elements chain', (_, $elements, chain) => {
  expect(buildElementsChain({ $elements })).toBe(chain);
});

test('keeps an elements chain that the client built', () => {
  expect(buildElementsChain({ $elements_chain: 'a:text="x"', $elements: [{ tag_name: 'b' }] })).toBe('a:text="x"');
});

test.each([[{}], [7], [null], ['']])('ignores an $elements_chain with the value %j', ($elements_chain) => {
  expect(buildElementsChain({ $elements_chain, $elements: [{ tag_name: 'b' }] })).toBe(
    'b:nth-child="0"nth-of-type="0"',
  );
  expect(buildElementsChain({ $elements_chain })).toBe('');
});

test('truncates an elements chain without splitting a character', () => {
  const chain = buildElementsChain({ $elements: [{ tag_name: 'a', $el_text: `${'x'.repeat(399)}🦊🐻` }] });
  expect(chain).toContain(`text="${'x'.repeat(399)}🦊"`);
});
