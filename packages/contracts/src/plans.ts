/**
 * What an organization's plan can include (docs/api/organizations.md#plans). Stored on the organization as
 * `available_product_features`, a list of `{key, name}`; a gate asks for one key.
 */
export const planFeatures = [
  'historical_migrations',
  'organizations_projects',
  'environments',
  'subscriptions',
  'data_pipelines',
  'automatic_provisioning',
  'sso_enforcement',
  'saml',
  'scim',
  'project_based_permissioning',
  'organization_invite_settings',
  'data_color_themes',
] as const;
export type PlanFeature = (typeof planFeatures)[number];

/** One element of `available_product_features` as the API shows it. */
export interface ProductFeature {
  key: string;
  name: string;
  /** How many the plan allows; absent or null = unlimited. */
  limit?: number | null;
  /** What is counted, e.g. `events per month`; only with a limit. */
  unit?: string;
}

const featureNames: Record<PlanFeature, string> = {
  historical_migrations: 'Historical migrations',
  organizations_projects: 'Multiple projects',
  environments: 'Environments',
  subscriptions: 'Subscriptions',
  data_pipelines: 'Batch exports',
  automatic_provisioning: 'Automatic provisioning',
  sso_enforcement: 'Enforced single sign-on',
  saml: 'SAML',
  scim: 'SCIM',
  project_based_permissioning: 'Project permissions',
  organization_invite_settings: 'Invite settings',
  data_color_themes: 'Data color themes',
};

/** `free` includes nothing that is gated, `full` everything. A self-hosted installation starts on `full`. */
export const planNames = ['free', 'full'] as const;
export type PlanName = (typeof planNames)[number];

/** The features a plan puts on an organization. */
export function productFeaturesOf(plan: PlanName): ProductFeature[] {
  return plan === 'full' ? planFeatures.map(toProductFeature) : [];
}

/** A feature as it is stored on an organization, without limit. */
function toProductFeature(key: PlanFeature): ProductFeature {
  return { key, name: featureNames[key] };
}

export function isPlanFeature(text: string): text is PlanFeature {
  return (planFeatures as readonly string[]).includes(text);
}

export function isPlanName(text: string): text is PlanName {
  return (planNames as readonly string[]).includes(text);
}

/**
 * The feature of an organization's plan, or null when the plan does not include it.
 * @param availableProductFeatures the stored JSON column; anything but a list of objects counts as a plan without features.
 */
export function findPlanFeature(availableProductFeatures: unknown, key: PlanFeature): ProductFeature | null {
  return findElement(availableProductFeatures, key);
}

function findElement(availableProductFeatures: unknown, key: string): ProductFeature | null {
  if (!Array.isArray(availableProductFeatures)) return null;
  const found: unknown = availableProductFeatures.find(
    (feature: unknown) => typeof feature === 'object' && feature !== null && (feature as ProductFeature).key === key,
  );
  return (found as ProductFeature | undefined) ?? null;
}

/** Whether the plan includes the feature, e.g. `historical_migrations` before a historical batch is taken. */
export function hasPlanFeature(availableProductFeatures: unknown, key: PlanFeature): boolean {
  return findPlanFeature(availableProductFeatures, key) !== null;
}

/** How much a plan lets each project API key send. Null = unlimited, which is what a plan says that does not mention it. */
export interface PlanLimits {
  /** Events stored per calendar month in UTC; more of them are dropped. Historical migrations do not count. */
  eventsPerMonth: number | null;
  /** Events accepted per second, averaged over some seconds; faster requests are put off. */
  eventsPerSecond: number | null;
  /** Questions for feature flags answered per calendar month in UTC; later ones are told that the quota is used up. */
  flagRequestsPerMonth: number | null;
}

/** How limits stand in `available_product_features`, beside the features. */
const limitFeatures: Record<keyof PlanLimits, { key: string; name: string; unit: string }> = {
  eventsPerMonth: { key: 'events_per_month', name: 'Events per month', unit: 'events per month' },
  eventsPerSecond: { key: 'events_per_second', name: 'Events per second', unit: 'events per second' },
  flagRequestsPerMonth: {
    key: 'flag_requests_per_month',
    name: 'Flag requests per month',
    unit: 'requests per month',
  },
};

/** @param availableProductFeatures the stored JSON column; what is not a whole number from 0 counts as unlimited. */
export function limitsOf(availableProductFeatures: unknown): PlanLimits {
  return {
    eventsPerMonth: limitOf(availableProductFeatures, limitFeatures.eventsPerMonth.key),
    eventsPerSecond: limitOf(availableProductFeatures, limitFeatures.eventsPerSecond.key),
    flagRequestsPerMonth: limitOf(availableProductFeatures, limitFeatures.flagRequestsPerMonth.key),
  };
}

/** The elements that put these limits on an organization; unlimited ones have none. */
export function toLimitFeatures(limits: PlanLimits): ProductFeature[] {
  const names = Object.keys(limitFeatures) as (keyof PlanLimits)[];
  return names.flatMap((name) => {
    const limit = limits[name];
    return limit === null ? [] : [{ ...limitFeatures[name], limit }];
  });
}

function limitOf(availableProductFeatures: unknown, key: string): number | null {
  const limit = findElement(availableProductFeatures, key)?.limit;
  return typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 0 ? limit : null;
}
