/**
 * What an organization's plan can include (reference/management-api.md section 2.9). Stored on the organization as
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
export function toProductFeature(key: PlanFeature): ProductFeature {
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
