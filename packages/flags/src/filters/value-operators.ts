// The interface of a filter's test, and a property value with its lower-case and numeric conversions.

import type { TimeZone } from '@millrace/schedule';
import { isTruthy, parseVersion, type SemanticVersion, toComparableNumber, toComparableText } from '../values.ts';
import type { SharedPattern } from './patterns.ts';

/** Tests a property's value. The result depends only on the arguments. */
export interface ValueTest {
  /** Returns whether the value passes the test. @param now milliseconds since the epoch, for relative dates */
  matches(value: PropertyValue, now: number): boolean;
  /** Returns the number of steps for a string of this length, without the steps for its conversions. */
  stepsFor(length: number): number;
  /** The pattern to compile before the first test. This is a separate step, because compilation is slow. */
  pattern?: SharedPattern;
}

export interface CompiledTest {
  test: ValueTest;
  /** The outcome if the property does not exist. A property that is JSON null does exist. */
  whenMissing: boolean;
}

export interface TestOptions {
  /** Version 1 compares strings such as "true" as booleans (see `createExactTest`). Version 2 does not. */
  matchingVersion: 1 | 2;
  zone: TimeZone;
}

export const countComparisonSteps = (characters: number): number => characters / 16;

const noSteps = (): number => 0;

export function createFixedCostTest(matches: ValueTest['matches']): ValueTest {
  return { matches, stepsFor: noSteps };
}

/** A test that never matches, for unknown operators and invalid values. */
export const never: CompiledTest = { test: createFixedCostTest(() => false), whenMissing: false };

/** A property value with the conversions that filters compare. Each conversion is computed once, on first use. */
export class PropertyValue {
  /** The value as sent or stored. */
  readonly value: unknown;
  /** The length of a string. Zero for numbers, booleans and null, which are always short. */
  readonly length: number;
  /** Whether the steps for the conversions have already been counted. */
  isCounted = false;
  private textMade: string | undefined;
  private searchedMade: string | undefined;
  private foldedMade: string | undefined;
  private numberMade: number | null | undefined;
  private versionMade: SemanticVersion | null | undefined;
  private isTrueMade: boolean | undefined;

  constructor(value: unknown) {
    this.value = value;
    const isLong = typeof value === 'string' || (typeof value === 'object' && value !== null);
    this.length = isLong ? this.text.length : 0;
  }

  get text(): string {
    this.textMade ??= toComparableText(this.value);
    return this.textMade;
  }

  /** The text for substring searches, with only the characters A to Z converted to lower case. */
  get searched(): string {
    this.searchedMade ??= toAsciiLowerCase(this.text);
    return this.searchedMade;
  }

  /** The lower-case text for comparing complete strings. */
  get folded(): string {
    this.foldedMade ??= this.text.toLowerCase();
    return this.foldedMade;
  }

  get number(): number | null {
    if (this.numberMade === undefined) this.numberMade = toComparableNumber(this.value);
    return this.numberMade;
  }

  get version(): SemanticVersion | null {
    if (this.versionMade === undefined) this.versionMade = parseVersion(this.value);
    return this.versionMade;
  }

  get isTrue(): boolean {
    this.isTrueMade ??= isTruthy(this.value);
    return this.isTrueMade;
  }
}

/**
 * Converts the characters A to Z to lower case, as PostHog does for substring searches. Unlike `exact`, they therefore
 * distinguish "Ä" from "ä".
 */
export function toAsciiLowerCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  // Convert character by character. A malicious string may contain half a million capital letters, for which a
  // replacement function would take too long.
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    units[index] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}
