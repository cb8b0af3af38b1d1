/** A WHERE clause under construction, with conditions and the values of numbered placeholders. */
export interface Conditions {
  /** Adds a parameter and returns its placeholder, e.g. `$3`. */
  parameter(value: unknown): string;
  add(condition: string): void;
  /** Returns all conditions, joined by AND. */
  text(): string;
  values: unknown[];
}

export function createConditions(): Conditions {
  const values: unknown[] = [];
  const conditions: string[] = [];
  return {
    parameter: (value) => `$${values.push(value)}`,
    add: (condition) => void conditions.push(condition),
    text: () => conditions.join(' AND '),
    values,
  };
}
