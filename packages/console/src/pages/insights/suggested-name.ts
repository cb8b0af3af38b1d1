import { escapeInvisible } from '../../event-detail/json-text.ts';
import { formatRange } from '../../filters/date-range.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { type Fields, type InsightQuery, toFields, toFieldsList } from '../../results/insight-query.ts';
import { isKind } from './query.ts';
import { text } from './words.ts';

const { suggested } = text;

/**
 * Suggests a name, for example `order (unique users) by Browser, last 7 days`. Returns an empty string if the console
 * cannot edit the query's type.
 */
export function suggestName(insightQuery: InsightQuery): string {
  if (!isKind(insightQuery.kind)) return '';
  const { breakdown } = toFields(insightQuery.breakdownFilter);
  const by = typeof breakdown === 'string' && breakdown !== '' ? suggested.by(formatPropertyName(breakdown)) : '';
  const range = insightQuery.kind === 'RetentionQuery' ? '' : suggested.during(lowered(rangeOf(insightQuery)));
  return escapeInvisible(subjectOf(insightQuery) + by + range).slice(0, 400);
}

const rangeOf = ({ dateRange }: InsightQuery) => {
  const range = toFields(dateRange);
  return formatRange(range.date_from ? range : { date_from: '-7d' });
};

function subjectOf({ kind, series, trendsFilter, retentionFilter }: InsightQuery): string {
  const events = toFieldsList(series).map(({ event }) => nameOf(event));
  switch (kind) {
    case 'FunnelsQuery':
      return suggested.funnel(events);
    case 'LifecycleQuery':
      return suggested.lifecycle(suggested.all(events));
    case 'RetentionQuery': {
      const { targetEntity, returningEntity } = toFields(retentionFilter);
      return suggested.retention(nameOf(toFields(targetEntity).id), nameOf(toFields(returningEntity).id));
    }
    default: {
      const { formula } = toFields(trendsFilter);
      const counted = suggested.all(toFieldsList(series).map(nameOfSeries));
      return typeof formula === 'string' && formula !== '' ? suggested.formula(formula, counted) : counted;
    }
  }
}

function nameOfSeries({ event, math, math_property: property }: Fields): string {
  const name = nameOf(event);
  if (typeof math !== 'string' || math === 'total' || !Object.hasOwn(text.maths, math)) return name;
  const aggregation = lowered(text.maths[math as keyof typeof text.maths]);
  return suggested.counted(
    name,
    typeof property === 'string' ? `${aggregation} ${formatPropertyName(property)}` : aggregation,
  );
}

const nameOf = (event: unknown) => (typeof event === 'string' ? event : text.eventHint);

/** Returns the name with a lower-case first character, for use within a longer name. */
const lowered = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);
