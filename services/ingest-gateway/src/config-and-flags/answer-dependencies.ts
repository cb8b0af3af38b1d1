import type { ProjectKeys } from '../access/project-keys.ts';
import type { FlagData } from '../flag-data/flag-data.ts';
import type { EarlyAccessFeatures } from './early-access-features.ts';
import type { EnvironmentSettings } from './environment-settings.ts';

/** What the answers beside capture are made with. */
export interface AnswerDependencies {
  projectKeys: ProjectKeys;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  /** Whether there are flags to ask for. */
  data: FlagData;
}
