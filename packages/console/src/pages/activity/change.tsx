// Shows the fields that an activity log entry changed, with their previous and new values.

import { describePropertyFilter, formatFilterValue } from '../../filters/filter.ts';
import { isFields } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { parseGroups } from '../cohorts/shapes.ts';
import { describeFlagFilters, type FlagFilters } from '../flags/flag.ts';
import { findDifferences } from '../flags/history.tsx';
import { text } from './words.ts';

export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface Activity {
  user: { first_name: string; email: string | null; is_system?: boolean };
  activity: string;
  scope: string;
  item_id: string;
  detail: {
    name: string | null;
    trigger: { job_type: string; job_id: string } | null;
    changes: FieldChange[] | null;
  };
  created_at: string;
  /** The environment ID. Null for a record that belongs to the organization. */
  team_id: number | null;
}

const maxLines = 12;

/** Shows how a field has changed. For long values, shows only the lines that differ. */
export function Change({ scope, change: { field, before, after } }: { scope: string; change: FieldChange }) {
  const [removed, added] = findDifferences(linesOfValue(scope, field, before), linesOfValue(scope, field, after));
  const isSecret = removed.join() === added.join();
  return (
    <div className="activity-change">
      <span className="hint">{spacedOf(field)}</span>
      {isSecret ? (
        <span className="quiet">{text.hidden}</span>
      ) : (
        <>
          {firstOf(removed).map((line) => (
            <del key={line}>
              <span className="only-heard">{text.before} </span>
              {line}
            </del>
          ))}
          {firstOf(added).map((line) => (
            <ins key={line}>
              <span className="only-heard">{text.after} </span>
              {line}
            </ins>
          ))}
        </>
      )}
    </div>
  );
}

const firstOf = (lines: readonly string[]) =>
  lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), text.moreLines(lines.length - maxLines)];

/** Formats a field's value as lines. Filters are described in words, and other objects have one line for each field. */
function linesOfValue(scope: string, field: string, value: unknown): string[] {
  if (field === 'level' && typeof value === 'number') return [words.level[value] ?? String(value)];
  if (field === 'filters' && isFields(value)) {
    if (scope === 'FeatureFlag') return describeFlagFilters(value as FlagFilters, (id) => `#${id}`);
    const groups = scope === 'Cohort' ? parseGroups(value) : null;
    if (groups !== null)
      return groups.map((filters, at) => `${at + 1}. ${filters.map(describePropertyFilter).join(text.and)}`);
  }
  return partsOf(value, '');
}

const longest = 2000;

/** Formats each inner value of a nested value as a line, such as `date range › date from: -7d`. */
function partsOf(value: unknown, path: string): string[] {
  const isNested =
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((one) => one !== null && typeof one === 'object');
  if (isFields(value) || isNested) {
    const parts = Object.entries(value as object).flatMap(([name, part]) =>
      partsOf(part, [path, /^\d+$/.test(name) ? String(Number(name) + 1) : spacedOf(name)].filter(Boolean).join(' › ')),
    );
    if (parts.length > 0) return parts;
  }
  const isEmpty = value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const shown = isEmpty
    ? text.nothing
    : Array.isArray(value)
      ? value.map(formatFilterValue).join(', ')
      : formatFilterValue(value);
  const line = path === '' ? shown : `${path}: ${shown}`;
  return [line.length > longest ? `${line.slice(0, longest)} …` : line];
}

/** Splits a field name into words: `dateRange` and `date_from` become `date range` and `date from`. */
const spacedOf = (name: string) =>
  name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
