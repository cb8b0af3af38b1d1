// The grid of dashboard tiles, in which users move and resize tiles.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import type { TileState } from './load.ts';
import { columns, getTileSize, maxRows, type Size, type Tile } from './shapes.ts';
import { getTileName, TilePanel } from './tile.tsx';
import { text } from './words.ts';

export interface GridChanges {
  onMove: (tile: Tile, to: number) => void;
  onResize: (tile: Tile, size: Size) => void;
  onRemove: (tile: Tile) => void;
  onEditText: (tile: Tile) => void;
}

/**
 * Shows the tiles in a grid of twelve columns. In edit mode, tiles can be moved and resized with the mouse, by touch or
 * with the arrow keys.
 */
export function TileGrid({
  states,
  isEditing,
  ...changes
}: GridChanges & { states: readonly TileState[]; isEditing: boolean }) {
  const own = useRef<HTMLOListElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const move = (tile: Tile, to: number) => {
    if (to < 0 || to >= states.length) return;
    changes.onMove(tile, to);
    setAnnouncement(text.moved(getTileName(tile), to + 1));
  };
  const resize = (tile: Tile, size: Size) => {
    changes.onResize(tile, size);
    setAnnouncement(text.resized(getTileName(tile), size));
  };
  const drop = () => {
    setDrag(null);
    const tile = states.find((one) => one.tile.id === drag?.tile)?.tile;
    if (!drag || !tile) return;
    if (drag.kind === 'resize') return resize(tile, drag.size);
    const to = states.findIndex((one) => one.tile.id === drag.over);
    if (to >= 0 && drag.over !== tile.id) move(tile, to);
  };
  return (
    <>
      <p role="status" className="only-heard">
        {announcement}
      </p>
      <ol
        className="board-tiles"
        aria-label={text.tiles}
        ref={own}
        {...(isEditing && { 'data-editing': '' })}
        onPointerMove={(event) => drag && setDrag(dragged(drag, event, own.current))}
        onPointerUp={drop}
        onPointerCancel={() => setDrag(null)}
      >
        {states.map((state, at) => {
          const { tile } = state;
          const isOver = drag?.kind === 'move' && drag.over === tile.id && drag.tile !== tile.id;
          const size = drag?.kind === 'resize' && drag.tile === tile.id ? drag.size : getTileSize(tile);
          const from = states.findIndex((one) => one.tile.id === drag?.tile);
          return (
            <TilePanel
              key={tile.id}
              state={state}
              size={size}
              drop={isOver ? (from < at ? 'after' : 'before') : undefined}
              isDragged={drag?.tile === tile.id}
              handles={
                isEditing
                  ? {
                      move: {
                        onPointerDown: (event) =>
                          setDrag(captured({ kind: 'move', tile: tile.id, over: tile.id }, event)),
                        onKeyDown: (event) => pressArrow(event, ({ x, y }) => move(tile, at + (x || y))),
                      },
                      resize: {
                        onPointerDown: (event) =>
                          setDrag(
                            captured({ kind: 'resize', tile: tile.id, size, start: size, from: placeOf(event) }, event),
                          ),
                        onKeyDown: (event) =>
                          pressArrow(event, ({ x, y }) => resize(tile, within({ w: size.w + x, h: size.h + y }))),
                      },
                      onRemove: () => changes.onRemove(tile),
                    }
                  : undefined
              }
              onEditText={isEditing && tile.text !== null ? () => changes.onEditText(tile) : undefined}
            />
          );
        })}
      </ol>
    </>
  );
}

type Drag =
  | { kind: 'move'; tile: number; over: number }
  | { kind: 'resize'; tile: number; size: Size; start: Size; from: Place };

interface Place {
  x: number;
  y: number;
}

const placeOf = ({ clientX: x, clientY: y }: PointerEvent): Place => ({ x, y });

/** Captures the pointer, so that all further pointer events go to this element. */
function captured(drag: Drag, event: PointerEvent): Drag {
  event.preventDefault();
  (event.currentTarget as Element).setPointerCapture(event.pointerId);
  return drag;
}

function dragged(drag: Drag, event: PointerEvent, grid: HTMLElement | null): Drag {
  if (drag.kind === 'move') {
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    const over = under.map((element) => element.closest<HTMLElement>('[data-tile]')).find(Boolean);
    return over ? { ...drag, over: Number(over.dataset.tile) } : drag;
  }
  if (!grid) return drag;
  const style = getComputedStyle(grid);
  const gap = Number.parseFloat(style.columnGap);
  const column = (grid.clientWidth + gap) / columns;
  const row = Number.parseFloat(style.gridAutoRows) + gap;
  const { x, y } = placeOf(event);
  const { start, from } = drag;
  const steps = { w: Math.round((x - from.x) / column), h: Math.round((y - from.y) / row) };
  return { ...drag, size: within({ w: start.w + steps.w, h: start.h + steps.h }) };
}

const least: Size = { w: 2, h: 1 };
const within = ({ w, h }: Size): Size => ({
  w: Math.max(least.w, Math.min(w, columns)),
  h: Math.max(least.h, Math.min(h, maxRows)),
});

function pressArrow(event: KeyboardEvent, act: (step: Place) => void): void {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  act({ x: step[0] ?? 0, y: step[1] ?? 0 });
}
