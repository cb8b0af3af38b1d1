// Infers a property's type (string, number, boolean or time) from its name and value.

export type PropertyType = 'DateTime' | 'String' | 'Numeric' | 'Boolean';

const halfYearSeconds = 183 * 86_400;
const timeWords = /time|date|_at|-at|createdat|updatedat/;

const rfc3339 = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?$/i;
const rfc2822 = /^(\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d(:\d\d)? ([+-]\d{4}|[A-Z]{1,4})$/;
const yearFirst = /^\d{4}([-/])(0\d|1[0-2])\1[0-3]\d$/;
/** Matches an ambiguous date format in which either the day or the month may come first. */
const yearLast = /^[0-2]\d([-/])[0-3]\d\1\d{4}( \d\d:\d\d(:\d\d)?)?$/;

/**
 * Returns the type that a property value suggests, or null if it is unknown. The order of the checks is part of the
 * rule (docs/ingestion-rules.md#definitions). Some names determine the type, whatever the value is.
 * @param nowMs the current time. An integer counts as a time in seconds if it is at most half a year in the past.
 */
export function guessPropertyType(name: string, value: unknown, nowMs: number): PropertyType | null {
  if (isAlwaysText(name)) return 'String';
  if (timeWords.test(name.toLowerCase()) && isTime(value, nowMs)) return 'DateTime';
  switch (typeof value) {
    case 'string':
      return textType(value);
    case 'number':
      return 'Numeric';
    case 'boolean':
      return 'Boolean';
    default:
      return null;
  }
}

/** Returns whether a property is a string even if its values (campaigns, survey responses) look like other types. */
function isAlwaysText(name: string): boolean {
  return (
    name.startsWith('utm_') ||
    name.startsWith('$initial_utm_') ||
    name.startsWith('$feature/') ||
    name === '$feature_flag_response' ||
    name.startsWith('$survey_response')
  );
}

function isTime(value: unknown, nowMs: number): boolean {
  if (typeof value === 'string') return isDateText(value);
  return typeof value === 'number' && Number.isInteger(value) && value >= nowMs / 1000 - halfYearSeconds;
}

function textType(text: string): PropertyType {
  if (/^(true|false|TRUE|FALSE)$/.test(text.trim())) return 'Boolean';
  return isDateText(text) ? 'DateTime' : 'String';
}

function isDateText(text: string): boolean {
  // The longest time format has 31 characters, so this check quickly rejects most strings.
  if (text.length < 10 || text.length > 40) return false;
  return rfc3339.test(text) || yearFirst.test(text) || yearLast.test(text) || rfc2822.test(text);
}
