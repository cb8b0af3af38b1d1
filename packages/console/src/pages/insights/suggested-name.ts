// Suggests a name for a new insight, based on its query.

import { type Fields, fieldsOf, listOf, type Question } from '../../answers/question.ts';
import { visible } from '../../event-detail/json-text.ts';
import { nameOfRange } from '../../filters/date-range.tsx';
import { propertyName } from '../../parts/properties.ts';
import { isKind } from './question.ts';
import { text } from './words.ts';

const { suggested } = text;

/** `order (unique users) by Browser, last 7 days`. Empty for a kind of query that the console cannot edit. */
export function suggestedName(question: Question): string {
  if (!isKind(question.kind)) return '';
  const { breakdown } = fieldsOf(question.breakdownFilter);
  const by = typeof breakdown === 'string' && breakdown !== '' ? suggested.by(propertyName(breakdown)) : '';
  const range = question.kind === 'RetentionQuery' ? '' : suggested.during(lowered(rangeOf(question)));
  return visible(subjectOf(question) + by + range).slice(0, 400);
}

const rangeOf = ({ dateRange }: Question) => {
  const range = fieldsOf(dateRange);
  return nameOfRange(range.date_from ? range : { date_from: '-7d' });
};

function subjectOf({ kind, series, trendsFilter, retentionFilter }: Question): string {
  const events = listOf(series).map(({ event }) => nameOf(event));
  switch (kind) {
    case 'FunnelsQuery':
      return suggested.funnel(events);
    case 'LifecycleQuery':
      return suggested.lifecycle(suggested.all(events));
    case 'RetentionQuery': {
      const { targetEntity, returningEntity } = fieldsOf(retentionFilter);
      return suggested.retention(nameOf(fieldsOf(targetEntity).id), nameOf(fieldsOf(returningEntity).id));
    }
    default: {
      const { formula } = fieldsOf(trendsFilter);
      const counted = suggested.all(listOf(series).map(nameOfSeries));
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
    typeof property === 'string' ? `${aggregation} ${propertyName(property)}` : aggregation,
  );
}

const nameOf = (event: unknown) => (typeof event === 'string' ? event : text.eventHint);

/** In lower case, for use within a sentence. */
const lowered = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);
