import type { ProjectKeys } from '../access/project-keys.ts';
import type { CaptureLimits } from '../config.ts';
import type { ByteBudget } from '../memory/byte-budget.ts';
import type { EarlyAccessFeatures } from './early-access-features.ts';
import type { EnvironmentSettings } from './environment-settings.ts';

/** What the answers beside capture are made with. */
export interface AnswerDependencies {
  projectKeys: ProjectKeys;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  budget: ByteBudget;
  limits: CaptureLimits;
}
