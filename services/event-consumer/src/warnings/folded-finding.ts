import type { CapturedEvent } from '@millrace/contracts';
import type { RecordPosition } from '../model/incoming-event.ts';

/** The same finding about several events of one project in a batch. */
export interface FoldedFinding {
  first: Pick<CapturedEvent, 'uuid' | 'now'>;
  position: RecordPosition;
  count: number;
}

/** Counts an event with the others of its project. */
export function fold(
  findings: Map<number, FoldedFinding>,
  projectId: number,
  event: Omit<FoldedFinding, 'count'>,
): void {
  const earlier = findings.get(projectId);
  if (earlier === undefined) findings.set(projectId, { ...event, count: 1 });
  else earlier.count += 1;
}
