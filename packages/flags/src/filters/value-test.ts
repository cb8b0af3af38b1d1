import type { TimeZone } from '@millrace/schedule';

/** What a property's value must be. Pure; `now` in milliseconds since 1970 is for relative dates. */
export type ValueTest = (value: unknown, now: number) => boolean;

/** A filter's operator and value, prepared. */
export interface CompiledTest {
  matches: ValueTest;
  /** The outcome where the property is missing. JSON null is a value. */
  whenMissing: boolean;
}

export interface TestOptions {
  /** 1 compares texts like "true" as booleans (see `exactTest`); 2 does not. */
  matchingVersion: 1 | 2;
  /** The project's clocks. */
  zone: TimeZone;
}

/** For filters that nothing can match: an unknown operator, a value that makes no sense. */
export const never: CompiledTest = { matches: () => false, whenMissing: false };
