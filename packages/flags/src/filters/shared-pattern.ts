import type { RE2JS } from 're2js';
import { compilePattern } from './compile-pattern.ts';

/** A pattern of filters, compiled when it is first tried: compiled it takes a hundred times the memory of its text. */
export class SharedPattern {
  readonly #text: string;
  #compiled: RE2JS | null | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  /** Null for an invalid pattern. The first time takes up to 50 ms. */
  compiled(): RE2JS | null {
    if (this.#compiled === undefined) {
      const compiled = compilePattern(this.#text);
      this.#compiled = typeof compiled === 'string' ? null : compiled;
    }
    return this.#compiled;
  }
}

/** Held by the filters alone, so that a pattern goes with the last of them. */
const inUse = new Map<string, WeakRef<SharedPattern>>();
const gone = new FinalizationRegistry((text: string) => {
  if (inUse.get(text)?.deref() === undefined) inUse.delete(text);
});

/** The same for the same text, whichever flags and projects it is of. */
export function sharedPattern(text: string): SharedPattern {
  const known = inUse.get(text)?.deref();
  if (known !== undefined) return known;
  const pattern = new SharedPattern(text);
  inUse.set(text, new WeakRef(pattern));
  gone.register(pattern, text);
  return pattern;
}
