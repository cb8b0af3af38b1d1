import type { CapturedEvent } from '@millrace/contracts';
import { groupCount, mixedEvents } from './mixed-events.ts';

/**
 * `count` mixed events in turn for each of the projects, every project with persons and groups of its own,
 * together about as many companies as one project would have. With one key the same as `mixedEvents`.
 */
export function* spreadEvents(count: number, projectApiKeys: readonly string[]): Generator<CapturedEvent> {
  const perProject = Math.ceil(count / projectApiKeys.length);
  const companies = Math.max(2, Math.round(groupCount / projectApiKeys.length));
  const streams = projectApiKeys.map((key, index) => mixedEvents(perProject, key, index + 1, companies));
  for (let index = 0; index < count; index++) {
    const next = streams[index % streams.length]?.next();
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
