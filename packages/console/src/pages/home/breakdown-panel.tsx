// A start page panel that ranks a property's values, such as pages or countries, by number of visitors.

import { formatPercent } from '@millrace/contracts/numbers';
import { useId, useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { QueryContent } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import { type Dimension, formatRowFilterValue, type RowFilter, writeFilter } from './filters.ts';
import { useWebQuery } from './queries.ts';
import { text } from './words.ts';

interface RowsProps {
  open: Dimension;
  range: object;
  compareFilter: object | undefined;
  round: number;
  filters: readonly RowFilter[];
  onFilter: (filter: RowFilter) => void;
}

interface PanelProps extends RowsProps {
  title: string;
  dimensions: readonly Dimension[];
  onOpen: (dimension: Dimension) => void;
}

/** Shows a property's most frequent values. If the panel has several properties, users can switch between them. */
export function BreakdownPanel({ title, dimensions, onOpen, ...rows }: PanelProps) {
  const headingId = useId();
  const { open } = rows;
  return (
    <section className="panel" aria-labelledby={headingId}>
      <div className="home-head">
        <h2 id={headingId}>{title}</h2>
        {dimensions.length > 1 && (
          <fieldset className="home-tabs" aria-labelledby={headingId}>
            {dimensions.map((one) => (
              <button
                key={one}
                type="button"
                className="home-tab"
                aria-pressed={one === open}
                onClick={() => onOpen(one)}
              >
                {text.tabs[one]}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {/* The React key resets the rows, so that they disappear while another breakdown loads. */}
      <Rows key={open} {...rows} />
    </section>
  );
}

type Pair = [number | null, number | null];
/**
 * A result row: the property value, the visitors, the views, the bounce rate (only for some breakdowns), and the bar's
 * length as a fraction.
 */
type Result = [string | null, Pair, Pair, ...(Pair | number)[]];

const fewRows = 8;
const manyRows = 100;
/** Breakdowns with a bounce rate: those that describe how visitors arrived. */
const rated = new Set<Dimension>([
  ...(['Page', 'InitialPage', 'InitialReferringDomain', 'InitialUTMSource', 'InitialUTMCampaign'] as const),
]);

function Rows({ open, range, compareFilter, round, filters, onFilter }: RowsProps) {
  const [isLong, setLong] = useState(false);
  const hasRate = rated.has(open);
  const query = useWebQuery<Result[]>(
    {
      kind: 'WebStatsTableQuery',
      breakdownBy: open,
      ...range,
      ...(compareFilter && { compareFilter }),
      includeBounceRate: hasRate,
      limit: isLong ? manyRows : fewRows,
    },
    round,
  );
  return (
    <QueryContent query={query} what={text.tabs[open]}>
      {({ results, hasMore }) =>
        results.length === 0 ? (
          <p className="quiet home-none">{open === 'Country' ? text.noCountries : text.noRows}</p>
        ) : (
          <>
            <table className="table home-table" aria-label={text.tabs[open]}>
              <thead>
                <tr>
                  <th>{text.names[open]}</th>
                  <th className="number">{text.visitors}</th>
                  <th className="number list-wide">{text.views}</th>
                  {hasRate && <th className="number">{text.bounceRate}</th>}
                </tr>
              </thead>
              <tbody>
                {results.map((result) => (
                  <Row key={result[0] ?? ''} {...{ open, hasRate, result, filters, onFilter }} />
                ))}
              </tbody>
            </table>
            {(hasMore || isLong) && (
              <button type="button" className="link-button home-more" onClick={() => setLong(!isLong)}>
                {isLong ? text.fewer : text.more}
              </button>
            )}
          </>
        )
      }
    </QueryContent>
  );
}

function Row({
  open,
  hasRate,
  result: [value, [visitors], [views], ...rest],
  filters,
  onFilter,
}: Pick<RowsProps, 'open' | 'filters' | 'onFilter'> & { hasRate: boolean; result: Result }) {
  const filter = { dimension: open, value };
  const isOn = filters.some((one) => writeFilter(one) === writeFilter(filter));
  const [first] = rest;
  const rate = Array.isArray(first) ? first[0] : null;
  return (
    <tr>
      <td className="home-value">
        <span className="home-bar" style={{ width: `${100 * Number(rest.at(-1) ?? 0)}%` }} />
        <button
          type="button"
          className="link-button home-row cut"
          title={escapeInvisible(value ?? text.none)}
          aria-pressed={isOn}
          onClick={() => onFilter(filter)}
        >
          <span className="only-heard">{text.filterBy(text.names[open])} </span>
          <span translate="no">{escapeInvisible(formatRowFilterValue(filter))}</span>
        </button>
      </td>
      <td className="number">{formatNumber(visitors ?? 0)}</td>
      <td className="number list-wide">{formatNumber(views ?? 0)}</td>
      {hasRate && <td className="number">{rate === null ? '–' : formatPercent(100 * rate)}</td>}
    </tr>
  );
}
