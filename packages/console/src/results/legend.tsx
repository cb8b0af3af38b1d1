// A chart's legend, in which users can hide and highlight series.

import { useState } from 'react';
import type { Drawn } from './plot.ts';
import { text } from './words.ts';

export function useLegend(drawn: readonly Drawn[]) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [bright, setBright] = useState<string | null>(null);
  const others = (key: string) => new Set(drawn.map((one) => one.key).filter((other) => other !== key));
  const shown = drawn.filter(({ key }) => !hidden.has(key));
  return {
    /** If all series are hidden, shows all of them. This happens when the hidden series are from a previous query. */
    shown: shown.length === 0 ? drawn : shown,
    bright: shown.some(({ key }) => key === bright) ? bright : null,
    isHidden: (key: string) => shown.length > 0 && hidden.has(key),
    setBright,
    toggle(key: string) {
      const next = new Set(hidden);
      if (!next.delete(key)) next.add(key);
      setHidden(drawn.every((one) => next.has(one.key)) ? new Set() : next);
    },
    /** Hides all series except the given one. If they are already hidden, shows all series. */
    isolate(key: string) {
      const isAlone = shown.length === 1 && shown[0]?.key === key;
      setHidden(isAlone ? new Set() : others(key));
    },
  };
}

/**
 * Shows the names and colors of the series. Clicking a name hides the series. Double-clicking it, or clicking it while
 * holding Alt, hides all other series.
 */
export function ChartLegend({ drawn, legend }: { drawn: readonly Drawn[]; legend: ReturnType<typeof useLegend> }) {
  return (
    <ul className="chart-legend" aria-label={text.legend}>
      {drawn.map(({ key, name, tone }) => (
        <li key={key}>
          <button
            type="button"
            title={text.legendHint}
            aria-pressed={!legend.isHidden(key)}
            onClick={(event) => (event.altKey ? legend.isolate(key) : legend.toggle(key))}
            onDoubleClick={() => legend.isolate(key)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !event.altKey) return;
              event.preventDefault();
              legend.isolate(key);
            }}
            onPointerEnter={() => legend.setBright(key)}
            onPointerLeave={() => legend.setBright(null)}
            onFocus={() => legend.setBright(key)}
            onBlur={() => legend.setBright(null)}
          >
            <span className={`insight-mark ${tone}`} />
            <span className="cut">{name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
