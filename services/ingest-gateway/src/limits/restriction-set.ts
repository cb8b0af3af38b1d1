import type { Restriction, RestrictionKind } from '@millrace/contracts';

/** Which distinct ids of one project API key a kind of restriction names. */
interface Scope {
  isWholeKey: boolean;
  distinctIds: Set<string>;
}

/** What the operator's lists say about one project API key. */
export interface KeyRestrictions {
  applies(kind: RestrictionKind, distinctId: string): boolean;
}

export interface RestrictionSet {
  /** Undefined for nearly every key: then nothing more needs to be asked. */
  of(token: string): KeyRestrictions | undefined;
  size: number;
}

export function createRestrictionSet(restrictions: readonly Restriction[]): RestrictionSet {
  const byToken = new Map<string, Map<RestrictionKind, Scope>>();
  for (const { kind, token, distinctId } of restrictions) {
    const scopes = byToken.get(token) ?? new Map<RestrictionKind, Scope>();
    byToken.set(token, scopes);
    const scope = scopes.get(kind) ?? { isWholeKey: false, distinctIds: new Set<string>() };
    scopes.set(kind, scope);
    if (distinctId === null) scope.isWholeKey = true;
    else scope.distinctIds.add(distinctId);
  }
  const sets = new Map(
    [...byToken].map(([token, scopes]): [string, KeyRestrictions] => [
      token,
      {
        applies(kind, distinctId) {
          const scope = scopes.get(kind);
          return scope !== undefined && (scope.isWholeKey || scope.distinctIds.has(distinctId));
        },
      },
    ]),
  );
  return { of: (token) => sets.get(token), size: restrictions.length };
}

/**
 * The operator's list as a setting holds it: `token` or `token:distinct_id`, separated by commas
 * (docs/wire-rules.md#quotas-and-limits). A distinct id may contain colons; one with a comma needs the table.
 */
export function parseRestrictionList(kind: RestrictionKind, text: string): Restriction[] {
  return text.split(',').flatMap((element) => {
    const entry = element.trim();
    const colon = entry.indexOf(':');
    const token = colon < 0 ? entry : entry.slice(0, colon);
    const distinctId = colon < 0 ? '' : entry.slice(colon + 1);
    return token === '' ? [] : [{ kind, token, distinctId: distinctId === '' ? null : distinctId }];
  });
}
