// The start page's key figures, such as visitors and page views.

import { computeChange, formatChange, formatValue, isGoodChange, type NumberFormat } from '@millrace/contracts/numbers';
import { LineChart } from '../../parts/chart.tsx';
import { Tile } from '../../parts/tile.tsx';
import { useWebQuery } from './queries.ts';
import { text } from './words.ts';

export interface Item {
  key: string;
  kind: string;
  value: number | null;
  previous: number | null;
  isIncreaseBad: boolean | null;
}

type Metric = 'UniqueUsers' | 'PageViews' | 'Sessions' | 'SessionDuration' | 'Bounces';

const metricOf: Record<string, Metric> = {
  visitors: 'UniqueUsers',
  views: 'PageViews',
  sessions: 'Sessions',
  'session duration': 'SessionDuration',
  'bounce rate': 'Bounces',
};

const formats: Record<string, NumberFormat> = {
  unit: { kind: 'number' },
  duration_s: { kind: 'seconds' },
  percentage: { kind: 'percent' },
};
const formatOf = (kind: string): NumberFormat => formats[kind] ?? { kind: 'number' };

export function KeyFigures({ items, range, round }: { items: readonly Item[]; range: object; round: number }) {
  const trend = useWebQuery<{ bucket: string; metrics: Partial<Record<Metric, number | null>> }[]>(
    { kind: 'WebTrendsQuery', ...range, metrics: Object.values(metricOf) },
    round,
  );
  return items.map((item) => {
    const metric = metricOf[item.key];
    const name = text.items[item.key] ?? item.key;
    const values = metric === undefined ? [] : (trend.data?.results.map(({ metrics }) => metrics[metric] ?? 0) ?? []);
    return (
      <Tile
        key={item.key}
        label={name}
        value={item.value === null ? null : formatValue(item.value, formatOf(item.kind))}
        more={<Before item={item} />}
        chart={values.length > 1 && <LineChart values={values} label={text.spark(name)} />}
      />
    );
  });
}

function Before({ item: { kind, value, previous, isIncreaseBad } }: { item: Item }) {
  if (value === null || previous === null) return null;
  const format = formatOf(kind);
  const change = computeChange(value, previous, format);
  if (change === null) return value === 0 ? null : text.noBefore;
  const isGood = isGoodChange(change, { isIncreaseBad: isIncreaseBad ?? false });
  return (
    <>
      <span translate="no" className={isGood === null ? '' : isGood ? 'good' : 'bad'}>
        {formatChange(change, format)}
      </span>{' '}
      {text.before(formatValue(previous, format))}
    </>
  );
}
