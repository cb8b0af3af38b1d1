import type { TimeZone } from '@millrace/schedule';
import type { SharedPattern } from './shared-pattern.ts';

/** What a property's value must be. Pure; `now` in milliseconds since 1970 is for relative dates. */
export interface ValueTest {
  (value: unknown, now: number): boolean;
  /** Steps that a text of this length takes, see `spendSteps`; few, unless it says so. */
  stepsFor?: (length: number) => number;
  /** What takes long enough to make ready that it is done by itself, before the first test. */
  pattern?: SharedPattern;
}

/** A filter's operator and value, prepared. */
export interface CompiledTest {
  matches: ValueTest;
  /** The outcome where the property is missing. JSON null is a value. */
  whenMissing: boolean;
  /** 0 where the value itself is not looked at. */
  stepsFor(length: number): number;
}

export interface TestOptions {
  /** 1 compares texts like "true" as booleans (see `exactTest`); 2 does not. */
  matchingVersion: 1 | 2;
  /** The project's clocks. */
  zone: TimeZone;
}

/** What comparing or searching takes, where a step is one of a pattern. */
export const usualSteps = (length: number): number => length / 16;

export const noSteps = (): number => 0;

/** For filters that nothing can match: an unknown operator, a value that makes no sense. */
export const never: CompiledTest = { matches: () => false, whenMissing: false, stepsFor: noSteps };
