import { Link } from '@tanstack/react-router';
import type { Health, useHealth } from '../../api/queries.ts';
import { useProject } from '../../frame/project.ts';
import { explainError } from '../../parts/states.tsx';
import { Tile } from '../../parts/tile.tsx';
import { formatWarningType } from '../../words.ts';
import { text } from './words.ts';

/** Shows four current figures, each from a separate source. If a source is unavailable, only its tile is grayed out. */
export function HealthFigures({ health }: { health: ReturnType<typeof useHealth> }) {
  const { id } = useProject();
  const { data } = health;
  const reasonOf = (source: keyof Health['sources']) => {
    if (data) return data.sources[source] === 'ok' ? null : text.away(data.sources[source]);
    return health.error ? text.away(explainError(health.error)) : text.asking;
  };
  const seconds = data?.visible_after_seconds;
  const dropped = data?.per_minute.dropped;
  const count = dropped?.reduce((sum, one) => sum + one.count, 0);
  const deadLetters = data?.dead_letters_waiting;
  return (
    <section className="panel tiles health-tiles" aria-label={text.figures}>
      <Tile
        label={text.visible}
        value={typeof seconds === 'number' ? text.seconds(seconds) : undefined}
        tone={data?.alarm ? 'warn' : typeof seconds === 'number' ? 'good' : undefined}
        more={reasonOf('log') ?? (data?.alarm ? text.threshold(data.alarm.threshold_seconds) : text.ofAll)}
        isAway={reasonOf('log') !== null}
      />
      <Tile
        label={text.stored}
        value={data?.per_minute.stored}
        more={reasonOf('events') ?? text.storedMore}
        isAway={reasonOf('events') !== null}
      />
      <Tile
        label={text.dropped}
        value={count}
        tone={count ? 'bad' : undefined}
        more={reasonOf('warnings') ?? (dropped?.[0] ? formatWarningType(dropped[0].reason) : text.none)}
        isAway={reasonOf('warnings') !== null}
      />
      <Tile
        label={text.letters}
        value={deadLetters}
        tone={deadLetters ? 'bad' : undefined}
        more={
          reasonOf('dead_letters') ??
          (deadLetters ? (
            <Link to={`/projects/${id}/warnings`} search={{ tab: 'letters' } as never}>
              {text.lettersLink}
            </Link>
          ) : (
            text.noLetters
          ))
        }
        isAway={reasonOf('dead_letters') !== null}
      />
    </section>
  );
}
