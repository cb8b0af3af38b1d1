// Determines which interval of a chart the user selects with mouse, touch or keyboard, and to which range the user
// zooms.

import { seriesValueAt } from '@millrace/contracts/numbers';
import { type KeyboardEvent, type MouseEvent, type PointerEvent, useRef, useState } from 'react';
import { findIntervalAt, findNearest, type Plot } from './plot.ts';
import type { Series } from './series.ts';

export interface ChartActions {
  onPoint?: ((series: Series, at: number) => void) | undefined;
  /** Narrows the date range to the intervals from index `from` to index `to`. */
  onZoom?: ((days: readonly string[], from: number, to: number) => void) | undefined;
  /** Restores the date range. Undefined if the chart is not zoomed. */
  onReset?: (() => void) | undefined;
}

/** Minimum pointer movement, in pixels, that turns a press into a drag. */
const leastDrag = 6;
/** Maximum time between two presses that count as a double-click, in milliseconds. */
const doublePress = 300;

interface Press {
  x: number;
  at: number;
  /** Whether the interval was already selected. The first touch of an interval only shows the tooltip. */
  wasShown: boolean;
  isTouch: boolean;
  isDrag: boolean;
}

/**
 * Manages what the user selects in a chart.
 * @returns the selected interval, the vertical position `y` as a fraction of the height, and the selected range during
 * a drag
 */
export function useChartSelection(plot: Plot, { onPoint, onZoom, onReset }: ChartActions) {
  const [place, setPlace] = useState<{ at: number; y: number } | null>(null);
  const [dragged, setDragged] = useState<{ from: number; to: number } | null>(null);
  const press = useRef<Press>(null);
  const opening = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = plot.days.length - 1;
  const shown = place === null ? null : { at: Math.min(place.at, last), y: place.y };

  const placeOf = ({ currentTarget, clientX, clientY }: MouseEvent<HTMLElement>) => {
    const box = currentTarget.getBoundingClientRect();
    return { at: findIntervalAt(plot, (clientX - box.left) / box.width), y: (clientY - box.top) / box.height };
  };
  const open = ({ at, y }: { at: number; y: number }) => {
    const nearest = findNearest(plot, at, y);
    if (nearest) onPoint?.(nearest.series, at);
  };
  const dragTo = ({ clientX }: PointerEvent<HTMLElement>, to: number) => {
    const startedPress = press.current;
    if (startedPress === null || startedPress.isTouch || onZoom === undefined) return;
    startedPress.isDrag ||= Math.abs(clientX - startedPress.x) >= leastDrag;
    if (startedPress.isDrag) setDragged({ from: Math.min(startedPress.at, to), to: Math.max(startedPress.at, to) });
  };

  return {
    at: shown?.at ?? null,
    y: shown?.y ?? 0,
    dragged,
    handlers: {
      onPointerDown(event: PointerEvent<HTMLElement>) {
        const here = placeOf(event);
        const isTouch = event.pointerType === 'touch';
        press.current = { x: event.clientX, at: here.at, isTouch, isDrag: false, wasShown: shown?.at === here.at };
        if (!isTouch) event.currentTarget.setPointerCapture(event.pointerId);
        setPlace(here);
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        const here = placeOf(event);
        setPlace(here);
        dragTo(event, here.at);
      },
      onPointerUp() {
        if (dragged !== null) onZoom?.(plot.days, dragged.from, dragged.to);
        setDragged(null);
      },
      onPointerCancel() {
        press.current = null;
        setDragged(null);
      },
      onPointerLeave({ pointerType }: PointerEvent<HTMLElement>) {
        // On touch screens, keep the tooltip after the finger is lifted, so that the user can read it.
        if (pointerType !== 'touch') setPlace(null);
      },
      onClick(event: MouseEvent<HTMLElement>) {
        const startedPress = press.current;
        press.current = null;
        if (startedPress?.isDrag || (startedPress?.isTouch && !startedPress.wasShown) || event.detail > 1) return;
        const here = placeOf(event);
        if (onReset === undefined) open(here);
        else opening.current = setTimeout(() => open(here), doublePress);
      },
      onDoubleClick() {
        clearTimeout(opening.current);
        onReset?.();
      },
      onFocus({ currentTarget }: { currentTarget: HTMLElement }) {
        if (currentTarget.matches(':focus-visible') && press.current === null) setPlace({ at: last, y: 0 });
      },
      onBlur: () => setPlace(null),
      onKeyDown(event: KeyboardEvent<HTMLElement>) {
        const { at, y } = shown ?? { at: last, y: 0 };
        const moved = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
        if (moved !== undefined) setPlace({ at: Math.max(0, Math.min(last, moved)), y });
        else if (event.key === 'ArrowUp' || event.key === 'ArrowDown')
          setPlace({ at, y: heightOfNext(plot, { at, y }, event.key === 'ArrowUp' ? -1 : 1) });
        else if (event.key === 'Enter') open({ at, y });
        else if (event.key === 'Escape' && place !== null) setPlace(null);
        else return;
        event.preventDefault();
      },
    },
  };
}

/** Returns the vertical position of the next series above or below a position. */
function heightOfNext(plot: Plot, { at, y }: { at: number; y: number }, by: 1 | -1): number {
  const heights = plot.isBars
    ? (plot.stacks[at] ?? [])
        .filter(({ from, to }) => from !== to)
        .map(({ drawn, from, to }) => ({ drawn, height: (plot.y(from) + plot.y(to)) / 2 }))
    : plot.drawn
        .filter(({ series }) => seriesValueAt(series, at) !== null)
        .map((drawn) => ({ drawn, height: plot.y(drawn.series.data[at] ?? 0) }));
  heights.sort((a, b) => a.height - b.height);
  const nearest = findNearest(plot, at, y);
  const place = heights.findIndex(({ drawn }) => drawn === nearest);
  return heights[Math.max(0, Math.min(heights.length - 1, place + by))]?.height ?? y;
}
