import type { Explanation, Reason } from './flag-answers.ts';

/** How a flag came to be what it is for somebody, a line for every step. No line holds the value of a property. */
export function explanationLines({ evaluation, explanation }: Reason): string[] {
  if (explanation === null) return [];
  const { hashed, holdout, enrollment, conditions, variant_hash: variantHash } = explanation;
  return [
    `hashed: ${hashed}`,
    ...(holdout === null
      ? []
      : [
          `holdout of ${holdout.percentage} %: hash ${shown(holdout.hash)}, ${holdout.is_held_out ? 'held out' : 'not held out'}`,
        ]),
    ...(enrollment ?? []).map(({ property, source }) => `enrolment by ${property}: ${sourceWords(source)}`),
    ...conditions.flatMap((condition, index) =>
      conditionLines(condition, { number: index + 1, isDeciding: index === evaluation.condition_index }),
    ),
    ...(variantHash === null ? [] : [`variant: hash ${shown(variantHash)}`]),
  ];
}

type Condition = Explanation['conditions'][number];

function conditionLines(
  { outcome, filters, rollout }: Condition,
  { number, isDeciding }: { number: number; isDeciding: boolean },
): string[] {
  return [
    `condition ${number}: ${outcome}${isDeciding ? ' (this one decided)' : ''}`,
    ...filters.map((filter) => `  ${filterWords(filter)}`),
    `  rollout ${rollout.percentage} %: hash ${shown(rollout.hash)}`,
  ];
}

function filterWords({ about, id, key, source, property, outcome }: Condition['filters'][number]): string {
  const result = outcome === true ? 'matches' : outcome === false ? 'does not match' : String(outcome);
  if (key === undefined) return `${about}${id === undefined ? '' : ` ${id}`}: ${result}`;
  const standsIn = property === undefined || property === key ? '' : ` by ${property}`;
  return `${about} property ${key}${standsIn}, ${sourceWords(source ?? '')}: ${result}`;
}

function sourceWords(source: string): string {
  const words: Record<string, string> = {
    request: 'value from the command',
    distinct_id: 'value is the distinct id',
    group_key: 'value is the key of the group',
    stored: 'value as stored',
    missing: 'no value',
    unavailable: 'value unavailable',
  };
  return words[source] ?? source;
}

function shown(hash: number | null): string {
  return hash === null ? 'none' : hash.toFixed(6);
}
