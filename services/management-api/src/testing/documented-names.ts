import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '@millrace/http';
import type { TSchema } from 'typebox';
import type { Caller } from '../access/caller.ts';
import { allOtherFields, toRouteKey } from '../app/compatibility/route-key.ts';
import { withoutEffect } from '../app/compatibility/without-effect.ts';
import { declaredRoutes } from './declared-routes.ts';

/** The query parameters or body fields that PostHog documents for a route, grouped by how Millrace treats them. */
export interface DocumentedNames {
  key: string;
  route: Route<Caller>;
  /** Names of parameters or fields that have an effect. A test must observe this effect. */
  working: string[];
  refused: string[];
  /** Names that the table of parameters and fields without effect contains. */
  ignored: string[];
}

/** Reads the documented names of each route from the data file. @param kind the column of the data file to read */
export function documentedNames(kind: 'query' | 'body'): DocumentedNames[] {
  const routes = new Map(declaredRoutes().map((route) => [toRouteKey(route), route] as const));
  return readFileSync(join(import.meta.dirname, '../app/compatibility/posthog-parameters.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const [key = '', query = '', body = ''] = line.split('|').map((part) => part.trim());
      const names = (kind === 'query' ? query : body).split(' ').filter((name) => name !== '');
      const route = routes.get(key);
      if (route === undefined) throw new Error(`The data file has ${key}, which is no route.`);
      return names.length === 0 ? [] : [classify({ key, route, kind, names })];
    });
}

export function fieldsOf(schema: TSchema | undefined): Record<string, unknown> {
  const { properties, items } = (schema ?? {}) as { properties?: Record<string, unknown>; items?: TSchema };
  return properties ?? (items ? fieldsOf(items) : {});
}

function classify({
  names,
  kind,
  ...of
}: {
  key: string;
  route: Route<Caller>;
  kind: 'query' | 'body';
  names: string[];
}) {
  const refusals = kind === 'query' ? of.route.refusedQuery : of.route.refusedBody;
  const entries = withoutEffect.filter(({ routes }) => routes.includes(of.key));
  const declared = kind === 'query' ? of.route.query : of.route.body;
  const isDeclared = (name: string) => Object.hasOwn(fieldsOf(declared), name);
  const isListed = (name: string) =>
    entries.some((entry) => (entry[kind] === allOtherFields ? !isDeclared(name) : entry[kind]?.includes(name)));
  const refused = names.filter((name) => Object.hasOwn(refusals ?? {}, name));
  const ignored = names.filter((name) => !refused.includes(name) && isListed(name));
  const working = names.filter((name) => !refused.includes(name) && !ignored.includes(name));
  return { ...of, working, refused, ignored };
}
