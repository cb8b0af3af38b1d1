import fc from 'fast-check';
import { createPathTable } from './path-table.ts';

const paths = [
  '/api/things/:id',
  '/api/things',
  '/api/things/@current',
  '/api/:kind/all',
  '/api/:kind/:id/parts/all',
  '/api/things/:id/parts/:part',
  '/pages/*',
  '/pages/old/*',
  '/pages/:name',
];
const tableOf = (declared: readonly string[]) => createPathTable(declared.map((path) => ({ path, value: path })));
const find = tableOf(paths);

const matches: [string, string, Record<string, string>][] = [
  ['/api/things', '/api/things', {}],
  ['/api/things/', '/api/things', {}],
  ['/api/things/7', '/api/things/:id', { id: '7' }],
  ['/api/things/7/', '/api/things/:id', { id: '7' }],
  ['/api/things/@current', '/api/things/@current', {}],
  // A literal segment takes precedence over a parameter, and the leftmost difference decides.
  ['/api/things/all', '/api/things/:id', { id: 'all' }],
  ['/api/things/7/parts/all', '/api/things/:id/parts/:part', { id: '7', part: 'all' }],
  ['/api/parts/all', '/api/:kind/all', { kind: 'parts' }],
  ['/api/parts/7/parts/all', '/api/:kind/:id/parts/all', { kind: 'parts', id: '7' }],
  ['/api/things/a%2Fb%20%C3%A4/parts/:part/', '/api/things/:id/parts/:part', { id: 'a/b ä', part: ':part' }],
  ['/pages', '/pages/*', {}],
  ['/pages/', '/pages/*', {}],
  ['/pages/one', '/pages/:name', { name: 'one' }],
  ['/pages/one/two%ff//three', '/pages/*', {}],
  ['/pages/old/one', '/pages/old/*', {}],
];

test.each(matches)('the path %s matches %s', (path, value, params) => {
  expect(find(path)).toEqual({ kind: 'found', value, params });
});

test('matches paths to the same routes regardless of the declaration order', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(paths, { minLength: paths.length }), (shuffled) => {
      const findShuffled = tableOf(shuffled);
      for (const [path, value, params] of matches) {
        expect(findShuffled(path)).toEqual({ kind: 'found', value, params });
      }
    }),
  );
});

test('rejects two paths that differ only in the names of their parameters', () => {
  expect(() => tableOf(['/api/:kind/:id', '/api/things/:id', '/api/:type/:name'])).toThrow(
    'The paths /api/:kind/:id and /api/:type/:name match the same requests.',
  );
});

test.each([
  '',
  '/',
  '*',
  '/api',
  '//api/things',
  '/api//things',
  '/api/things//',
  '/api/things//parts/1',
  '/API/things',
  '/api/thing%73',
  '/api/things/7/parts',
  '/api/things/7/parts/1/2',
  '/pagesone',
])('the path %s matches no route', (path) => {
  expect(find(path)).toEqual({ kind: 'unknown' });
});

test.each(['/api/things/%ff', '/api/things/%', '/api/things/1/parts/%zz/'])('the path %s cannot be decoded', (path) => {
  expect(find(path)).toEqual({ kind: 'undecodable' });
});
