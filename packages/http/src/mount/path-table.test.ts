import { createPathTable } from './path-table.ts';

const find = createPathTable(
  ['/api/things', '/api/things/@current', '/api/things/:id', '/api/:kind/all', '/api/things/:id/parts/:part'].map(
    (path) => ({ path, value: path }),
  ),
);

test.each([
  ['/api/things', '/api/things', {}],
  ['/api/things/', '/api/things', {}],
  ['/api/things/7', '/api/things/:id', { id: '7' }],
  ['/api/things/7/', '/api/things/:id', { id: '7' }],
  ['/api/things/@current', '/api/things/@current', {}],
  // The first declared path wins.
  ['/api/things/all', '/api/things/:id', { id: 'all' }],
  ['/api/parts/all', '/api/:kind/all', { kind: 'parts' }],
  ['/api/things/a%2Fb%20%C3%A4/parts/:part/', '/api/things/:id/parts/:part', { id: 'a/b ä', part: ':part' }],
])('%s matches %s', (path, value, params) => {
  expect(find(path)).toEqual({ kind: 'found', value, params });
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
])('%s matches no path', (path) => {
  expect(find(path)).toEqual({ kind: 'unknown' });
});

test.each(['/api/things/%ff', '/api/things/%', '/api/things/1/parts/%zz/'])('%s cannot be decoded', (path) => {
  expect(find(path)).toEqual({ kind: 'undecodable' });
});
