// Errors that the author of a query can fix. An error usually contains the position of the problem in the query.

/** Offsets in characters (Unicode code points) from the beginning of the query. */
export interface Place {
  start: number;
  end: number;
}

/** `hogql_syntax_error` means that the text is not HogQL. `hogql_query_error` means that the query cannot run. */
export type ProblemCode = 'hogql_syntax_error' | 'hogql_query_error';

export class SqlProblem extends Error {
  readonly place: Place | null;
  readonly code: ProblemCode;

  constructor(message: string, place: Place | null, code: ProblemCode = 'hogql_query_error') {
    super(message);
    this.name = 'SqlProblem';
    this.place = place;
    this.code = code;
  }
}

/** Returns the line and column of a position, counted from 1, as editors show them. */
export function placeText(text: string, place: Place | null): string {
  if (place === null) return '';
  const lines = Array.from(text).slice(0, place.start).join('').split('\n');
  return ` (line ${lines.length}, column ${Array.from(lines.at(-1) ?? '').length + 1})`;
}
