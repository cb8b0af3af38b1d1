import { type CSSProperties, useEffect } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { PublicTimezone } from '../frame/project.ts';
import { getTileSize } from '../pages/dashboards/shapes.ts';
import { TextBody, TileMessage, TileResult } from '../pages/dashboards/tile-body.tsx';
import { formatPast } from '../parts/ago.ts';
import { explainError } from '../parts/states.tsx';
import { words } from '../words.ts';
import { type LoadedTile, useSharedPage } from './load.ts';
import { text } from './words.ts';

/** Shows an insight or a dashboard through a public link. Visitors see only results, not the underlying data. */
export function SharedPage({ token }: { token: string }) {
  const { page, tiles, isGone } = useSharedPage(token);
  const { data, error } = page;
  const title = data ? escapeInvisible(data.name || text.untitled) : text.page;
  useTheme(data?.theme);
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (isGone) return <Problem title={text.goneTitle} detail={text.gone} />;
  if (error && !data) return <Problem title={text.failedTitle} detail={explainError(error)} />;
  if (!data) {
    return (
      <main className="shared">
        <p className="waiting" role="status">
          {words.states.loading}
        </p>
      </main>
    );
  }
  const times = tiles.flatMap(({ result }) => result?.data?.last_refresh ?? []).sort();
  return (
    <PublicTimezone value={data.timezone}>
      <main className="shared">
        <header className="shared-head">
          <h1 className={data.name === null ? 'only-heard' : undefined}>{title}</h1>
          {data.description !== '' && <p className="quiet">{escapeInvisible(data.description)}</p>}
          {times[0] !== undefined && <p className="quiet">{text.updated(formatPast(times[0]))}</p>}
        </header>
        {data.type === 'insight' ? (
          <div className="panel shared-insight">{tiles[0] && <TileBody tile={tiles[0]} />}</div>
        ) : (
          <ol className="board-tiles" aria-label={text.tiles}>
            {tiles.map((tile, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a tile is identified by its index
              <TilePanel key={at} tile={tile} />
            ))}
          </ol>
        )}
      </main>
    </PublicTimezone>
  );
}

function TilePanel({ tile }: { tile: LoadedTile }) {
  const { layouts, text: body } = tile;
  const size = getTileSize({ layouts, text: body === null ? null : { body } });
  const name = body === null ? escapeInvisible(tile.name || text.untitled) : text.textTile;
  return (
    <li
      className="panel board-tile"
      style={{ '--w': size.w, '--h': size.h } as CSSProperties}
      aria-busy={tile.result?.isFetching ?? false}
    >
      <div className={body === null ? 'board-head' : 'only-heard'}>
        <h2 className="grow cut" title={name}>
          {name}
        </h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <section className="board-body" tabIndex={0} aria-label={name}>
        {body === null ? <TileBody tile={tile} /> : <TextBody body={body} />}
      </section>
    </li>
  );
}

function TileBody({ tile: { result } }: { tile: LoadedTile }) {
  const { data, error } = result ?? {};
  if (data === undefined) return <TileMessage>{error ? text.failed : words.states.loading}</TileMessage>;
  if (data.status === 'hidden') return <TileMessage>{text.hidden}</TileMessage>;
  if (data.status === 'failed') return <TileMessage>{text.failed}</TileMessage>;
  if (data.result === null)
    return <TileMessage>{data.status === 'pending' ? words.states.loading : text.noNumbers}</TileMessage>;
  return <TileResult insight={data} isLoading={false} error={null} />;
}

function Problem({ title, detail }: { title: string; detail: string }) {
  return (
    <main className="shared">
      <div className="state" role="alert">
        <h1>{title}</h1>
        <p className="quiet">{detail}</p>
      </div>
    </main>
  );
}

/** Sets the color theme from the link. Without a theme in the link, the page follows the browser's setting. */
function useTheme(theme: 'light' | 'dark' | 'system' | undefined): void {
  useEffect(() => {
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  }, [theme]);
}
