/** The scopes of personal API keys, in the order in which the form shows them. */
export const scopes = [
  {
    object: 'event',
    can: 'rw',
    about: 'Events, event counts and the live stream. Write access allows sending test events.',
  },
  { object: 'query', can: 'r', about: 'Queries for trends, funnels and retention, and the persons in their results.' },
  {
    object: 'person',
    can: 'rw',
    about: 'Persons, their properties and distinct IDs. Write access allows changing and deleting persons.',
  },
  {
    object: 'group',
    can: 'rw',
    about: 'Groups, their properties and members. Write access allows renaming group types.',
  },
  { object: 'feature_flag', can: 'rw', about: 'Feature flags, their release conditions, exposures and history.' },
  { object: 'early_access_feature', can: 'rw', about: 'Features that users can opt into.' },
  { object: 'cohort', can: 'rw', about: 'Cohorts and their members.' },
  { object: 'insight', can: 'rw', about: 'Saved insights and their history.' },
  { object: 'insight_variable', can: 'rw', about: 'Variables of SQL insights.' },
  { object: 'dashboard', can: 'rw', about: 'Dashboards and their tiles.' },
  { object: 'annotation', can: 'rw', about: 'Annotations, which are notes about points in time, such as a release.' },
  { object: 'sharing_configuration', can: 'rw', about: 'Public links of insights and dashboards.' },
  { object: 'event_definition', can: 'rw', about: 'Event names and your team’s notes about them.' },
  {
    object: 'property_definition',
    can: 'rw',
    about: 'Property names and types, and your team’s notes about them.',
  },
  { object: 'ingestion_warning', can: 'r', about: 'Warnings about events that were changed or dropped.' },
  { object: 'activity_log', can: 'r', about: 'The activity log, which records who changed what, and when.' },
  { object: 'project', can: 'rw', about: 'Projects, environments and all their settings.' },
  { object: 'batch_export', can: 'rw', about: 'Exports to S3 and PostgreSQL, and their runs.' },
  { object: 'subscription', can: 'rw', about: 'Subscriptions and report deliveries.' },
  { object: 'organization', can: 'rw', about: 'The organization, its domains and roles.' },
  { object: 'access_control', can: 'rw', about: 'Access rules for projects and their records.' },
  { object: 'organization_member', can: 'rw', about: 'Members and invites.' },
  {
    object: 'user',
    can: 'rw',
    about: 'Your own account. Write access allows creating other keys with at most this key’s access.',
  },
] as const satisfies readonly { object: string; can: 'r' | 'rw'; about: string }[];

/** Access to an object type. An empty string means no access. Write access includes read access. */
export type Access = '' | 'read' | 'write';
export type AccessByObject = Record<string, Access>;

export type PresetName = 'read' | 'terraform' | 'ci' | 'all' | 'own';

const write = (...objects: string[]): AccessByObject => Object.fromEntries(objects.map((object) => [object, 'write']));
const read = (...objects: string[]): AccessByObject => Object.fromEntries(objects.map((object) => [object, 'read']));

/** Presets for new keys, except `all` (scope `*`) and `own` (custom scopes). */
const presets: Record<Exclude<PresetName, 'all' | 'own'>, AccessByObject> = {
  read: read(...scopes.map(({ object }) => object)),
  terraform: {
    ...read('user', 'organization'),
    ...write('project', 'feature_flag', 'cohort', 'early_access_feature', 'batch_export', 'subscription'),
    ...write('organization_member', 'insight', 'dashboard', 'access_control'),
  },
  ci: { ...read('project', 'feature_flag', 'ingestion_warning'), ...write('event') },
};

export const getPresetAccess = (name: PresetName): AccessByObject =>
  name === 'all' || name === 'own' ? {} : presets[name];

/** Returns the preset that has exactly these scopes, or `own` if none does. */
export function findPreset(accessByObject: AccessByObject): PresetName {
  const names = Object.keys(presets) as (keyof typeof presets)[];
  return names.find((name) => toScopeNames(presets[name]).join() === toScopeNames(accessByObject).join()) ?? 'own';
}

/**
 * Returns the scopes in the API's format (`event:read`) and in the form's order. Scopes that are not in the form come
 * last.
 */
export function toScopeNames(accessByObject: AccessByObject): string[] {
  const known: string[] = scopes.map(({ object }) => object);
  const objects = [...known, ...Object.keys(accessByObject).filter((object) => !known.includes(object))];
  return objects.filter((object) => accessByObject[object]).map((object) => `${object}:${accessByObject[object]}`);
}

export function parseScopeNames(names: readonly string[]): AccessByObject {
  const accessByObject: AccessByObject = {};
  for (const name of names) {
    const [object = '', access] = name.split(':');
    if (access === 'write' || (access === 'read' && accessByObject[object] !== 'write'))
      accessByObject[object] = access;
  }
  return accessByObject;
}
