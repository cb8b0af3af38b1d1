/** Scopes of a personal API key (contract/management-api.md "Authentication"; reference section 2.6). */
export const scopeObjects = [
  'batch_export',
  'event',
  'event_definition',
  'group',
  'ingestion_warning',
  'organization',
  'organization_member',
  'person',
  'project',
  'property_definition',
  'subscription',
  'user',
] as const;
export type ScopeObject = (typeof scopeObjects)[number];
export type Scope = `${ScopeObject}:read` | `${ScopeObject}:write`;

export const allScopes: readonly Scope[] = scopeObjects.flatMap((object): Scope[] => [
  `${object}:read`,
  `${object}:write`,
]);

/** `*` grants everything and is shown as such by the API. */
export type GrantedScope = Scope | '*';

export function isScope(text: string): text is Scope {
  return (allScopes as readonly string[]).includes(text);
}

/** `x:write` satisfies `x:read`, not the other way round. An empty list grants nothing. */
export function grants(granted: readonly string[], needed: Scope): boolean {
  if (granted.includes('*') || granted.includes(needed)) return true;
  return needed.endsWith(':read') && granted.includes(`${needed.slice(0, -':read'.length)}:write`);
}
