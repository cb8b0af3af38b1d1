import type { TimeZone } from '@millrace/schedule';
import { isTruthy, numberForm, parseVersion, type SemanticVersion, textForm } from '../values.ts';
import type { SharedPattern } from './patterns.ts';

/** What a property's value must be. Pure. */
export interface ValueTest {
  /** @param now milliseconds since 1970, for relative dates. */
  matches(value: PropertyValue, now: number): boolean;
  /** Steps that a text of this length takes once its forms are made. */
  stepsFor(length: number): number;
  /** What takes long enough to make ready that it is done by itself, before the first test. */
  pattern?: SharedPattern;
}

/** A filter's operator and value, prepared. */
export interface CompiledTest {
  test: ValueTest;
  /** The outcome where the property is missing. JSON null is a value. */
  whenMissing: boolean;
}

export interface TestOptions {
  /** 1 compares texts like "true" as booleans (see `exactTest`); 2 does not. */
  matchingVersion: 1 | 2;
  /** The project's clocks. */
  zone: TimeZone;
}

/** Of comparing so many characters. */
export const stepsToCompare = (characters: number): number => characters / 16;

const noSteps = (): number => 0;

/** A test that takes no longer for a long text than for a short one. */
export function quickTest(matches: ValueTest['matches']): ValueTest {
  return { matches, stepsFor: noSteps };
}

/** For filters that nothing can match: an unknown operator, a value that makes no sense. */
export const never: CompiledTest = { test: quickTest(() => false), whenMissing: false };

/** The value of a property in the forms that filters compare, each made once however many filters ask. */
export class PropertyValue {
  /** As it was sent or stored. */
  readonly value: unknown;
  /** Length of its text; 0 for what is short by nature: numbers, booleans, null. */
  readonly length: number;
  /** Whether the evaluation has counted what making the forms takes. */
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

  /** In small letters, for parts of texts: only A to Z are changed. */
  get searched(): string {
    this.searchedMade ??= asciiLower(this.text);
    return this.searchedMade;
  }

  /** In small letters, for whole texts. */
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

/** As the PostHog API: "Ä" and "ä" are two texts here, while `exact` takes them for one. */
export function asciiLower(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  // Unit by unit: a text made to hurt has half a million capitals, too many for a replacement each.
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    units[index] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}
