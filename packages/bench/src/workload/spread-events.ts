import type { CapturedEvent } from '@millrace/contracts';
import { mixedEvents } from './mixed-events.ts';

/**
 * `count` mixed events in turn for each of the projects, every project with persons and groups of its own. With one key
 * the same as `mixedEvents`.
 */
export function* spreadEvents(count: number, projectApiKeys: readonly string[]): Generator<CapturedEvent> {
  const perProject = Math.ceil(count / projectApiKeys.length);
  const streams = projectApiKeys.map((key, index) => mixedEvents(perProject, key, index + 1));
  for (let index = 0; index < count; index++) {
    const next = streams[index % streams.length]?.next();
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
