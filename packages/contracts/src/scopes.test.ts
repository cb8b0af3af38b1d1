import { allScopes, includesScope, isScopeName, type Scope, scopeObjects } from './scopes.ts';

const cases: [string, string[], Scope, boolean][] = [
  ['the same scope', ['project:read'], 'project:read', true],
  ['a write scope for reading', ['project:write'], 'project:read', true],
  ['a read scope for writing', ['project:read'], 'project:write', false],
  ['everything', ['*'], 'person:write', true],
  ['everything among others', ['project:read', '*'], 'person:write', true],
  ['nothing', [], 'project:read', false],
  ['another object', ['person:write'], 'project:read', false],
  ['an object whose name begins with the same word', ['organization_member:write'], 'organization:read', false],
  ['an object whose name is a prefix', ['organization:write'], 'organization_member:read', false],
  ['one of several', ['person:read', 'subscription:write'], 'subscription:read', true],
  ['an object without an action', ['project'], 'project:read', false],
  ['another spelling', ['Project:read'], 'project:read', false],
  ['a star for one object', ['project:*'], 'project:read', false],
];

test.each(cases)('%s: the scopes %j include %s: %s', (_, granted, needed, expected) => {
  expect(includesScope(granted, needed)).toBe(expected);
});

test('every scope grants itself, a write scope also grants the read scope, and no scope grants any other', () => {
  for (const granted of allScopes) {
    for (const needed of allScopes) {
      const [object, action] = granted.split(':');
      const isGranted = needed === granted || (action === 'write' && needed === `${object}:read`);
      expect({ granted, needed, is: includesScope([granted], needed) }).toEqual({ granted, needed, is: isGranted });
    }
  }
  expect(allScopes).toHaveLength(scopeObjects.length * 2);
});

test.each([
  ['project:read', true],
  ['batch_export:write', true],
  ['*', false],
  ['project:delete', false],
  ['feature_flag:write', true],
  ['cohort:read', true],
  ['early_access_feature:write', true],
  ['insight:read', true],
  ['insight:delete', false],
  ['insights:read', false],
  ['toString', false],
  ['', false],
])('decides whether %j is the name of a scope: %s', (text, expected) => {
  expect(isScopeName(text)).toBe(expected);
});

test('a scope that no route requires grants only scopes of its own object', () => {
  expect(
    allScopes.filter((needed) => includesScope(['action:write', 'notebook:write', 'survey:read'], needed)),
  ).toEqual([]);
  expect(includesScope(['action:write'], 'action:read')).toBe(true);
  expect(includesScope(['*'], 'action:read')).toBe(true);
});
