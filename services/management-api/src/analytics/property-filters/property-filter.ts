/** Data that a filter looks at: the event's properties, those of the person it belongs to now, or the event's name. */
export const propertyOwners = ['event', 'person', 'event_metadata'] as const;
export type PropertyOwner = (typeof propertyOwners)[number];

/** What an operator compares, which says what a value may look like. */
const operators = {
  exact: 'text',
  is_not: 'text',
  in: 'text',
  not_in: 'text',
  icontains: 'part',
  not_icontains: 'part',
  regex: 'pattern',
  not_regex: 'pattern',
  gt: 'number',
  gte: 'number',
  lt: 'number',
  lte: 'number',
  is_date_exact: 'time',
  is_date_before: 'time',
  is_date_after: 'time',
  is_set: 'nothing',
  is_not_set: 'nothing',
} as const;

export type PropertyOperator = keyof typeof operators;
export const propertyOperators = Object.keys(operators) as PropertyOperator[];
export type ComparedAs = (typeof operators)[PropertyOperator];

export function comparedAs(operator: PropertyOperator): ComparedAs {
  return operators[operator];
}

/** One condition on one property, read and checked. */
export interface PropertyFilter {
  owner: PropertyOwner;
  key: string;
  operator: PropertyOperator;
  /** Texts, patterns as PostgreSQL has them, numbers as texts or times in ISO 8601, by the operator; any of them will do. */
  values: string[];
}
