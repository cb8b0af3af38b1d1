/** Builds a WHERE clause from conditions, and collects the values of its numbered placeholders. */
export interface Conditions {
  /** Adds a parameter and returns its placeholder, such as `$3`. */
  parameter(value: unknown): string;
  add(condition: string): void;
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
