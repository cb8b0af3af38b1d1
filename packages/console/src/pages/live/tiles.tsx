import { useQuery } from '@tanstack/react-query';
import { type Health, useHealth } from '../../api/queries.ts';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Tile } from '../../parts/tile.tsx';
import { formatNumber, nameOfKind } from '../../words.ts';
import type { Row } from './use-live.ts';
import { text } from './words.ts';

/** Four figures over the list, each with the span it is of. One that is not known shows a dash, not a zero. */
export function Tiles({ rows }: { rows: readonly Row[] }) {
  const { id } = useProject();
  const health = useHealth(id);
  const stats = useQuery({
    queryKey: ['live-stats', id],
    queryFn: ({ signal }) =>
      call<{ users_on_product: number; window_seconds: number }>({ path: `/api/projects/${id}/live/stats` }, signal),
    refetchInterval: 5000,
    retry: false,
  });
  const dropped = droppedOf(health.data);
  const delay = health.data?.visible_after_seconds;
  const newest = rows.find(({ message }) => message.outcome === 'dropped');
  return (
    <section className="panel tiles" aria-label={text.figures}>
      <Tile
        label={text.storedMinute}
        value={health.data?.per_minute.stored}
        more={typeof delay === 'number' ? text.untilVisible(delay) : ''}
      />
      <Tile
        label={text.online}
        value={stats.data?.users_on_product}
        more={stats.data ? text.lastSeconds(stats.data.window_seconds) : ''}
      />
      <Tile
        label={text.droppedMinute}
        value={dropped?.count}
        more={dropped?.most ?? ''}
        tone={(dropped?.count ?? 0) > 0 ? 'bad' : undefined}
      />
      <Tile
        label={text.droppedHere}
        value={rows.filter(({ message }) => message.outcome === 'dropped').length}
        more={newest ? nameOfKind(newest.message.reason ?? '') : text.ofShown(formatNumber(rows.length))}
        tone={newest === undefined ? undefined : 'bad'}
      />
    </section>
  );
}

function droppedOf(health: Health | undefined): { count: number; most: string } | undefined {
  const reasons = health?.per_minute.dropped;
  if (!reasons) return undefined;
  const most = [...reasons].sort((a, b) => b.count - a.count)[0];
  return { count: reasons.reduce((sum, { count }) => sum + count, 0), most: most ? nameOfKind(most.reason) : '' };
}
