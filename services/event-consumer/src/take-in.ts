import type { BatchWork } from './batch-work.ts';
import { replaceVisitors } from './cookieless/replace-visitors.ts';
import type { CookielessSalts } from './cookieless/salts.ts';
import type { EventPartitions } from './events/event-partitions.ts';
import { admitRecords, type Intake } from './intake/admit-records.ts';
import { ownersOf, type ParsingDepth, parseRecords } from './intake/parse-records.ts';
import type { ProjectResolver } from './intake/resolve-projects.ts';
import type { StepTimer } from './step-timer.ts';

export interface TakeInDeps {
  projects: Pick<ProjectResolver, 'resolve'>;
  salts: CookielessSalts;
  partitions: Pick<EventPartitions, 'ensure'>;
  step: StepTimer;
  now: () => number;
}

/**
 * Everything that happens to records before the transaction: raw bytes become events of known projects, or are sorted
 * out with a reason. It is a function of its own so that its variables are not kept for as long as the batch takes.
 */
export async function takeIn(
  { batch, deadLetterReason }: BatchWork,
  depth: ParsingDepth,
  { step, projects, salts, partitions, now }: TakeInDeps,
): Promise<Intake> {
  const parsed = await step('parse_records', () => parseRecords(batch, { deadLetterReason, depth }));
  const projectOf = await step('resolve_projects', () => projects.resolve(ownersOf(parsed)));
  const intake = await step('admit_records', () => admitRecords(parsed, projectOf, now()));
  await step('replace_visitors', () => replaceVisitors(intake.events, { projectOf, salts, nowMs: now() }));
  await step('ensure_partitions', () => partitions.ensure(intake.events.map(({ timestampMs }) => timestampMs)));
  return intake;
}
