// A property value in the forms that filters compare, and the interface of a test.

import type { TimeZone } from '@millrace/schedule';
import { isTruthy, numberForm, parseVersion, type SemanticVersion, textForm } from '../values.ts';
import type { SharedPattern } from './patterns.ts';

/** A test of a property's value. Pure. */
export interface ValueTest {
  /** @param now milliseconds since 1970, for relative dates. */
  matches(value: PropertyValue, now: number): boolean;
  /** Number of steps for a text of this length, in addition to computing its forms. */
  stepsFor(length: number): number;
  /** Pattern to compile before the first test, in a separate step because compiling takes long. */
  pattern?: SharedPattern;
}

/** The prepared operator and value of a filter. */
export interface CompiledTest {
  test: ValueTest;
  /** Outcome for a missing property. JSON null is a value. */
  whenMissing: boolean;
}

export interface TestOptions {
  /** Version 1 compares texts like "true" as booleans (see `exactTest`); version 2 does not. */
  matchingVersion: 1 | 2;
  /** The project time zone. */
  zone: TimeZone;
}

/** Cost of comparing this many characters. */
export const stepsToCompare = (characters: number): number => characters / 16;

const noSteps = (): number => 0;

/** Creates a test whose cost does not depend on the length of the text. */
export function quickTest(matches: ValueTest['matches']): ValueTest {
  return { matches, stepsFor: noSteps };
}

/** Test that never matches, for unknown operators and invalid values. */
export const never: CompiledTest = { test: quickTest(() => false), whenMissing: false };

/** A property value in the forms that filters compare. Each form is computed once, on first use. */
export class PropertyValue {
  /** The value as sent or stored. */
  readonly value: unknown;
  /** Length of a text value; 0 for numbers, booleans and null, which are always short. */
  readonly length: number;
  /** True after the evaluation has counted the cost of computing the forms. */
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
    this.textMade ??= textForm(this.value);
    return this.textMade;
  }

  /** Lower case for substring searches: only A to Z are converted. */
  get searched(): string {
    this.searchedMade ??= asciiLower(this.text);
    return this.searchedMade;
  }

  /** Lower case for comparing complete texts. */
  get folded(): string {
    this.foldedMade ??= this.text.toLowerCase();
    return this.foldedMade;
  }

  get number(): number | null {
    if (this.numberMade === undefined) this.numberMade = numberForm(this.value);
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

/** Converts A to Z, like PostHog: substring searches distinguish "Ä" from "ä", unlike `exact`. */
export function asciiLower(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  // Converts character by character, because a hostile text may have half a million capitals, too many for a
  // replacement function.
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    units[index] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}
