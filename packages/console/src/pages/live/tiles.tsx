import { useQuery } from '@tanstack/react-query';
import { useHealth } from '../../api/queries.ts';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { explainError } from '../../parts/states.tsx';
import { Tile } from '../../parts/tile.tsx';
import { formatNumber, formatWarningType } from '../../words.ts';
import type { Row } from './use-live.ts';
import { text } from './words.ts';

/**
 * Shows four figures above the list, each with its time range. An unknown figure is shown as a dash instead of zero.
 */
export function LiveTiles({ rows, streamed }: { rows: readonly Row[]; streamed: readonly Row[] }) {
  const { id } = useProject();
  const minute = useLastMinuteCounts(streamed);
  const stats = useQuery({
    queryKey: ['live-stats', id],
    queryFn: ({ signal }) =>
      call<{ users_on_product: number; window_seconds: number }>({ path: `/api/projects/${id}/live/stats` }, signal),
    refetchInterval: 5000,
    retry: false,
  });
  const delay = minute?.visibleAfterSeconds;
  const newest = rows.find(({ message }) => message.outcome === 'dropped');
  return (
    <section className="panel tiles" aria-label={text.figures}>
      <Tile
        label={text.storedMinute}
        value={minute?.stored}
        more={typeof delay === 'number' ? text.untilVisible(delay) : ''}
      />
      <Tile
        label={text.online}
        value={stats.data?.users_on_product}
        more={stats.error ? explainError(stats.error) : stats.data ? text.lastSeconds(stats.data.window_seconds) : ''}
      />
      <Tile
        label={text.droppedMinute}
        value={minute?.dropped}
        more={minute?.dropped && minute.mostDropped !== undefined ? formatWarningType(minute.mostDropped) : ''}
        tone={(minute?.dropped ?? 0) > 0 ? 'bad' : undefined}
      />
      <Tile
        label={text.droppedHere}
        value={rows.filter(({ message }) => message.outcome === 'dropped').length}
        more={newest ? formatWarningType(newest.message.reason ?? '') : text.ofShown(formatNumber(rows.length))}
        tone={newest === undefined ? undefined : 'bad'}
      />
    </section>
  );
}

/**
 * Counts the events of the last minute. Counting is slow, so the server is queried only every ten seconds. In between,
 * the counts are updated with the received events.
 */
export function useLastMinuteCounts(rows: readonly Row[]) {
  const { data: health, dataUpdatedAt } = useHealth(useProject().id);
  if (!health) return undefined;
  const counted = Date.parse(health.checked_at);
  // Use the server's clock, because the local clock may be wrong.
  const minuteAgo = counted + (Date.now() - dataUpdatedAt) - 60_000;
  const moved = { stored: 0, dropped: 0 };
  for (const { message } of rows) {
    const at = Date.parse(message.stored_at ?? message.timestamp);
    const kind = message.outcome === 'dropped' ? 'dropped' : 'stored';
    if (at > counted) moved[kind] += 1;
    else if (at > counted - 60_000 && at <= minuteAgo) moved[kind] -= 1;
  }
  const { stored, dropped } = health.per_minute;
  const [most] = [...(dropped ?? [])].sort((a, b) => b.count - a.count);
  const moveOn = (count: number | undefined, by: number) => (count === undefined ? undefined : Math.max(0, count + by));
  return {
    stored: moveOn(stored ?? undefined, moved.stored),
    dropped: moveOn(
      dropped?.reduce((sum, { count }) => sum + count, 0),
      moved.dropped,
    ),
    mostDropped: most?.reason,
    visibleAfterSeconds: health.visible_after_seconds,
  };
}
