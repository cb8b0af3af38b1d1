import type { Tracing } from '@millrace/tracing';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { RefusalLine } from '../answer/refusal-log.ts';
import type { CaptureLimits } from '../config.ts';
import type { EnvironmentSettings } from '../config-and-flags/environment-settings.ts';
import type { FlagData } from '../flag-data/flag-data.ts';
import type { FlagLimits } from '../flag-data/flag-limits.ts';
import type { FlagMetrics } from '../flag-data/flag-metrics.ts';
import type { ByteBudget } from '../memory/byte-budget.ts';

/** What the paths of flags are served with. */
export interface FlagDependencies {
  projectKeys: ProjectKeys;
  data: FlagData;
  settings: EnvironmentSettings;
  flagLimits: FlagLimits;
  budget: ByteBudget;
  limits: CaptureLimits;
  metrics: FlagMetrics;
  /** Null: nothing is traced. */
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}
