// One tile of a dashboard, which shows an insight or a text.

import { Link } from '@tanstack/react-router';
import type { CSSProperties, HTMLAttributes } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { getInsightName } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import type { TileState } from './load.ts';
import type { Size, Tile } from './shapes.ts';
import { TextBody, TileResult } from './tile-body.tsx';
import { text } from './words.ts';

type Handle = Pick<HTMLAttributes<HTMLButtonElement>, 'onPointerDown' | 'onKeyDown'>;

/**
 * A tile with its header and content.
 * @param handles the controls for moving, resizing and removing the tile; undefined outside edit mode
 */
export function TilePanel({
  state: { tile, insight, isLoading, error },
  size,
  drop,
  isDragged,
  handles,
  onEditText,
}: {
  state: TileState;
  size: Size;
  /** The side of this tile where a dragged tile would be inserted. */
  drop: 'before' | 'after' | undefined;
  isDragged: boolean;
  handles: { move: Handle; resize: Handle; onRemove: () => void } | undefined;
  onEditText: (() => void) | undefined;
}) {
  const { id } = useProject();
  const name = getTileName(tile);
  return (
    <li
      className="panel board-tile"
      data-tile={tile.id}
      data-drop={drop}
      {...(isDragged && { 'data-dragged': '' })}
      aria-busy={isLoading}
      style={{ '--w': size.w, '--h': size.h } as CSSProperties}
    >
      {tile.insight === null && !handles ? (
        <h2 className="only-heard">{text.textTile}</h2>
      ) : (
        <div className="board-head">
          {handles && (
            <button type="button" className="board-handle board-move" aria-label={text.move(name)} {...handles.move}>
              <span aria-hidden="true">⠿</span>
            </button>
          )}
          <h2 className="grow cut" title={name}>
            {tile.insight === null ? (
              <span className="quiet">{text.textTile}</span>
            ) : (
              <Link to={`/projects/${id}/insights`} search={{ insight: tile.insight.short_id } as never}>
                {name}
              </Link>
            )}
          </h2>
          {onEditText && (
            <Button look="plain" aria-label={text.editText(name)} onPress={onEditText}>
              {words.edit}
            </Button>
          )}
          {handles && (
            <Button look="plain" aria-label={text.takeOff(name)} onPress={handles.onRemove}>
              <Icon name="close" size={11} />
            </Button>
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <section className="board-body" tabIndex={0} aria-label={name}>
        {insight !== null && <TileResult insight={insight} isLoading={isLoading} error={error} />}
        {tile.text !== null && <TextBody body={tile.text.body} />}
      </section>
      {handles && (
        <button
          type="button"
          className="board-handle board-resize"
          aria-label={text.resize(name, size)}
          {...handles.resize}
        >
          <span aria-hidden="true">◢</span>
        </button>
      )}
    </li>
  );
}

export function getTileName({ insight, text: own }: Tile): string {
  return insight === null ? escapeInvisible(own?.body.slice(0, 40) || text.textTile) : getInsightName(insight);
}
