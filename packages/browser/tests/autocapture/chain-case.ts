import type { Captured, Step } from '../support/start-comparison.ts';

/** A page, and what a visitor does on it: what is captured is what PostHog's library captures. */
export interface ChainCase extends Step {
  of: string;
  /** Neither captures anything. */
  isNothing?: true;
  /** Where this library captures otherwise on purpose: why, and what. */
  otherwise?: { because: string; events: Captured | ((events: Captured) => void) };
}

export const click = (selector: string) => `at('${selector}').click()`;
export const change = (selector: string) => `at('${selector}').dispatchEvent(new Event('change', { bubbles: true }))`;
export const long = (count: number, unit = 'x') => unit.repeat(count);
