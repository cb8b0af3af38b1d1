/**
 * The objects of personal API key scopes (`<object>:read` and `<object>:write`). At least one route requires each of
 * these scopes.
 */
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
  'insight_variable',
  'organization',
  'organization_member',
  'person',
  'project',
  'property_definition',
  'query',
  'sharing_configuration',
  'subscription',
  'user',
] as const;
export type ScopeObject = (typeof scopeObjects)[number];
export type Scope = `${ScopeObject}:read` | `${ScopeObject}:write`;

/**
 * Objects that exist in PostHog but not in Millrace. Their scopes are accepted, because scripts request them when they
 * create keys, but they grant nothing.
 */
const scopeObjectsWithoutRoutes = [
  'action',
  'dashboard_template',
  'experiment',
  'export',
  'notebook',
  'plugin',
  'session_recording',
  'session_recording_playlist',
  'survey',
  'webhook',
] as const;
type ObjectWithoutRoutes = (typeof scopeObjectsWithoutRoutes)[number];
export type ScopeName = Scope | `${ObjectWithoutRoutes}:read` | `${ObjectWithoutRoutes}:write`;

/** All scopes that routes require. A key with all of these scopes has full access. */
export const allScopes: readonly Scope[] = scopeObjects.flatMap((object): Scope[] => [
  `${object}:read`,
  `${object}:write`,
]);

const scopeNames: ReadonlySet<string> = new Set(
  [...scopeObjects, ...scopeObjectsWithoutRoutes].flatMap((object) => [`${object}:read`, `${object}:write`]),
);

/** A scope or `*`, which grants all scopes. The API returns `*` unchanged. */
export type GrantedScope = ScopeName | '*';

export function isScopeName(text: string): text is ScopeName {
  return scopeNames.has(text);
}

/**
 * Returns whether the granted scopes include the required scope. `x:write` includes `x:read`, but `x:read` does not
 * include `x:write`. An empty list grants nothing.
 */
export function includesScope(granted: readonly string[], needed: ScopeName): boolean {
  if (granted.includes('*') || granted.includes(needed)) return true;
  return needed.endsWith(':read') && granted.includes(`${needed.slice(0, -':read'.length)}:write`);
}
