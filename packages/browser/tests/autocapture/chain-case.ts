import type { Captured, Step } from '../support/start-comparison.ts';

/**
 * A page, and actions of a visitor on it. Unless `isNothing` or `otherwise` is set, this library must capture exactly
 * what posthog-js captures.
 */
export interface ChainCase extends Step {
  of: string;
  /** If true, neither library captures anything. */
  isNothing?: true;
  /** Set if this library captures something else on purpose. Contains the reason, and what it captures. */
  otherwise?: { because: string; events: Captured | ((events: Captured) => void) };
}

export const click = (selector: string) => `at('${selector}').click()`;
export const change = (selector: string) => `at('${selector}').dispatchEvent(new Event('change', { bubbles: true }))`;
export const long = (count: number, unit = 'x') => unit.repeat(count);
