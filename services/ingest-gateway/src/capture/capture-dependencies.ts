import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import type { Tracing } from '@millrace/tracing';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { RefusalLine } from '../answer/refusal-log.ts';
import type { CaptureLimits } from '../config.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { TrafficControl } from '../limits/traffic-control.ts';
import type { ByteBudget } from '../memory/byte-budget.ts';
import type { CaptureMetrics } from './capture-metrics.ts';

/** What the capture paths are served with. */
export interface CaptureDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  projectKeys: ProjectKeys;
  budget: ByteBudget;
  traffic: TrafficControl;
  largeBodies: Pick<LargeBodies, 'find' | 'findInParts' | 'findV1'>;
  limits: CaptureLimits;
  metrics: CaptureMetrics;
  /** Null: nothing is traced. */
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}
