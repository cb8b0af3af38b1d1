import { formatPercent } from '@millrace/contracts/numbers';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import { text } from './words.ts';

interface Counts {
  variant: string;
  exposures: number;
  persons: number;
  conversions: number | null;
}
interface Exposed {
  timezone: string;
  persons: number;
  exposures: number;
  conversion_event: string | null;
  variants: Counts[];
  days: (Counts & { day: string })[];
}
type Span = keyof typeof text.exposures.spans;

/** Shows how many persons received each variant of a flag, based on the `$feature_flag_called` events of SDKs. */
export function FlagExposures({ flagId }: { flagId: number }) {
  const { id } = useProject();
  const [span, setSpan] = useState<Span>('-30d');
  const [success, setSuccess] = useState('');
  const query = useQuery({
    queryKey: ['flags', id, 'exposures', flagId, span, success],
    queryFn: ({ signal }) =>
      call<Exposed>(
        {
          path: `/api/projects/${id}/feature_flags/${flagId}/exposures`,
          query: { date_from: span, conversion_event: success },
        },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="flag-section">
      <form
        className="flag-ask"
        action={(form) => setSuccess(String(form.get('success') ?? '').trim())}
        aria-label={text.exposures.what}
      >
        <label className="field">
          <span className="field-label">{text.exposures.span}</span>
          <select className="input" value={span} onChange={(event) => setSpan(event.target.value as Span)}>
            {Object.entries(text.exposures.spans).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label className="field grow">
          <span className="field-label">{text.exposures.success}</span>
          <input
            className="input"
            name="success"
            key={success}
            defaultValue={success}
            placeholder={text.exposures.successHint}
            maxLength={200}
          />
        </label>
        <Button type="submit">{text.exposures.count}</Button>
      </form>
      <QueryContent query={query} what={text.exposures.what}>
        {(exposed) =>
          exposed.exposures === 0 ? (
            <EmptyState title={text.exposures.emptyTitle} icon="flags">
              <p className="quiet">{text.exposures.empty}</p>
            </EmptyState>
          ) : (
            <Shown exposed={exposed} />
          )
        }
      </QueryContent>
    </div>
  );
}

function Shown({ exposed }: { exposed: Exposed }) {
  const { variants, days, persons, exposures, conversion_event: event, timezone } = exposed;
  const perDay = new Map<string, number>();
  for (const { day, persons: count } of days) perDay.set(day, (perDay.get(day) ?? 0) + count);
  const bars = [...perDay].sort().map(([day, value]) => ({ label: text.exposures.dayLabel(day, value), value }));
  const { columns } = text.exposures;
  return (
    <>
      <p className="flag-figure">{text.exposures.total(formatNumber(persons), formatNumber(exposures))}</p>
      <Bars
        values={bars}
        label={`${text.exposures.perDay}: ${bars.map(({ label }) => label).join('; ')}`}
        height={56}
      />
      <p className="hint">
        {text.exposures.perDay}. {text.exposures.zone(timezone)}.
      </p>
      <table className="table">
        <thead>
          <tr>
            <th>{columns.variant}</th>
            <th className="number">{columns.persons}</th>
            <th className="number">{columns.exposures}</th>
            {event !== null && <th className="number">{columns.conversions}</th>}
          </tr>
        </thead>
        <tbody>
          {variants.map(({ variant, conversions, ...counts }) => (
            <tr key={variant}>
              <td className="mono">{text.exposures.variants[variant] ?? variant}</td>
              <td className="number">{formatNumber(counts.persons)}</td>
              <td className="number">{formatNumber(counts.exposures)}</td>
              {event !== null && (
                <td className="number">
                  {formatNumber(conversions ?? 0)}{' '}
                  <span className="quiet">
                    {counts.persons > 0 ? formatPercent(((conversions ?? 0) / counts.persons) * 100) : ''}
                  </span>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** A bar chart with a tooltip for each bar. @param label a description of the chart for screen readers */
function Bars({
  values,
  label,
  height = 40,
}: {
  values: readonly { label: string; value: number }[];
  label: string;
  height?: number;
}) {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const width = 100 / Math.max(1, values.length);
  return (
    <svg
      width="100%"
      height={height}
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map(({ label: name, value }, at) => {
        const tall = value === 0 ? 0 : Math.max(1, (value / most) * height);
        return (
          <rect
            key={name}
            x={at * width + width * 0.1}
            y={height - tall}
            width={width * 0.8}
            height={tall}
            fill="var(--series-1)"
          >
            <title>{name}</title>
          </rect>
        );
      })}
    </svg>
  );
}
