/** What scopes of a personal API key are about: `<object>:read` and `<object>:write`. Each is asked for by some route. */
export const scopeObjects = [
  'access_control',
  'activity_log',
  'annotation',
  'batch_export',
  'cohort',
  'dashboard',
  'early_access_feature',
  'event',
  'event_definition',
  'feature_flag',
  'group',
  'ingestion_warning',
  'insight',
  'organization',
  'organization_member',
  'person',
  'project',
  'property_definition',
  'query',
  'subscription',
  'user',
] as const;
export type ScopeObject = (typeof scopeObjects)[number];
export type Scope = `${ScopeObject}:read` | `${ScopeObject}:write`;

/** Objects of which nothing is kept here. Scripts that make keys name them; they grant nothing. */
const scopeObjectsWithoutRoutes = [
  'action',
  'dashboard_template',
  'experiment',
  'export',
  'notebook',
  'plugin',
  'session_recording',
  'session_recording_playlist',
  'sharing_configuration',
  'survey',
  'webhook',
] as const;
type ObjectWithoutRoutes = (typeof scopeObjectsWithoutRoutes)[number];
/** A scope that a key may carry. */
export type ScopeName = Scope | `${ObjectWithoutRoutes}:read` | `${ObjectWithoutRoutes}:write`;

/** Those that some route asks for: a key with all of them may do all there is. */
export const allScopes: readonly Scope[] = scopeObjects.flatMap((object): Scope[] => [
  `${object}:read`,
  `${object}:write`,
]);

const scopeNames: ReadonlySet<string> = new Set(
  [...scopeObjects, ...scopeObjectsWithoutRoutes].flatMap((object) => [`${object}:read`, `${object}:write`]),
);

/** `*` grants everything and is shown as such by the API. */
export type GrantedScope = ScopeName | '*';

export function isScopeName(text: string): text is ScopeName {
  return scopeNames.has(text);
}

/** `x:write` satisfies `x:read`, not the other way round. An empty list grants nothing. */
export function grants(granted: readonly string[], needed: ScopeName): boolean {
  if (granted.includes('*') || granted.includes(needed)) return true;
  return needed.endsWith(':read') && granted.includes(`${needed.slice(0, -':read'.length)}:write`);
}
