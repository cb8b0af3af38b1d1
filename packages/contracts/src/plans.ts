/**
 * The features that an organization's plan can include (docs/api/organizations.md#plans). They are stored in the
 * organization's column `available_product_features`, as a list of `{key, name}`.
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

export interface ProductFeature {
  key: string;
  name: string;
  /** The limit that the plan sets for the feature. If absent or null, there is no limit. */
  limit?: number | null;
  /** What the limit counts, for example `events per month`. Present only with a limit. */
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

/** `free` includes no features, and `full` includes all features. A self-hosted installation starts with `full`. */
export const planNames = ['free', 'full'] as const;
export type PlanName = (typeof planNames)[number];

export function listProductFeatures(plan: PlanName): ProductFeature[] {
  return plan === 'full' ? planFeatures.map(toProductFeature) : [];
}

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
 * Returns a feature of an organization's plan, or null if the plan does not include it.
 * @param availableProductFeatures the stored JSON column. Anything other than a list of objects counts as a plan
 *   without features.
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

export function hasPlanFeature(availableProductFeatures: unknown, key: PlanFeature): boolean {
  return findPlanFeature(availableProductFeatures, key) !== null;
}

/** A plan's limits per project API key. Null means unlimited, which is the default. */
export interface PlanLimits {
  /**
   * Number of events stored per calendar month in UTC. Further events are dropped. Historical migrations do not count.
   */
  eventsPerMonth: number | null;
  /**
   * Number of events accepted per second, averaged over a few seconds. Requests that exceed it are rejected and can be
   * retried.
   */
  eventsPerSecond: number | null;
  /**
   * Number of feature flag requests evaluated per calendar month in UTC. After that, responses say that the quota is
   * used up.
   */
  flagRequestsPerMonth: number | null;
}

/** How limits are stored in `available_product_features`, together with the features. */
const limitFeatures: Record<keyof PlanLimits, { key: string; name: string; unit: string }> = {
  eventsPerMonth: { key: 'events_per_month', name: 'Events per month', unit: 'events per month' },
  eventsPerSecond: { key: 'events_per_second', name: 'Events per second', unit: 'events per second' },
  flagRequestsPerMonth: {
    key: 'flag_requests_per_month',
    name: 'Flag requests per month',
    unit: 'requests per month',
  },
};

/**
 * Reads the limits of a plan.
 * @param availableProductFeatures the stored JSON column. A limit that is not a non-negative integer counts as
 *   unlimited.
 */
export function readPlanLimits(availableProductFeatures: unknown): PlanLimits {
  return {
    eventsPerMonth: limitOf(availableProductFeatures, limitFeatures.eventsPerMonth.key),
    eventsPerSecond: limitOf(availableProductFeatures, limitFeatures.eventsPerSecond.key),
    flagRequestsPerMonth: limitOf(availableProductFeatures, limitFeatures.flagRequestsPerMonth.key),
  };
}

/** Converts limits to elements of `available_product_features`. Omits limits that are not set. */
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
